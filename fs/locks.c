/*
 * Advisory locks. One list per inode holds POSIX locks (owner: descriptor table), open-file-description locks and
 * flock locks (owner: the description). Ranges are inclusive, as in Linux; flock is a lock of its own kind on
 * everything. A waiter sleeps on the inode's queue and tries again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fs/vfs.h"
#include "sentry/task/task.h"

#define LOCKS_MAX 65536u

enum kind { KIND_POSIX, KIND_OFD, KIND_FLOCK };
struct lock {
	struct list node;       /* inode->locks; by owner, then ascending */
	enum kind kind;
	int type;               /* F_RDLCK, F_WRLCK */
	int64_t start, end;
	const void *owner;
	int pid;                /* shown by F_GETLK; -1 for OFD */
};
/* POSIX waiters, for the search of a cycle. */
struct blocked {
	struct list node;
	const void *owner, *holder;
};
static struct list blocked_list = LIST_INIT(blocked_list);
static unsigned lock_total;

static struct lock *lock_new(const struct lock *of)
{
	struct lock *l = lock_total < LOCKS_MAX ? malloc(sizeof(*l)) : NULL;

	if (!l)
		return NULL;
	*l = *of;
	lock_total++;
	return l;
}

static void lock_free(struct lock *l)
{
	list_del(&l->node);
	free(l);
	lock_total--;
}

static bool same_family(enum kind a, enum kind b)
{
	return (a == KIND_FLOCK) == (b == KIND_FLOCK);
}

static struct lock *conflict(struct inode *i, const struct lock *want)
{
	struct lock *l;

	list_for_each(l, &i->locks, node)
		if (same_family(l->kind, want->kind) && (l->owner != want->owner || l->kind != want->kind) &&
		    l->start <= want->end && want->start <= l->end && (l->type == F_WRLCK || want->type == F_WRLCK))
			return l;
	return NULL;
}

/* An owner's locks stand together and ascend, so that F_GETLK tells of its lowest one (posix_lock_inode). */
static void insert(struct inode *i, struct lock *fresh)
{
	struct lock *l;
	struct list *after = NULL;

	list_for_each(l, &i->locks, node) {
		if (l->kind != fresh->kind || l->owner != fresh->owner) {
			if (after)
				break;
			continue;
		}
		if (l->start > fresh->start) {
			after = l->node.prev;
			break;
		}
		after = &l->node;
	}
	list_add(after ? after : i->locks.prev, &fresh->node);
}

/* Replace what WANT's owner holds in its range by WANT (F_UNLCK: by nothing), joining equal neighbours. */
static int apply(struct inode *i, struct lock *want)
{
	struct lock *l, *tmp, *fresh = NULL, *tail = NULL;
	bool changed = false;

	/* Memory first: after the first change nothing may fail. */
	if (want->type != F_UNLCK && !(fresh = lock_new(want)))
		return -ENOLCK;
	tail = lock_new(want);
	if (!tail) {
		if (fresh)
			list_init(&fresh->node), lock_free(fresh);
		return -ENOLCK;
	}
	list_init(&tail->node);
	if (fresh)
		list_init(&fresh->node);
	list_for_each_safe(l, tmp, &i->locks, node) {
		if (l->kind != want->kind || l->owner != want->owner)
			continue;
		if (fresh && l->type == fresh->type && (fresh->end == INT64_MAX || l->start <= fresh->end + 1) &&
		    (l->end == INT64_MAX || l->end + 1 >= fresh->start)) {
			if (l->start < fresh->start)
				fresh->start = l->start;
			if (l->end > fresh->end)
				fresh->end = l->end;
			lock_free(l);
			continue;
		}
		if (l->end < want->start || l->start > want->end)
			continue;
		changed = true;
		if (l->start < want->start && l->end > want->end) { /* split */
			*tail = (struct lock){.kind = l->kind, .type = l->type, .start = want->end + 1, .end = l->end,
					      .owner = l->owner, .pid = l->pid};
			l->end = want->start - 1;
			list_add(&l->node, &tail->node);
			tail = NULL;
			break;
		}
		if (l->start < want->start)
			l->end = want->start - 1;
		else if (l->end > want->end)
			l->start = want->end + 1;
		else
			lock_free(l);
	}
	if (fresh)
		insert(i, fresh);
	if (tail)
		lock_free(tail);
	if (changed)
		waitq_wake(&i->lock_q, 0);
	return 0;
}

/* Does HOLDER (transitively) wait for OWNER? */
static bool deadlock(const void *owner, const void *holder)
{
	struct blocked *b;

	for (int depth = 0; depth < 10; depth++) {
		bool found = false;

		list_for_each(b, &blocked_list, node)
			if (b->owner == holder) {
				holder = b->holder;
				found = true;
				break;
			}
		if (!found)
			return false;
		if (holder == owner)
			return true;
	}
	return false;
}

static int lock_set(struct inode *i, struct lock *want, bool wait)
{
	struct lock *c;

	while (want->type != F_UNLCK && (c = conflict(i, want))) {
		int r;

		if (!wait)
			return -EAGAIN;
		struct blocked b = {.owner = want->owner, .holder = c->owner};
		if (want->kind == KIND_POSIX) {
			if (c->kind == KIND_POSIX && deadlock(want->owner, c->owner))
				return -EDEADLK;
			list_add(&blocked_list, &b.node);
		}
		r = wait_on(&i->lock_q, 0);
		if (want->kind == KIND_POSIX)
			list_del(&b.node);
		if (r < 0)
			return r;
	}
	return apply(i, want);
}

/* struct flock to an inclusive range; -EINVAL, -EOVERFLOW as Linux's flock64_to_posix_lock. */
static int range(struct file *f, const struct flock *fl, struct lock *l)
{
	int64_t base, end;

	switch (fl->l_whence) {
	case SEEK_SET:
		base = 0;
		break;
	case SEEK_CUR:
		base = (int64_t)f->pos;
		break;
	case SEEK_END:
		base = (int64_t)f->inode->size;
		break;
	default:
		return -EINVAL;
	}
	if (__builtin_add_overflow(base, fl->l_start, &l->start))
		return -EOVERFLOW;
	if (l->start < 0)
		return -EINVAL;
	if (fl->l_len > 0) {
		if (__builtin_add_overflow(l->start, fl->l_len - 1, &end))
			return -EOVERFLOW;
		l->end = end;
	} else if (fl->l_len < 0) {
		if (l->start + fl->l_len < 0)
			return -EINVAL;
		l->end = l->start - 1;
		l->start += fl->l_len;
	} else {
		l->end = INT64_MAX;
	}
	return 0;
}

int lock_fcntl(struct file *f, int cmd, struct flock *fl)
{
	bool ofd = cmd == F_OFD_GETLK || cmd == F_OFD_SETLK || cmd == F_OFD_SETLKW;
	bool get = cmd == F_GETLK || cmd == F_OFD_GETLK;
	struct lock want = {.kind = ofd ? KIND_OFD : KIND_POSIX, .type = fl->l_type,
			    .owner = ofd ? (const void *)f : current->files, .pid = ofd ? -1 : current->tg->pid};
	int r;

	if (want.type != F_RDLCK && want.type != F_WRLCK && want.type != F_UNLCK)
		return -EINVAL;
	if (get && want.type == F_UNLCK)
		return -EINVAL;
	if (ofd && fl->l_pid)
		return -EINVAL;
	r = range(f, fl, &want);
	if (r < 0)
		return r;
	if (get) {
		struct lock *c = conflict(f->inode, &want);

		if (!c) {
			fl->l_type = F_UNLCK;
			return 0;
		}
		fl->l_type = (short)c->type;
		fl->l_whence = SEEK_SET;
		fl->l_start = c->start;
		fl->l_len = c->end == INT64_MAX ? 0 : c->end - c->start + 1;
		fl->l_pid = c->pid;
		return 0;
	}
	if (want.type == F_RDLCK && !f->can_read)
		return -EBADF;
	if (want.type == F_WRLCK && !f->can_write)
		return -EBADF;
	if (ofd)
		f->has_locks = true;
	return lock_set(f->inode, &want, cmd == F_SETLKW || cmd == F_OFD_SETLKW);
}

int lock_flock(struct file *f, int op)
{
	struct lock want = {.kind = KIND_FLOCK, .start = 0, .end = INT64_MAX, .owner = f, .pid = current->tg->pid};

	switch (op & ~LOCK_NB) {
	case LOCK_SH:
		want.type = F_RDLCK;
		break;
	case LOCK_EX:
		want.type = F_WRLCK;
		break;
	case LOCK_UN:
		want.type = F_UNLCK;
		break;
	default:
		return -EINVAL;
	}
	f->has_locks = true;
	if (want.type != F_UNLCK && conflict(f->inode, &want)) {
		/* A conversion is not atomic: the old lock is given up before waiting (flock(2)). */
		struct lock un = want;

		un.type = F_UNLCK;
		apply(f->inode, &un);
	}
	return lock_set(f->inode, &want, !(op & LOCK_NB));
}

static void release(struct inode *i, const void *owner, bool posix)
{
	struct lock *l, *tmp;
	bool any = false;

	list_for_each_safe(l, tmp, &i->locks, node)
		if (l->owner == owner && (l->kind == KIND_POSIX) == posix) {
			lock_free(l);
			any = true;
		}
	if (any)
		waitq_wake(&i->lock_q, 0);
}

void lock_release_posix(struct inode *i, const void *owner)
{
	release(i, owner, true);
}

void lock_release_file(struct file *f)
{
	release(f->inode, f, false);
}

void lock_inode_gone(struct inode *i)
{
	struct lock *l, *tmp;

	list_for_each_safe(l, tmp, &i->locks, node)
		lock_free(l);
}
