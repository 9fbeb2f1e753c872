/*
 * Walls around the sentry itself: Landlock, privileges, descriptors, its own seccomp allow-list. A wall that the
 * host cannot give is noted, logged at info level and shown by `ward confinement`.
 */
#ifndef WARD_PLATFORM_CONFINE_H
#define WARD_PLATFORM_CONFINE_H
#include <stdbool.h>
#include <stdio.h>
#include "sentry/base/err.h"

/* A host path that stays readable (and executable) beneath it. */
struct confine_path {
	const char *path;
};
/* First step, before the platform starts: no_new_privs, capabilities, rlimits, Landlock over PATHS. */
int confine_process(const struct confine_path *paths, unsigned count, struct err *e);
/* Last step, before the first guest instruction: the allow-list. */
int confine_calls(struct err *e);
/* For a helper that writes host files: like both steps together, with Landlock's rights limited to changes beneath
 * the open directories DIRS and the helpers' own, smaller allow-list. */
int confine_helper(const int *dirs, unsigned count, struct err *e);
/* Landlock's ABI here, 0 = none. */
int confine_landlock_abi(void);
/* `ward confinement`: every wall, whether a process here really got it, and the filters' rules (confine_print.c). */
void confine_print(FILE *out, bool json);
#endif
