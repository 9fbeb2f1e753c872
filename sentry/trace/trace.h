/*
 * strace-like output, decoded from the rows of the system-call table: arguments that the call reads are printed
 * from what they were at entry, those it writes from what stands there at return. One whole line per call, so
 * lines of different tasks never mix; a line is written when the call returns or its task leaves inside it.
 */
#ifndef WARD_TRACE_TRACE_H
#define WARD_TRACE_TRACE_H
#include <stdbool.h>
#include <stdint.h>
#include "sentry/base/err.h"

struct task;
struct syscall_desc;
struct trace_line;
struct l_siginfo;

extern bool trace_on;

/* SPEC: NULL or "" = every call; else a comma list of classes (file, desc, ...) and call names, each with an
 * optional leading '!' that takes it out. Names what it does not know. 0 or -1 with E set. */
int trace_parse_filter(const char *spec, struct err *e);
/* Turn tracing on; lines go to host descriptor FD (not closed). Call before the first task runs. */
void trace_start(int fd);
/* Write out what is buffered: at the end of the sandbox and when the loop is about to sleep. */
void trace_flush(void);

/* For dispatch. enter returns NULL when the call is filtered out or memory is short. exit frees the line. */
struct trace_line *trace_enter(struct task *t, int nr, const struct syscall_desc *d, const uint64_t args[6]);
void trace_exit(struct task *t, struct trace_line *l, int64_t result);
/* For the task layer: a signal taken from the queue ("--- SIGCHLD {...} ---"), the end of a task
 * ("+++ exited with 0 +++"). Only when trace_on. */
void trace_signal(struct task *t, const struct l_siginfo *info);
void trace_end(struct task *t);
#endif
