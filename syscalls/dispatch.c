/*
 * Dispatch: one look-up, one indirect call. Numbers the table has no handler for answer what a Linux without the
 * feature answers and are logged once, so that a program that probes in a loop does not fill the log.
 */
#include "syscalls/dispatch.h"
#include <errno.h>
#include "sentry/base/log.h"
#include "sentry/task/task.h"
#include "sentry/trace/trace.h"
#include "syscalls/table.h"

static struct call_count counts[SYSCALL_MAX], stray;
static uint64_t logged[(SYSCALL_MAX + 63) / 64];

static int64_t refuse(int nr, const struct syscall_desc *d)
{
	static bool stray_logged;

	if (nr < 0 || nr >= SYSCALL_MAX) {
		if (!stray_logged)
			log_warn("system call %d is not in the table: ENOSYS", nr);
		stray_logged = true;
		return -ENOSYS;
	}
	if (!(logged[nr / 64] >> (nr % 64) & 1)) {
		logged[nr / 64] |= 1ull << (nr % 64);
		/* Libraries probe for what is refused on purpose; nothing is wrong then. */
		if (d && d->flags & SC_REFUSED)
			log_info("system call %s (%d) is refused: %s", d->name, nr, d->note);
		else if (d)
			log_warn("system call %s (%d) is not supported: %s", d->name, nr,
				 d->note ? d->note : "not built");
		else
			log_warn("system call %d does not exist: ENOSYS", nr);
	}
	return d && d->error ? d->error : -ENOSYS;
}

int64_t dispatch(struct task *t, int nr, const uint64_t args[6])
{
	const struct syscall_desc *d = syscall_desc(nr);
	struct call_count *c = d ? &counts[nr] : &stray;
	struct trace_line *line = NULL;
	int64_t r;

	c->calls++;
	if (__builtin_expect(trace_on, 0))
		line = trace_enter(t, nr, d, args);
	r = d && d->thunk ? d->thunk(args) : refuse(nr, d);
	if (r < 0 && r >= -4095)
		c->errors++;
	if (__builtin_expect(line != NULL, 0))
		trace_exit(t, line, r);
	return r;
}

const struct call_count *dispatch_count(int nr)
{
	return nr < 0 || nr >= SYSCALL_MAX ? &stray : &counts[nr];
}
