/*
 * Pipes and FIFOs. The ring holds up to `slots` page buffers, as Linux's does: a write first fills up the newest
 * buffer and then takes new slots, so a write of at most PIPE_BUF bytes always lands in one piece (fs/pipe.c of
 * Linux), and "full" means no free slot rather than no free byte. Events to pollers are those of pipe_poll().
 *
 * Copies to and from guest memory may sleep on some platforms; `busy` keeps other tasks off the ring meanwhile.
 */
#include "fs/pipe/pipe.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include "sentry/base/log.h"
#include "sentry/base/util.h"
#include "sentry/task/task.h"

#define PAGE GUEST_PAGE_SIZE
/* All pipes together: beyond the soft limit a new pipe gets two slots only (pipe-user-pages-soft). */
#define PIPE_SOFT_PAGES 16384u
#define PIPE_HARD_PAGES (4 * PIPE_SOFT_PAGES) /* beyond it no new pipe, for the privileged too */

unsigned pipe_max_size = PIPE_MAX_SIZE;
static unsigned total_slots;
static const struct file_ops pipe_ops;

static struct pipe *pipe_alloc(void)
{
	struct pipe *p = total_slots < PIPE_HARD_PAGES ? calloc(1, sizeof *p) : NULL;
	if (!p)
		return NULL;
	p->slots = total_slots + PIPE_DEF_SLOTS > PIPE_SOFT_PAGES ? PIPE_MIN_SOFT_SLOTS : PIPE_DEF_SLOTS;
	p->ring = calloc(p->slots, sizeof *p->ring);
	if (!p->ring) {
		free(p);
		return NULL;
	}
	total_slots += p->slots;
	p->refs = 1;
	waitq_init(&p->lock_q);
	waitq_init(&p->rd_q);
	waitq_init(&p->wr_q);
	return p;
}

static void pipe_put(struct pipe *p)
{
	if (--p->refs)
		return;
	for (; !pipe_empty(p); p->tail++)
		free(pipe_slot(p, p->tail)->page);
	total_slots -= p->slots;
	free(p->spare);
	free(p->ring);
	free(p);
}

struct pipe *file_pipe(struct file *f)
{
	return f->ops == &pipe_ops ? f->priv : NULL;
}

int pipe_lock(struct pipe *p)
{
	while (p->busy) {
		int r = wait_on_killable(&p->lock_q, 0);
		if (r)
			return r;
	}
	p->busy = true;
	return 0;
}

void pipe_unlock(struct pipe *p)
{
	p->busy = false;
	if (!list_empty(&p->lock_q.waiters))
		waitq_wake(&p->lock_q, 0);
}

char *pipe_page_alloc(struct pipe *p)
{
	char *page = p->spare;
	if (page) {
		p->spare = NULL;
		return page;
	}
	return malloc(PAGE);
}

void pipe_page_free(struct pipe *p, char *page)
{
	if (p->spare)
		free(page);
	else
		p->spare = page;
}

static void wake(struct waitq *q, uint32_t events)
{
	if (!list_empty(&q->waiters))
		waitq_wake(q, events);
}

void pipe_push(struct pipe *p, char *page, unsigned off, unsigned len, bool packet)
{
	*pipe_slot(p, p->head) = (struct pipe_buf){.page = page, .off = off, .len = len, .packet = packet};
	p->head++;
	wake(&p->rd_q, EPOLLIN | EPOLLRDNORM);
}

void pipe_drop_tail(struct pipe *p)
{
	bool was_full = pipe_full(p);
	struct pipe_buf *b = pipe_slot(p, p->tail);
	pipe_page_free(p, b->page);
	b->page = NULL;
	p->tail++;
	if (was_full)
		wake(&p->wr_q, EPOLLOUT | EPOLLWRNORM);
}

int pipe_wait_readable(struct pipe *p, bool nonblock)
{
	while (pipe_empty(p) && p->writers) {
		if (nonblock)
			return -EAGAIN;
		int r = wait_on(&p->rd_q, 0);
		if (r)
			return r;
	}
	return 0;
}

static long broken_pipe(void)
{
	struct l_siginfo si = {.signo = SIGPIPE, .code = L_SI_USER,
			       .rt = {.pid = current->tg->pid, .uid = current->cred->uid}};
	signal_send_task(current, SIGPIPE, &si);
	return -EPIPE;
}

int pipe_wait_writable(struct pipe *p, bool nonblock)
{
	for (;;) {
		if (!p->readers)
			return (int)broken_pipe();
		if (!pipe_full(p))
			return 0;
		if (nonblock)
			return -EAGAIN;
		int r = wait_on(&p->wr_q, 0);
		if (r)
			return r;
	}
}

static bool nonblock(const struct file *f, const struct uio *u)
{
	return (f->flags & O_NONBLOCK) || u->nowait;
}

static long pipe_read(struct file *f, struct uio *u, uint64_t *pos)
{
	struct pipe *p = f->priv;
	if (!u->resid)
		return 0;
	long done = 0;
	for (;;) {
		int r = pipe_wait_readable(p, nonblock(f, u));
		if (r)
			return r;
		r = pipe_lock(p);
		if (r)
			return -ERESTARTSYS;
		if (!pipe_empty(p) || !p->writers)
			break;
		pipe_unlock(p); /* another reader was faster */
	}
	while (u->resid && !pipe_empty(p)) {
		struct pipe_buf *b = pipe_slot(p, p->tail);
		unsigned n = (unsigned)MIN((size_t)b->len, u->resid);
		long got = uio_put(u, b->page + b->off, n);
		if (got < 0) {
			done = done ? done : got;
			break;
		}
		done += got;
		b->off += (unsigned)got;
		b->len -= (unsigned)got;
		bool packet = b->packet;
		if (packet && got == n)
			b->len = 0;
		if (!b->len)
			pipe_drop_tail(p);
		if (got < n || packet)
			break;
	}
	pipe_unlock(p);
	return done;
}

/* One pass with the lock held: as much as fits now. */
static long write_some(struct pipe *p, struct uio *u, bool packet, bool first)
{
	long done = 0;
	/* Linux merges only the odd part of the total, and only at the start of the call: keeps writes of up to
	 * PIPE_BUF bytes whole. */
	unsigned odd = (unsigned)(u->resid & (PAGE - 1));
	if (first && odd && !packet && !pipe_empty(p)) {
		struct pipe_buf *b = pipe_slot(p, p->head - 1);
		unsigned end = b->off + b->len;
		if (!b->packet && end + odd <= PAGE) {
			long got = uio_get(u, b->page + end, odd);
			if (got < 0)
				return got;
			b->len += (unsigned)got;
			done += got;
			wake(&p->rd_q, EPOLLIN | EPOLLRDNORM);
			if ((unsigned)got < odd)
				return done;
		}
	}
	while (u->resid && !pipe_full(p)) {
		char *page = pipe_page_alloc(p);
		if (!page)
			return done ? done : -ENOMEM;
		unsigned n = (unsigned)MIN((size_t)PAGE, u->resid);
		long got = uio_get(u, page, n);
		if (got <= 0) {
			pipe_page_free(p, page);
			return done ? done : got;
		}
		pipe_push(p, page, 0, (unsigned)got, packet);
		done += got;
		if ((unsigned)got < n)
			break;
	}
	return done;
}

static long pipe_write(struct file *f, struct uio *u, uint64_t *pos)
{
	struct pipe *p = f->priv;
	if (!u->resid)
		return 0;
	bool packet = f->flags & O_DIRECT;
	long done = 0;
	bool first = true;
	for (;;) {
		int r = pipe_lock(p);
		if (r)
			return done ? done : -ERESTARTSYS;
		if (!p->readers) {
			pipe_unlock(p);
			long e = broken_pipe(); /* the signal comes even after a partial write */
			return done ? done : e;
		}
		long got = write_some(p, u, packet, first);
		first = false;
		pipe_unlock(p);
		if (got < 0)
			return done ? done : got;
		done += got;
		if (!u->resid || (got && !pipe_full(p)))
			return done; /* all of it, or a fault cut it short */
		r = 0;
		if (pipe_full(p)) {
			if (nonblock(f, u))
				return done ? done : -EAGAIN;
			r = pipe_wait_writable(p, false);
		}
		if (r)
			return done ? done : r;
	}
}

static uint32_t pipe_poll(struct file *f, struct poll_table *pt)
{
	struct pipe *p = f->priv;
	uint32_t ev = 0;
	if (f->can_read) {
		poll_wait(pt, &p->rd_q);
		if (!pipe_empty(p))
			ev |= EPOLLIN | EPOLLRDNORM;
		/* A FIFO reader that no writer has ever met sees no hang-up (f->pos holds w_counter at open). */
		if (!p->writers && f->pos != p->w_counter)
			ev |= EPOLLHUP;
	}
	if (f->can_write) {
		poll_wait(pt, &p->wr_q);
		if (!pipe_full(p))
			ev |= EPOLLOUT | EPOLLWRNORM;
		if (!p->readers)
			ev |= EPOLLERR;
	}
	return ev;
}

static int64_t pipe_ioctl(struct file *f, unsigned cmd, uint64_t arg)
{
	struct pipe *p = f->priv;
	if (cmd != FIONREAD)
		return -ENOTTY;
	int n = 0;
	for (unsigned i = p->tail; i != p->head; i++)
		n += (int)pipe_slot(p, i)->len;
	return copy_out_obj(uaddr(arg), n);
}

static void pipe_release(struct file *f)
{
	struct pipe *p = f->priv;
	struct inode *i = f->inode;
	if (f->can_read)
		p->readers--;
	if (f->can_write)
		p->writers--;
	if ((f->can_read && !p->readers) || (f->can_write && !p->writers)) {
		wake(&p->rd_q, EPOLLIN | EPOLLRDNORM | EPOLLERR | EPOLLHUP);
		wake(&p->wr_q, EPOLLOUT | EPOLLWRNORM | EPOLLERR | EPOLLHUP);
	}
	/* The inode's pointer is not counted: it goes with the last open file. */
	if (p->refs == 1 && i->pipe == p)
		i->pipe = NULL;
	pipe_put(p);
}

static int64_t pipe_resize(struct pipe *p, uint64_t size)
{
	if (size > 1u << 31)
		return -EINVAL;
	unsigned slots = 1;
	while ((uint64_t)slots * PAGE < size)
		slots *= 2;
	if (slots > p->slots && (uint64_t)slots * PAGE > pipe_max_size && !capable(CAP_SYS_RESOURCE))
		return -EPERM;
	/* DIFF: the cap holds for the privileged too, as the memory is the supervisor's. */
	if ((uint64_t)slots * PAGE > PIPE_MAX_SIZE)
		return -EPERM;
	if (slots > p->slots && total_slots + (slots - p->slots) > PIPE_SOFT_PAGES)
		return -EPERM;
	int r = pipe_lock(p);
	if (r)
		return r;
	unsigned used = pipe_used(p);
	int64_t ret = -EBUSY;
	struct pipe_buf *ring = NULL;
	if (used > slots)
		goto out;
	ret = -ENOMEM;
	ring = calloc(slots, sizeof *ring);
	if (!ring)
		goto out;
	for (unsigned i = 0; i < used; i++)
		ring[i] = *pipe_slot(p, p->tail + i);
	bool grew = slots > p->slots;
	total_slots += slots - p->slots;
	free(p->ring);
	p->ring = ring;
	p->slots = slots;
	p->tail = 0;
	p->head = used;
	if (grew)
		wake(&p->wr_q, EPOLLOUT | EPOLLWRNORM);
	ret = (int64_t)slots * (int64_t)PAGE;
out:
	pipe_unlock(p);
	return ret;
}

int64_t pipe_fcntl(struct file *f, int cmd, uint64_t arg)
{
	struct pipe *p = file_pipe(f);
	if (!p)
		return -EBADF;
	if (cmd == F_GETPIPE_SZ)
		return (int64_t)p->slots * (int64_t)PAGE;
	return pipe_resize(p, (unsigned)arg);
}

static int pipe_fsync(struct file *f, bool datasync)
{
	return -EINVAL;
}

static const struct file_ops pipe_ops = {
	.read = pipe_read,
	.write = pipe_write,
	.llseek = no_llseek,
	.poll = pipe_poll,
	.ioctl = pipe_ioctl,
	.release = pipe_release,
	.fsync = pipe_fsync,
};

static void attach(struct pipe *p, struct file *f)
{
	f->ops = &pipe_ops;
	f->priv = p;
	f->seekable = false;
	f->pos = ~0ull;
	if (f->can_read)
		p->readers++, p->r_counter++;
	if (f->can_write)
		p->writers++, p->w_counter++;
}

int pipe_new(struct file **rd, struct file **wr, int flags)
{
	struct pipe *p = pipe_alloc();
	struct inode *i = anon_inode(S_IFIFO | 0600);
	if (!p || !i)
		goto nomem;
	i->pipe = p;
	i->fops = &pipe_ops;
	char name[48];
	snprintf(name, sizeof name, "pipe:[%llu]", (unsigned long long)i->ino);
	*rd = file_anon(inode_get(i), name, O_RDONLY | (flags & O_NONBLOCK), &pipe_ops, p);
	if (!*rd)
		goto nomem_ref;
	attach(p, *rd); /* takes over the first reference */
	*wr = file_anon(i, name, O_WRONLY | (flags & (O_NONBLOCK | O_DIRECT)), &pipe_ops, p);
	if (!*wr) {
		file_put(*rd);
		return -ENFILE;
	}
	p->refs++;
	attach(p, *wr);
	return 0;
nomem_ref:
	i->pipe = NULL;
nomem:
	if (i)
		inode_put(i);
	if (p)
		pipe_put(p);
	return -ENOMEM;
}

/* Wait until *COUNTER moves: a partner that came and went already counts (fifo(7), wait_for_partner in Linux). */
static int wait_for_partner(struct waitq *q, const unsigned *counter)
{
	unsigned was = *counter;
	while (*counter == was) {
		int r = wait_on(q, 0);
		if (r)
			return r;
	}
	return 0;
}

int fifo_open(struct inode *inode, struct file *f)
{
	/* Re-opening a pipe by /proc/PID/fd lands here too: the inode still holds the pipe. */
	struct pipe *p = inode->pipe;
	bool anon = inode->fops == &pipe_ops;
	if (!p) {
		p = pipe_alloc();
		if (!p)
			return -ENOMEM;
		inode->pipe = p;
	} else {
		p->refs++;
	}
	bool nb = f->flags & O_NONBLOCK;
	if (f->can_write && !f->can_read && nb && !p->readers) {
		if (--p->refs == 0) {
			inode->pipe = NULL;
			p->refs++;
			pipe_put(p);
		}
		return -ENXIO;
	}
	attach(p, f);
	int r = 0;
	if (f->can_read) {
		wake(&p->wr_q, EPOLLOUT | EPOLLWRNORM);
		if (!p->writers && !f->can_write && !anon) {
			if (nb)
				f->pos = p->w_counter;
			else
				r = wait_for_partner(&p->rd_q, &p->w_counter);
		}
	}
	if (f->can_write) {
		wake(&p->rd_q, EPOLLIN | EPOLLRDNORM);
		if (!p->readers && !f->can_read)
			r = wait_for_partner(&p->wr_q, &p->r_counter);
	}
	if (r) {
		pipe_release(f);
		f->ops = NULL; /* the caller drops F without another release */
		f->priv = NULL;
		return r;
	}
	return 0;
}
