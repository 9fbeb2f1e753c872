/* futex and its newer forms, robust lists: decoding and checks; the work is in sentry/futex. */
#include "syscalls/table.h"
#include <errno.h>
#include <linux/futex.h>
#include "sentry/futex/futex.h"
#include "sentry/task/task.h"
#include "sentry/time/clock.h"

/* Flags of futex2 (futex_waitv, futex_wait ...), which older headers lack. */
#define L_FUTEX2_SIZE_MASK 3u
#define L_FUTEX2_SIZE_U32 2u
#define L_FUTEX2_PRIVATE 128u
#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

struct l_futex_waitv {
	uint64_t val, uaddr;
	uint32_t flags, reserved;
};
_Static_assert(sizeof(struct l_futex_waitv) == 24, "futex_waitv");

/* --- futex(2) ------------------------------------------------------------------------------------------------------ */
static bool has_timeout(int cmd)
{
	return cmd == FUTEX_WAIT || cmd == FUTEX_WAIT_BITSET || cmd == FUTEX_LOCK_PI || cmd == FUTEX_LOCK_PI2 ||
	       cmd == FUTEX_WAIT_REQUEUE_PI;
}

/* An absolute time on CLOCKID as CLOCK_MONOTONIC deadline; never 0. */
static int absolute_deadline(const struct l_timespec *ts, int clockid, uint64_t *deadline)
{
	struct clock_ref c;

	if (clock_decode(clockid, &c) < 0)
		return -EINVAL;
	*deadline = clock_to_mono(&c, timespec_ns(ts));
	if (!*deadline)
		*deadline = 1;
	return 0;
}

/* *DEADLINE 0: wait for ever. FUTEX_WAIT's time is relative, the others' absolute. */
static int futex_deadline(int op, int cmd, uaddr_t timeout, uint64_t *deadline)
{
	struct l_timespec ts;
	bool real = (op & FUTEX_CLOCK_REALTIME) || cmd == FUTEX_LOCK_PI;

	*deadline = 0;
	if (!has_timeout(cmd) || uaddr_null(timeout))
		return 0;
	if (copy_in_obj(ts, timeout) < 0)
		return -EFAULT;
	if (!timespec_valid(&ts))
		return -EINVAL;
	if (cmd == FUTEX_WAIT) {
		*deadline = ns_add(now_mono_ns(), timespec_ns(&ts));
		return 0;
	}
	return absolute_deadline(&ts, real ? L_CLOCK_REALTIME : L_CLOCK_MONOTONIC, deadline);
}

static int64_t futex_wait_restart(struct task *t);
static int64_t wait_or_restart(uaddr_t word, bool shared, uint32_t value, uint32_t bitset, uint64_t deadline)
{
	int64_t r = futex_wait(word, shared, value, bitset, deadline);

	/* With a time limit the restart goes on to the same deadline; without one it is the call again. */
	if (r != -ERESTARTSYS || !deadline)
		return r;
	current->restart_fn = futex_wait_restart;
	current->restart_data[0] = word.a;
	current->restart_data[1] = (uint64_t)bitset << 32 | value;
	current->restart_data[2] = deadline;
	current->restart_data[3] = shared;
	return -ERESTART_RESTARTBLOCK;
}
static int64_t futex_wait_restart(struct task *t)
{
	const uint64_t *d = t->restart_data;

	return wait_or_restart(uaddr(d[0]), d[3], (uint32_t)d[1], (uint32_t)(d[1] >> 32), d[2]);
}

int64_t sys_futex(uaddr_t uaddr_, int op, unsigned val, uaddr_t timeout, uaddr_t uaddr2,
		  unsigned val3)
{
	int cmd = op & FUTEX_CMD_MASK, val2 = (int)timeout.a;
	bool shared = !(op & FUTEX_PRIVATE_FLAG);
	uint64_t deadline;
	int r = futex_deadline(op, cmd, timeout, &deadline);

	if (r < 0)
		return r;
	if ((op & FUTEX_CLOCK_REALTIME) && cmd != FUTEX_WAIT_BITSET && cmd != FUTEX_WAIT_REQUEUE_PI &&
	    cmd != FUTEX_LOCK_PI2)
		return -ENOSYS;
	switch (cmd) {
	case FUTEX_WAIT:
		return wait_or_restart(uaddr_, shared, val, FUTEX_MATCH_ANY, deadline);
	case FUTEX_WAIT_BITSET:
		return wait_or_restart(uaddr_, shared, val, val3, deadline);
	case FUTEX_WAKE:
		return futex_wake(uaddr_, shared, (int)val, FUTEX_MATCH_ANY);
	case FUTEX_WAKE_BITSET:
		return futex_wake(uaddr_, shared, (int)val, val3);
	case FUTEX_REQUEUE:
		return futex_requeue(uaddr_, shared, uaddr2, shared, (int)val, val2, NULL);
	case FUTEX_CMP_REQUEUE:
		return futex_requeue(uaddr_, shared, uaddr2, shared, (int)val, val2, &val3);
	case FUTEX_WAKE_OP:
		return futex_wake_op(uaddr_, uaddr2, shared, (int)val, val2, val3);
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return futex_lock_pi(uaddr_, shared, false, deadline);
	case FUTEX_TRYLOCK_PI:
		return futex_lock_pi(uaddr_, shared, true, 0);
	case FUTEX_UNLOCK_PI:
		return futex_unlock_pi(uaddr_, shared);
	}
	return -ENOSYS; /* FUTEX_FD, the PI requeue pair */
}

/* --- futex2 ---------------------------------------------------------------------------------------------------------- */
static bool futex2_flags_ok(unsigned flags)
{
	/* Words of 8, 16 and 64 bits are refused by Linux too so far. */
	return !(flags & ~(L_FUTEX2_SIZE_MASK | L_FUTEX2_PRIVATE)) &&
	       (flags & L_FUTEX2_SIZE_MASK) == L_FUTEX2_SIZE_U32;
}

static int futex2_deadline(uaddr_t timeout, int clockid, uint64_t *deadline)
{
	struct l_timespec ts;

	*deadline = 0;
	if (uaddr_null(timeout))
		return 0;
	if (clockid != L_CLOCK_REALTIME && clockid != L_CLOCK_MONOTONIC)
		return -EINVAL;
	if (copy_in_obj(ts, timeout) < 0)
		return -EFAULT;
	if (!timespec_valid(&ts))
		return -EINVAL;
	return absolute_deadline(&ts, clockid, deadline);
}

static int copy_waitv(struct l_futex_waitv *v, uaddr_t from, unsigned count)
{
	if (copy_in(v, from, count * sizeof *v) < 0)
		return -EFAULT;
	for (unsigned i = 0; i < count; i++)
		if (!futex2_flags_ok(v[i].flags) || v[i].reserved || v[i].val >> 32)
			return -EINVAL;
	return 0;
}

int64_t sys_futex_waitv(uaddr_t waiters, unsigned count, unsigned flags, uaddr_t timeout, int clockid)
{
	struct l_futex_waitv v[FUTEX_WAITV_COUNT_MAX];
	struct futex_wait_one w[FUTEX_WAITV_COUNT_MAX];
	uint64_t deadline;
	int r;

	if (flags || !count || count > FUTEX_WAITV_COUNT_MAX || uaddr_null(waiters))
		return -EINVAL;
	r = futex2_deadline(timeout, clockid, &deadline);
	if (r == 0)
		r = copy_waitv(v, waiters, count);
	if (r < 0)
		return r;
	for (unsigned i = 0; i < count; i++)
		w[i] = (struct futex_wait_one){uaddr(v[i].uaddr), (uint32_t)v[i].val, FUTEX_MATCH_ANY,
					       !(v[i].flags & L_FUTEX2_PRIVATE)};
	return futex_wait_any(w, count, deadline);
}

int64_t sys_futex_wait(uaddr_t word, unsigned long val, unsigned long mask, unsigned flags, uaddr_t timeout,
		       int clockid)
{
	uint64_t deadline;
	int r;

	if (!futex2_flags_ok(flags) || val >> 32 || mask >> 32)
		return -EINVAL;
	r = futex2_deadline(timeout, clockid, &deadline);
	if (r < 0)
		return r;
	return futex_wait(word, !(flags & L_FUTEX2_PRIVATE), (uint32_t)val, (uint32_t)mask, deadline);
}

int64_t sys_futex_wake(uaddr_t word, unsigned long mask, int count, unsigned flags)
{
	if (!futex2_flags_ok(flags) || mask >> 32 || !mask)
		return -EINVAL;
	return count ? futex_wake(word, !(flags & L_FUTEX2_PRIVATE), count, (uint32_t)mask) : 0;
}

int64_t sys_futex_requeue(uaddr_t waiters, unsigned flags, int wake, int requeue)
{
	struct l_futex_waitv v[2];
	uint32_t expect;
	int r;

	if (flags || uaddr_null(waiters))
		return -EINVAL;
	r = copy_waitv(v, waiters, 2);
	if (r < 0)
		return r;
	expect = (uint32_t)v[0].val;
	return futex_requeue(uaddr(v[0].uaddr), !(v[0].flags & L_FUTEX2_PRIVATE), uaddr(v[1].uaddr),
			     !(v[1].flags & L_FUTEX2_PRIVATE), wake, requeue, &expect);
}

/* --- robust lists ----------------------------------------------------------------------------------------------------- */
#define ROBUST_HEAD_SIZE 24

int64_t sys_set_robust_list(uaddr_t head, size_t size)
{
	if (size != ROBUST_HEAD_SIZE)
		return -EINVAL;
	current->robust_list = head;
	return 0;
}

int64_t sys_get_robust_list(pid_t pid, uaddr_t head, uaddr_t size)
{
	struct task *t = pid ? task_find(pid) : current;
	uint64_t n = ROBUST_HEAD_SIZE;
	uint64_t at;

	if (!t)
		return -ESRCH;
	if (t->tg != current->tg && t->cred->uid != current->cred->euid && !capable(CAP_SYS_PTRACE))
		return -EPERM;
	at = t->robust_list.a;
	if (copy_out_obj(size, n) < 0 || copy_out_obj(head, at) < 0)
		return -EFAULT;
	return 0;
}
