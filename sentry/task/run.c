/*
 * The run loop of a task: look at what was asked of it, let its guest run, serve what comes back. Restart codes
 * end here: a call that no handler interrupted is run again without going back to the guest.
 */
#include "sentry/task/task.h"
#include "sentry/fiber.h"
#include "sentry/platform/platform.h"
#include "sentry/base/log.h"
#include "sentry/base/util.h"
#include "syscalls/dispatch.h"
#include <limits.h>
#include <string.h>

static bool is_restart_code(int64_t r)
{
	return r <= -ERESTARTSYS && r >= -ERESTART_RESTARTBLOCK && r != -515;
}

static void serve_call(struct task *t, const struct plat_event *ev)
{
	struct plat_thread *host = t->host;
	int64_t result;
	bool again = false;

	t->state = TASK_IN_CALL;
	/* The guest's own call -1 is answered like any unknown number. */
	t->cur_nr = ev->nr < 0 ? INT_MAX : ev->nr;
	memcpy(t->cur_args, ev->args, sizeof t->cur_args);
	result = dispatch(t, ev->nr, ev->args);
	do {
		if (again) {
			uint64_t args[6];

			if (result == -ERESTART_RESTARTBLOCK && t->restart_fn) {
				result = t->restart_fn(t);
			} else {
				memcpy(args, t->cur_args, sizeof args);
				result = dispatch(t, t->cur_nr, args);
			}
			again = false;
		}
		/* cur_nr is -1 after execve and rt_sigreturn: their rax is no call result. */
		if (t->notify || t->restore_mask || (t->cur_nr >= 0 && is_restart_code(result)))
			again = signal_deliver(t, t->cur_nr >= 0, &result);
	} while (again && !t->exiting);
	t->state = TASK_RUNNING;
	if (t->exiting)
		return;
	/* A program that was just loaded starts with the registers execve gave it. */
	if (t->host == host)
		plat_set_result(host, t->cur_nr >= 0 ? result : (int64_t)plat_regs(host)->rax);
	t->cur_nr = -1;
}

static void serve_fault(struct task *t, const struct plat_event *ev)
{
	struct l_siginfo info = {.signo = ev->signo, .code = ev->code};

	info.fault.addr = ev->addr;
	signal_force_fault(t, ev->signo, &info);
}

void task_main(void *arg)
{
	struct task *t = arg;
	struct plat_event ev;

	while (!t->exiting) {
		if (t->notify) {
			int64_t unused = 0;

			signal_deliver(t, false, &unused);
			if (t->exiting)
				break;
		}
		plat_run(t->host, &ev);
		switch (ev.kind) {
		case PLAT_CALL:
			t->calls++;
			serve_call(t, &ev);
			break;
		case PLAT_FAULT:
			serve_fault(t, &ev);
			break;
		case PLAT_KICKED:
			signal_pending(t);
			break;
		case PLAT_DEAD:
			/* Killed from outside or for a broken invariant: to the guest a SIGKILL. */
			tgroup_exit(t->tg, SIGKILL);
			t->exiting = true;
			break;
		}
	}
	task_leave(t);
	t->fiber = NULL;
	task_put(t);
	current = NULL;
}
