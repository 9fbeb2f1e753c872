/*
 * Wait, wake and requeue. Checking the word and queueing happen without a sleep between them, and a wake is served
 * by the same thread, so no wake can fall in between: the guarantee of Linux's bucket lock.
 */
#include "sentry/futex/futex.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/mman.h>
#include "fs/vfs.h"
#include "sentry/base/util.h"
#include "sentry/futex/internal.h"
#include "sentry/mm/mm.h"
#include "sentry/platform/platform.h"
#include "sentry/task/task.h"

#define BUCKETS 256
static struct list bucket[BUCKETS];
static unsigned pi_waiters;

/* --- keys and buckets ------------------------------------------------------------------------------------------ */
static struct list *bucket_of(const struct futex_key *k)
{
	uint64_t h = ((uint64_t)(uintptr_t)k->object ^ k->offset >> 2) * 0x9e3779b97f4a7c15ull;
	struct list *b = &bucket[h >> 56];

	if (!b->next)
		list_init(b);
	return b;
}

static bool key_equal(const struct futex_key *a, const struct futex_key *b)
{
	return a->object == b->object && a->offset == b->offset;
}

/* INODE in the key is borrowed: valid while nothing sleeps or unmaps. */
int futex_key_of(uaddr_t word, bool shared, struct futex_key *k)
{
	struct vma *v;

	if (word.a & 3)
		return -EINVAL;
	if (word.a >= GUEST_TASK_SIZE)
		return -EFAULT;
	*k = (struct futex_key){current->mm, word.a, NULL};
	if (!shared)
		return 0;
	v = mm_find(current->mm, word.a);
	if (!v || v->start > word.a || !v->prot)
		return -EFAULT;
	/* Beyond the end of its file a mapping has no page to name. */
	if (v->file && v->file->inode && S_ISREG(v->file->inode->mode) &&
	    v->off + (word.a - v->start) >= PAGE_UP(v->file->inode->size))
		return -EFAULT;
	/* Memory of one process only is the same word by either kind of key. */
	if (!(v->flags & MAP_SHARED) || !v->file)
		return 0;
	*k = (struct futex_key){v->file->inode, v->off + (word.a - v->start), v->file->inode};
	return 0;
}

void futex_enqueue(struct futex_waiter *w)
{
	if (w->key.inode)
		inode_get(w->key.inode);
	list_add_tail(bucket_of(&w->key), &w->node);
	pi_waiters += w->pi != NULL;
}

void futex_dequeue(struct futex_waiter *w)
{
	if (list_empty(&w->node))
		return;
	list_del(&w->node);
	pi_waiters -= w->pi != NULL;
	if (w->key.inode)
		inode_put(w->key.inode);
}

void futex_wake_waiter(struct futex_waiter *w)
{
	futex_dequeue(w);
	w->woken = true;
	waitq_wake(w->q, 0);
}

int futex_load(uaddr_t word, uint32_t *value)
{
	if (!mm_access_ok(current->mm, word.a, sizeof *value, PROT_READ) ||
	    plat_read_mem(current->host, value, word.a, sizeof *value) != sizeof *value)
		return -EFAULT;
	return 0;
}

int futex_store(uaddr_t word, uint32_t value)
{
	if (!mm_access_ok(current->mm, word.a, sizeof value, PROT_WRITE) ||
	    plat_write_mem(current->host, word.a, &value, sizeof value) != sizeof value)
		return -EFAULT;
	return 0;
}

int futex_cmpxchg(uaddr_t word, uint32_t old, uint32_t value)
{
	uint32_t seen;

	if (!mm_access_ok(current->mm, word.a, sizeof value, PROT_WRITE) ||
	    plat_cmpxchg32(current->host, word.a, old, value, &seen) < 0)
		return -EFAULT;
	return seen == old ? 0 : -EAGAIN;
}

/* --- waiting ------------------------------------------------------------------------------------------------------ */
/* Queue a waiter, then look whether the word still holds its value: reading guest memory may sleep (where the stub has to
 * copy), and a wake of that time must find us queued. */
static int wait_setup(const struct futex_wait_one *o, struct futex_waiter *w, struct waitq *q)
{
	uint32_t now;
	int r = futex_key_of(o->word, o->shared, &w->key);

	if (r < 0)
		return r;
	w->bitset = o->bitset;
	w->q = q;
	futex_enqueue(w);
	if (futex_load(o->word, &now) < 0)
		r = -EFAULT;
	else if (now != o->value)
		r = -EAGAIN;
	if (r < 0)
		futex_dequeue(w);
	return r;
}

int futex_wait_any(const struct futex_wait_one *o, unsigned count, uint64_t deadline)
{
	struct futex_waiter one = {0}, *w = count == 1 ? &one : calloc(count, sizeof *w);
	struct waitq q;
	int r = 0, woken = -1;
	unsigned i;

	if (!w)
		return -ENOMEM;
	waitq_init(&q);
	for (i = 0; i < count; i++)
		list_init(&w[i].node);
	for (i = 0; i < count && r == 0; i++)
		r = wait_setup(&o[i], &w[i], &q);
	for (;;) {
		for (i = 0; i < count && woken < 0; i++)
			if (w[i].woken)
				woken = (int)i;
		if (woken >= 0 || r < 0)
			break;
		r = wait_on(&q, deadline);
	}
	for (i = 0; i < count; i++)
		futex_dequeue(&w[i]);
	if (w != &one)
		free(w);
	/* A wake that was counted must not be lost to a timeout or signal of the same moment. */
	return woken >= 0 ? woken : r;
}

int futex_wait(uaddr_t word, bool shared, uint32_t value, uint32_t bitset, uint64_t deadline)
{
	struct futex_wait_one o = {word, value, bitset, shared};

	if (!bitset)
		return -EINVAL;
	return futex_wait_any(&o, 1, deadline);
}

/* --- waking -------------------------------------------------------------------------------------------------------- */
static int wake_key(const struct futex_key *k, int count, uint32_t bitset)
{
	struct futex_waiter *w, *tmp;
	int n = 0;

	list_for_each_safe(w, tmp, bucket_of(k), node) {
		if (!key_equal(&w->key, k) || !(w->bitset & bitset))
			continue;
		if (w->pi)
			return n ? n : -EINVAL;
		futex_wake_waiter(w);
		if (++n >= count)
			break;
	}
	return n;
}

int futex_wake(uaddr_t word, bool shared, int count, uint32_t bitset)
{
	struct futex_key k;
	int r;

	if (!bitset)
		return -EINVAL;
	r = futex_key_of(word, shared, &k);
	return r < 0 ? r : wake_key(&k, count, bitset);
}

int futex_requeue(uaddr_t from, bool from_shared, uaddr_t to, bool to_shared, int wake, int requeue,
		  const uint32_t *expect)
{
	struct futex_key a, b;
	struct futex_waiter *w, *tmp;
	struct list moved = LIST_INIT(moved);
	uint32_t now;
	int r, n = 0;

	if (wake < 0 || requeue < 0)
		return -EINVAL;
	r = futex_key_of(from, from_shared, &a);
	if (r == 0)
		r = futex_key_of(to, to_shared, &b);
	if (r < 0)
		return r;
	if (expect) {
		if (futex_load(from, &now) < 0)
			return -EFAULT;
		if (now != *expect)
			return -EAGAIN;
		/* The look may have slept: a key's file is only borrowed. */
		if (futex_key_of(from, from_shared, &a) < 0 || futex_key_of(to, to_shared, &b) < 0)
			return -EFAULT;
	}
	/* Moved waiters are collected first: both words may share a bucket, and the walk must not meet them again. */
	list_for_each_safe(w, tmp, bucket_of(&a), node) {
		if (n - wake >= requeue)
			break;
		if (!key_equal(&w->key, &a))
			continue;
		if (w->pi) {
			r = -EINVAL;
			break;
		}
		if (++n <= wake) {
			futex_wake_waiter(w);
			continue;
		}
		if (b.inode)
			inode_get(b.inode);
		if (w->key.inode)
			inode_put(w->key.inode);
		w->key = b;
		list_del(&w->node);
		list_add_tail(&moved, &w->node);
	}
	while (!list_empty(&moved)) {
		w = list_first(&moved, struct futex_waiter, node);
		list_del(&w->node);
		list_add_tail(bucket_of(&b), &w->node);
	}
	return r < 0 && !n ? r : n;
}

/* The operation word: operation, comparison, operand and comparand packed as in futex(2). */
static int wake_op_apply(uaddr_t word, uint32_t op, bool *met)
{
	int32_t arg = (int32_t)(op << 8) >> 20, cmparg = (int32_t)(op << 20) >> 20;
	int32_t old, new;
	uint32_t shift;
	int r;

	if (op & 0x80000000u) { /* FUTEX_OP_OPARG_SHIFT */
		shift = (uint32_t)arg & 31;
		arg = (int32_t)(1u << shift);
	}
	do {
		if (futex_load(word, (uint32_t *)&old) < 0)
			return -EFAULT;
		switch (op >> 28 & 7) {
		case 0: new = arg; break;
		case 1: new = (int32_t)((uint32_t)old + (uint32_t)arg); break;
		case 2: new = old | arg; break;
		case 3: new = old & ~arg; break;
		case 4: new = old ^ arg; break;
		default: return -ENOSYS;
		}
		r = futex_cmpxchg(word, (uint32_t)old, (uint32_t)new);
	} while (r == -EAGAIN);
	if (r < 0)
		return r;
	switch (op >> 24 & 15) {
	case 0: *met = old == cmparg; break;
	case 1: *met = old != cmparg; break;
	case 2: *met = old < cmparg; break;
	case 3: *met = old <= cmparg; break;
	case 4: *met = old > cmparg; break;
	case 5: *met = old >= cmparg; break;
	default: return -ENOSYS;
	}
	return 0;
}

int futex_wake_op(uaddr_t word, uaddr_t word2, bool shared, int wake, int wake2, uint32_t op)
{
	struct futex_key a, b;
	bool met = false;
	int n, m, r = futex_key_of(word, shared, &a);

	if (r == 0)
		r = futex_key_of(word2, shared, &b);
	if (r == 0)
		r = wake_op_apply(word2, op, &met);
	if (r < 0)
		return r;
	n = wake_key(&a, wake, FUTEX_MATCH_ANY);
	if (n < 0 || !met)
		return n;
	m = wake_key(&b, wake2, FUTEX_MATCH_ANY);
	return m < 0 ? m : n + m;
}

/* --- PI waiters (pi.c) ------------------------------------------------------------------------------------------------ */
struct futex_waiter *futex_first_pi(const struct futex_key *k)
{
	struct futex_waiter *w;

	if (!pi_waiters)
		return NULL;
	list_for_each(w, bucket_of(k), node)
		if (w->pi && key_equal(&w->key, k))
			return w;
	return NULL;
}

bool futex_has_pi(const struct futex_key *k)
{
	return futex_first_pi(k) != NULL;
}

void futex_pi_new_owner(const struct futex_key *k, pid_t owner)
{
	struct futex_waiter *w;

	list_for_each(w, bucket_of(k), node)
		if (w->pi && key_equal(&w->key, k))
			w->pi_owner = owner;
}

void futex_pi_owner_gone(pid_t owner)
{
	struct futex_waiter *w;

	for (unsigned i = 0; i < BUCKETS && pi_waiters; i++) {
		if (!bucket[i].next)
			continue;
	again:
		list_for_each(w, &bucket[i], node) {
			if (!w->pi || w->pi_owner != owner)
				continue;
			/* Woken without the lock it looks again and finds the owner dead. */
			futex_wake_waiter(w);
			goto again;
		}
	}
}
