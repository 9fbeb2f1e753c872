/* Signal calls. What they do to queues and masks is sentry/signal's. */
#include "syscalls/table.h"
#include "sentry/task/task.h"
#include "sentry/platform/platform.h"
#include "sentry/base/util.h"
#include <limits.h>

#define SIGSET_SIZE 8
/* UAPI_SA_FLAGS with SA_RESTORER: other bits read back as zero, so that programs can probe. */
#define SA_KNOWN 0xdc000807ull

int64_t sys_rt_sigaction(int sig, uaddr_t act, uaddr_t oldact, size_t size)
{
	struct l_sigaction n, old, *a;

	if (size != SIGSET_SIZE)
		return -EINVAL;
	if (!uaddr_null(act) && copy_in_obj(n, act))
		return -EFAULT;
	if (sig < 1 || sig > L_NSIG || (!uaddr_null(act) && (sig == SIGKILL || sig == SIGSTOP)))
		return -EINVAL;
	a = &current->tg->sighand->action[sig - 1];
	old = *a;
	if (!uaddr_null(act)) {
		n.flags &= SA_KNOWN;
		n.mask &= ~SIG_MASK_KERNEL_ONLY;
		*a = n;
		signal_flush_ignored(current->tg, sig);
	}
	return uaddr_null(oldact) ? 0 : copy_out_obj(oldact, old);
}

int64_t sys_rt_sigprocmask(int how, uaddr_t set, uaddr_t oldset, size_t size)
{
	uint64_t n, old = current->sig_mask;

	if (size != SIGSET_SIZE)
		return -EINVAL;
	if (!uaddr_null(set)) {
		if (copy_in_obj(n, set))
			return -EFAULT;
		switch (how) {
		case SIG_BLOCK:
			n |= old;
			break;
		case SIG_UNBLOCK:
			n = old & ~n;
			break;
		case SIG_SETMASK:
			break;
		default:
			return -EINVAL;
		}
		signal_set_mask(current, n);
	}
	return uaddr_null(oldset) ? 0 : copy_out_obj(oldset, old);
}

int64_t sys_rt_sigreturn(void)
{
	return signal_frame_return(current);
}

int64_t sys_restart_syscall(void)
{
	return current->restart_fn ? current->restart_fn(current) : -EINTR;
}

int64_t sys_rt_sigpending(uaddr_t set, size_t size)
{
	uint64_t s = (current->pending.set | current->tg->shared.set) & current->sig_mask;

	if (size > SIGSET_SIZE)
		return -EINVAL;
	return copy_out(set, &s, size);
}

int64_t sys_sigaltstack(uaddr_t ss, uaddr_t oldss)
{
	struct {
		uint64_t sp;
		int32_t flags, pad;
		uint64_t size;
	} n, old = {0};
	struct task *t = current;
	uint64_t sp = plat_regs(t->host)->rsp;
	int64_t ret;

	if (!uaddr_null(ss) && copy_in_obj(n, ss))
		return -EFAULT;
	old.sp = t->altstack_sp;
	old.size = t->altstack_size;
	old.flags = (int)((unsigned)t->altstack_flags & (1u << 31));
	old.flags |= !t->altstack_size ? SS_DISABLE : on_altstack(t, sp) ? SS_ONSTACK : 0;
	if (!uaddr_null(ss)) {
		ret = do_sigaltstack(t, n.sp, n.flags, n.size, sp);
		if (ret)
			return ret;
	}
	return uaddr_null(oldss) ? 0 : copy_out_obj(oldss, old);
}

/* Sleep until a signal is to be handled. */
static int64_t sleep_for_signal(void)
{
	while (!signal_pending(current))
		if (wait_sleep(0) == -ENOMEM)
			return -ENOMEM;
	return -ERESTARTNOHAND;
}

int64_t sys_pause(void)
{
	return sleep_for_signal();
}

int64_t sys_rt_sigsuspend(uaddr_t mask, size_t size)
{
	struct task *t = current;
	uint64_t n;

	if (size != SIGSET_SIZE)
		return -EINVAL;
	if (copy_in_obj(n, mask))
		return -EFAULT;
	t->saved_mask = t->sig_mask;
	signal_set_mask(t, n);
	t->restore_mask = true;
	return sleep_for_signal();
}

int64_t sys_rt_sigtimedwait(uaddr_t set, uaddr_t uinfo, uaddr_t timeout, size_t size)
{
	struct task *t = current;
	struct l_siginfo info;
	uint64_t want, deadline = 0;
	bool poll = false;
	int signo, ret;

	if (size != SIGSET_SIZE)
		return -EINVAL;
	if (copy_in_obj(want, set))
		return -EFAULT;
	if (!uaddr_null(timeout)) {
		int64_t ts[2];

		if (copy_in_obj(ts, timeout))
			return -EFAULT;
		if (ts[0] < 0 || ts[1] < 0 || ts[1] >= NSEC_PER_SEC)
			return -EINVAL;
		poll = !ts[0] && !ts[1];
		/* Centuries do not fit into nanoseconds: no deadline then. */
		if (ts[0] < 4000000000ll)
			deadline = now_mono_ns() + (uint64_t)(ts[0] * NSEC_PER_SEC + ts[1]);
	}
	want &= ~SIG_MASK_KERNEL_ONLY;
	signo = signal_dequeue(t, want, &info);
	while (!signo) {
		if (poll)
			return -EAGAIN;
		/* Open the wanted ones for the sleep only; real_blocked keeps them from being ignored or fatal. */
		t->real_blocked = t->sig_mask;
		t->sig_mask &= ~want;
		ret = wait_sleep(deadline);
		t->sig_mask = t->real_blocked;
		t->real_blocked = 0;
		signo = signal_dequeue(t, want, &info);
		signal_pending(t);
		if (signo)
			break;
		if (ret == -ETIMEDOUT)
			return -EAGAIN;
		if (ret < 0)
			return ret == -ENOMEM ? ret : -EINTR;
	}
	signal_pending(t);
	if (!uaddr_null(uinfo) && copy_out_obj(uinfo, info))
		return -EFAULT;
	return signo;
}

/* --- sending ------------------------------------------------------------------------------------------------- */
static struct l_siginfo user_info(int signo, int code)
{
	struct l_siginfo info = {.signo = signo, .code = code};

	info.rt.pid = current->tg->pid;
	info.rt.uid = current->cred->uid;
	return info;
}

static int send_checked(struct tgroup *tg, struct task *only, int signo, const struct l_siginfo *info)
{
	if (!signal_permitted(tg, signo))
		return -EPERM;
	if (!signo)
		return 0;
	return only ? signal_send_task(only, signo, info) : signal_send_group(tg, signo, info);
}

static bool signo_ok(int signo)
{
	return signo >= 0 && signo <= L_NSIG;
}

/* A thread's number names its process, as in Linux. */
static struct tgroup *process_of(pid_t pid)
{
	struct task *t = task_find(pid);

	return t ? t->tg : tgroup_find(pid);
}

static int64_t kill_pgrp(struct pgrp *pg, int signo, const struct l_siginfo *info)
{
	struct tgroup *tg, *tmp;
	int64_t ret = -ESRCH;
	bool ok = false;

	if (!pg)
		return -ESRCH;
	pgrp_get(pg);
	list_for_each_safe(tg, tmp, &pg->members, pgrp_node) {
		int r = send_checked(tg, NULL, signo, info);

		ok |= r == 0;
		ret = r;
	}
	pgrp_put(pg);
	return ok ? 0 : ret;
}

int64_t sys_kill(pid_t pid, int signo)
{
	struct l_siginfo info = user_info(signo, L_SI_USER);
	struct tgroup *tg;

	if (pid == INT_MIN)
		return -ESRCH;
	if (pid > 0) {
		tg = process_of(pid);
		if (!signo_ok(signo))
			return -EINVAL;
		return tg ? send_checked(tg, NULL, signo, &info) : -ESRCH;
	}
	if (!signo_ok(signo))
		return -EINVAL;
	if (pid == -1) {
		int64_t ret = -ESRCH;

		for (tg = tgroup_next(2); tg; tg = tgroup_next(pid + 1)) {
			int r;

			pid = tg->pid;
			if (tg == current->tg)
				continue;
			r = send_checked(tg, NULL, signo, &info);
			if (r != -EPERM)
				ret = r;
			else if (ret == -ESRCH)
				ret = -EPERM;
		}
		return ret;
	}
	return kill_pgrp(pid ? pgrp_find(-pid) : current->tg->pgrp, signo, &info);
}

static int64_t kill_thread(pid_t tgid, pid_t tid, int signo, const struct l_siginfo *info)
{
	struct task *t;

	t = task_find(tid);
	if (!t || (tgid > 0 && t->tg->pid != tgid))
		return -ESRCH;
	if (!signo_ok(signo))
		return -EINVAL;
	return send_checked(t->tg, t, signo, info);
}

int64_t sys_tkill(pid_t tid, int signo)
{
	struct l_siginfo info = user_info(signo, L_SI_TKILL);

	return tid <= 0 ? -EINVAL : kill_thread(0, tid, signo, &info);
}

int64_t sys_tgkill(pid_t tgid, pid_t tid, int signo)
{
	struct l_siginfo info = user_info(signo, L_SI_TKILL);

	return tid <= 0 || tgid <= 0 ? -EINVAL : kill_thread(tgid, tid, signo, &info);
}

static int copy_in_info(struct l_siginfo *info, uaddr_t src, int signo, pid_t pid)
{
	if (copy_in(info, src, sizeof *info))
		return -EFAULT;
	info->signo = signo;
	/* Nobody may impersonate the kernel or kill(2) towards another process. */
	if ((info->code >= 0 || info->code == L_SI_TKILL) && pid != current->tg->pid)
		return -EPERM;
	return 0;
}

int64_t sys_rt_sigqueueinfo(pid_t pid, int signo, uaddr_t uinfo)
{
	struct l_siginfo info;
	struct tgroup *tg;
	int ret = copy_in_info(&info, uinfo, signo, pid);

	if (ret)
		return ret;
	tg = pid > 0 ? process_of(pid) : NULL;
	if (!tg)
		return -ESRCH;
	return signo_ok(signo) ? send_checked(tg, NULL, signo, &info) : -EINVAL;
}

int64_t sys_rt_tgsigqueueinfo(pid_t tgid, pid_t tid, int signo, uaddr_t uinfo)
{
	struct l_siginfo info;
	int ret;

	if (tid <= 0 || tgid <= 0)
		return -EINVAL;
	ret = copy_in_info(&info, uinfo, signo, tgid);
	return ret ? ret : kill_thread(tgid, tid, signo, &info);
}
