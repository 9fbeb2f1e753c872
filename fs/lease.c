/*
 * Leases: a process asks to be told before somebody else opens a file in a way that its lease excludes, and the
 * opener waits until the lease is given up or lease_break_time is over (fs/locks.c of Linux, __break_lease).
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include "fs/fown.h"
#include "sentry/base/host.h"
#include "sentry/base/util.h"
#include "sentry/task/task.h"

#define LEASES_MAX 65536u

unsigned lease_break_time = 45;
static unsigned total;

struct lease {
	struct lease *next;   /* of the inode */
	struct file *file;    /* not counted: the lease goes with it */
	int fd, type;
	int target;           /* while it is broken: F_RDLCK or F_UNLCK, else -1 */
	uint64_t deadline;    /* then: CLOCK_MONOTONIC when it is taken away */
};

static struct lease **find(struct file *f)
{
	struct lease **at = &f->inode->leases;

	while (*at && (*at)->file != f)
		at = &(*at)->next;
	return at;
}

static void become(struct inode *i, struct lease **at, int type)
{
	struct lease *l = *at;

	l->type = type;
	l->target = -1;
	if (type == F_UNLCK) {
		*at = l->next;
		free(l);
		total--;
	}
	waitq_wake(&i->lock_q, 0);
}

/* check_conflicting_open: is the file open in a way that the lease would exclude? */
static bool open_conflict(const struct file *f, int type)
{
	const struct inode *i = f->inode;

	if (type == F_RDLCK)
		return i->write_count > 0;
	return i->write_count != (f->can_write ? 1 : 0) || i->read_count != (f->counted_reader ? 1 : 0);
}

int lease_set(struct file *f, int fd, int type)
{
	struct inode *i = f->inode;
	struct lease **at, *l;

	if (type != F_RDLCK && type != F_WRLCK && type != F_UNLCK)
		return -EINVAL;
	if (current->cred->fsuid != i->uid && !capable(CAP_LEASE))
		return -EACCES;
	if (!S_ISREG(i->mode))
		return -EINVAL;
	at = find(f);
	if (type == F_UNLCK) {
		if (!*at)
			return -EAGAIN;
		become(i, at, F_UNLCK);
		return 0;
	}
	if (open_conflict(f, type))
		return -EAGAIN;
	for (l = i->leases; l; l = l->next)
		if (l->file != f && (type == F_WRLCK || l->target == F_UNLCK))
			return -EAGAIN;
	if (*at) {
		become(i, at, type);
		return 0;
	}
	l = total < LEASES_MAX ? calloc(1, sizeof(*l)) : NULL;
	if (!l)
		return -ENOMEM;
	*l = (struct lease){.file = f, .fd = fd, .type = type, .target = -1};
	*at = l;
	total++;
	fown_set(f, F_OWNER_PID, current->tg->pid, false);
	return 0;
}

int lease_get(struct file *f)
{
	struct lease *l = *find(f);

	return !l ? F_UNLCK : l->target >= 0 ? l->target : l->type;
}

void lease_drop(struct file *f)
{
	struct lease **at = find(f);

	if (*at)
		become(f->inode, at, F_UNLCK);
}

/* One look at all leases: those overdue end, those in the way are told (once). The next deadline, or 0: none in the way. */
static uint64_t break_all(struct inode *i, bool write)
{
	uint64_t now = now_mono_ns(), first = 0;
	int target = write ? F_UNLCK : F_RDLCK;

	for (struct lease **at = &i->leases, *l; (l = *at);) {
		if (l->target >= 0 && now >= l->deadline) {
			bool gone = l->target == F_UNLCK;

			become(i, at, l->target);
			if (gone)
				continue;
		}
		if (!write && l->type == F_RDLCK) {
			at = &l->next;
			continue;
		}
		if (l->target != F_UNLCK && l->target != target) {
			l->target = target;
			l->deadline = now + lease_break_time * NSEC_PER_SEC;
			fown_signal(l->file, l->fd, POLL_MSG, EPOLLIN | EPOLLRDNORM | EPOLLMSG);
		}
		if (!first || l->deadline < first)
			first = l->deadline;
		at = &l->next;
	}
	return first;
}

int lease_break(struct inode *i, int flags)
{
	bool write = (flags & O_ACCMODE) != O_RDONLY;
	uint64_t deadline;

	while (i->leases && (deadline = break_all(i, write))) {
		int r;

		if (flags & O_NONBLOCK)
			return -EWOULDBLOCK;
		r = wait_on(&i->lock_q, deadline);
		if (r < 0 && r != -ETIMEDOUT)
			return r;
	}
	return 0;
}
