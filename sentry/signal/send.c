/*
 * Sending: who may, what is dropped at once, what it undoes (SIGCONT against stops), and which thread is woken.
 * Follows kernel/signal.c: prepare_signal, sig_ignored, complete_signal.
 */
#include "sentry/signal/signal.h"
#include "sentry/task/task.h"
#include "sentry/fiber.h"
#include "sentry/platform/platform.h"
#include "sentry/base/util.h"
#include <sys/resource.h>

static struct l_sigaction *action_of(struct tgroup *tg, int signo)
{
	return &tg->sighand->action[signo - 1];
}

/* Sent by a guest process other than the target? Timers and the kernel's own signals are not. */
static bool from_other_inside(struct tgroup *tg, const struct l_siginfo *info)
{
	return info && (info->code == L_SI_USER || info->code == L_SI_QUEUE || info->code == L_SI_TKILL) &&
	       fiber_self() && current && current->tg != tg;
}

/*
 * DIFF: Linux's init ignores every default-fatal signal from inside its pid namespace, also its own. Here pid 1
 * is the user's program, and abort() or kill(getpid()) must end it as it would outside the sandbox.
 */
static bool init_ignores(struct tgroup *tg, int signo, const struct l_siginfo *info)
{
	return tg->unkillable && from_other_inside(tg, info) && action_of(tg, signo)->handler == (uint64_t)SIG_DFL;
}

static bool sig_ignored(struct tgroup *tg, int signo)
{
	uint64_t h = action_of(tg, signo)->handler;

	if (signo == SIGKILL || signo == SIGSTOP)
		return false;
	return h == (uint64_t)SIG_IGN || (h == (uint64_t)SIG_DFL && (SIG_MASK_IGNORE & SIGBIT(signo)));
}

void task_interrupt(struct task *t, bool fatal)
{
	t->notify = true;
	if (t->state == TASK_ZOMBIE || t->state == TASK_DEAD)
		return;
	if (t->fiber && fiber_self() == t->fiber)
		return;
	if (t->state == TASK_STOPPED) {
		fiber_wake(t->fiber);
	} else if (t->in_sleep) {
		if (fatal || !t->sleep_killable)
			fiber_wake(t->fiber);
	} else if (t->host) {
		plat_kick(t->host);
	}
}

static bool wants_signal(struct task *t, int signo)
{
	if (t->exiting || t->state >= TASK_ZOMBIE)
		return false;
	if (signo == SIGKILL)
		return true;
	return !(t->sig_mask & SIGBIT(signo)) && t->state != TASK_STOPPED;
}

static bool is_fatal_default(struct tgroup *tg, int signo)
{
	return action_of(tg, signo)->handler == (uint64_t)SIG_DFL &&
	       !(SIGBIT(signo) & (SIG_MASK_IGNORE | SIG_MASK_STOP));
}

/* The signal is in a queue: choose who takes it, and act at once when it ends the process anyway. */
static void complete_signal(struct tgroup *tg, struct task *only, int signo)
{
	struct task *t, *pick = NULL;

	if (tg->sighand)
		waitq_wake(&tg->sighand->signalfd_q, 0);
	if (only) {
		pick = wants_signal(only, signo) ? only : NULL;
	} else {
		list_for_each(t, &tg->tasks, tg_node) {
			if (wants_signal(t, signo)) {
				pick = t;
				break;
			}
		}
	}
	if (!pick)
		return;
	if (is_fatal_default(tg, signo) && !(SIGBIT(signo) & SIG_MASK_CORE) && !tg->exiting &&
	    (signo == SIGKILL || !(pick->real_blocked & SIGBIT(signo)))) {
		tgroup_exit(tg, signo);
		return;
	}
	task_interrupt(pick, false);
}

/* SIGCONT ends a stop even when it is blocked or ignored; stop and continue cancel each other in the queues. */
static void stop_and_continue(struct tgroup *tg, int signo)
{
	struct task *t;

	if (SIG_MASK_STOP & SIGBIT(signo)) {
		sigpending_flush(&tg->shared, SIGBIT(SIGCONT));
		list_for_each(t, &tg->tasks, tg_node)
			sigpending_flush(&t->pending, SIGBIT(SIGCONT));
		return;
	}
	if (signo != SIGCONT)
		return;
	sigpending_flush(&tg->shared, SIG_MASK_STOP);
	list_for_each(t, &tg->tasks, tg_node)
		sigpending_flush(&t->pending, SIG_MASK_STOP);
	if (!tg->stopped)
		return;
	tg->stopped = false;
	tg->stop_signal = 0;
	tg->continued_pending = true;
	list_for_each(t, &tg->tasks, tg_node)
		if (t->state == TASK_STOPPED)
			fiber_wake(t->fiber);
	tgroup_notify_parent(tg, CLD_CONTINUED, SIGCONT);
}

static int send_signal(struct tgroup *tg, struct task *only, int signo, const struct l_siginfo *info)
{
	struct task *charged = only ? only : tg->leader;
	uint64_t blocked = charged ? charged->sig_mask | charged->real_blocked : 0;
	int ret;

	if (signo < 1 || signo > L_NSIG)
		return -EINVAL;
	if (tg->zombie || !tg->sighand)
		return 0;
	if (init_ignores(tg, signo, info) && (SIGBIT(signo) & SIG_MASK_KERNEL_ONLY))
		return 0;
	stop_and_continue(tg, signo);
	/* A blocked signal is kept even when ignored now: the handler may change before it is unblocked. */
	if (!(blocked & SIGBIT(signo)) && (sig_ignored(tg, signo) || init_ignores(tg, signo, info)))
		return 0;
	if (signo == SIGKILL) {
		tgroup_exit(tg, SIGKILL);
		return 0;
	}
	ret = sigpending_add(only ? &only->pending : &tg->shared, signo, info, charged ? charged->user : NULL,
			     tg->rlim[RLIMIT_SIGPENDING].cur);
	if (ret == 0)
		complete_signal(tg, only, signo);
	return ret;
}

int signal_send_task(struct task *t, int signo, const struct l_siginfo *info)
{
	return t->state >= TASK_ZOMBIE ? 0 : send_signal(t->tg, t, signo, info);
}

int signal_send_group(struct tgroup *tg, int signo, const struct l_siginfo *info)
{
	return send_signal(tg, NULL, signo, info);
}

int signal_send_pgrp(struct pgrp *pg, int signo, const struct l_siginfo *info)
{
	struct tgroup *tg, *tmp;
	int ret = -ESRCH;

	list_for_each_safe(tg, tmp, &pg->members, pgrp_node) {
		int r = send_signal(tg, NULL, signo, info);

		if (ret)
			ret = r;
	}
	return ret;
}

void signal_force_fault(struct task *t, int signo, const struct l_siginfo *info)
{
	struct l_sigaction *a = action_of(t->tg, signo);

	if ((t->sig_mask & SIGBIT(signo)) || a->handler == (uint64_t)SIG_IGN) {
		a->handler = (uint64_t)SIG_DFL;
		t->sig_mask &= ~SIGBIT(signo);
	}
	/* A fault of pid 1 is not a signal "from inside": nothing protects it. */
	sigpending_add(&t->pending, signo, info, NULL, 0);
	t->notify = true;
}

bool signal_permitted(struct tgroup *tg, int signo)
{
	const struct cred *c = current->cred, *to = tg->leader ? tg->leader->cred : NULL;

	if (current->tg == tg || !to || capable(CAP_KILL))
		return true;
	if (c->euid == to->suid || c->euid == to->uid || c->uid == to->suid || c->uid == to->uid)
		return true;
	return signo == SIGCONT && current->tg->pgrp && tg->pgrp && current->tg->pgrp->session == tg->pgrp->session;
}

bool signal_pending(struct task *t)
{
	uint64_t set = t->pending.set | t->tg->shared.set;

	t->notify = t->exiting || t->tg->exiting || (set & ~t->sig_mask) || (t->tg->stopped && !t->tg->exiting);
	return t->notify;
}

bool signal_fatal_pending(struct task *t)
{
	return t->exiting || t->tg->exiting;
}

int signal_dequeue(struct task *t, uint64_t mask, struct l_siginfo *info)
{
	int signo = sigpending_take(&t->pending, mask, info);

	return signo ? signo : sigpending_take(&t->tg->shared, mask, info);
}

/* Signals the whole process could take that another thread must now look at (retarget_shared_pending). */
static void retarget(struct task *t, uint64_t newly_blocked)
{
	uint64_t set = t->tg->shared.set & newly_blocked;
	struct task *o;

	if (!set)
		return;
	list_for_each(o, &t->tg->tasks, tg_node) {
		if (o == t || o->exiting || o->state >= TASK_ZOMBIE || !(set & ~o->sig_mask))
			continue;
		task_interrupt(o, false);
		set &= o->sig_mask;
		if (!set)
			return;
	}
}

void signal_set_mask(struct task *t, uint64_t mask)
{
	uint64_t old = t->sig_mask;

	t->sig_mask = mask & ~SIG_MASK_KERNEL_ONLY;
	retarget(t, t->sig_mask & ~old);
	signal_pending(t);
}

void signal_flush_ignored(struct tgroup *tg, int signo)
{
	struct task *t;

	if (!sig_ignored(tg, signo))
		return;
	sigpending_flush(&tg->shared, SIGBIT(signo));
	list_for_each(t, &tg->tasks, tg_node)
		sigpending_flush(&t->pending, SIGBIT(signo));
}

void signal_exec(struct task *t)
{
	struct sighand *h = t->tg->sighand;

	for (unsigned i = 0; i < L_NSIG; i++) {
		if (h->action[i].handler != (uint64_t)SIG_IGN)
			h->action[i].handler = (uint64_t)SIG_DFL;
		h->action[i].flags = h->action[i].mask = h->action[i].restorer = 0;
	}
	t->altstack_sp = t->altstack_size = 0;
	t->altstack_flags = SS_DISABLE;
	t->restart_fn = NULL;
}
