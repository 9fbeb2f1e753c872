/* Calls that make, end and arrange processes; their limits and resources. */
#include "syscalls/table.h"
#include "sentry/fiber.h"
#include "sentry/kernel.h"
#include "sentry/time/timers.h"
#include "sentry/task/task.h"
#include "sentry/task/wait.h"
#include "sentry/time/clock.h"
#include "sentry/base/util.h"
#include "fs/vfs.h"
#include <linux/sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/times.h>

int64_t sys_clone(unsigned long flags, uint64_t stack, uaddr_t parent_tid, uaddr_t child_tid, uint64_t tls)
{
	struct clone_args_k a = {
	    .flags = (uint32_t)flags & ~0xffull, /* CSIGNAL */
	    .exit_signal = (int)(flags & 0xff),
	    .stack = stack,
	    .tls = tls,
	    .parent_tid = parent_tid,
	    .child_tid = child_tid,
	    .pidfd = parent_tid,
	};

	/* clone(2) has one pointer for both. */
	if ((flags & CLONE_PIDFD) && (flags & CLONE_PARENT_SETTID))
		return -EINVAL;
	return do_clone(&a);
}

int64_t sys_fork(void)
{
	struct clone_args_k a = {.exit_signal = SIGCHLD};

	return do_clone(&a);
}

int64_t sys_vfork(void)
{
	struct clone_args_k a = {.flags = CLONE_VFORK | CLONE_VM, .exit_signal = SIGCHLD};

	return do_clone(&a);
}

/* An extensible struct: what is longer than we know must be zero. */
static int copy_in_extensible(void *dst, size_t known, uaddr_t src, size_t size)
{
	uint8_t rest[256];

	memset(dst, 0, known);
	if (copy_in(dst, src, MIN(size, known)))
		return -EFAULT;
	for (size_t at = known; at < size;) {
		size_t n = MIN(size - at, sizeof rest);

		if (copy_in(rest, uaddr_add(src, at), n))
			return -EFAULT;
		for (size_t i = 0; i < n; i++)
			if (rest[i])
				return -E2BIG;
		at += n;
	}
	return 0;
}

int64_t sys_clone3(uaddr_t args, size_t size)
{
	struct clone_args u;
	struct clone_args_k a;
	int32_t want = 0;
	int ret;

	if (size > GUEST_PAGE_SIZE)
		return -E2BIG;
	if (size < CLONE_ARGS_SIZE_VER0)
		return -EINVAL;
	ret = copy_in_extensible(&u, sizeof u, args, size);
	if (ret)
		return ret;
	if (u.set_tid_size > 32 || (!u.set_tid && u.set_tid_size) || (u.set_tid && !u.set_tid_size))
		return -EINVAL;
	if ((u.exit_signal & ~0xffull) || u.exit_signal > L_NSIG)
		return -EINVAL;
	if (u.flags & ~(0xffffff00ull | CLONE_CLEAR_SIGHAND | CLONE_INTO_CGROUP | CLONE_NEWTIME))
		return -EINVAL;
	if (u.flags & (CLONE_DETACHED | CLONE_NEWTIME))
		return -EINVAL;
	if ((u.flags & (CLONE_THREAD | CLONE_PARENT)) && u.exit_signal)
		return -EINVAL;
	if (!u.stack != !u.stack_size)
		return -EINVAL;
	if (u.stack && u.stack + u.stack_size < u.stack)
		return -EINVAL;
	if (u.set_tid_size > 1) /* there is one pid namespace */
		return -EINVAL;
	if (u.set_tid_size && copy_in_obj(want, uaddr(u.set_tid)))
		return -EFAULT;
	if (u.set_tid_size && want < 1)
		return -EINVAL;
	a = (struct clone_args_k){
	    .flags = u.flags,
	    .exit_signal = (int)u.exit_signal,
	    .stack = u.stack ? u.stack + u.stack_size : 0,
	    .tls = u.tls,
	    .parent_tid = uaddr(u.parent_tid),
	    .child_tid = uaddr(u.child_tid),
	    .pidfd = uaddr(u.pidfd),
	    .set_tid = want,
	};
	return do_clone(&a);
}

int64_t sys_exit(int status)
{
	task_exit(status & 0xff);
	return 0;
}

int64_t sys_exit_group(int status)
{
	tgroup_exit(current->tg, (status & 0xff) << 8);
	current->exiting = true;
	return 0;
}

/* Sharing undone; namespaces answer as a kernel without them. */
int64_t sys_unshare(unsigned long flags)
{
	struct task *t = current;
	unsigned long none = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET |
			     CLONE_NEWTIME;

	if (flags & ~(none | CLONE_NEWUSER | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_THREAD | CLONE_SIGHAND |
		      CLONE_VM))
		return -EINVAL;
	if (flags & (none | CLONE_NEWUSER))
		return (flags & CLONE_NEWUSER) || capable(CAP_SYS_ADMIN) ? -EINVAL : -EPERM;
	/* Only what is not shared can be "unshared" of these. */
	if ((flags & (CLONE_THREAD | CLONE_SIGHAND | CLONE_VM)) && t->tg->live > 1)
		return -EINVAL;
	if ((flags & CLONE_FILES) && t->files->refs > 1) {
		struct fdtable *f = fdtable_dup(t->files);

		if (!f)
			return -ENOMEM;
		fdtable_put(t->files);
		t->files = f;
	}
	if ((flags & CLONE_FS) && t->fs->refs > 1) {
		struct fs_context *f = fs_context_dup(t->fs);

		if (!f)
			return -ENOMEM;
		fs_context_put(t->fs);
		t->fs = f;
	}
	return 0;
}

int64_t sys_getpid(void)
{
	return current->tg->pid;
}
int64_t sys_gettid(void)
{
	return current->tid;
}
int64_t sys_getppid(void)
{
	return current->tg->parent ? current->tg->parent->pid : 0;
}
int64_t sys_set_tid_address(uaddr_t tidptr)
{
	current->clear_tid = tidptr;
	return current->tid;
}

/* --- groups and sessions --------------------------------------------------------------------------------- */
int64_t sys_getpgid(pid_t pid)
{
	struct task *t = pid ? task_find(pid) : current;

	if (!t)
		return -ESRCH;
	return t->tg->pgrp ? t->tg->pgrp->pgid : 0;
}
int64_t sys_getpgrp(void)
{
	return sys_getpgid(0);
}
int64_t sys_getsid(pid_t pid)
{
	struct task *t = pid ? task_find(pid) : current;

	if (!t)
		return -ESRCH;
	return t->tg->pgrp ? t->tg->pgrp->session->sid : 0;
}
int64_t sys_setsid(void)
{
	return do_setsid();
}

int64_t sys_setpgid(pid_t pid, pid_t pgid)
{
	struct tgroup *me = current->tg, *tg;
	struct task *t;
	struct pgrp *pg;

	if (!pid)
		pid = me->pid;
	if (!pgid)
		pgid = pid;
	if (pgid < 0)
		return -EINVAL;
	t = task_find(pid);
	if (!t)
		return -ESRCH;
	if (!task_is_leader(t))
		return -EINVAL;
	tg = t->tg;
	if (!tg->pgrp)
		return -ESRCH;
	if (tg->parent == me) {
		if (tg->pgrp->session != me->pgrp->session)
			return -EPERM;
		if (tg->did_exec)
			return -EACCES;
	} else if (tg != me) {
		return -ESRCH;
	}
	if (tg->pgrp->session->sid == tg->pid)
		return -EPERM;
	pg = pgrp_find(pgid);
	if (pgid != pid) {
		if (!pg || list_empty(&pg->members) || pg->session != me->pgrp->session)
			return -EPERM;
	}
	if (pg)
		pgrp_get(pg);
	else
		pg = pgrp_new(pgid, tg->pgrp->session);
	if (!pg)
		return -ENOMEM;
	if (pg->session != tg->pgrp->session) {
		pgrp_put(pg);
		return -EPERM;
	}
	tgroup_set_pgrp(tg, pg);
	pgrp_put(pg);
	return 0;
}

/* --- limits and resources ---------------------------------------------------------------------------------- */
static int set_rlimit(struct tgroup *tg, unsigned res, const struct l_rlimit *n)
{
	struct l_rlimit *r = &tg->rlim[res];

	if (n->cur > n->max)
		return -EINVAL;
	if (res == RLIMIT_NOFILE && n->max > 1048576) /* fs.nr_open */
		return -EPERM;
	if (n->max > r->max && !capable(CAP_SYS_RESOURCE))
		return -EPERM;
	*r = *n;
	return res == RLIMIT_CPU ? timers_cpu_limit(tg) : 0;
}

int64_t sys_getrlimit(unsigned res, uaddr_t out)
{
	if (res >= L_RLIM_NLIMITS)
		return -EINVAL;
	return copy_out_obj(out, current->tg->rlim[res]);
}

int64_t sys_setrlimit(unsigned res, uaddr_t in)
{
	struct l_rlimit n;

	if (copy_in_obj(n, in))
		return -EFAULT;
	if (res >= L_RLIM_NLIMITS)
		return -EINVAL;
	return set_rlimit(current->tg, res, &n);
}

int64_t sys_prlimit64(pid_t pid, unsigned res, uaddr_t new, uaddr_t old)
{
	struct l_rlimit n, o;
	struct task *t;
	int ret;

	if (res >= L_RLIM_NLIMITS)
		return -EINVAL;
	if (!uaddr_null(new) && copy_in_obj(n, new))
		return -EFAULT;
	t = pid ? task_find(pid) : current;
	if (!t)
		return -ESRCH;
	if (t->tg != current->tg && !capable(CAP_SYS_RESOURCE)) {
		const struct cred *c = current->cred, *to = t->cred;

		if (c->uid != to->euid || c->uid != to->suid || c->uid != to->uid || c->gid != to->egid ||
		    c->gid != to->sgid || c->gid != to->gid)
			return -EPERM;
	}
	o = t->tg->rlim[res];
	if (!uaddr_null(new)) {
		ret = set_rlimit(t->tg, res, &n);
		if (ret)
			return ret;
	}
	return uaddr_null(old) ? 0 : copy_out_obj(old, o);
}

int64_t sys_getrusage(int who, uaddr_t out)
{
	struct rusage ru;

	if (who == RUSAGE_CHILDREN)
		tgroup_children_rusage(current->tg, &ru);
	else if (who == RUSAGE_SELF)
		tgroup_rusage(current->tg, &ru);
	else if (who == RUSAGE_THREAD)
		task_rusage(current, &ru);
	else
		return -EINVAL;
	return copy_out_obj(out, ru);
}

int64_t sys_times(uaddr_t out)
{
	struct tgroup *tg = current->tg;
	const uint64_t tick = NSEC_PER_SEC / 100;
	int64_t v[4] = {
	    (int64_t)((tgroup_cpu_ns(tg) - tg->stime_ns) / tick),
	    (int64_t)(tg->stime_ns / tick),
	    (int64_t)(tg->cutime_ns / tick),
	    (int64_t)(tg->cstime_ns / tick),
	};

	if (!uaddr_null(out) && copy_out_obj(out, v))
		return -EFAULT;
	return (int64_t)(now_boot_ns() / tick);
}

int64_t sys_personality(unsigned persona)
{
	uint64_t old = current->personality;

	if (persona != 0xffffffffu)
		current->personality = persona;
	return (int64_t)old;
}
