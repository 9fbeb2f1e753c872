/*
 * Priority-inheriting locks without the inheritance: the sentry schedules nothing, so what is kept of FUTEX_LOCK_PI
 * is the protocol. The word holds the owner's tid; the kernel sets the waiters bit and hands the lock over.
 */
#include <errno.h>
#include <linux/futex.h>
#include "sentry/futex/futex.h"
#include "sentry/futex/internal.h"
#include "sentry/task/task.h"

#define SPIN_MAX 64 /* lost races with guest threads before the caller is told to try again */

/* Make the waiters bit stand in WORD, which held NOW. */
static int set_waiters(uaddr_t word, uint32_t now)
{
	return now & FUTEX_WAITERS ? 0 : futex_cmpxchg(word, now, now | FUTEX_WAITERS);
}

static bool owner_alive(pid_t tid)
{
	struct task *t = task_find(tid);

	return t && t->host && t->state != TASK_ZOMBIE && t->state != TASK_DEAD;
}

int futex_lock_pi(uaddr_t word, bool shared, bool try_only, uint64_t deadline)
{
	uint32_t me = (uint32_t)current->tid, now, owner;
	unsigned races = 0;
	bool waited = false;
	int r;

	for (;;) {
		struct futex_waiter w = {.bitset = FUTEX_MATCH_ANY, .pi = current};
		struct waitq q;

		list_init(&w.node);
		waitq_init(&q);
		w.q = &q;
		r = futex_key_of(word, shared, &w.key);
		if (r < 0)
			return r;
		if (futex_load(word, &now) < 0)
			return -EFAULT;
		owner = now & FUTEX_TID_MASK;
		if (owner == me)
			return -EDEADLK;
		if (!owner) {
			uint32_t mine = me | (now & FUTEX_OWNER_DIED) |
					(futex_has_pi(&w.key) ? FUTEX_WAITERS : 0);

			r = futex_cmpxchg(word, now, mine);
			if (r == -EAGAIN && ++races < SPIN_MAX)
				continue;
			return r;
		}
		if (try_only)
			return -EAGAIN;
		if (!owner_alive((pid_t)owner)) {
			/* Gone without a mark on the word. A waiter inherits the lock as exit_pi_state_list gives it;
			 * a newcomer is told, as by attach_to_pi_owner. */
			if (!waited)
				return -ESRCH;
			r = futex_cmpxchg(word, now, me | FUTEX_OWNER_DIED |
						     (futex_has_pi(&w.key) ? FUTEX_WAITERS : 0));
			if (r == -EAGAIN && ++races < SPIN_MAX)
				continue;
			return r;
		}
		r = set_waiters(word, now);
		if (r == -EAGAIN && ++races < SPIN_MAX)
			continue;
		if (r < 0)
			return r;
		w.pi_owner = (pid_t)owner;
		futex_enqueue(&w);
		r = 0;
		while (r == 0 && !w.woken)
			r = wait_on(&q, deadline);
		futex_dequeue(&w);
		if (w.woken) {
			/* Handed over by unlock, or the owner died: the word says which. */
			if (futex_load(word, &now) < 0)
				return -EFAULT;
			if ((now & FUTEX_TID_MASK) == me)
				return 0;
			waited = true;
			continue;
		}
		/* Linux restarts the call after a handler too (-ERESTARTNOINTR). */
		return r == -ERESTARTSYS ? -ERESTARTNOINTR : r;
	}
}

int futex_unlock_pi(uaddr_t word, bool shared)
{
	uint32_t me = (uint32_t)current->tid, now, next;
	struct futex_waiter *w, *other;
	struct futex_key k;
	unsigned races = 0;
	int r = futex_key_of(word, shared, &k);

	if (r < 0)
		return r;
	do {
		if (futex_load(word, &now) < 0)
			return -EFAULT;
		if ((now & FUTEX_TID_MASK) != me)
			return -EPERM;
		w = futex_first_pi(&k);
		next = 0;
		if (w) {
			/* Look for a second waiter with the first out of the list. */
			struct list *head = w->node.prev;

			list_del(&w->node);
			other = futex_first_pi(&k);
			list_add(head, &w->node);
			next = (uint32_t)w->pi->tid | (other ? FUTEX_WAITERS : 0);
		}
		r = futex_cmpxchg(word, now, next);
	} while (r == -EAGAIN && ++races < SPIN_MAX);
	if (r == 0 && w) {
		pid_t heir = w->pi->tid;

		futex_wake_waiter(w);
		/* Those who go on waiting now wait for the heir. */
		futex_pi_new_owner(&k, heir);
	}
	return r;
}
