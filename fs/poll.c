/*
 * Waiting for many files at once. Each polled file links one or two waiters; any of them marks the task's
 * poll_wq as fired and wakes it. Waiters stay linked over all rounds of one call, so no event between the look
 * and the sleep is lost: the look of the first round registers before it reads the state.
 */
#include "fs/poll.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include "sentry/base/util.h"
#include "sentry/task/task.h"

uint32_t file_poll(struct file *f, struct poll_table *pt)
{
	if (!f->ops || !f->ops->poll)
		return EPOLLIN | EPOLLOUT | EPOLLRDNORM | EPOLLWRNORM;
	return f->ops->poll(f, pt);
}

static void entry_fired(struct waiter *w, uint32_t events)
{
	struct poll_entry *e = container_of(w, struct poll_entry, w);
	waiter_wake_task(&e->wq->tw.w, events);
}

static void entry_add(struct poll_table *pt, struct waitq *q)
{
	struct poll_wq *wq = container_of(pt, struct poll_wq, pt);
	struct poll_entry *e;
	if (wq->used < POLL_INLINE) {
		e = &wq->first[wq->used++];
	} else {
		if (!wq->more || wq->more->used == ARRAY_COUNT(wq->more->entry)) {
			struct poll_chunk *c = malloc(sizeof *c);
			if (!c) {
				wq->error = -ENOMEM;
				return;
			}
			c->used = 0;
			c->next = wq->more;
			wq->more = c;
		}
		e = &wq->more->entry[wq->more->used++];
	}
	e->wq = wq;
	e->file = file_get(wq->cur);
	e->w.fn = entry_fired;
	e->w.mask = wq->key;
	e->w.exclusive = false;
	waitq_add(q, &e->w);
}

void poll_wq_init(struct poll_wq *wq)
{
	task_waiter_init(&wq->tw, 0);
	wq->pt.add = entry_add;
	wq->used = 0;
	wq->error = 0;
	wq->more = NULL;
}

static void entry_drop(struct poll_entry *e)
{
	waitq_del(&e->w);
	file_put(e->file);
}

void poll_wq_fini(struct poll_wq *wq)
{
	for (unsigned i = 0; i < wq->used; i++)
		entry_drop(&wq->first[i]);
	while (wq->more) {
		struct poll_chunk *c = wq->more;
		wq->more = c->next;
		for (unsigned i = 0; i < c->used; i++)
			entry_drop(&c->entry[i]);
		free(c);
	}
}

uint32_t poll_wq_file(struct poll_wq *wq, struct file *f, uint32_t events)
{
	wq->cur = f;
	wq->key = events | EPOLLERR | EPOLLHUP;
	return file_poll(f, &wq->pt);
}

int poll_wq_sleep(struct poll_wq *wq, uint64_t deadline)
{
	poll_wq_ready(wq); /* everything is registered after the first round */
	int r = 0;
	if (!wq->tw.fired)
		r = wait_sleep(deadline);
	if (wq->tw.fired)
		r = 0;
	wq->tw.fired = false;
	return r;
}

uint64_t deadline_after(uint64_t ns)
{
	uint64_t at;
	if (add_overflows(now_mono_ns(), ns, &at) || at > INT64_MAX)
		return INT64_MAX;
	return at;
}

int timeout_in(uaddr_t ts, uint64_t *ns)
{
	struct timespec t;
	int r = copy_in_obj(t, ts);
	if (r)
		return r;
	if (t.tv_sec < 0 || t.tv_nsec < 0 || t.tv_nsec >= NSEC_PER_SEC)
		return -EINVAL;
	if (t.tv_sec >= INT64_MAX / NSEC_PER_SEC)
		*ns = INT64_MAX;
	else
		*ns = (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
	return 0;
}

int sigmask_enter(uaddr_t set, uint64_t size)
{
	if (uaddr_null(set))
		return 0;
	if (size != sizeof(uint64_t))
		return -EINVAL;
	uint64_t mask;
	int r = copy_in_obj(mask, set);
	if (r)
		return r;
	current->saved_mask = current->sig_mask;
	current->restore_mask = true;
	signal_set_mask(current, mask);
	return 0;
}

void sigmask_leave(bool interrupted)
{
	if (!current->restore_mask || interrupted)
		return;
	current->restore_mask = false;
	signal_set_mask(current, current->saved_mask);
}
