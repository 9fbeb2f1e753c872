/*
 * epoll(7). An item links waiters into the queues of its file; a wake-up puts the item on the ready list of its
 * instance. epoll_wait asks each ready item for its state again, so the list may hold items that are no longer
 * ready, never the reverse. Level-triggered items go back on the list after each report, edge-triggered ones
 * wait for the next wake-up, one-shot ones lose their events.
 *
 * Items do not count their file: it removes them when its last reference goes (epoll_file_gone). Nesting is
 * limited to EP_MAX_NESTS levels counted over both directions, which also bounds the recursion of wake-ups.
 */
#include "fs/epoll/epoll.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include "fs/poll.h"
#include "sentry/base/util.h"
#include "sentry/task/task.h"

#define EP_MAX_NESTS 4
#define EP_PRIVATE (EPOLLWAKEUP | EPOLLONESHOT | EPOLLET | EPOLLEXCLUSIVE)
#define EP_EXCLUSIVE_OK (EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP | EPOLLWAKEUP | EPOLLET | EPOLLEXCLUSIVE)
#define EP_MAX_WATCHES 1000000u /* of all instances together (max_user_watches) */

struct epitem;
struct ephook {
	struct waiter w;
	struct epitem *item;
	struct ephook *next; /* beyond the two in the item */
};
struct epitem {
	struct list hash, ready, on_file;
	struct eventpoll *ep;
	struct file *file; /* not counted */
	int fd;
	uint32_t events;
	uint64_t data;
	unsigned hooks;
	bool failed;
	struct ephook hook[2];
	struct ephook *more;
};
struct eventpoll {
	struct file *file;      /* its own file, not counted */
	struct waitq wait_q;    /* tasks in epoll_wait */
	struct waitq poll_q;    /* who polls the instance itself */
	struct list ready;
	struct list *bucket;
	unsigned buckets, count;
	unsigned visited;       /* mark of the last loop check */
};
static unsigned watch_total, visit_mark;
static const struct file_ops epoll_ops;

bool file_is_epoll(const struct file *f)
{
	return f->ops == &epoll_ops;
}

static unsigned item_hash(const struct file *f, int fd)
{
	uint64_t h = ((uintptr_t)f >> 4) * 31 + (unsigned)fd;
	return (unsigned)((h * 0x9e3779b97f4a7c15ull) >> 40);
}

static struct epitem *item_find(struct eventpoll *ep, const struct file *f, int fd)
{
	struct epitem *it;
	if (!ep->count)
		return NULL;
	list_for_each(it, &ep->bucket[item_hash(f, fd) & (ep->buckets - 1)], hash)
		if (it->file == f && it->fd == fd)
			return it;
	return NULL;
}

static bool table_grow(struct eventpoll *ep)
{
	unsigned n = ep->buckets ? ep->buckets * 2 : 16;
	struct list *b = malloc(n * sizeof *b);
	if (!b)
		return ep->buckets != 0; /* longer chains only */
	for (unsigned i = 0; i < n; i++)
		list_init(&b[i]);
	for (unsigned i = 0; i < ep->buckets; i++) {
		struct epitem *it, *tmp;
		list_for_each_safe(it, tmp, &ep->bucket[i], hash) {
			list_del(&it->hash);
			list_add(&b[item_hash(it->file, it->fd) & (n - 1)], &it->hash);
		}
	}
	free(ep->bucket);
	ep->bucket = b;
	ep->buckets = n;
	return true;
}

static void item_ready(struct epitem *it)
{
	struct eventpoll *ep = it->ep;
	if (list_empty(&it->ready))
		list_add_tail(&ep->ready, &it->ready);
	waitq_wake_one(&ep->wait_q, 0);
	waitq_wake(&ep->poll_q, EPOLLIN | EPOLLRDNORM);
}

static void hook_fired(struct waiter *w, uint32_t events)
{
	struct epitem *it = container_of(w, struct ephook, w)->item;
	if (!(it->events & ~EP_PRIVATE))
		return; /* one-shot, spent */
	if (events && !(events & it->events))
		return;
	item_ready(it);
}

struct ep_table {
	struct poll_table pt;
	struct epitem *item;
};

static void hook_add(struct poll_table *pt, struct waitq *q)
{
	struct epitem *it = container_of(pt, struct ep_table, pt)->item;
	struct ephook *h;
	if (it->hooks < ARRAY_COUNT(it->hook)) {
		h = &it->hook[it->hooks++];
	} else {
		h = malloc(sizeof *h);
		if (!h) {
			it->failed = true;
			return;
		}
		h->next = it->more;
		it->more = h;
	}
	h->item = it;
	h->w.fn = hook_fired;
	h->w.mask = 0; /* the item's events change by MOD; hook_fired filters */
	h->w.exclusive = it->events & EPOLLEXCLUSIVE;
	waitq_add(q, &h->w);
}

static void item_free(struct epitem *it)
{
	for (unsigned i = 0; i < it->hooks; i++)
		waitq_del(&it->hook[i].w);
	while (it->more) {
		struct ephook *h = it->more;
		it->more = h->next;
		waitq_del(&h->w);
		free(h);
	}
	list_del(&it->hash);
	list_del(&it->ready);
	list_del(&it->on_file);
	it->ep->count--;
	watch_total--;
	free(it);
}

void epoll_file_gone(struct file *f)
{
	while (!list_empty(&f->epitems))
		item_free(list_first(&f->epitems, struct epitem, on_file));
}

static uint32_t item_poll(struct epitem *it, struct poll_table *pt)
{
	return file_poll(it->file, pt) & it->events;
}

/* Longest chain of instances below EP (EP included), or -1 when TOP is met or it is too long. */
static int depth_below(struct eventpoll *ep, const struct eventpoll *top, int level)
{
	if (ep == top || level > EP_MAX_NESTS)
		return -1;
	if (ep->visited == visit_mark && level > 1)
		return 1; /* shared subtree, measured before; chains through it are still bounded by level */
	int deepest = 0;
	for (unsigned b = 0; b < ep->buckets; b++) {
		struct epitem *it;
		list_for_each(it, &ep->bucket[b], hash) {
			if (!file_is_epoll(it->file))
				continue;
			int d = depth_below(it->file->priv, top, level + 1);
			if (d < 0)
				return -1;
			deepest = MAX(deepest, d);
		}
	}
	ep->visited = visit_mark;
	return deepest + 1;
}

static int depth_above(struct eventpoll *ep, int level)
{
	if (level > EP_MAX_NESTS)
		return level;
	int deepest = 0;
	struct epitem *it;
	list_for_each(it, &ep->file->epitems, on_file) {
		deepest = MAX(deepest, depth_above(it->ep, level + 1));
		if (deepest > EP_MAX_NESTS)
			break;
	}
	return deepest + 1;
}

static int nest_check(struct eventpoll *ep, struct file *target)
{
	if (!file_is_epoll(target))
		return 0;
	visit_mark++;
	int below = depth_below(target->priv, ep, 1);
	if (below < 0 || below + depth_above(ep, 1) > EP_MAX_NESTS + 1)
		return -ELOOP;
	return 0;
}

static int item_insert(struct eventpoll *ep, struct file *target, int fd, const struct epoll_event *ev)
{
	int r = nest_check(ep, target);
	if (r)
		return r;
	if (watch_total >= EP_MAX_WATCHES)
		return -ENOSPC;
	if (ep->count >= ep->buckets && !table_grow(ep))
		return -ENOMEM;
	struct epitem *it = calloc(1, sizeof *it);
	if (!it)
		return -ENOMEM;
	it->ep = ep;
	it->file = target;
	it->fd = fd;
	it->events = ev->events;
	it->data = ev->data.u64;
	list_init(&it->ready);
	list_add(&ep->bucket[item_hash(target, fd) & (ep->buckets - 1)], &it->hash);
	list_add(&target->epitems, &it->on_file);
	ep->count++;
	watch_total++;
	struct ep_table et = {.pt.add = hook_add, .item = it};
	uint32_t now = item_poll(it, &et.pt);
	if (it->failed) {
		item_free(it);
		return -ENOMEM;
	}
	if (now)
		item_ready(it);
	return 0;
}

int epoll_change(struct file *epf, int op, struct file *target, int fd, const struct epoll_event *uev)
{
	if (!target->ops || !target->ops->poll)
		return -EPERM;
	if (epf == target || !file_is_epoll(epf))
		return -EINVAL;
	struct epoll_event ev = {0};
	if (op != EPOLL_CTL_DEL) {
		ev = *uev;
		if (ev.events & EPOLLEXCLUSIVE) {
			if (op == EPOLL_CTL_MOD || file_is_epoll(target) || (ev.events & ~EP_EXCLUSIVE_OK))
				return -EINVAL;
		}
		ev.events |= EPOLLERR | EPOLLHUP;
	}
	struct eventpoll *ep = epf->priv;
	struct epitem *it = item_find(ep, target, fd);
	switch (op) {
	case EPOLL_CTL_ADD:
		return it ? -EEXIST : item_insert(ep, target, fd, &ev);
	case EPOLL_CTL_DEL:
		if (!it)
			return -ENOENT;
		item_free(it);
		return 0;
	case EPOLL_CTL_MOD:
		if (!it)
			return -ENOENT;
		if (it->events & EPOLLEXCLUSIVE)
			return -EINVAL;
		it->events = ev.events;
		it->data = ev.data.u64;
		if (item_poll(it, NULL))
			item_ready(it);
		return 0;
	default:
		return -EINVAL;
	}
}

/* Fill EV from the ready list; no sleep inside, so the list cannot change under us. */
static int take_ready(struct eventpoll *ep, struct epoll_event *ev, int max)
{
	struct list tx, again;
	list_init(&tx);
	list_init(&again);
	int n = 0;
	/* Move everything to a private list: level-triggered items go to the tail of the real one, behind those
	 * not looked at yet, so that a small MAX serves all in turn. */
	while (!list_empty(&ep->ready)) {
		struct list *l = ep->ready.next;
		list_del(l);
		list_add_tail(&tx, l);
	}
	while (n < max && !list_empty(&tx)) {
		struct epitem *it = list_first(&tx, struct epitem, ready);
		list_del(&it->ready);
		uint32_t now = item_poll(it, NULL);
		if (!now)
			continue;
		ev[n].events = now;
		ev[n].data.u64 = it->data;
		n++;
		if (it->events & EPOLLONESHOT)
			it->events &= EP_PRIVATE;
		else if (!(it->events & EPOLLET))
			list_add_tail(&again, &it->ready);
	}
	while (!list_empty(&tx)) {
		struct list *l = tx.next;
		list_del(l);
		list_add_tail(&ep->ready, l);
	}
	while (!list_empty(&again)) {
		struct list *l = again.next;
		list_del(l);
		list_add_tail(&ep->ready, l);
	}
	return n;
}

#define BATCH 32
int64_t epoll_collect(struct file *epf, uaddr_t out, int max, uint64_t deadline, bool immediate)
{
	struct eventpoll *ep = epf->priv;
	struct epoll_event ev[BATCH];
	for (;;) {
		int n = list_empty(&ep->ready) ? 0 : take_ready(ep, ev, MIN(max, BATCH));
		if (n) {
			/* More than a batch: the caller comes back for the rest, as if MAX had been smaller. */
			if (!list_empty(&ep->ready))
				waitq_wake_one(&ep->wait_q, 0);
			int r = copy_out(out, ev, (size_t)n * sizeof ev[0]);
			return r ? r : n;
		}
		if (immediate)
			return 0;
		struct task_waiter tw;
		task_waiter_init(&tw, 0);
		tw.w.exclusive = true;
		waitq_add(&ep->wait_q, &tw.w);
		int r = wait_sleep(deadline);
		waitq_del(&tw.w);
		if (tw.fired)
			r = 0; /* it was ours alone: look before giving up */
		if (r == -ETIMEDOUT)
			immediate = true; /* one last look */
		else if (r)
			return -EINTR;
	}
}

static uint32_t epoll_poll(struct file *f, struct poll_table *pt)
{
	struct eventpoll *ep = f->priv;
	poll_wait(pt, &ep->poll_q);
	while (!list_empty(&ep->ready)) {
		struct epitem *it = list_first(&ep->ready, struct epitem, ready);
		if (item_poll(it, NULL))
			return EPOLLIN | EPOLLRDNORM;
		list_del(&it->ready);
	}
	return 0;
}

static int epoll_fdinfo(struct file *f, char *buf, size_t size)
{
	struct eventpoll *ep = f->priv;
	int n = 0;
	for (unsigned b = 0; b < ep->buckets; b++) {
		struct epitem *it;
		list_for_each(it, &ep->bucket[b], hash) {
			if ((size_t)n >= size)
				return n;
			n += snprintf(buf + n, size - (size_t)n, "tfd: %8d events: %8x data: %16llx  pos:%lli ino:%llx sdev:%llx\n",
				      it->fd, it->events, (unsigned long long)it->data, (long long)it->file->pos,
				      (unsigned long long)it->file->inode->ino,
				      (unsigned long long)it->file->inode->sb->dev);
		}
	}
	return n;
}

static void epoll_release(struct file *f)
{
	struct eventpoll *ep = f->priv;
	for (unsigned b = 0; b < ep->buckets; b++)
		while (!list_empty(&ep->bucket[b]))
			item_free(list_first(&ep->bucket[b], struct epitem, hash));
	free(ep->bucket);
	free(ep);
}

static int no_fsync(struct file *f, bool datasync)
{
	return -EINVAL;
}

static const struct file_ops epoll_ops = {
	.llseek = no_llseek,
	.poll = epoll_poll,
	.release = epoll_release,
	.fdinfo = epoll_fdinfo,
	.fsync = no_fsync,
};

struct file *epoll_new(void)
{
	struct eventpoll *ep = calloc(1, sizeof *ep);
	struct inode *i = anon_inode(0600);
	if (!ep || !i)
		goto nomem;
	waitq_init(&ep->wait_q);
	waitq_init(&ep->poll_q);
	list_init(&ep->ready);
	struct file *f = file_anon(i, "anon_inode:[eventpoll]", O_RDWR, &epoll_ops, ep);
	if (!f) {
		free(ep);
		return NULL;
	}
	f->seekable = false;
	ep->file = f;
	return f;
nomem:
	free(ep);
	if (i)
		inode_put(i);
	return NULL;
}
