/* ward: dispatch of subcommands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sentry/base/log.h"
#include "sentry/base/util.h"
#include "sentry/cli/cli.h"

#define WARD_VERSION "0.1.0"

void cli_help(FILE *out)
{
	fputs("usage: ward COMMAND [OPTIONS]\n"
	      "  run [OPTIONS] [--] PROGRAM [ARG...]   run a program on ward's own kernel\n"
	      "  ps [--json]                           list detached sandboxes\n"
	      "  exec [OPTIONS] NAME -- PROGRAM ...    run a program in a detached sandbox\n"
	      "  wait NAME                             wait for its end; exit with its code\n"
	      "  kill NAME [SIGNAL]                    signal its process 1 (default KILL: end everything)\n"
	      "  rm [-f] NAME                          remove its record (-f: end it first)\n"
	      "  syscalls [--json]                     the table of supported system calls\n"
	      "  confinement [--json]                  the walls around the sentry on this host\n"
	      "  version, help\n"
	      "`ward run --help` lists the options of run.\n",
	      out);
}

static int cmd_help(int argc, char **argv)
{
	cli_help(stdout);
	return 0;
}

static int cmd_version(int argc, char **argv)
{
	puts("ward " WARD_VERSION);
	return 0;
}

static void setup_log(void)
{
	static const char *const names[] = {"error", "warn", "info", "debug"};
	const char *v = getenv("WARD_LOG");

	for (unsigned i = 0; v && i < ARRAY_COUNT(names); i++)
		if (!strcmp(v, names[i]))
			log_setup(2, (enum log_level)i);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*fn)(int, char **);
	} commands[] = {
	    {"run", cmd_run}, {"ps", cmd_ps}, {"exec", cmd_exec}, {"wait", cmd_wait}, {"kill", cmd_kill},
	    {"rm", cmd_rm}, {"syscalls", cmd_syscalls}, {"confinement", cmd_confinement}, {"version", cmd_version},
	    {"--version", cmd_version}, {"help", cmd_help}, {"--help", cmd_help}, {"-h", cmd_help},
	};

	setup_log();
	if (argc < 2) {
		cli_help(stderr);
		return WARD_EXIT_ERROR;
	}
	for (unsigned i = 0; i < ARRAY_COUNT(commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].fn(argc - 1, argv + 1);
	cli_line("'%.200s' is not a command: `ward help` lists them", argv[1]);
	return WARD_EXIT_ERROR;
}
