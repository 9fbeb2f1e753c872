/*
 * Leaving: one thread, a whole group, and what the rest of the world learns of it. Order as in do_exit: robust
 * futexes and clear_tid while the memory is still there, then memory, files, and the news to the parent.
 */
#include "sentry/ipc/ipc.h"
#include "sentry/task/task.h"
#include "sentry/trace/trace.h"
#include "sentry/fiber.h"
#include "sentry/kernel.h"
#include "sentry/mm/mm.h"
#include "sentry/platform/platform.h"
#include "sentry/time/timers.h"
#include "sentry/base/log.h"
#include "sentry/base/util.h"
#include "fs/vfs.h"
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* Robust list and clear_tid (sentry/futex). */
__attribute__((weak)) void futex_exit(struct task *t);
/* A session leader with a terminal is gone: hang up, forget (fs/tty). */
__attribute__((weak)) void tty_session_leader_exit(struct session *s);

void task_exit(int code)
{
	current->exit_code = code;
	current->exiting = true;
	current->notify = true;
}

/*
 * A thread that does not come when kicked (a guest can forge a signal mask) is killed with its host process, but
 * only then: while the memory stands, robust futexes in shared pages are released properly.
 */
#define KILL_PATIENCE_NS 200000000ull

static void kill_stuck(struct timer *timer)
{
	struct tgroup *tg = container_of(timer, struct tgroup, kill_timer);
	struct task *t;

	list_for_each(t, &tg->tasks, tg_node) {
		if (t->state >= TASK_ZOMBIE || !t->mm || !t->host)
			continue;
		if (t->mm->users <= tg->live) {
			plat_as_kill(plat_thread_as(t->host));
			return;
		}
		task_interrupt(t, true);
	}
	timer_arm(timer, now_mono_ns() + KILL_PATIENCE_NS);
}

void tgroup_exit(struct tgroup *tg, int wait_status)
{
	struct task *t;
	bool running = false;

	if (tg->exiting || tg->zombie)
		return;
	tg->exiting = true;
	tg->exit_code = wait_status;
	tg->stopped = false;
	list_for_each(t, &tg->tasks, tg_node) {
		if (t->state >= TASK_ZOMBIE)
			continue;
		t->exiting = true;
		task_interrupt(t, true);
		running |= t->host && !t->in_sleep && t->state != TASK_STOPPED && !(fiber_self() && t == current);
	}
	if (running) {
		tg->kill_timer.fn = kill_stuck;
		timer_arm(&tg->kill_timer, now_mono_ns() + KILL_PATIENCE_NS);
	}
	waitq_wake(&tg->exec_q, 0);
}

void task_vfork_release(struct task *t)
{
	struct waitq *q = t->vfork_done;

	if (!q)
		return;
	t->vfork_done = NULL;
	*t->vfork_flag = true;
	t->vfork_flag = NULL;
	waitq_wake(q, 0);
}

void tgroup_notify_parent(struct tgroup *tg, int cld_code, int status)
{
	struct tgroup *parent = tg->parent;
	struct l_siginfo info = {.signo = SIGCHLD, .code = cld_code};
	bool is_exit = cld_code == CLD_EXITED || cld_code == CLD_KILLED || cld_code == CLD_DUMPED;
	int signo = is_exit ? tg->exit_signal : SIGCHLD;

	if (!parent || parent->zombie)
		return;
	info.chld.pid = tg->pid;
	info.chld.uid = tg->leader && tg->leader->cred ? tg->leader->cred->uid : 0;
	info.chld.status = status;
	info.chld.utime = (int64_t)(tg->utime_ns / 10000000);
	info.chld.stime = (int64_t)(tg->stime_ns / 10000000);
	info.signo = signo;
	if (!is_exit && (parent->sighand->action[SIGCHLD - 1].flags & SA_NOCLDSTOP))
		signo = 0;
	if (signo)
		signal_send_group(parent, signo, &info);
	waitq_wake(&parent->child_q, 0);
}

/* Newly orphaned groups with a stopped member get SIGHUP and SIGCONT (POSIX; kill_orphaned_pgrp). */
static void check_orphaned(struct pgrp *pg, struct tgroup *ignore)
{
	if (!pg || !pgrp_is_orphaned(pg, ignore) || !pgrp_has_stopped(pg))
		return;
	pgrp_get(pg);
	signal_send_pgrp(pg, SIGHUP, NULL);
	signal_send_pgrp(pg, SIGCONT, NULL);
	pgrp_put(pg);
}

static bool auto_reaps(struct tgroup *parent)
{
	const struct l_sigaction *a = &parent->sighand->action[SIGCHLD - 1];

	return a->handler == (uint64_t)SIG_IGN || (a->flags & SA_NOCLDWAIT);
}

static void finish(struct tgroup *tg);

/* The process is a zombie: tell the parent, or vanish at once when nobody wants to know. */
static void announce(struct tgroup *tg)
{
	int st = tg->exit_code;
	struct tgroup *parent = tg->parent;
	bool reap;

	if (!parent || parent->zombie) {
		finish(tg);
		return;
	}
	reap = tg->exit_signal == SIGCHLD && auto_reaps(parent);
	if (tg->exit_signal && !(reap && parent->sighand->action[SIGCHLD - 1].handler == (uint64_t)SIG_IGN))
		tgroup_notify_parent(tg, WIFSIGNALED(st) ? CLD_KILLED : CLD_EXITED,
				     WIFSIGNALED(st) ? WTERMSIG(st) : WEXITSTATUS(st));
	if (reap)
		finish(tg);
	waitq_wake(&parent->child_q, 0);
}

static void finish(struct tgroup *tg)
{
	void (*done)(void *, int, int) = tg->spawn_done;
	void *arg = tg->spawn_arg;
	int status = tg->exit_code, error = tg->spawn_error;

	tg->spawn_done = NULL;
	tgroup_release(tg);
	if (done)
		done(arg, status, error);
}

/* The nearest living ancestor that adopts orphans: a subreaper, else pid 1. */
static struct tgroup *find_reaper(struct tgroup *tg)
{
	struct tgroup *p, *init = tgroup_find(1);

	for (p = tg->parent; p; p = p->parent)
		if (p->is_subreaper && !p->zombie && !p->exiting)
			return p;
	return init && init != tg && !init->zombie ? init : NULL;
}

static void reparent_children(struct tgroup *tg)
{
	struct tgroup *c, *tmp, *to = find_reaper(tg);

	list_for_each_safe(c, tmp, &tg->children, sibling) {
		struct task *t;

		list_del(&c->sibling);
		c->parent = to;
		c->parent_tid = to ? to->pid : 0;
		if (to)
			list_add_tail(&to->children, &c->sibling);
		list_for_each(t, &c->tasks, tg_node) {
			struct l_siginfo info = {.code = L_SI_USER};

			info.rt.pid = tg->pid;
			if (t->pdeath_signal && t->state < TASK_ZOMBIE)
				signal_send_task(t, t->pdeath_signal, &info);
		}
		if (c->zombie) {
			c->exit_signal = SIGCHLD;
			announce(c);
		} else {
			c->exit_signal = SIGCHLD;
			if (c->pgrp && tg->pgrp && c->pgrp != tg->pgrp && c->pgrp->session == tg->pgrp->session)
				check_orphaned(c->pgrp, NULL);
		}
	}
}

/* pid 1 is gone: nothing inside survives it (zap_pid_ns_processes). */
static void kill_everything(void)
{
	for (struct tgroup *tg = tgroup_next(2), *next; tg; tg = next) {
		pid_t after = tg->pid + 1;

		tgroup_exit(tg, SIGKILL);
		next = tgroup_next(after);
	}
}

/* The last task of the process has left. */
static void tgroup_die(struct tgroup *tg)
{
	struct session *s = tg->pgrp ? tg->pgrp->session : NULL;
	bool is_init = tg->pid == 1;

	timer_cancel(&tg->kill_timer);
	timers_exit(tg);
	if (s && s->sid == tg->pid && s->tty && tty_session_leader_exit)
		tty_session_leader_exit(s);
	tg->zombie = true;
	tg->stopped = false;
	tg->exiting = true;
	sigpending_flush(&tg->shared, ~0ull);
	reparent_children(tg);
	if (tg->pgrp && tg->parent && tg->parent->pgrp && tg->parent->pgrp != tg->pgrp &&
	    tg->parent->pgrp->session == tg->pgrp->session)
		check_orphaned(tg->pgrp, tg);
	waitq_wake(&tg->exit_q, 0);
	if (is_init) {
		int status = tg->exit_code;

		kill_everything();
		announce(tg);
		kernel_init_exited(status);
		return;
	}
	announce(tg);
}

static void leave_memory(struct task *t)
{
	struct mm *mm = t->mm;
	struct plat_thread *host = t->host;

	if (futex_exit && mm && host)
		futex_exit(t);
	if (host) {
		t->tg->utime_ns += plat_thread_cpu_ns(host);
		t->host = NULL;
		plat_thread_exit(host);
	}
	task_vfork_release(t);
	t->mm = NULL;
	if (mm) {
		mm->users--;
		mm_put(mm);
	}
}

void task_leave(struct task *t)
{
	struct tgroup *tg = t->tg;

	t->exiting = true;
	t->state = TASK_RUNNING;
	/* The leader's code is the process's unless a group exit set one, also when other threads outlive it. */
	if (!tg->exiting && task_is_leader(t))
		tg->exit_code = (t->exit_code & 0xff) << 8;
	if (trace_on)
		trace_end(t);
	leave_memory(t);
	if (t->files) {
		struct fdtable *f = t->files;

		/* current keeps the table while its files close: their release may look at it. */
		t->files = NULL;
		fdtable_put(f);
	}
	if (t->fs) {
		fs_context_put(t->fs);
		t->fs = NULL;
	}
	sigpending_flush(&t->pending, ~0ull);
	t->state = task_is_leader(t) ? TASK_ZOMBIE : TASK_DEAD;
	tg->live--;
	if (!task_is_leader(t))
		task_unlink(t);
	if (tg->exec_task && tg->exec_task != t)
		waitq_wake(&tg->exec_q, 0);
	if (tg->live == 0) {
		sem_exit(tg);
		tgroup_die(tg);
	} else if (tg->stopped && tg->stopped_count == tg->live && !tg->stop_reported && tg->stop_signal) {
		tg->stop_reported = true;
		tgroup_notify_parent(tg, CLD_STOPPED, tg->stop_signal);
	}
}

int task_dethread(void)
{
	struct task *me = current, *t;
	struct tgroup *tg = me->tg;

	if (tg->exiting || tg->exec_task || me->exiting)
		return -EAGAIN;
	if (tg->live > 1) {
		tg->exec_task = me;
		list_for_each(t, &tg->tasks, tg_node) {
			if (t == me || t->state >= TASK_ZOMBIE)
				continue;
			t->exiting = true;
			task_interrupt(t, true);
		}
		while (tg->live > 1 && !tg->exiting)
			if (wait_on_killable(&tg->exec_q, 0) == -EINTR)
				break;
		tg->exec_task = NULL;
		if (tg->exiting || tg->live > 1)
			return -EINTR;
	}
	if (tg->leader != me) {
		struct task *old = tg->leader;

		/* The leader's number stays; ours is given up (de_thread). */
		list_del(&me->hash);
		list_del(&me->tg_node);
		list_add(&tg->tasks, &me->tg_node);
		me->tid = tg->pid;
		tg->leader = me;
		if (old)
			task_unlink(old);
		pid_hash_task(me);
	}
	if (tg->sighand->refs > 1) {
		struct sighand *h = sighand_dup(tg->sighand);

		if (!h)
			return -ENOMEM;
		sighand_put(tg->sighand);
		tg->sighand = h;
	}
	return 0;
}

void task_exec_done(const char *name)
{
	struct task *t = current;

	signal_exec(t);
	timers_exec(t->tg);
	t->clear_tid = t->robust_list = uaddr(0);
	t->tg->did_exec = true;
	t->tg->dumpable = true;
	t->tg->exit_signal = SIGCHLD;
	t->cur_nr = -1;
	snprintf(t->comm, sizeof t->comm, "%s", name);
	task_vfork_release(t);
}
