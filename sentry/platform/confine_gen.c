/*
 * Build-time generator: compiles the sentry's allow-list with libseccomp and prints it as BPF in a C header.
 * Programs of the sentry: `kill` is what runs; `trap` raises SIGSYS instead, so that a developer sees which call
 * it was. `helper` is for the processes that write host files.
 */
#include <linux/seccomp.h>
#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>
#include <linux/filter.h>

static void check(int rc, const char *what)
{
	if (rc < 0) {
		fprintf(stderr, "confine_gen: %s: %s\n", what, strerror(-rc));
		exit(1);
	}
}

#define CALL(name, why) check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(name), 0), #name);
#define CALL_EQ(name, arg, value, why)                                                             \
	check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(name), 1,                             \
			       SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, 0xffffffffu, (uint32_t)(value))), \
	      #name);
#define CALL_ZERO(name, arg, mask, why)                                                            \
	check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(name), 1,                             \
			       SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, (mask), 0)),                      \
	      #name);

static void add_sentry(scmp_filter_ctx ctx)
{
#include "sentry/platform/confine_rules.def"
}

static void add_helper(scmp_filter_ctx ctx)
{
#include "sentry/platform/confine_helper.def"
}

static void emit(const char *name, uint32_t action, void (*add)(scmp_filter_ctx))
{
	scmp_filter_ctx ctx = seccomp_init(action);
	FILE *tmp = tmpfile();
	struct sock_filter insn;
	unsigned count = 0;

	if (!ctx || !tmp)
		check(-ENOMEM, "init");
	/* libseccomp's default for a foreign architecture kills one thread only. */
	check(seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), "badarch");
	check(seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2), "optimize");
	add(ctx);
	check(seccomp_export_bpf(ctx, fileno(tmp)), "export");
	rewind(tmp);
	printf("static const struct sock_filter confine_%s[] = {\n", name);
	while (fread(&insn, sizeof insn, 1, tmp) == 1) {
		printf("\t{0x%x, %u, %u, 0x%x},\n", insn.code, insn.jt, insn.jf, insn.k);
		count++;
	}
	printf("};\n");
	if (!count || count > BPF_MAXINSNS)
		check(-E2BIG, "program size");
	fclose(tmp);
	seccomp_release(ctx);
}

int main(void)
{
	printf("/* Generated from sentry/platform/confine_rules.def by libseccomp; do not edit. */\n");
	printf("#include <linux/filter.h>\n");
	emit("kill", SCMP_ACT_KILL_PROCESS, add_sentry);
	emit("trap", SCMP_ACT_TRAP, add_sentry);
	emit("helper_calls", SCMP_ACT_KILL_PROCESS, add_helper);
	return 0;
}
