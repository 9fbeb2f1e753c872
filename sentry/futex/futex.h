/*
 * Futexes: sleeping on a word of guest memory. Waiters are found by key: the address space and address for
 * private memory, the file and offset for shared mappings, so that processes meet at the same word.
 * Deadlines are CLOCK_MONOTONIC nanoseconds, 0 = none.
 */
#ifndef WARD_FUTEX_FUTEX_H
#define WARD_FUTEX_FUTEX_H
#include <stdbool.h>
#include <stdint.h>
#include "sentry/mm/uaccess.h"

struct task;

#define FUTEX_MATCH_ANY 0xffffffffu
#define FUTEX_WAITV_COUNT_MAX 128

struct futex_wait_one {
	uaddr_t word;
	uint32_t value, bitset;
	bool shared;
};

/* Sleep while the word holds VALUE. 0 woken, -EAGAIN other value, -ETIMEDOUT, -ERESTARTSYS, -EFAULT, -EINVAL. */
int futex_wait(uaddr_t word, bool shared, uint32_t value, uint32_t bitset, uint64_t deadline);
/* Sleep on all of W (COUNT <= FUTEX_WAITV_COUNT_MAX): the index of the one woken, or as futex_wait. */
int futex_wait_any(const struct futex_wait_one *w, unsigned count, uint64_t deadline);
/* Wake up to COUNT (at least one is looked for) waiters whose bitset meets BITSET: how many. */
int futex_wake(uaddr_t word, bool shared, int count, uint32_t bitset);
/* Wake WAKE waiters, move REQUEUE others to TO. EXPECT: value the word must hold, or NULL. */
int futex_requeue(uaddr_t from, bool from_shared, uaddr_t to, bool to_shared, int wake, int requeue,
		  const uint32_t *expect);
/* FUTEX_WAKE_OP: change the second word as OP says and wake on both. */
int futex_wake_op(uaddr_t word, uaddr_t word2, bool shared, int wake, int wake2, uint32_t op);

int futex_lock_pi(uaddr_t word, bool shared, bool try_only, uint64_t deadline);
int futex_unlock_pi(uaddr_t word, bool shared);

/* For the task layer, on the fiber of T = current while its memory is still there: owner-died marks on the robust
 * list, hand-over of PI locks, and the store and wake of clear_child_tid. */
void futex_exit(struct task *t);
#endif
