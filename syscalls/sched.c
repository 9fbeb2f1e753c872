/*
 * Scheduling calls. Guest threads are scheduled by the host; what would change that is stored and reported, and
 * what an unprivileged process may not do (real-time policies) is refused.
 */
#include "syscalls/table.h"
#include "sentry/fiber.h"
#include "sentry/task/task.h"
#include "sentry/base/util.h"
#include <sched.h>
#include <string.h>
#include <sys/resource.h>

#ifndef SCHED_DEADLINE
#define SCHED_DEADLINE 6
#endif
#define RESET_ON_FORK 0x40000000

/* The processors this process may use, read before the sentry confines itself. More than 64 are not told. */
static uint64_t host_cpus = 1;
static unsigned host_cpu_count = 1;

__attribute__((constructor)) static void read_host_cpus(void)
{
	cpu_set_t set;
	uint64_t m = 0;

	if (sched_getaffinity(0, sizeof set, &set))
		return;
	for (unsigned i = 0; i < 64; i++)
		if (CPU_ISSET(i, &set)) {
			m |= 1ull << i;
			host_cpu_count = i + 1;
		}
	if (m)
		host_cpus = m;
}

uint64_t sched_host_cpus(void)
{
	return host_cpus;
}

static struct task *target(pid_t pid)
{
	return pid ? task_find(pid) : current;
}

/* May current change how T is scheduled? */
static bool may_change(struct task *t)
{
	const struct cred *c = current->cred;

	return c->euid == t->cred->euid || c->euid == t->cred->uid || capable(CAP_SYS_NICE);
}

int64_t sys_sched_yield(void)
{
	fiber_yield();
	return 0;
}

int64_t sys_sched_getaffinity(pid_t pid, unsigned size, uaddr_t mask)
{
	struct task *t = target(pid);
	uint64_t m;

	if (size * 8 < host_cpu_count || size & 7)
		return -EINVAL;
	if (!t)
		return -ESRCH;
	m = t->cpu_mask ? t->cpu_mask : host_cpus;
	return copy_out_obj(mask, m) ? -EFAULT : (int64_t)sizeof m;
}

int64_t sys_sched_setaffinity(pid_t pid, unsigned size, uaddr_t mask)
{
	struct task *t = target(pid);
	uint64_t m = 0;

	if (copy_in(&m, mask, MIN(size, sizeof m)))
		return -EFAULT;
	if (!t)
		return -ESRCH;
	if (!may_change(t))
		return -EPERM;
	if (!(m & host_cpus))
		return -EINVAL;
	t->cpu_mask = m & host_cpus;
	return 0;
}

/* --- policies ------------------------------------------------------------------------------------------------ */
static bool is_rt(int policy)
{
	return policy == SCHED_FIFO || policy == SCHED_RR;
}

/* Runtime, deadline, period as __checkparam_dl wants them. */
static bool dl_valid(const uint64_t *dl)
{
	return dl && dl[1] && dl[0] >= 1024 && !(dl[1] >> 63) && !(dl[2] >> 63) &&
	       (!dl[2] || dl[2] >= dl[1]) && dl[1] >= dl[0];
}

static int set_policy(pid_t pid, int policy, int prio, const uint64_t *dl)
{
	struct task *t;
	int p = policy & ~RESET_ON_FORK;

	if (pid < 0)
		return -EINVAL;
	t = target(pid);
	if (!t)
		return -ESRCH;
	if (policy < 0)
		p = t->sched_policy & ~RESET_ON_FORK;
	if (p != SCHED_OTHER && p != SCHED_BATCH && p != SCHED_IDLE && p != SCHED_DEADLINE && !is_rt(p))
		return -EINVAL;
	if (is_rt(p) ? prio < 1 || prio > 99 : prio != 0)
		return -EINVAL;
	if (p == SCHED_DEADLINE && !dl_valid(dl))
		return -EINVAL;
	/* DIFF: the policy is remembered but orders nothing: no thread of the guest may starve the host. */
	if (p == SCHED_DEADLINE || is_rt(p)) {
		bool keeps = p == (t->sched_policy & ~RESET_ON_FORK) && prio <= t->sched_prio;

		if (!capable(CAP_SYS_NICE) && !keeps && (p == SCHED_DEADLINE || (uint64_t)prio > t->tg->rlim[RLIMIT_RTPRIO].cur))
			return -EPERM;
	}
	if (!may_change(t))
		return -EPERM;
	if (dl)
		memcpy(t->sched_dl, dl, sizeof t->sched_dl);
	if (policy >= 0)
		t->sched_policy = policy;
	t->sched_prio = prio;
	return 0;
}

int64_t sys_sched_setscheduler(pid_t pid, int policy, uaddr_t param)
{
	int prio;

	if (policy < 0 || uaddr_null(param))
		return -EINVAL;
	if (copy_in_obj(prio, param))
		return -EFAULT;
	return set_policy(pid, policy, prio, NULL);
}

int64_t sys_sched_setparam(pid_t pid, uaddr_t param)
{
	int prio;

	if (uaddr_null(param))
		return -EINVAL;
	if (copy_in_obj(prio, param))
		return -EFAULT;
	return set_policy(pid, -1, prio, NULL);
}

int64_t sys_sched_getscheduler(pid_t pid)
{
	struct task *t;

	if (pid < 0)
		return -EINVAL;
	t = target(pid);
	return t ? t->sched_policy : -ESRCH;
}

int64_t sys_sched_getparam(pid_t pid, uaddr_t param)
{
	struct task *t;

	if (pid < 0 || uaddr_null(param))
		return -EINVAL;
	t = target(pid);
	return t ? copy_out_obj(param, t->sched_prio) : -ESRCH;
}

int64_t sys_sched_get_priority_max(int policy)
{
	return is_rt(policy) ? 99
	       : policy == SCHED_OTHER || policy == SCHED_BATCH || policy == SCHED_IDLE || policy == SCHED_DEADLINE
		       ? 0
		       : -EINVAL;
}
int64_t sys_sched_get_priority_min(int policy)
{
	int64_t max = sys_sched_get_priority_max(policy);

	return max > 0 ? 1 : max;
}

int64_t sys_sched_rr_get_interval(pid_t pid, uaddr_t interval)
{
	struct task *t;
	/* A fair-class task's slice: what Linux shows on a small machine. */
	int64_t ts[2] = {0, 4000000};

	if (pid < 0)
		return -EINVAL;
	t = target(pid);
	return t ? copy_out_obj(interval, ts) : -ESRCH;
}

struct l_sched_attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t prio;
	uint64_t runtime, deadline, period;
	uint32_t util_min, util_max;
};
_Static_assert(sizeof(struct l_sched_attr) == 56, "sched_attr");
#define SCHED_ATTR_VER0 48

int64_t sys_sched_getattr(pid_t pid, uaddr_t attr, unsigned size, unsigned flags)
{
	struct l_sched_attr a = {.size = sizeof a};
	struct task *t;

	if (uaddr_null(attr) || pid < 0 || size > GUEST_PAGE_SIZE || size < SCHED_ATTR_VER0 || flags)
		return -EINVAL;
	t = target(pid);
	if (!t)
		return -ESRCH;
	a.size = MIN(size, (unsigned)sizeof a);
	a.policy = (uint32_t)(t->sched_policy & ~RESET_ON_FORK);
	a.flags = t->sched_policy & RESET_ON_FORK ? 1 : 0;
	a.nice = t->nice;
	a.prio = (uint32_t)t->sched_prio;
	a.util_max = 1024;
	if (a.policy == SCHED_DEADLINE) {
		a.runtime = t->sched_dl[0];
		a.deadline = t->sched_dl[1];
		a.period = t->sched_dl[2];
	}
	return copy_out(attr, &a, a.size);
}

int64_t sys_sched_setattr(pid_t pid, uaddr_t attr, unsigned flags)
{
	struct l_sched_attr a = {0};
	uint32_t size;
	struct task *t;
	int ret;

	if (uaddr_null(attr) || pid < 0 || flags)
		return -EINVAL;
	if (copy_in_obj(size, attr))
		return -EFAULT;
	if (!size)
		size = SCHED_ATTR_VER0;
	if (size < SCHED_ATTR_VER0 || size > GUEST_PAGE_SIZE)
		return -E2BIG;
	if (copy_in(&a, attr, MIN(size, (uint32_t)sizeof a)))
		return -EFAULT;
	if ((int)a.policy < 0)
		return -EINVAL;
	ret = set_policy(pid, (int)a.policy | (a.flags & 1 ? RESET_ON_FORK : 0), (int)a.prio,
			 (uint64_t[]){a.runtime, a.deadline, a.period ? a.period : a.deadline});
	if (ret)
		return ret;
	t = target(pid);
	a.nice = a.nice < -20 ? -20 : a.nice > 19 ? 19 : a.nice;
	if (a.nice < t->nice && !capable(CAP_SYS_NICE))
		return -EPERM;
	t->nice = a.nice;
	return 0;
}

/* --- nice and I/O priority -------------------------------------------------------------------------------------- */
static bool in_who(struct task *t, int which, int who)
{
	switch (which) {
	case PRIO_PROCESS:
		return t->tid == (who ? who : current->tid);
	case PRIO_PGRP:
		return t->tg->pgrp && t->tg->pgrp->pgid == (who ? who : current->tg->pgrp->pgid);
	default:
		return t->cred && t->cred->uid == (who ? (uid_t)who : current->cred->uid);
	}
}

/* Calls FN for every thread that WHICH and WHO name; the best result wins as in set_one_prio. -ESRCH: none. */
static int64_t for_each_who(int which, int who, int64_t (*fn)(struct task *, int64_t, int64_t), int64_t arg)
{
	int64_t ret = -ESRCH;

	for (struct tgroup *tg = tgroup_next(1); tg; tg = tgroup_next(tg->pid + 1)) {
		struct task *t;

		list_for_each(t, &tg->tasks, tg_node)
			if (t->cred && in_who(t, which, who))
				ret = fn(t, arg, ret);
	}
	return ret;
}

static int64_t set_nice(struct task *t, int64_t n, int64_t ret)
{
	const struct cred *c = current->cred;

	if (c->euid != t->cred->uid && c->euid != t->cred->euid && !capable(CAP_SYS_NICE))
		return -EPERM;
	if (n < t->nice && !capable(CAP_SYS_NICE) && n < 20 - (int64_t)t->tg->rlim[RLIMIT_NICE].cur)
		return -EACCES;
	t->nice = (int)n;
	return ret == -ESRCH ? 0 : ret;
}
static int64_t get_nice(struct task *t, int64_t arg, int64_t ret)
{
	return MAX(ret, 20 - t->nice);
}

int64_t sys_setpriority(int which, int who, int prio)
{
	if (which < PRIO_PROCESS || which > PRIO_USER)
		return -EINVAL;
	prio = prio < -20 ? -20 : prio > 19 ? 19 : prio;
	return for_each_who(which, who, set_nice, prio);
}

int64_t sys_getpriority(int which, int who)
{
	if (which < PRIO_PROCESS || which > PRIO_USER)
		return -EINVAL;
	return for_each_who(which, who, get_nice, 0);
}

#define IOPRIO_CLASS(p) ((p) >> 13)

static int64_t set_ioprio(struct task *t, int64_t p, int64_t ret)
{
	if (!may_change(t))
		return -EPERM;
	t->ioprio = (uint64_t)p;
	return 0;
}
static int64_t get_ioprio(struct task *t, int64_t arg, int64_t ret)
{
	return ret < 0 ? (int64_t)t->ioprio : MIN(ret, (int64_t)t->ioprio);
}

int64_t sys_ioprio_set(int which, int who, int ioprio)
{
	int class = IOPRIO_CLASS(ioprio), level = ioprio & 7;

	if (class < 0 || class > 3 || (class == 0 && level))
		return -EINVAL;
	if (class == 1 && !capable(CAP_SYS_ADMIN) && !capable(CAP_SYS_NICE))
		return -EPERM;
	if (which < 1 || which > 3)
		return -EINVAL;
	return for_each_who(which - 1, who, set_ioprio, ioprio);
}

int64_t sys_ioprio_get(int which, int who)
{
	if (which < 1 || which > 3)
		return -EINVAL;
	return for_each_who(which - 1, who, get_ioprio, 0);
}
