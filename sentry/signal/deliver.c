/*
 * Delivery, on the task's own fiber before it returns to its guest: stops, default actions, handlers, and what
 * becomes of an interrupted call. Follows get_signal and handle_signal of Linux.
 */
#include <sys/resource.h>
#include "sentry/signal/signal.h"
#include "sentry/task/task.h"
#include "sentry/trace/trace.h"
#include "sentry/fiber.h"
#include "sentry/platform/platform.h"
#include "sentry/base/log.h"
#include "sentry/base/util.h"

static bool is_restart_code(int64_t r)
{
	return r == -ERESTARTSYS || r == -ERESTARTNOINTR || r == -ERESTARTNOHAND || r == -ERESTART_RESTARTBLOCK;
}

/* The task takes part in a group stop until SIGCONT or death. The last one to stop tells the parent. */
static void stop_here(struct task *t)
{
	struct tgroup *tg = t->tg;
	enum task_state before = t->state;

	if (t->host)
		plat_park(t->host);
	t->state = TASK_STOPPED;
	if (++tg->stopped_count == tg->live && tg->stop_signal && !tg->stop_reported) {
		tg->stop_reported = true;
		tgroup_notify_parent(tg, CLD_STOPPED, tg->stop_signal);
	}
	while (tg->stopped && !t->exiting && !tg->exiting)
		fiber_block();
	tg->stopped_count--;
	t->state = before;
}

static void start_group_stop(struct task *t, int signo)
{
	struct tgroup *tg = t->tg;
	struct task *o;

	if (tg->exiting || tg->stopped)
		return;
	tg->stopped = true;
	tg->stop_signal = signo;
	tg->stop_reported = false;
	tg->continued_pending = false;
	list_for_each(o, &tg->tasks, tg_node)
		if (o != t)
			task_interrupt(o, false);
}

/* The next signal that has a handler: its number, action and information; 0 when nothing is left to do. */
static int next_handled(struct task *t, struct l_sigaction *act, struct l_siginfo *info)
{
	struct tgroup *tg = t->tg;

	for (;;) {
		struct l_sigaction *a;
		int signo;

		if (t->exiting || tg->exiting) {
			t->exiting = true;
			return 0;
		}
		if (tg->stopped) {
			stop_here(t);
			continue;
		}
		signo = signal_dequeue(t, ~t->sig_mask, info);
		if (!signo)
			return 0;
		a = &tg->sighand->action[signo - 1];
		if (trace_on)
			trace_signal(t, info);
		if (a->handler == (uint64_t)SIG_IGN)
			continue;
		if (a->handler != (uint64_t)SIG_DFL) {
			*act = *a;
			if (a->flags & SA_RESETHAND)
				a->handler = (uint64_t)SIG_DFL;
			return signo;
		}
		if (SIG_MASK_IGNORE & SIGBIT(signo))
			continue;
		if (SIG_MASK_STOP & SIGBIT(signo)) {
			/* Nobody could continue a process of an orphaned group from its terminal. */
			if (signo != SIGSTOP && tg->pgrp && pgrp_is_orphaned(tg->pgrp, NULL))
				continue;
			start_group_stop(t, signo);
			continue;
		}
		if (SIGBIT(signo) & SIG_MASK_CORE) {
			const struct guest_regs *r = t->host ? plat_regs(t->host) : NULL;

			log_info("pid %d (%s) ends by signal %d code %d addr %#lx rip %#lx", tg->pid, t->comm, signo,
				 info->code, (unsigned long)info->fault.addr, r ? (unsigned long)r->rip : 0);
		}
		/* DIFF: the core itself is not written; the wait status says what Linux would say with the limit given. */
		if ((SIGBIT(signo) & SIG_MASK_CORE) && tg->dumpable && tg->rlim[RLIMIT_CORE].cur)
			tgroup_exit(tg, signo | 0x80);
		else
			tgroup_exit(tg, signo);
	}
}

static void force_sigsegv(struct task *t, int failed)
{
	struct l_siginfo info = {.signo = SIGSEGV, .code = L_SI_KERNEL};

	if (failed == SIGSEGV)
		t->tg->sighand->action[SIGSEGV - 1].handler = (uint64_t)SIG_DFL;
	signal_force_fault(t, SIGSEGV, &info);
}

/* What an interrupted call shows to a handler: its error, or the registers to run it again after the return. */
static void finish_call_for_handler(struct guest_regs *r, struct task *t, int64_t result, bool sa_restart)
{
	if (result == -ERESTARTNOINTR || (result == -ERESTARTSYS && sa_restart)) {
		r->rax = (uint64_t)t->cur_nr;
		r->rip -= 2;
	} else if (is_restart_code(result)) {
		r->rax = (uint64_t)-EINTR;
	} else {
		r->rax = (uint64_t)result;
	}
}

bool signal_deliver(struct task *t, bool in_call, int64_t *result)
{
	struct l_sigaction act;
	struct l_siginfo info;
	bool call_open = in_call;
	int signo;

again:
	while ((signo = next_handled(t, &act, &info))) {
		uint64_t saved = t->restore_mask ? t->saved_mask : t->sig_mask, mask;

		if (call_open) {
			finish_call_for_handler(plat_regs(t->host), t, *result, act.flags & SA_RESTART);
			call_open = false;
		}
		if (signal_frame(t, signo, &act, &info, saved)) {
			force_sigsegv(t, signo);
			continue;
		}
		t->restore_mask = false;
		mask = t->sig_mask | act.mask;
		if (!(act.flags & SA_NODEFER))
			mask |= SIGBIT(signo);
		signal_set_mask(t, mask);
	}
	if (t->exiting)
		return false;
	if (t->restore_mask) {
		t->restore_mask = false;
		signal_set_mask(t, t->saved_mask);
		/* The old mask may let through what the temporary one held back. */
		if (t->notify)
			goto again;
	}
	signal_pending(t);
	if (!call_open) {
		if (in_call)
			*result = (int64_t)plat_regs(t->host)->rax;
		return false;
	}
	return is_restart_code(*result);
}
