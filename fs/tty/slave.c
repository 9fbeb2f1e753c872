/* Files of the slave side: what programs read, write and poll on /dev/pts/N, /dev/tty and /dev/console. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <termios.h>
#include "fs/poll.h"
#include "fs/tty/internal.h"
#include "sentry/base/util.h"
#include "sentry/task/task.h"

static bool hung(const struct file *f, const struct tty *t)
{
	return f->pos != t->hangups || (!t->masters && !t->kernel_master);
}

static bool nonblock(const struct file *f, const struct uio *u)
{
	return (f->flags & O_NONBLOCK) || u->nowait;
}

/* Sleep until there is something to return by the rules of VMIN and VTIME. 1: go on; 0: return 0; or -errno. HAVE:
 * bytes that this read has moved already. */
static int wait_input(struct file *f, struct uio *u, struct tty *t, size_t have, uint64_t *deadline)
{
	bool canon = t->tio.lflag & ICANON;
	unsigned min = t->tio.cc[VMIN], time = t->tio.cc[VTIME];
	if (ldisc_readable(t, false))
		return 1;
	if (hung(f, t))
		return 0;
	if (!canon && !min && !time)
		return 0;
	if (nonblock(f, u))
		return -EAGAIN;
	uint64_t until = 0;
	if (!canon && time && (have || !min)) {
		if (!*deadline || have)
			*deadline = deadline_after(time * 100000000ull);
		until = *deadline;
	}
	int r = wait_on(&t->rd_q, until);
	return r == -ETIMEDOUT ? 0 : r ? r : 2;
}

static long slave_read(struct file *f, struct uio *u, uint64_t *pos)
{
	struct tty *t = f->priv;
	long done = 0;
	uint64_t deadline = 0;
	uint8_t buf[512];
	if (!u->resid)
		return 0;
	for (;;) {
		if (hung(f, t))
			return done; /* Linux: end of file after a hang-up */
		int r = tty_job_control(t, SIGTTIN);
		if (r)
			return done ? done : r;
		r = wait_input(f, u, t, (size_t)done, &deadline);
		if (r == 2)
			continue;
		if (r <= 0)
			return done ? done : r;
		bool end;
		size_t n = ldisc_take(t, buf, MIN(u->resid, sizeof buf), &end);
		waitq_wake(&t->m_q, EPOLLOUT | EPOLLWRNORM);
		if (t->kernel_master && t->on_output)
			t->on_output(t, t->arg); /* room for more input */
		if (n) {
			long put = uio_put(u, buf, n);
			if (put < 0)
				return done ? done : put;
			done += put;
		}
		if (t->tio.lflag & ICANON) {
			if (end || !u->resid)
				return done;
			continue;
		}
		/* Raw: enough is VMIN bytes, or a full buffer; with neither bytes nor VMIN wanted, whatever there is. */
		if (!u->resid || (done >= t->tio.cc[VMIN] && t->in_head == t->in_tail))
			return done;
	}
}

static long slave_write(struct file *f, struct uio *u, uint64_t *pos)
{
	struct tty *t = f->priv;
	uint8_t buf[512];
	long done = 0;
	if (t->tio.lflag & TOSTOP) {
		int r = tty_job_control(t, SIGTTOU);
		if (r)
			return r;
	}
	size_t have = 0, at = 0;
	for (;;) {
		if (hung(f, t))
			return done ? done : -EIO;
		if (at == have) {
			if (!u->resid)
				break;
			long got = uio_get(u, buf, MIN(u->resid, sizeof buf));
			if (got <= 0) {
				tty_out_ready(t);
				return done ? done : got;
			}
			have = (size_t)got;
			at = 0;
		}
		while (at < have && !t->stopped && ldisc_out(t, buf[at])) {
			at++;
			done++;
		}
		tty_out_ready(t);
		if (at == have)
			continue;
		if (nonblock(f, u))
			return done ? done : -EAGAIN;
		if (!t->stopped && tty_output_pending(t) + 8 <= TTY_OUT)
			continue; /* the kernel's master took it at once */
		int r = wait_on(&t->wr_q, 0);
		if (r)
			return done ? done : r;
	}
	return done;
}

static uint32_t slave_poll(struct file *f, struct poll_table *pt)
{
	struct tty *t = f->priv;
	poll_wait(pt, &t->rd_q);
	poll_wait(pt, &t->wr_q);
	if (hung(f, t))
		return EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP | EPOLLRDNORM | EPOLLWRNORM;
	uint32_t ev = 0;
	if (ldisc_readable(t, true))
		ev |= EPOLLIN | EPOLLRDNORM;
	if (!t->stopped && tty_output_pending(t) + 256 < TTY_OUT)
		ev |= EPOLLOUT | EPOLLWRNORM;
	return ev;
}

static int64_t slave_ioctl(struct file *f, unsigned cmd, uint64_t arg)
{
	struct tty *t = f->priv;
	if (hung(f, t))
		return -EIO;
	return tty_ioctl(t, false, cmd, arg);
}

static void slave_release(struct file *f)
{
	struct tty *t = f->priv;
	if (!t)
		return;
	if (!--t->slaves) {
		t->exclusive = false;
		waitq_wake(&t->m_q, EPOLLIN | EPOLLRDNORM | EPOLLHUP);
		if (t->on_output)
			t->on_output(t, t->arg);
	}
	tty_put(t);
}

static int tty_no_fsync(struct file *f, bool datasync)
{
	return -EINVAL;
}

const struct file_ops slave_ops = {
	.read = slave_read,
	.write = slave_write,
	.llseek = no_llseek,
	.poll = slave_poll,
	.ioctl = slave_ioctl,
	.release = slave_release,
	.fsync = tty_no_fsync,
};

void slave_attach(struct tty *t, struct file *f)
{
	f->ops = &slave_ops;
	f->priv = tty_get(t);
	f->pos = t->hangups;
	f->seekable = false;
	t->slaves++;
	t->slave_seen = true;
}

struct tty *file_tty(struct file *f, bool *master)
{
	if (f->ops != &slave_ops && f->ops != &master_ops)
		return NULL;
	if (master)
		*master = f->ops == &master_ops;
	return f->priv;
}

static int open_slave_file(struct tty *t, struct file *f)
{
	if (t->locked || (!t->masters && !t->kernel_master))
		return -EIO;
	if (t->exclusive && !capable(CAP_SYS_ADMIN))
		return -EBUSY;
	slave_attach(t, f);
	/* A session leader without a terminal gets this one. */
	if (!(f->flags & O_NOCTTY) && f->can_read && current && !t->session)
		tty_set_controlling(t, false);
	return 0;
}

int pts_open(struct inode *i, struct file *f, unsigned index)
{
	struct tty *t = tty_by_index(index);
	return t ? open_slave_file(t, f) : -EIO;
}

int tty_open_current(struct inode *i, struct file *f)
{
	struct session *s = current && current->tg->pgrp ? current->tg->pgrp->session : NULL;
	if (!s || !s->tty)
		return -ENXIO;
	slave_attach(s->tty, f);
	return 0;
}

int tty_open_console_node(struct inode *i, struct file *f)
{
	struct tty *t = tty_console();
	if (!t)
		return -ENXIO;
	slave_attach(t, f);
	return 0;
}

struct file *tty_open_slave(struct tty *t, int flags)
{
	char name[32];
	struct path p;
	struct file *f;
	snprintf(name, sizeof name, "/dev/pts/%d", t->index);
	/* By its name, so that ttyname(3) and /proc/self/fd find it. */
	if (!path_lookup_from(&vfs_root, name, LOOKUP_FOLLOW, &p)) {
		int r = file_open_path(&p, flags | O_NOCTTY, &f);
		path_put(&p);
		if (!r && f->ops == &slave_ops)
			return f;
		if (!r)
			file_put(f);
	}
	struct inode *i = anon_inode(S_IFCHR | 0620);
	if (!i)
		return NULL;
	i->rdev = 136u << 8 | (unsigned)t->index;
	f = file_anon(i, name, flags, &slave_ops, NULL);
	if (f)
		slave_attach(t, f);
	return f;
}
