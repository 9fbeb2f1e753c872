/*
 * sendfile, splice, tee, vmsplice, copy_file_range: bytes from one descriptor to another. All copy through one
 * kernel buffer, a piece at a time; between pieces other tasks run and a signal may end the call with what was done.
 */
#include "syscalls/table.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "fs/pipe/pipe.h"
#include "fs/vfs.h"
#include "sentry/base/util.h"
#include "sentry/fiber.h"
#include "sentry/task/task.h"

#define PIECE 65536u
#define SPLICE_FLAGS (SPLICE_F_MOVE | SPLICE_F_NONBLOCK | SPLICE_F_MORE | SPLICE_F_GIFT)

static long read_piece(struct file *f, void *buf, size_t n, uint64_t *pos, bool nowait)
{
	struct uio u;
	uio_init_kernel(&u, buf, n);
	u.nowait = nowait;
	return f->ops->read(f, &u, pos);
}

static long write_piece(struct file *f, void *buf, size_t n, uint64_t *pos, bool nowait)
{
	struct uio u;
	uio_init_kernel(&u, buf, n);
	u.nowait = nowait;
	return f->ops->write(f, &u, pos);
}

/* Copy up to N bytes; *IPOS and *OPOS advance by what was written. Stops early at end of file, at a short read
 * (a pipe gives what it has) and at a signal. What cannot be written is not consumed from a seekable source. */
static long copy_between(struct file *in, uint64_t *ipos, struct file *out, uint64_t *opos, size_t n, bool nowait)
{
	if (!in->ops->read || !out->ops->write)
		return -EINVAL;
	char *buf = malloc(MIN(n, (size_t)PIECE));
	if (!buf)
		return -ENOMEM;
	long done = 0, r = 0;
	while (n) {
		size_t want = MIN(n, (size_t)PIECE);
		uint64_t start = *ipos;
		r = read_piece(in, buf, want, ipos, nowait);
		if (r <= 0)
			break;
		long have = r, at = 0;
		while (at < have) {
			r = write_piece(out, buf + at, (size_t)(have - at), opos, nowait);
			if (r <= 0)
				break;
			at += r;
		}
		if (in->seekable)
			*ipos = start + (uint64_t)at;
		done += at;
		n -= (size_t)at;
		if (at < have || (size_t)have < want)
			break;
		if (n) {
			fiber_yield();
			if (signal_pending(current))
				break;
		}
	}
	free(buf);
	if (done || r >= 0)
		return done;
	return r;
}

/* An optional in-out offset argument: *POS from the guest (then *OWN is true) or left to the file. */
static int offset_in(uaddr_t u, struct file *f, uint64_t *pos, bool *own)
{
	*own = !uaddr_null(u);
	if (!*own) {
		*pos = f->pos;
		return 0;
	}
	int64_t v;
	if (copy_in_obj(v, u))
		return -EFAULT;
	if (!f->seekable)
		return -ESPIPE;
	if (v < 0)
		return -EINVAL;
	*pos = (uint64_t)v;
	return 0;
}

static long offset_out(uaddr_t u, uint64_t pos, long r)
{
	return r >= 0 && copy_out_obj(u, pos) ? -EFAULT : r;
}

struct pair {
	struct file *in, *out;
};
static int pair_get(struct pair *p, int in, int out)
{
	p->in = fd_get_nopath(in);
	p->out = fd_get_nopath(out);
	if (p->in && p->out && p->in->can_read && p->out->can_write)
		return 0;
	return -EBADF;
}
static void pair_put(struct pair *p)
{
	if (p->in)
		file_put(p->in);
	if (p->out)
		file_put(p->out);
}

int64_t sys_sendfile(int out_fd, int in_fd, uaddr_t offset, size_t count)
{
	struct pair p;
	bool own;
	uint64_t pos;
	int64_t r = pair_get(&p, in_fd, out_fd);
	if (!r)
		r = offset_in(offset, p.in, &pos, &own);
	if (!r && (p.out->flags & O_APPEND) && !file_pipe(p.out))
		r = -EINVAL;
	if (!r && !p.in->seekable && !file_pipe(p.in))
		r = -EINVAL;
	if (!r && (ssize_t)count < 0)
		r = -EINVAL;
	if (!r && count) {
		count = MIN(count, (size_t)MAX_RW_COUNT);
		r = copy_between(p.in, own ? &pos : &p.in->pos, p.out, &p.out->pos, count, false);
		if (own)
			r = offset_out(offset, pos, r);
	}
	pair_put(&p);
	return r;
}

static int64_t do_splice(struct pair *p, uaddr_t in_off, uaddr_t out_off, size_t len, unsigned flags)
{
	struct pipe *ip = file_pipe(p->in), *op = file_pipe(p->out);
	if (!ip && !op)
		return -EINVAL;
	if ((ip && !uaddr_null(in_off)) || (op && !uaddr_null(out_off)))
		return -ESPIPE;
	if (ip && ip == op)
		return -EINVAL;
	if (!op && (p->out->flags & O_APPEND))
		return -EINVAL;
	uint64_t ipos, opos;
	bool iown, oown;
	int r = offset_in(in_off, p->in, &ipos, &iown);
	if (!r)
		r = offset_in(out_off, p->out, &opos, &oown);
	if (r)
		return r;
	bool nb = flags & SPLICE_F_NONBLOCK;
	if (op) {
		/* Take no more than the pipe can hold now, so that nothing read is left over. */
		r = pipe_wait_writable(op, nb || (p->out->flags & O_NONBLOCK));
		if (r)
			return r;
		size_t room = (size_t)(op->slots - pipe_used(op)) * GUEST_PAGE_SIZE;
		len = MIN(len, room);
	}
	if (ip) {
		r = pipe_wait_readable(ip, nb || (p->in->flags & O_NONBLOCK));
		if (r)
			return r;
		size_t have = 0;
		for (unsigned i = ip->tail; i != ip->head; i++)
			have += pipe_slot(ip, i)->len;
		len = MIN(len, have);
		if (!len)
			return 0; /* end of file */
	}
	len = MIN(len, (size_t)PIPE_MAX_SIZE);
	long n = copy_between(p->in, iown ? &ipos : &p->in->pos, p->out, oown ? &opos : &p->out->pos, len, false);
	if (iown)
		n = offset_out(in_off, ipos, n);
	if (oown)
		n = offset_out(out_off, opos, n);
	return n;
}

int64_t sys_splice(int in_fd, uaddr_t in_off, int out_fd, uaddr_t out_off, size_t len, unsigned flags)
{
	if (flags & ~SPLICE_FLAGS)
		return -EINVAL;
	if (!len)
		return 0;
	struct pair p;
	int64_t r = pair_get(&p, in_fd, out_fd);
	if (!r)
		r = do_splice(&p, in_off, out_off, len, flags);
	pair_put(&p);
	return r;
}

static int64_t do_tee(struct pipe *ip, struct pipe *op, size_t len, bool nb)
{
	int r = pipe_wait_readable(ip, nb);
	if (!r)
		r = pipe_wait_writable(op, nb);
	if (r)
		return r;
	/* Two kernel-only copies: nothing sleeps from here on, so the rings need no lock of ours but must be free. */
	if (ip->busy || op->busy)
		return -EAGAIN;
	int64_t done = 0;
	for (unsigned i = ip->tail; i != ip->head && len && !pipe_full(op); i++) {
		struct pipe_buf *b = pipe_slot(ip, i);
		unsigned n = (unsigned)MIN((size_t)b->len, len);
		char *page = pipe_page_alloc(op);
		if (!page)
			return done ? done : -ENOMEM;
		memcpy(page, b->page + b->off, n);
		pipe_push(op, page, 0, n, b->packet);
		done += n;
		len -= n;
	}
	return done;
}

int64_t sys_tee(int in_fd, int out_fd, size_t len, unsigned flags)
{
	if (flags & ~SPLICE_FLAGS)
		return -EINVAL;
	if (!len)
		return 0;
	struct pair p;
	int64_t r = pair_get(&p, in_fd, out_fd);
	if (!r) {
		struct pipe *ip = file_pipe(p.in), *op = file_pipe(p.out);
		r = ip && op && ip != op ? do_tee(ip, op, len, flags & SPLICE_F_NONBLOCK) : -EINVAL;
	}
	pair_put(&p);
	return r;
}

int64_t sys_vmsplice(int fd, uaddr_t iov, unsigned long count, unsigned flags)
{
	if (flags & ~SPLICE_FLAGS)
		return -EINVAL;
	struct file *f = fd_get_nopath(fd);
	if (!f)
		return -EBADF;
	struct uio u;
	int64_t r = file_pipe(f) ? uio_init_iov(&u, iov, count) : -EBADF;
	if (!r) {
		/* DIFF: the pages are copied, not shared: later changes by the caller are not seen by the reader. */
		u.nowait = f->can_write || (flags & SPLICE_F_NONBLOCK);
		do { /* Linux waits until there is room at all, then takes what fits */
			r = f->can_write && u.resid ? pipe_wait_writable(file_pipe(f), flags & SPLICE_F_NONBLOCK) : 0;
			if (!r)
				r = f->can_write ? f->ops->write(f, &u, &f->pos) : f->ops->read(f, &u, &f->pos);
		} while (r == -EAGAIN && f->can_write && !(flags & SPLICE_F_NONBLOCK));
		uio_fini(&u);
	}
	file_put(f);
	return r;
}

static int64_t copy_range(struct pair *p, uaddr_t in_off, uaddr_t out_off, size_t len)
{
	if (S_ISDIR(p->in->inode->mode) || S_ISDIR(p->out->inode->mode))
		return -EISDIR;
	if (!S_ISREG(p->in->inode->mode) || !S_ISREG(p->out->inode->mode))
		return -EINVAL;
	if (p->out->flags & O_APPEND)
		return -EBADF;
	uint64_t ipos, opos;
	bool iown, oown;
	int r = offset_in(in_off, p->in, &ipos, &iown);
	if (!r)
		r = offset_in(out_off, p->out, &opos, &oown);
	if (r)
		return r;
	if (ipos + len < ipos || opos + len < opos)
		return -EOVERFLOW;
	if (p->in->inode == p->out->inode && ipos < opos + len && opos < ipos + len)
		return -EINVAL;
	if (!len)
		return 0;
	len = MIN(len, (size_t)MAX_RW_COUNT);
	long n = copy_between(p->in, iown ? &ipos : &p->in->pos, p->out, oown ? &opos : &p->out->pos, len, false);
	if (iown)
		n = offset_out(in_off, ipos, n);
	if (oown)
		n = offset_out(out_off, opos, n);
	return n;
}

int64_t sys_copy_file_range(int in_fd, uaddr_t in_off, int out_fd, uaddr_t out_off, size_t len, unsigned flags)
{
	if (flags)
		return -EINVAL;
	struct pair p;
	int64_t r = pair_get(&p, in_fd, out_fd);
	if (!r)
		r = copy_range(&p, in_off, out_off, len);
	pair_put(&p);
	return r;
}
