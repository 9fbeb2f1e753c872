/*
 * clone, clone3, fork and vfork: the combinations Linux refuses, what is shared and what is copied, and the host
 * thread that will run the child. The child appears in the tables only when nothing can fail any more, with no
 * sleep between that point and its first run.
 */
#include <sched.h>
#include "sentry/time/timers.h"
#include "sentry/task/task.h"
#include "sentry/fiber.h"
#include "sentry/kernel.h"
#include "sentry/mm/mm.h"
#include "sentry/platform/platform.h"
#include "sentry/base/util.h"
#include "fs/vfs.h"
#include <linux/sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#define SCHED_RESET_ON_FORK_ 0x40000000 /* the C library hides these two */
#define SCHED_DEADLINE_ 6

/* A pidfd for TG; the descriptor is not installed yet (fs/pidfd). *OUT counted. */
__attribute__((weak)) int pidfd_new_file(struct tgroup *tg, int flags, struct file **out);
/* clone3 and clone name the time namespace differently; neither exists here. */
#define NAMESPACES                                                                                                     \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

static int check_flags(const struct clone_args_k *a)
{
	uint64_t f = a->flags;

	if ((f & (CLONE_NEWNS | CLONE_FS)) == (CLONE_NEWNS | CLONE_FS))
		return -EINVAL;
	if ((f & (CLONE_NEWUSER | CLONE_FS)) == (CLONE_NEWUSER | CLONE_FS))
		return -EINVAL;
	if ((f & CLONE_THREAD) && !(f & CLONE_SIGHAND))
		return -EINVAL;
	if ((f & CLONE_SIGHAND) && !(f & CLONE_VM))
		return -EINVAL;
	if ((f & CLONE_PARENT) && current->tg->pid == 1)
		return -EINVAL;
	if ((f & CLONE_THREAD) && (f & (CLONE_NEWUSER | CLONE_NEWPID)))
		return -EINVAL;
	if ((f & CLONE_PIDFD) && (f & (CLONE_DETACHED | CLONE_THREAD)))
		return -EINVAL;
	if ((f & CLONE_CLEAR_SIGHAND) && (f & CLONE_SIGHAND))
		return -EINVAL;
	if (f & CLONE_INTO_CGROUP)
		return -EOPNOTSUPP;
	/* As a kernel built without namespaces: EPERM for who may not, EINVAL for who may. */
	if (f & NAMESPACES)
		return (f & NAMESPACES) == CLONE_NEWUSER || capable(CAP_SYS_ADMIN) ? -EINVAL : -EPERM;
	if (a->set_tid) {
		if (!capable(CAP_SYS_ADMIN) && !capable(CAP_CHECKPOINT_RESTORE))
			return -EPERM;
		if (a->set_tid < 1 || (unsigned)a->set_tid >= pid_max)
			return -EINVAL;
		if (pid_in_use(a->set_tid))
			return -EEXIST;
	}
	return 0;
}

static int check_limits(struct task *me)
{
	if (me->user && me->user->tasks >= me->tg->rlim[RLIMIT_NPROC].cur && me->cred->uid != 0 &&
	    !capable(CAP_SYS_RESOURCE) && !capable(CAP_SYS_ADMIN))
		return -EAGAIN;
	return 0;
}

/* A process of its own: everything of the group that fork copies. */
static int copy_group(struct tgroup *tg, const struct clone_args_k *a)
{
	struct tgroup *old = current->tg;

	if (a->flags & CLONE_SIGHAND) {
		tg->sighand = old->sighand;
		tg->sighand->refs++;
	} else {
		tg->sighand = sighand_dup(old->sighand);
		if (!tg->sighand)
			return -ENOMEM;
	}
	if (a->flags & CLONE_CLEAR_SIGHAND)
		for (unsigned i = 0; i < L_NSIG; i++)
			if (tg->sighand->action[i].handler != (uint64_t)SIG_IGN)
				tg->sighand->action[i] = (struct l_sigaction){0};
	memcpy(tg->rlim, old->rlim, sizeof tg->rlim);
	tg->oom_score_adj = old->oom_score_adj;
	tg->dumpable = old->dumpable;
	tg->exit_signal = (a->flags & CLONE_PARENT) ? old->exit_signal : a->exit_signal;
	return 0;
}

static int copy_task(struct task *t, const struct clone_args_k *a)
{
	struct task *me = current;

	memcpy(t->comm, me->comm, sizeof t->comm);
	t->sig_mask = me->sig_mask;
	/* vfork keeps the alternate stack: the child runs on its parent's memory and is expected to exec. */
	if (!(a->flags & CLONE_VM) || (a->flags & CLONE_VFORK)) {
		t->altstack_sp = me->altstack_sp;
		t->altstack_size = me->altstack_size;
		t->altstack_flags = me->altstack_flags;
	}
	t->cred = cred_get(me->cred);
	t->user = user_count_get(t->cred->uid);
	if (!t->user)
		return -ENOMEM;
	t->user->tasks++;
	t->ioprio = me->ioprio;
	t->nice = me->nice;
	t->sched_policy = me->sched_policy;
	t->sched_prio = me->sched_prio;
	if (me->sched_policy & SCHED_RESET_ON_FORK_) { /* sched_fork */
		int p = me->sched_policy & ~SCHED_RESET_ON_FORK_;

		t->sched_policy = p == SCHED_FIFO || p == SCHED_RR || p == SCHED_DEADLINE_ ? SCHED_OTHER : p;
		t->sched_prio = 0;
		t->nice = t->nice < 0 || t->sched_policy != p ? 0 : t->nice;
	} else if (me->sched_policy == SCHED_DEADLINE_) {
		return -EAGAIN;
	}
	t->cpu_mask = me->cpu_mask;
	t->personality = me->personality;
	t->no_new_privs = me->no_new_privs;
	t->timer_slack = t->default_slack = me->timer_slack;
	if (a->flags & CLONE_CHILD_CLEARTID)
		t->clear_tid = a->child_tid;
	t->files = (a->flags & CLONE_FILES) ? fdtable_get(me->files) : fdtable_dup(me->files);
	t->fs = (a->flags & CLONE_FS) ? fs_context_get(me->fs) : fs_context_dup(me->fs);
	return t->files && t->fs ? 0 : -ENOMEM;
}

/* The host side. Sleeps; the map must not change between the copy of the table and that of the pages. */
static int copy_memory(struct task *t, const struct clone_args_k *a)
{
	struct task *me = current;
	bool tls = a->flags & CLONE_SETTLS;
	int ret;

	if (a->flags & CLONE_VM) {
		ret = plat_clone(me->host, a->stack, tls, a->tls, &t->host);
		if (ret < 0)
			return ret;
		t->mm = mm_get(me->mm);
		t->mm->users++;
		return 0;
	}
	mm_lock(me->mm);
	t->mm = mm_dup(me->mm);
	if (!t->mm) {
		mm_unlock(me->mm);
		return -ENOMEM;
	}
	ret = plat_fork(me->host, a->stack, tls, a->tls, &t->host);
	mm_unlock(me->mm);
	t->mm->users = 1;
	if (ret == 0)
		t->mm->as = plat_thread_as(t->host);
	return ret;
}

/* Undo a child that was never linked. */
static void drop_child(struct task *t)
{
	if (t->host)
		plat_thread_exit(t->host);
	if (t->mm) {
		t->mm->users--;
		mm_put(t->mm);
	}
	if (t->files)
		fdtable_put(t->files);
	if (t->fs)
		fs_context_put(t->fs);
	task_put(t);
}

/* Sleep until the vfork child has left our memory: only death of the parent ends it early. */
static void vfork_wait(struct task *child, struct waitq *q, bool *done)
{
	while (!*done)
		if (wait_on_killable(q, 0) == -EINTR)
			break;
	if (!*done) {
		child->vfork_done = NULL;
		child->vfork_flag = NULL;
	}
}

static int install_pidfd(const struct clone_args_k *a, struct tgroup *tg)
{
	struct file *f;
	int fd, ret;

	if (!pidfd_new_file)
		return -EINVAL;
	ret = pidfd_new_file(tg, 0, &f);
	if (ret < 0)
		return ret;
	fd = fd_install(f, 0, true);
	if (fd < 0) {
		file_put(f);
		return fd;
	}
	if (copy_out_obj(a->pidfd, fd)) {
		fd_close(fd);
		return -EFAULT;
	}
	return fd;
}

int64_t do_clone(const struct clone_args_k *a)
{
	struct task *me = current, *t;
	struct tgroup *tg;
	struct waitq vq;
	bool vdone = false;
	int ret = check_flags(a), pidfd = -1;
	pid_t tid;

	if (ret == 0)
		ret = check_limits(me);
	if (ret < 0)
		return ret;
	tg = (a->flags & CLONE_THREAD) ? tgroup_get(me->tg) : tgroup_new();
	if (!tg)
		return -ENOMEM;
	t = task_new(tg);
	if (!t) {
		tgroup_put(tg);
		return -EAGAIN;
	}
	ret = (a->flags & CLONE_THREAD) ? 0 : copy_group(tg, a);
	if (ret == 0)
		ret = copy_memory(t, a);
	/* The copy slept: a signal that came meanwhile goes first, so that it meets the child or comes before it. */
	if (ret == 0 && (me->exiting || (!(a->flags & CLONE_THREAD) && signal_pending(me))))
		ret = -ERESTARTNOINTR;
	if (ret == 0)
		ret = copy_task(t, a);
	tid = -EAGAIN;
	if (ret == 0) {
		tid = a->set_tid && !pid_in_use(a->set_tid) ? a->set_tid : a->set_tid ? -EEXIST : pid_alloc();
		ret = tid < 0 ? tid : 0;
	}
	if (ret == 0) {
		t->tid = tid;
		if (!(a->flags & CLONE_THREAD))
			tg->pid = tid;
	}
	if (ret == 0 && (a->flags & CLONE_PIDFD)) {
		pidfd = install_pidfd(a, tg);
		ret = pidfd < 0 ? pidfd : 0;
	}
	if (ret == 0) {
		t->fiber = fiber_create(task_main, t, t);
		if (!t->fiber) {
			ret = -ENOMEM;
			if (pidfd >= 0)
				fd_close(pidfd);
		}
	}
	if (ret < 0) {
		drop_child(t);
		tgroup_put(tg);
		return ret;
	}

	task_get(t); /* the fiber's */
	if (!(a->flags & CLONE_THREAD))
		sandbox.processes++;
	if (!(a->flags & CLONE_THREAD)) {
		tg->leader = t;
		tg->parent = (a->flags & CLONE_PARENT) ? me->tg->parent : me->tg;
		tg->parent_tid = (a->flags & CLONE_PARENT) ? me->tg->parent_tid : me->tid;
		tgroup_link(tg);
		timers_cpu_limit(tg); /* short of memory the child goes unwatched until a limit is set again */
		if (me->tg->pgrp)
			tgroup_set_pgrp(tg, me->tg->pgrp);
	} else {
		tgroup_put(tg);
	}
	task_link(t);
	if (a->flags & CLONE_PARENT_SETTID)
		/* At once, not with the call's reply: the child may exit first, and its cleared tid must stay cleared. */
		plat_write_mem(me->host, a->parent_tid.a, &tid, sizeof tid);
	if (a->flags & CLONE_CHILD_SETTID)
		plat_write_mem(t->host, a->child_tid.a, &tid, sizeof tid);
	if (me->tg->stopped || me->tg->exiting)
		t->notify = true;
	t->exiting = t->exiting || ((a->flags & CLONE_THREAD) && (me->tg->exiting || me->tg->exec_task));
	if (a->flags & CLONE_VFORK) {
		waitq_init(&vq);
		t->vfork_done = &vq;
		t->vfork_flag = &vdone;
		task_get(t);
		fiber_wake(t->fiber);
		vfork_wait(t, &vq, &vdone);
		task_put(t);
	} else {
		fiber_wake(t->fiber);
	}
	return tid;
}
