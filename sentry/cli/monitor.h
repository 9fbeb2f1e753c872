/* The monitor: the command line process that owns one sandbox from fork to report. */
#ifndef WARD_CLI_MONITOR_H
#define WARD_CLI_MONITOR_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include "sentry/cli/relay.h"
#include "sentry/cli/server.h"
#include "sentry/config.h"
#include "sentry/control.h"

enum outcome {
	OUTCOME_NONE, OUTCOME_EXITED, OUTCOME_SIGNALED, OUTCOME_TIMED_OUT, OUTCOME_OUT_OF_MEMORY, OUTCOME_KILLED,
	OUTCOME_SANDBOX_LOST, OUTCOME_NEVER_STARTED,
};

struct result {
	enum outcome outcome;
	int code;                /* exit code or signal number, as the outcome says */
	int exit_code;           /* of the command */
	uint64_t start_real_ns, wall_ns, boot_ns, cpu_ns;
	uint64_t peak_rss_bytes; /* of sentry and stubs, the largest process */
	struct control_counters counters;
	char text[512];          /* the line shown, "" = none */
};

struct monitor {
	struct config *c;
	struct result result;
	pid_t sentry, helper;    /* 0 = gone */
	int control, signals, timer, grace;
	struct relay relay;      /* of -t */
	uint64_t start_ns, last_int_ns;
	bool started, ended, kill_sent, copy_failed;
	struct server *server;   /* control socket of a named sandbox, or NULL */
	int detach_pipe;         /* to the foreground command of --detach, or -1 */
};

/* sentry/cli/report.c */
const char *outcome_name(enum outcome o);
int report_write(const struct config *c, const struct result *r);
void stats_print(const struct config *c, const struct result *r);

/* End the sandbox: asks the sentry, and kills it when it does not obey within the grace time. */
void monitor_kill(struct monitor *m, enum outcome why);
uint64_t monitor_now_ns(void);
#endif
