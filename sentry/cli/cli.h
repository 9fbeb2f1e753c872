/* The command line: subcommands and what they share. */
#ifndef WARD_CLI_CLI_H
#define WARD_CLI_CLI_H
#include <stdio.h>
#include "sentry/config.h"

int cmd_run(int argc, char **argv);
int cmd_ps(int argc, char **argv);
int cmd_exec(int argc, char **argv);
int cmd_wait(int argc, char **argv);
int cmd_kill(int argc, char **argv);
int cmd_rm(int argc, char **argv);
int cmd_confinement(int argc, char **argv);
int cmd_syscalls(int argc, char **argv); /* sentry/trace */

/* Options of `ward run`. 0, or -1 with E. Prints help and exits by itself for --help. */
int options_run(int argc, char **argv, struct config *c, struct err *e);
/* Run C to its end; the exit code of the command. */
int monitor_run(struct config *c);
/* "ward: TEXT" on stderr, one line whatever TEXT holds: it may name files or come from a sentry that was taken over. */
void cli_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Print E's line; its exit code. */
int cli_fail(const struct err *e);
void cli_help(FILE *out);
#endif
