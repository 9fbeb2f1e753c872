/*
 * The end of a thread: locks on its robust list are marked "owner died" and passed on, and the word that
 * pthread_join sleeps on is cleared. The list lives in guest memory: it may be circular, long or wild, so the walk is
 * bounded as Linux's (ROBUST_LIST_LIMIT) and stops at the first fault.
 */
#include <errno.h>
#include <linux/futex.h>
#include "sentry/futex/futex.h"
#include "sentry/futex/internal.h"
#include "sentry/mm/mm.h"
#include "sentry/task/task.h"

struct l_robust_list_head {
	uint64_t next;
	int64_t futex_offset;
	uint64_t list_op_pending;
};

/* Bit 0 of a list pointer says that the lock is a PI lock. */
#define ENTRY(p) ((p) & ~1ull)
#define IS_PI(p) ((p) & 1)

/* The lock in WORD may be held by T, which dies. False: the walk must stop. */
static bool owner_died(struct task *t, uaddr_t word, bool pi, bool pending)
{
	uint32_t now, next;
	int r, tries = 0;

	do {
		if (word.a & 3 || futex_load(word, &now) < 0)
			return false;
		/* Unlocked, but the wake that goes with it may not have been asked for. */
		if (pending && !pi && !now) {
			futex_wake(word, true, 1, FUTEX_MATCH_ANY);
			return true;
		}
		if ((now & FUTEX_TID_MASK) != (uint32_t)t->tid)
			return true;
		next = (now & FUTEX_WAITERS) | FUTEX_OWNER_DIED;
		r = futex_cmpxchg(word, now, next);
	} while (r == -EAGAIN && ++tries < 64);
	if (r < 0)
		return false;
	if (!pi && (now & FUTEX_WAITERS))
		futex_wake(word, true, 1, FUTEX_MATCH_ANY);
	return true;
}

static void walk_robust_list(struct task *t)
{
	struct l_robust_list_head head;
	uint64_t entry, next;
	bool pi;

	if (copy_in_obj(head, t->robust_list) < 0)
		return;
	entry = head.next;
	for (unsigned n = 0; ENTRY(entry) != t->robust_list.a && n < ROBUST_LIST_LIMIT; n++) {
		/* The entry may change hands once its lock is released: its successor is read first. */
		bool more = copy_in_obj(next, uaddr(ENTRY(entry))) == 0;

		pi = IS_PI(entry);
		if (ENTRY(entry) != ENTRY(head.list_op_pending) &&
		    !owner_died(t, uaddr(ENTRY(entry) + (uint64_t)head.futex_offset), pi, false))
			return;
		if (!more)
			return;
		entry = next;
	}
	if (ENTRY(head.list_op_pending))
		owner_died(t, uaddr(ENTRY(head.list_op_pending) + (uint64_t)head.futex_offset),
			   IS_PI(head.list_op_pending), true);
}

void futex_exit(struct task *t)
{
	if (!uaddr_null(t->robust_list)) {
		walk_robust_list(t);
		t->robust_list = uaddr(0);
	}
	futex_pi_owner_gone(t->tid);
	if (!uaddr_null(t->clear_tid)) {
		/* As Linux: only somebody who shares the memory could be waiting there. */
		if (t->mm->users > 1 && futex_store(t->clear_tid, 0) == 0)
			futex_wake(t->clear_tid, true, 1, FUTEX_MATCH_ANY);
		t->clear_tid = uaddr(0);
	}
}
