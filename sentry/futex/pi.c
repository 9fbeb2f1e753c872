/*
 * Priority-inheriting locks without the inheritance: the sentry schedules nothing, so what is kept of FUTEX_LOCK_PI
 * is the protocol. The word holds the owner's tid; the kernel sets the waiters bit and hands the lock over.
 */
#include <errno.h>
#include <linux/futex.h>
#include "fs/vfs.h"
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

/*
 * One operation at a time on a PI word: looking, exchanging and queueing must not be parted by another's, and each
 * exchange sleeps. The record stands on the holder's stack; who else wants the word waits for it, unless it is to die.
 */
struct pi_hold {
	struct list node;
	struct futex_key key;
	struct waitq q;
};
static struct list holds = LIST_INIT(holds);

static struct pi_hold *held(const struct futex_key *k)
{
	struct pi_hold *h;

	list_for_each(h, &holds, node)
		if (h->key.object == k->object && h->key.offset == k->offset)
			return h;
	return NULL;
}
static int hold(struct pi_hold *h)
{
	struct pi_hold *other;
	int r;

	while ((other = held(&h->key))) {
		r = wait_on_killable(&other->q, 0);
		if (r < 0)
			return r;
	}
	waitq_init(&h->q);
	list_add(&holds, &h->node);
	return 0;
}
static void let_go(struct pi_hold *h)
{
	struct task_waiter *tw, *tmp;

	list_del(&h->node);
	/* The queue goes with the record: everybody leaves it before being woken. */
	list_for_each_safe(tw, tmp, &h->q.waiters, w.node) {
		list_del(&tw->w.node);
		waiter_wake_task(&tw->w, 0);
	}
}

/* WORD under H, which is held before and, unless -EINTR comes back, after. */
static int lock_held(struct pi_hold *h, bool *holding, uaddr_t word, bool try_only, uint64_t deadline)
{
	uint32_t me = (uint32_t)current->tid, now, owner;
	unsigned races = 0;
	bool waited = false;
	int r;

	for (;;) {
		struct futex_waiter w = {.key = h->key, .bitset = FUTEX_MATCH_ANY, .pi = current};
		struct waitq q;

		list_init(&w.node);
		waitq_init(&q);
		w.q = &q;
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
		/* Queued before the bit is set: an owner that dies meanwhile must find us. */
		w.pi_owner = (pid_t)owner;
		futex_enqueue(&w);
		r = set_waiters(word, now);
		if (r == 0) {
			let_go(h);
			*holding = false;
			while (r == 0 && !w.woken)
				r = wait_on(&q, deadline);
			/* Under the hold again, a hand-over to us is either done or will not come. */
			*holding = hold(h) == 0;
		}
		futex_dequeue(&w);
		if (!*holding)
			return -EINTR;
		if (w.woken) {
			/* Handed over by unlock, or the owner died: the word says which. */
			if (futex_load(word, &now) < 0)
				return -EFAULT;
			if ((now & FUTEX_TID_MASK) == me)
				return 0;
			waited = true;
			continue;
		}
		if (r == -EAGAIN && ++races < SPIN_MAX)
			continue;
		/* Linux restarts the call after a handler too (-ERESTARTNOINTR). */
		return r == -ERESTARTSYS ? -ERESTARTNOINTR : r;
	}
}

/* Hand over to the first waiter; WORD is held. */
static int unlock_held(const struct futex_key *k, uaddr_t word)
{
	uint32_t me = (uint32_t)current->tid, now, next;
	struct futex_waiter *w, *other;
	unsigned races = 0;
	pid_t heir;
	int r;

	do {
		if (futex_load(word, &now) < 0)
			return -EFAULT;
		if ((now & FUTEX_TID_MASK) != me)
			return -EPERM;
		w = futex_first_pi(k);
		next = 0;
		heir = 0;
		if (w) {
			/* Look for a second waiter with the first out of the list. */
			struct list *head = w->node.prev;

			list_del(&w->node);
			other = futex_first_pi(k);
			list_add(head, &w->node);
			heir = w->pi->tid;
			next = (uint32_t)heir | (other ? FUTEX_WAITERS : 0);
		}
		r = futex_cmpxchg(word, now, next);
	} while (r == -EAGAIN && ++races < SPIN_MAX);
	if (r == 0 && heir) {
		/* The exchange slept: the heir may have been killed; its lock is then that of a dead owner. */
		w = futex_first_pi(k);
		if (w && w->pi->tid == heir)
			futex_wake_waiter(w);
		/* Those who go on waiting now wait for the heir. */
		futex_pi_new_owner(k, heir);
		if (!owner_alive(heir))
			futex_pi_owner_gone(heir);
	}
	return r;
}

/* The key of WORD with a reference to its file: this outlives the mapping, which may change while we sleep. */
static int key_get(struct pi_hold *h, uaddr_t word, bool shared)
{
	int r = futex_key_of(word, shared, &h->key);

	if (r == 0 && h->key.inode)
		inode_get(h->key.inode);
	return r;
}
static void key_put(struct pi_hold *h)
{
	if (h->key.inode)
		inode_put(h->key.inode);
}

int futex_lock_pi(uaddr_t word, bool shared, bool try_only, uint64_t deadline)
{
	struct pi_hold h;
	bool holding;
	int r = key_get(&h, word, shared);

	if (r < 0)
		return r;
	r = hold(&h);
	holding = r == 0;
	if (holding)
		r = lock_held(&h, &holding, word, try_only, deadline);
	if (holding)
		let_go(&h);
	key_put(&h);
	return r;
}

int futex_unlock_pi(uaddr_t word, bool shared)
{
	struct pi_hold h;
	int r = key_get(&h, word, shared);

	if (r < 0)
		return r;
	r = hold(&h);
	if (r == 0) {
		r = unlock_held(&h.key, word);
		let_go(&h);
	}
	key_put(&h);
	return r;
}
