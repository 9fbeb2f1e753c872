/* Shared by the files of sentry/futex. */
#ifndef WARD_FUTEX_INTERNAL_H
#define WARD_FUTEX_INTERNAL_H
#include "sentry/base/list.h"
#include "sentry/futex/futex.h"
#include "sentry/wait.h"

struct inode;
struct futex_key {
	const void *object; /* struct mm or struct inode */
	uint64_t offset;    /* address or file offset */
	struct inode *inode; /* counted by a queued waiter; NULL for private memory */
};
struct futex_waiter {
	struct list node;   /* in its bucket; empty once woken */
	struct futex_key key;
	uint32_t bitset;
	struct waitq *q;    /* the sleeper's queue */
	bool woken;
	struct task *pi;    /* the task that waits for a PI lock; NULL for a plain wait */
	pid_t pi_owner;     /* who held it then */
};

int futex_key_of(uaddr_t word, bool shared, struct futex_key *k);
void futex_enqueue(struct futex_waiter *w);
void futex_dequeue(struct futex_waiter *w); /* harmless when it is not queued */
void futex_wake_waiter(struct futex_waiter *w);
/* First queued waiter at K in arrival order that waits for a PI lock, or NULL. */
struct futex_waiter *futex_first_pi(const struct futex_key *k);
bool futex_has_pi(const struct futex_key *k);
/* The word itself, past the call's window: a store must be seen at once, not at the call's return. 0 or -EFAULT. */
int futex_load(uaddr_t word, uint32_t *value);
int futex_store(uaddr_t word, uint32_t value);
/* Atomic against guest threads that change the word without a call. Sleeps: waiters found before may be gone after it.
 * 0, -EFAULT, or -EAGAIN when the word is not OLD. */
int futex_cmpxchg(uaddr_t word, uint32_t old, uint32_t value);
/* Everybody who waits for the PI lock at K now waits for OWNER. */
void futex_pi_new_owner(const struct futex_key *k, pid_t owner);
/* Wake those who wait for a PI lock of a thread that is gone: they look at the word again. */
void futex_pi_owner_gone(pid_t owner);
#endif
