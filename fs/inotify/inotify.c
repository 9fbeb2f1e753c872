/*
 * inotify(7). A watch pins its inode and hangs on it; an event walks the inode's watches and is queued with each
 * instance that asked for it. Equal neighbours are merged and the queue is bounded, as on Linux.
 */
#include "fs/inotify/inotify.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include "sentry/base/util.h"

#define MAX_EVENTS 16384u
#define MAX_WATCHES 65536u

struct event {
	struct list node;
	int wd;
	uint32_t mask, cookie;
	uint32_t name_size; /* with NUL, 0: no name */
	char name[];
};
struct instance {
	struct list watches, events;
	unsigned count, watch_count;
	int last_wd;
	bool overflowed;
	struct waitq q;
};
struct watch {
	struct list on_instance, on_inode;
	struct instance *in;
	struct inode *inode; /* counted */
	int wd;
	uint32_t mask;
};
static const struct file_ops inotify_ops;
unsigned inotify_watches;

bool file_is_inotify(const struct file *f)
{
	return f->ops == &inotify_ops;
}

/* Size in the guest's buffer: names are padded to a multiple of the header. */
static size_t wire_size(const struct event *e)
{
	size_t h = sizeof(struct inotify_event);
	return h + ALIGN_UP((size_t)e->name_size, h);
}

static void queue(struct instance *in, int wd, uint32_t mask, uint32_t cookie, const char *name)
{
	uint32_t size = name ? (uint32_t)strlen(name) + 1 : 0;
	if (!list_empty(&in->events)) {
		struct event *l = container_of(in->events.prev, struct event, node);
		if (l->wd == wd && l->mask == mask && l->cookie == cookie && l->name_size == size &&
		    (!size || !memcmp(l->name, name, size)))
			return;
	}
	if (in->count >= MAX_EVENTS) {
		if (in->overflowed)
			return;
		in->overflowed = true;
		wd = -1;
		mask = IN_Q_OVERFLOW;
		cookie = 0;
		size = 0;
	}
	struct event *e = malloc(sizeof *e + size);
	if (!e)
		return;
	*e = (struct event){.wd = wd, .mask = mask, .cookie = cookie, .name_size = size};
	if (size)
		memcpy(e->name, name, size);
	list_add_tail(&in->events, &e->node);
	in->count++;
	waitq_wake(&in->q, EPOLLIN | EPOLLRDNORM);
}

static void watch_free(struct watch *w, bool tell)
{
	if (tell)
		queue(w->in, w->wd, IN_IGNORED, 0, NULL);
	list_del(&w->on_instance);
	list_del(&w->on_inode);
	w->in->watch_count--;
	inotify_watches--;
	inode_put(w->inode);
	free(w);
}

/* UNLINKED: the name is gone from the directory; only IN_EXCL_UNLINK keeps its watches from hearing more of it. */
static void event_at(struct inode *inode, uint32_t mask, uint32_t cookie, const char *name, bool unlinked)
{
	struct watch *w, *tmp;
	list_for_each_safe(w, tmp, &inode->watches, on_inode) {
		if (!(w->mask & mask & IN_ALL_EVENTS) || (unlinked && (w->mask & IN_EXCL_UNLINK)))
			continue;
		queue(w->in, w->wd, mask, cookie, name);
		if (w->mask & IN_ONESHOT)
			watch_free(w, true);
	}
}

void inotify_event(struct inode *inode, uint32_t mask, uint32_t cookie, const char *name)
{
	event_at(inode, mask, cookie, name, false);
}

void inotify_inode_gone(struct inode *inode)
{
	inode_get(inode); /* the watches may hold the last references */
	while (!list_empty(&inode->watches)) {
		struct watch *w = list_first(&inode->watches, struct watch, on_inode);
		if (w->mask & IN_DELETE_SELF)
			queue(w->in, w->wd, IN_DELETE_SELF, 0, NULL);
		watch_free(w, true);
	}
	inode_put(inode);
}

void inotify_dentry_event(struct dentry *d, struct inode *inode, uint32_t mask)
{
	if ((inode->mode & S_IFMT) == S_IFDIR)
		mask |= IN_ISDIR;
	if (d->parent != d && d->parent->inode)
		event_at(d->parent->inode, mask, 0, d->name, d->dead);
	inotify_event(inode, mask, 0, NULL);
}

void inotify_moved(struct inode *odir, const char *oname, struct inode *ndir, const char *nname, struct inode *moved)
{
	static uint32_t cookie;
	uint32_t dir = (moved->mode & S_IFMT) == S_IFDIR ? IN_ISDIR : 0;
	if (!inotify_watches)
		return;
	cookie++;
	inotify_event(odir, IN_MOVED_FROM | dir, cookie, oname);
	inotify_event(ndir, IN_MOVED_TO | dir, cookie, nname);
	inotify_event(moved, IN_MOVE_SELF, 0, NULL);
}

int inotify_add(struct file *f, struct inode *inode, uint32_t mask)
{
	struct instance *in = f->priv;
	struct watch *w;
	list_for_each(w, &inode->watches, on_inode) {
		if (w->in != in)
			continue;
		if (mask & IN_MASK_CREATE)
			return -EEXIST;
		w->mask = (mask & IN_MASK_ADD ? w->mask : 0) | (mask & (IN_ALL_EVENTS | IN_ONESHOT | IN_EXCL_UNLINK));
		return w->wd;
	}
	if (in->watch_count >= MAX_WATCHES)
		return -ENOSPC;
	w = calloc(1, sizeof *w);
	if (!w)
		return -ENOMEM;
	w->in = in;
	w->inode = inode_get(inode);
	w->wd = ++in->last_wd;
	w->mask = mask & (IN_ALL_EVENTS | IN_ONESHOT | IN_EXCL_UNLINK);
	list_add_tail(&in->watches, &w->on_instance);
	list_add_tail(&inode->watches, &w->on_inode);
	in->watch_count++;
	inotify_watches++;
	return w->wd;
}

int inotify_remove(struct file *f, int wd)
{
	struct instance *in = f->priv;
	struct watch *w;
	list_for_each(w, &in->watches, on_instance) {
		if (w->wd != wd)
			continue;
		watch_free(w, true);
		return 0;
	}
	return -EINVAL;
}

static void event_free(struct instance *in, struct event *e)
{
	if (e->mask & IN_Q_OVERFLOW)
		in->overflowed = false;
	list_del(&e->node);
	in->count--;
	free(e);
}

static long in_read(struct file *f, struct uio *u, uint64_t *pos)
{
	struct instance *in = f->priv;
	while (list_empty(&in->events)) {
		if ((f->flags & O_NONBLOCK) || u->nowait)
			return -EAGAIN;
		int r = wait_on(&in->q, 0);
		if (r)
			return r;
	}
	long done = 0;
	while (!list_empty(&in->events)) {
		struct event *e = list_first(&in->events, struct event, node);
		size_t size = wire_size(e);
		union {
			struct inotify_event ev;
			char bytes[sizeof(struct inotify_event) + 272];
		} out = {.ev = {e->wd, e->mask, e->cookie, (uint32_t)(size - sizeof(struct inotify_event))}};
		if (size > u->resid || size > sizeof out)
			return done ? done : -EINVAL;
		memcpy(out.bytes + sizeof out.ev, e->name, e->name_size);
		/* Off the queue before the copy, which may sleep. */
		event_free(in, e);
		if (uio_put(u, out.bytes, size) != (long)size)
			return done ? done : -EFAULT;
		done += (long)size;
	}
	return done;
}

static uint32_t in_poll(struct file *f, struct poll_table *pt)
{
	struct instance *in = f->priv;
	poll_wait(pt, &in->q);
	return list_empty(&in->events) ? 0 : EPOLLIN | EPOLLRDNORM;
}

static int64_t in_ioctl(struct file *f, unsigned cmd, uint64_t arg)
{
	struct instance *in = f->priv;
	struct event *e;
	int n = 0;
	if (cmd != FIONREAD)
		return -ENOTTY;
	list_for_each(e, &in->events, node)
		n += (int)wire_size(e);
	return copy_out_obj(uaddr(arg), n);
}

static int in_fdinfo(struct file *f, char *buf, size_t size)
{
	struct instance *in = f->priv;
	struct watch *w;
	int n = 0;
	list_for_each(w, &in->watches, on_instance) {
		if ((size_t)n >= size)
			break;
		n += snprintf(buf + n, size - (size_t)n, "inotify wd:%x ino:%llx sdev:%llx mask:%x ignored_mask:0\n", w->wd,
			      (unsigned long long)w->inode->ino, (unsigned long long)w->inode->sb->dev, w->mask);
	}
	return n;
}

static void in_release(struct file *f)
{
	struct instance *in = f->priv;
	while (!list_empty(&in->watches))
		watch_free(list_first(&in->watches, struct watch, on_instance), false);
	while (!list_empty(&in->events))
		event_free(in, list_first(&in->events, struct event, node));
	free(in);
}

static int no_fsync(struct file *f, bool datasync)
{
	return -EINVAL;
}

static const struct file_ops inotify_ops = {
	.read = in_read,
	.llseek = no_llseek,
	.poll = in_poll,
	.ioctl = in_ioctl,
	.fdinfo = in_fdinfo,
	.release = in_release,
	.fsync = no_fsync,
};

struct file *inotify_new(int flags)
{
	struct instance *in = calloc(1, sizeof *in);
	struct inode *i = in ? anon_inode(0600) : NULL;
	if (!i) {
		free(in);
		return NULL;
	}
	list_init(&in->watches);
	list_init(&in->events);
	waitq_init(&in->q);
	struct file *f = file_anon(i, "anon_inode:inotify", O_RDONLY | (flags & O_NONBLOCK), &inotify_ops, in);
	if (!f) {
		free(in);
		return NULL;
	}
	f->seekable = false;
	return f;
}
