/* Waiting for children. */
#ifndef WARD_TASK_WAIT_H
#define WARD_TASK_WAIT_H
#include <stdint.h>
#include <sys/types.h>
#include <sys/resource.h>

struct tgroup;
struct task;

enum wait_type { WAIT_ALL, WAIT_PID, WAIT_PGRP };
struct wait_result {
	pid_t pid;
	uid_t uid;
	int status;        /* as wait4 reports it */
	int code, info_status; /* as waitid reports it: CLD_*, exit code or signal */
	struct rusage ru;
};
/* Child's pid, 0 (WNOHANG and nothing yet) or -errno. OPTIONS: W*. TARGET: pid or pgid. Sleeps. */
int64_t do_wait(enum wait_type type, pid_t target, int options, struct wait_result *out);
/* Resources of TG so far, and of its reaped children. */
void tgroup_rusage(struct tgroup *tg, struct rusage *ru);
void tgroup_children_rusage(struct tgroup *tg, struct rusage *ru);
void task_rusage(struct task *t, struct rusage *ru);
/* Pure: CLD_* code and info_status of a wait status of a dead process. */
int wait_code(int status, int *info_status);
#endif
