/* `ward syscalls [--json]`: the support matrix, printed from the table that also serves the calls. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include "sentry/cli/cli.h"
#include "sentry/config.h"
#include "syscalls/table.h"

static const char *support_name(unsigned support)
{
	static const char *const name[] = {"unused", "full", "partial", "none"};

	return name[support];
}

static void print_text(void)
{
	unsigned count[4] = {0};

	printf("%-4s %-24s %-8s %-8s %s\n", "nr", "call", "class", "support", "note");
	for (int nr = 0; nr < SYSCALL_MAX; nr++) {
		const struct syscall_desc *d = syscall_desc(nr);

		if (!d)
			continue;
		count[d->support]++;
		printf("%-4d %-24s %-8s %-8s %s\n", nr, d->name,
		       d->support == SUPPORT_NONE ? "-" : syscall_class_name(d->class), support_name(d->support),
		       d->note ? d->note : "");
	}
	printf("%u full, %u partial, %u none\n", count[SUPPORT_FULL], count[SUPPORT_PARTIAL], count[SUPPORT_NONE]);
}

static json_t *call_json(const struct syscall_desc *d)
{
	json_t *o = json_object(), *args;

	json_object_set_new(o, "nr", json_integer(d->nr));
	json_object_set_new(o, "name", json_string(d->name));
	json_object_set_new(o, "support", json_string(support_name(d->support)));
	if (d->note)
		json_object_set_new(o, "note", json_string(d->note));
	if (d->support == SUPPORT_NONE) {
		json_object_set_new(o, "error", json_string(strerrorname_np(-d->error)));
		return o;
	}
	json_object_set_new(o, "class", json_string(syscall_class_name(d->class)));
	args = json_array();
	for (unsigned i = 0; i < d->arg_count; i++) {
		json_t *a = json_object();

		json_object_set_new(a, "name", json_string(d->arg_name[i]));
		json_object_set_new(a, "kind", json_string(arg_kind_desc(d->arg_kind[i])->name));
		json_array_append_new(args, a);
	}
	json_object_set_new(o, "args", args);
	return o;
}

static int print_json(void)
{
	json_t *list = json_array();
	int rc;

	for (int nr = 0; nr < SYSCALL_MAX; nr++)
		if (syscall_desc(nr))
			json_array_append_new(list, call_json(syscall_desc(nr)));
	rc = json_dumpf(list, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(list);
	return rc;
}

int cmd_syscalls(int argc, char **argv)
{
	int rc = 0;

	if (argc > 2 || (argc == 2 && strcmp(argv[1], "--json"))) {
		fprintf(stderr, "ward syscalls: unknown argument \"%s\"; usage: ward syscalls [--json]\n",
			argv[argc > 2 ? 2 : 1]);
		return WARD_EXIT_ERROR;
	}
	if (argc == 2)
		rc = print_json();
	else
		print_text();
	if (fflush(stdout) || ferror(stdout))
		rc = -1;
	return rc ? WARD_EXIT_ERROR : 0;
}
