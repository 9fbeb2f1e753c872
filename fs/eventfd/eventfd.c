/* eventfd(2): reads take the counter (or 1, as a semaphore), writes add; the largest value is 2^64 - 2. */
#include "fs/eventfd/eventfd.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

struct eventfd {
	uint64_t count;
	bool semaphore;
	int id;
	struct waitq q;
};

static long efd_read(struct file *f, struct uio *u, uint64_t *pos)
{
	struct eventfd *e = f->priv;
	if (u->resid < sizeof e->count)
		return -EINVAL;
	while (!e->count) {
		if ((f->flags & O_NONBLOCK) || u->nowait)
			return -EAGAIN;
		int r = wait_on(&e->q, 0);
		if (r)
			return r;
	}
	uint64_t v = e->semaphore ? 1 : e->count;
	e->count -= v;
	waitq_wake(&e->q, EPOLLOUT);
	long n = uio_put(u, &v, sizeof v);
	return n == sizeof v ? n : -EFAULT;
}

static long efd_write(struct file *f, struct uio *u, uint64_t *pos)
{
	struct eventfd *e = f->priv;
	uint64_t v;
	if (u->resid < sizeof v)
		return -EINVAL;
	if (uio_get(u, &v, sizeof v) != sizeof v)
		return -EFAULT;
	if (v == UINT64_MAX)
		return -EINVAL;
	while (UINT64_MAX - e->count <= v) {
		if ((f->flags & O_NONBLOCK) || u->nowait)
			return -EAGAIN;
		int r = wait_on(&e->q, 0);
		if (r)
			return r;
	}
	e->count += v;
	waitq_wake(&e->q, EPOLLIN);
	return sizeof v;
}

static uint32_t eventfd_poll(struct file *f, struct poll_table *pt)
{
	struct eventfd *e = f->priv;
	poll_wait(pt, &e->q);
	uint32_t ev = 0;
	if (e->count)
		ev |= EPOLLIN;
	if (e->count < UINT64_MAX - 1)
		ev |= EPOLLOUT;
	return ev;
}

static int eventfd_fdinfo(struct file *f, char *buf, size_t size)
{
	struct eventfd *e = f->priv;
	return snprintf(buf, size, "eventfd-count: %16llx\neventfd-id: %d\neventfd-semaphore: %d\n",
			(unsigned long long)e->count, e->id, e->semaphore);
}

static void eventfd_release(struct file *f)
{
	free(f->priv);
}

static int no_fsync(struct file *f, bool datasync)
{
	return -EINVAL;
}

static const struct file_ops eventfd_ops = {
	.read = efd_read,
	.write = efd_write,
	.llseek = no_llseek,
	.poll = eventfd_poll,
	.release = eventfd_release,
	.fdinfo = eventfd_fdinfo,
	.fsync = no_fsync,
};

struct file *eventfd_new(unsigned count, int flags)
{
	static int next_id;
	struct eventfd *e = calloc(1, sizeof *e);
	struct inode *i = anon_inode(0600);
	if (!e || !i)
		goto nomem;
	e->count = count;
	e->semaphore = flags & EFD_SEMAPHORE;
	e->id = next_id++;
	waitq_init(&e->q);
	struct file *f = file_anon(i, "anon_inode:[eventfd]", O_RDWR | (flags & O_NONBLOCK), &eventfd_ops, e);
	if (!f) {
		free(e);
		return NULL;
	}
	f->seekable = false;
	return f;
nomem:
	free(e);
	if (i)
		inode_put(i);
	return NULL;
}
