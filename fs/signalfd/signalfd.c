/*
 * signalfd(2). As on Linux the signals are those of whoever reads or polls, not of the task that made the descriptor;
 * the wait queue is the one of the poller's signal handlers, which senders wake.
 */
#include "fs/signalfd/signalfd.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include "sentry/task/task.h"

struct sigfd {
	uint64_t mask; /* wanted signals; KILL and STOP never in it */
};
static const struct file_ops signalfd_ops;

bool file_is_signalfd(const struct file *f)
{
	return f->ops == &signalfd_ops;
}

void signalfd_set_mask(struct file *f, uint64_t mask)
{
	struct sigfd *s = f->priv;
	s->mask = mask & ~(SIGBIT(SIGKILL) | SIGBIT(SIGSTOP));
	waitq_wake(&current->tg->sighand->signalfd_q, 0);
}

static void convert(struct signalfd_siginfo *o, const struct l_siginfo *i)
{
	*o = (struct signalfd_siginfo){.ssi_signo = (uint32_t)i->signo, .ssi_errno = i->err, .ssi_code = i->code};
	switch (i->signo) {
	case SIGCHLD:
		if (i->code > 0) {
			o->ssi_pid = (uint32_t)i->chld.pid;
			o->ssi_uid = i->chld.uid;
			o->ssi_status = i->chld.status;
			o->ssi_utime = (uint64_t)i->chld.utime;
			o->ssi_stime = (uint64_t)i->chld.stime;
			return;
		}
		break;
	case SIGSEGV:
	case SIGBUS:
	case SIGILL:
	case SIGFPE:
	case SIGTRAP:
		if (i->code > 0 && i->code != L_SI_KERNEL) {
			o->ssi_addr = i->fault.addr;
			o->ssi_addr_lsb = i->fault.addr_lsb;
			return;
		}
		break;
	case SIGPOLL:
		if (i->code > 0) {
			o->ssi_band = (uint32_t)i->poll.band;
			o->ssi_fd = i->poll.fd;
			return;
		}
		break;
	}
	if (i->code == L_SI_TIMER) {
		o->ssi_tid = (uint32_t)i->timer.tid;
		o->ssi_overrun = (uint32_t)i->timer.overrun;
		o->ssi_ptr = i->timer.value;
		o->ssi_int = (int32_t)i->timer.value;
		return;
	}
	o->ssi_pid = (uint32_t)i->rt.pid;
	o->ssi_uid = i->rt.uid;
	if (i->code < 0) {
		o->ssi_ptr = i->rt.value;
		o->ssi_int = (int32_t)i->rt.value;
	}
}

static long sfd_read(struct file *f, struct uio *u, uint64_t *pos)
{
	struct sigfd *s = f->priv;
	long done = 0;
	if (u->resid < sizeof(struct signalfd_siginfo))
		return -EINVAL;
	while (u->resid >= sizeof(struct signalfd_siginfo)) {
		struct l_siginfo info;
		if (!signal_dequeue(current, s->mask, &info)) {
			if (done)
				break;
			if ((f->flags & O_NONBLOCK) || u->nowait)
				return -EAGAIN;
			int r = wait_on(&current->tg->sighand->signalfd_q, 0);
			if (r)
				return r;
			continue;
		}
		struct signalfd_siginfo out;
		convert(&out, &info);
		long n = uio_put(u, &out, sizeof out);
		if (n != sizeof out)
			return done ? done : -EFAULT;
		done += n;
	}
	return done;
}

static uint32_t sfd_poll(struct file *f, struct poll_table *pt)
{
	struct sigfd *s = f->priv;
	/* An epoll item may be asked from the event loop, where there is no task: nothing to report then. */
	if (!current)
		return 0;
	poll_wait(pt, &current->tg->sighand->signalfd_q);
	return (current->pending.set | current->tg->shared.set) & s->mask ? EPOLLIN : 0;
}

static int sfd_fdinfo(struct file *f, char *buf, size_t size)
{
	return snprintf(buf, size, "sigmask:\t%016llx\n", (unsigned long long)((struct sigfd *)f->priv)->mask);
}

static void sfd_release(struct file *f)
{
	free(f->priv);
}

static int no_fsync(struct file *f, bool datasync)
{
	return -EINVAL;
}

static const struct file_ops signalfd_ops = {
	.read = sfd_read,
	.llseek = no_llseek,
	.poll = sfd_poll,
	.fdinfo = sfd_fdinfo,
	.release = sfd_release,
	.fsync = no_fsync,
};

struct file *signalfd_new(uint64_t mask, int flags)
{
	struct sigfd *s = calloc(1, sizeof *s);
	struct inode *i = s ? anon_inode(0600) : NULL;
	if (!i) {
		free(s);
		return NULL;
	}
	s->mask = mask & ~(SIGBIT(SIGKILL) | SIGBIT(SIGSTOP));
	struct file *f = file_anon(i, "anon_inode:[signalfd]", O_RDWR | (flags & O_NONBLOCK), &signalfd_ops, s);
	if (!f) {
		free(s);
		return NULL;
	}
	f->seekable = false;
	return f;
}
