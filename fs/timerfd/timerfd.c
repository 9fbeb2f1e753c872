/*
 * timerfd(2). The count of expirations is computed when somebody looks: the loop's timer only wakes sleepers at the
 * next one, so a fast periodic timer that nobody reads costs nothing.
 */
#include "fs/timerfd/timerfd.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include "sentry/base/util.h"
#include "sentry/loop.h"

struct timerfd {
	struct timer timer;
	struct clock_ref clock;
	int clockid;
	uint64_t next;     /* CLOCK_MONOTONIC ns of the next expiration; 0: disarmed */
	uint64_t interval; /* 0: once */
	uint64_t ticks;    /* expirations counted and not read */
	int settime_flags;
	struct waitq q;
};
static const struct file_ops timerfd_ops;

bool file_is_timerfd(const struct file *f)
{
	return f->ops == &timerfd_ops;
}

/* Count what has expired by now and move NEXT into the future. */
static void catch_up(struct timerfd *t)
{
	uint64_t now = now_mono_ns();
	if (!t->next || now < t->next)
		return;
	if (!t->interval) {
		t->ticks++;
		t->next = 0;
		return;
	}
	uint64_t n = (now - t->next) / t->interval + 1;
	t->ticks += n;
	t->next += n * t->interval;
}

static void expired(struct timer *tm)
{
	struct timerfd *t = container_of(tm, struct timerfd, timer);
	catch_up(t);
	/* Re-armed by the read that takes the ticks: readers of a ready timer need no further wake-up. */
	waitq_wake(&t->q, EPOLLIN);
}

static void rearm(struct timerfd *t)
{
	if (t->next)
		timer_arm(&t->timer, t->next);
	else
		timer_cancel(&t->timer);
}

static long tfd_read(struct file *f, struct uio *u, uint64_t *pos)
{
	struct timerfd *t = f->priv;
	if (u->resid < sizeof t->ticks)
		return -EINVAL;
	for (;;) {
		catch_up(t);
		if (t->ticks)
			break;
		if ((f->flags & O_NONBLOCK) || u->nowait)
			return -EAGAIN;
		int r = wait_on(&t->q, 0);
		if (r)
			return r;
	}
	uint64_t v = t->ticks;
	t->ticks = 0;
	rearm(t);
	return uio_put(u, &v, sizeof v) == sizeof v ? (long)sizeof v : -EFAULT;
}

static uint32_t tfd_poll(struct file *f, struct poll_table *pt)
{
	struct timerfd *t = f->priv;
	poll_wait(pt, &t->q);
	catch_up(t);
	return t->ticks ? EPOLLIN : 0;
}

void timerfd_get(struct file *f, uint64_t *value, uint64_t *interval)
{
	struct timerfd *t = f->priv;
	catch_up(t);
	uint64_t now = now_mono_ns();
	*value = !t->next ? 0 : t->next > now ? t->next - now : 1;
	*interval = t->interval;
}

int timerfd_set(struct file *f, bool absolute, bool cancel_on_set, uint64_t value, uint64_t interval,
		uint64_t *old_value, uint64_t *old_interval)
{
	struct timerfd *t = f->priv;
	uint64_t next = 0;
	timerfd_get(f, old_value, old_interval);
	if (value)
		next = absolute ? clock_to_mono(&t->clock, value) : ns_add(now_mono_ns(), value);
	if (value && !next)
		next = 1;
	t->next = next;
	t->interval = interval;
	t->ticks = 0;
	t->settime_flags = (absolute ? TFD_TIMER_ABSTIME : 0) | (cancel_on_set ? TFD_TIMER_CANCEL_ON_SET : 0);
	if (!next) {
		timer_cancel(&t->timer);
		return 0;
	}
	return timer_arm(&t->timer, next);
}

static int64_t tfd_ioctl(struct file *f, unsigned cmd, uint64_t arg)
{
	struct timerfd *t = f->priv;
	uint64_t v;
	if (cmd != 0x40085400) /* TFD_IOC_SET_TICKS */
		return -ENOTTY;
	if (copy_in_obj(v, uaddr(arg)))
		return -EFAULT;
	if (!v)
		return -EINVAL;
	t->ticks = v;
	waitq_wake(&t->q, EPOLLIN);
	return 0;
}

static int tfd_fdinfo(struct file *f, char *buf, size_t size)
{
	struct timerfd *t = f->priv;
	uint64_t v, i;
	timerfd_get(f, &v, &i);
	return snprintf(buf, size,
			"clockid: %d\nticks: %llu\nsettime flags: 0%o\nit_value: (%llu, %llu)\nit_interval: (%llu, %llu)\n",
			t->clockid, (unsigned long long)t->ticks, (unsigned)t->settime_flags,
			(unsigned long long)(v / NSEC_PER_SEC), (unsigned long long)(v % NSEC_PER_SEC),
			(unsigned long long)(i / NSEC_PER_SEC), (unsigned long long)(i % NSEC_PER_SEC));
}

static void tfd_release(struct file *f)
{
	struct timerfd *t = f->priv;
	timer_cancel(&t->timer);
	free(t);
}

static int no_fsync(struct file *f, bool datasync)
{
	return -EINVAL;
}

static const struct file_ops timerfd_ops = {
	.read = tfd_read,
	.llseek = no_llseek,
	.poll = tfd_poll,
	.ioctl = tfd_ioctl,
	.fdinfo = tfd_fdinfo,
	.release = tfd_release,
	.fsync = no_fsync,
};

struct file *timerfd_new(int clockid, const struct clock_ref *clock, int flags)
{
	struct timerfd *t = calloc(1, sizeof *t);
	struct inode *i = t ? anon_inode(0600) : NULL;
	if (!i) {
		free(t);
		return NULL;
	}
	t->timer.fn = expired;
	t->clock = *clock;
	t->clockid = clockid;
	waitq_init(&t->q);
	struct file *f = file_anon(i, "anon_inode:[timerfd]", O_RDWR | (flags & O_NONBLOCK), &timerfd_ops, t);
	if (!f) {
		free(t);
		return NULL;
	}
	f->seekable = false;
	return f;
}
