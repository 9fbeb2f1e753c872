/*
 * `ward confinement`: raises the walls in a child, asks the kernel what stands, and prints it with the rules of the
 * three filters, from the very files the filters are made of.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sentry/base/util.h"
#include "sentry/platform/confine.h"

struct rule {
	const char *name, *when, *why;
};
#define CALL(name, why) {#name, "", why},
#define CALL_EQ(name, arg, value, why) {#name, "argument " #arg " = " #value, why},
#define CALL_ZERO(name, arg, mask, why) {#name, "argument " #arg " without " #mask, why},
static const struct rule sentry_rules[] = {
#include "sentry/platform/confine_rules.def"
};
static const struct rule helper_rules[] = {
#include "sentry/platform/confine_helper.def"
};
#define RULE(call, action, text, n, ...) {#call, #action __VA_OPT__(" ") #__VA_ARGS__, text},
static const struct rule stub_rules[] = {
#include "sentry/platform/trap/filter_rules.def"
};
static const struct {
	const char *key, *title;
	const struct rule *rules;
	unsigned count;
} filters[] = {
    {"stub_calls", "Guest processes (stubs): any other call is a trap into the sandbox's own kernel", stub_rules, ARRAY_COUNT(stub_rules)},
    {"sentry_calls", "Sentry: any other call kills the sandbox", sentry_rules, ARRAY_COUNT(sentry_rules)},
    {"helper_calls", "Helpers that write host files: any other call kills the helper", helper_rules, ARRAY_COUNT(helper_rules)},
};

/* What the child found; fields are text of /proc/self/status. */
struct probe {
	bool landlock;  /* a file outside is refused */
	bool filter;    /* the sentry's filter could be installed */
	char status[4096], error[sizeof(((struct err *)0)->text)];
};

/* In the child: raise the walls of a sentry that may read nothing, and look. */
static void raise_walls(int out)
{
	static struct probe p;
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC), own = open("/", O_PATH | O_CLOEXEC);
	struct err e = {0};

	if (confine_process(NULL, 0, &e)) {
		snprintf(p.error, sizeof p.error, "%s", e.text);
	} else {
		int other = openat(own, "proc/self/exe", O_RDONLY | O_CLOEXEC);

		p.landlock = other < 0 && errno == EACCES;
		p.filter = !confine_calls(&e);
		if (!p.filter)
			snprintf(p.error, sizeof p.error, "%s", e.text);
		if (fd >= 0 && pread(fd, p.status, sizeof p.status - 1, 0) < 0)
			p.status[0] = 0;
	}
	if (write(out, &p, sizeof p) != sizeof p)
		_exit(1);
	_exit(0);
}

static void probe_walls(struct probe *p)
{
	int fd[2];
	pid_t pid;

	memset(p, 0, sizeof *p);
	fflush(NULL);
	if (pipe2(fd, O_CLOEXEC))
		return;
	pid = fork();
	if (!pid)
		raise_walls(fd[1]);
	close(fd[1]);
	if (pid < 0 || read(fd[0], p, sizeof *p) != sizeof *p)
		snprintf(p->error, sizeof p->error, "the walls could not be tried");
	close(fd[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static unsigned long long status_number(const struct probe *p, const char *key, int base)
{
	const char *at = strstr(p->status, key);

	return at ? strtoull(at + strlen(key), NULL, base) : ~0ull;
}

static unsigned names(const struct rule *r, unsigned count)
{
	unsigned n = 0;

	for (unsigned i = 0; i < count; i++)
		n += i == 0 || strcmp(r[i].name, r[i - 1].name) != 0;
	return n;
}

static const char *capabilities(unsigned long long set)
{
	return set == ~0ull ? "unknown" : set == 0 ? "none" : set == 1u << 2 ? "CAP_DAC_READ_SEARCH" : "MORE THAN WANTED";
}

static void print_json(FILE *out, const struct probe *p, int abi)
{
	fprintf(out, "{\"landlock_abi\": %d, \"landlock\": %s, \"no_new_privs\": %s, \"capabilities\": \"%s\", "
		"\"bounding_set\": \"%s\", \"call_filter\": %s",
		abi, p->landlock ? "true" : "false", status_number(p, "NoNewPrivs:", 10) == 1 ? "true" : "false",
		capabilities(status_number(p, "CapPrm:", 16) | status_number(p, "CapEff:", 16)),
		status_number(p, "CapBnd:", 16) ? "kept" : "empty", status_number(p, "Seccomp:", 10) == 2 ? "true" : "false");
	for (unsigned f = 0; f < ARRAY_COUNT(filters); f++) {
		fprintf(out, ",\n \"%s\": [", filters[f].key);
		for (unsigned i = 0; i < filters[f].count; i++) {
			const struct rule *r = &filters[f].rules[i];

			fprintf(out, "%s\n  {\"call\": \"%s\", \"when\": \"%s\", \"why\": \"%s\"}", i ? "," : "", r->name, r->when,
				r->why);
		}
		fprintf(out, "]");
	}
	fprintf(out, "}\n");
}

void confine_print(FILE *out, bool json)
{
	int abi = confine_landlock_abi();
	struct probe p;

	probe_walls(&p);
	if (json) {
		print_json(out, &p, abi);
		return;
	}
	fprintf(out, "Walls of the sentry, as a process of this user on this host got them\n");
	if (p.landlock)
		fprintf(out, "  Landlock            up, ABI %d%s\n", abi,
			abi < 6 ? " (no scope for signals and abstract sockets before 6)" : "");
	else
		fprintf(out, "  Landlock            MISSING%s\n", abi ? "" : ": the kernel does not offer it");
	fprintf(out, "  no_new_privs        %s\n", status_number(&p, "NoNewPrivs:", 10) == 1 ? "up" : "MISSING");
	fprintf(out, "  capabilities        %s; bounding set: %s\n",
		capabilities(status_number(&p, "CapPrm:", 16) | status_number(&p, "CapEff:", 16)),
		status_number(&p, "CapBnd:", 16) ? "kept, as only root may empty it; no_new_privs makes it void" : "empty");
	fprintf(out, "  call filter         %s\n", status_number(&p, "Seccomp:", 10) == 2 ? "up" : "MISSING");
	if (p.error[0])
		fprintf(out, "  problem             %s\n", p.error);
	for (unsigned f = 0; f < ARRAY_COUNT(filters); f++) {
		fprintf(out, "\n%s (%u names)\n", filters[f].title, names(filters[f].rules, filters[f].count));
		for (unsigned i = 0; i < filters[f].count; i++) {
			const struct rule *r = &filters[f].rules[i];

			fprintf(out, "  %-18s %s%s%s\n", r->name, r->when, *r->when ? "; " : "", r->why);
		}
	}
}
