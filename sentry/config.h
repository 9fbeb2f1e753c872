/*
 * What one run was asked for. Filled by the command line (sentry/cli/options.c), read by the monitor and, after
 * fork, by the sentry. Strings are borrowed from argv or owned for the life of the process.
 */
#ifndef WARD_CONFIG_H
#define WARD_CONFIG_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "sentry/base/err.h"

#define CONFIG_MAX_LIST 64
#define CONFIG_MAX_ENV 1024

struct config_bind {
	char *src, *dst; /* host path, absolute guest path */
	bool rw;
	int sock, root;  /* rw: the helper's socket and the directory, opened by the monitor; else -1 */
};
struct config_copy {
	char *src, *dst;
};
struct config {
	const char *rootfs;                  /* NULL: the host view; else a directory */
	struct config_bind bind[CONFIG_MAX_LIST];
	unsigned bind_count;
	struct config_copy copy_in[CONFIG_MAX_LIST], copy_out[CONFIG_MAX_LIST];
	unsigned copy_in_count, copy_out_count;
	const char *cwd;                     /* NULL: the user's home */
	const char *env[CONFIG_MAX_ENV];     /* K=V given by --env */
	unsigned env_count;
	uid_t uid;
	gid_t gid;
	char hostname[65];
	bool tty;
	double time_limit;                   /* seconds, 0 = none */
	uint64_t disk, memory;               /* bytes, 0 = none */
	unsigned pids;
	const char *trace;                   /* NULL: off; "" = everything; else CLASS|CALL,... */
	const char *trace_out;               /* file of the trace or NULL (stderr) */
	bool stats;
	bool detach;
	const char *name;                    /* NULL or a checked name */
	const char *report;
	const char *platform;                /* "trap" or "auto" */
	char **argv;                         /* program and arguments, NULL-terminated */
};

#define WARD_EXIT_TIME 124
#define WARD_EXIT_ERROR 125
#define WARD_EXIT_NOEXEC 126
#define WARD_EXIT_NOTFOUND 127

void config_defaults(struct config *c);
/* Parsers of option values; each fills E with one line that says what, where and what to do. 0 or -1. */
int config_parse_size(const char *opt, const char *text, uint64_t *out, struct err *e);
int config_parse_seconds(const char *opt, const char *text, double *out, struct err *e);
int config_parse_count(const char *opt, const char *text, unsigned max, unsigned *out, struct err *e);
int config_parse_user(const char *text, uid_t *uid, gid_t *gid, struct err *e);
int config_check_name(const char *text, struct err *e);
int config_check_env(const char *text, struct err *e);
int config_check_guest_path(const char *opt, const char *text, struct err *e);
/* Splits "SRC:DST" at the last colon before an absolute DST. Returned strings are allocated. */
int config_split_pair(const char *opt, const char *text, char **src, char **dst, struct err *e);
int config_parse_bind(const char *text, struct config_bind *out, struct err *e);

/* The guest's environment: allocated NULL-terminated list; NULL when memory is short. Names in EXTRA win. */
char **config_guest_env(uid_t uid, bool tty, const char *const *extra, unsigned count);
/* Home directory of UID inside the sandbox. */
const char *config_home(uid_t uid);
#endif
