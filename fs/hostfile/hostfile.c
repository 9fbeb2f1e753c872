/*
 * The command's stdin, stdout and stderr. The descriptor is shared with processes outside, so its flags are never
 * changed: before each operation poll(2) says whether it would block, and if so the task sleeps while the loop
 * watches the descriptor. Writes to pipes and terminals go in pieces that fit once POLLOUT is reported. Regular
 * files never block and keep their host offset, so that `(ward run ...; cat) < file` goes on where ward stopped.
 * DIFF: if another process takes the bytes between poll and read, the whole sandbox waits with it.
 *
 * Terminals answer the read-only requests (isatty, window size) and nothing else: job control needs a terminal of
 * the sandbox's own (-t).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include "fs/vfs.h"
#include "sentry/base/host.h"
#include "sentry/base/util.h"
#include "sentry/loop.h"
#include "sentry/task/task.h"

#define TTY_CHUNK 512
#define PIPE_CHUNK 4096
#define FILE_CHUNK 65536

struct hostfile {
	struct loop_source src; /* src.fd is the descriptor */
	uint32_t watching;      /* events the loop watches for now; each report ends the watch */
	bool registered, regular, blocking, tty;
	int mode;               /* O_ACCMODE of the host */
	struct waitq q;
	struct inode *inode;
};
static const struct file_ops hostfile_ops;

static void ready_fn(struct loop_source *s, uint32_t events)
{
	struct hostfile *h = container_of(s, struct hostfile, src);
	loop_unwatch(s);
	h->registered = false;
	h->watching = 0;
	waitq_wake(&h->q, events);
}

/* Have the loop report EVENTS once. */
static int arm(struct hostfile *h, uint32_t events)
{
	events |= h->watching;
	if (h->registered && events == h->watching)
		return 0;
	int r = h->registered ? loop_rewatch(&h->src, events) : loop_watch(&h->src, events);
	if (r)
		return r;
	h->registered = true;
	h->watching = events;
	return 0;
}

static uint32_t poll_now(struct hostfile *h, short events)
{
	if (!h->blocking)
		return (uint32_t)events;
	struct pollfd p = {.fd = h->src.fd, .events = events};
	return host_poll(&p, 1, 0) > 0 ? (uint32_t)p.revents : 0;
}

/* Sleep until one of EVENTS (or an error) is reported: 0 or -errno. */
static int wait_ready(struct hostfile *h, short events, bool nonblock)
{
	while (!poll_now(h, events)) {
		if (nonblock)
			return -EAGAIN;
		int r = arm(h, (uint32_t)events);
		if (!r)
			r = wait_on(&h->q, 0);
		if (r)
			return r;
	}
	return 0;
}

static size_t chunk_size(const struct hostfile *h)
{
	return h->regular ? FILE_CHUNK : h->tty ? TTY_CHUNK : PIPE_CHUNK;
}

struct bounce {
	char small[PIPE_CHUNK];
	char *buf;
	size_t size;
};
static void bounce_init(struct bounce *b, size_t want)
{
	b->buf = want > sizeof b->small ? malloc(want) : NULL;
	b->size = b->buf ? want : MIN(want, sizeof b->small);
	if (!b->buf)
		b->buf = b->small;
}
static void bounce_fini(struct bounce *b)
{
	if (b->buf != b->small)
		free(b->buf);
}

static bool nonblock(const struct file *f, const struct uio *u)
{
	return (f->flags & O_NONBLOCK) || u->nowait;
}

static long hf_read(struct file *f, struct uio *u, uint64_t *pos)
{
	struct hostfile *h = f->priv;
	long done = 0;
	if (!u->resid)
		return 0;
	struct bounce b;
	bounce_init(&b, MIN(u->resid, (size_t)FILE_CHUNK));
	while (u->resid) {
		long r = wait_ready(h, POLLIN, nonblock(f, u));
		size_t n = MIN(u->resid, b.size);
		if (!r)
			r = h->regular && pos != &f->pos ? host_pread(h->src.fd, b.buf, n, (off_t)*pos)
							 : host_read(h->src.fd, b.buf, n);
		if (r == -EAGAIN && !nonblock(f, u) && h->blocking)
			continue; /* O_NONBLOCK outside and somebody was faster */
		if (r <= 0) {
			done = done ? done : r;
			break;
		}
		long put = uio_put(u, b.buf, (size_t)r);
		if (put < 0) {
			done = done ? done : put;
			break;
		}
		done += put;
		*pos += (uint64_t)put;
		if (!h->regular || put < r || (size_t)r < n)
			break;
	}
	bounce_fini(&b);
	return done;
}

static long hf_write(struct file *f, struct uio *u, uint64_t *pos)
{
	struct hostfile *h = f->priv;
	long done = 0;
	struct bounce b;
	bounce_init(&b, MIN(u->resid, chunk_size(h)));
	size_t have = 0, at = 0;
	for (;;) {
		if (at == have) {
			if (!u->resid)
				break;
			long got = uio_get(u, b.buf, MIN(u->resid, b.size));
			if (got <= 0) {
				done = done ? done : got;
				break;
			}
			have = (size_t)got;
			at = 0;
		}
		long r = wait_ready(h, POLLOUT, nonblock(f, u));
		if (!r)
			r = h->regular && pos != &f->pos ? host_pwrite(h->src.fd, b.buf + at, have - at, (off_t)*pos)
							 : host_write(h->src.fd, b.buf + at, have - at);
		if (r == -EAGAIN && !nonblock(f, u) && h->blocking) {
			/* poll said yes but the piece did not fit (a non-blocking socket): wait for the next report */
			struct pollfd none = {.fd = -1};
			host_poll(&none, 1, 1);
			continue;
		}
		if (r == -EPIPE) {
			struct l_siginfo si = {.signo = SIGPIPE, .code = L_SI_USER,
					       .rt = {.pid = current->tg->pid, .uid = current->cred->uid}};
			signal_send_task(current, SIGPIPE, &si);
		}
		if (r <= 0) {
			done = done ? done : r;
			break;
		}
		at += (size_t)r;
		done += r;
		*pos += (uint64_t)r;
	}
	bounce_fini(&b);
	return done;
}

static uint32_t hf_poll(struct file *f, struct poll_table *pt)
{
	struct hostfile *h = f->priv;
	poll_wait(pt, &h->q);
	if (!h->blocking)
		return EPOLLIN | EPOLLOUT | EPOLLRDNORM | EPOLLWRNORM;
	short want = (short)((f->can_read ? POLLIN : 0) | (f->can_write ? POLLOUT : 0));
	uint32_t ev = poll_now(h, want);
	/* Whatever is not ready now shall be announced, to this caller or to an epoll item that is linked already. */
	if ((want & ~ev) && !list_empty(&h->q.waiters))
		arm(h, (uint32_t)want & ~ev);
	if (ev & EPOLLIN)
		ev |= EPOLLRDNORM;
	if (ev & EPOLLOUT)
		ev |= EPOLLWRNORM;
	return ev;
}

static int64_t hf_llseek(struct file *f, int64_t off, int whence)
{
	struct hostfile *h = f->priv;
	if (!h->regular)
		return -ESPIPE;
	long r = host_lseek(h->src.fd, off, whence);
	if (r >= 0)
		f->pos = (uint64_t)r;
	return r;
}

static int64_t hf_ioctl(struct file *f, unsigned cmd, uint64_t arg)
{
	struct hostfile *h = f->priv;
	uint8_t buf[64]; /* the kernel's termios is 36 bytes, winsize 8 */
	size_t size;
	/* Exactly the requests that confine_rules.def lets pass. */
	switch (cmd) {
	case TCGETS:
		size = 36;
		break;
	case TIOCGWINSZ:
		size = 8;
		break;
	case FIONREAD:
		if (h->regular)
			return -ENOTTY;
		memset(buf, 0, 4);
		long n = host_ioctl(h->src.fd, FIONREAD, buf);
		return n < 0 ? n : copy_out(uaddr(arg), buf, 4);
	default:
		return -ENOTTY;
	}
	if (!h->tty)
		return -ENOTTY;
	memset(buf, 0, sizeof buf);
	long r = host_ioctl(h->src.fd, cmd, buf);
	return r < 0 ? r : copy_out(uaddr(arg), buf, size);
}

static int hf_mmap(struct file *f, int prot, int flags, uint64_t off, uint64_t size, int *hostfd, uint64_t *hostoff)
{
	struct hostfile *h = f->priv;
	/* Only read-only descriptors ever enter a guest's process. */
	if (!h->regular || h->mode != O_RDONLY)
		return -ENODEV;
	*hostfd = h->src.fd;
	*hostoff = off;
	return 0;
}

static int hf_fsync(struct file *f, bool datasync)
{
	return ((struct hostfile *)f->priv)->regular ? 0 : -EINVAL;
}

static const struct file_ops hostfile_ops = {
	.read = hf_read,
	.write = hf_write,
	.llseek = hf_llseek,
	.poll = hf_poll,
	.ioctl = hf_ioctl,
	.mmap = hf_mmap,
	.fsync = hf_fsync,
};

static int hf_getattr(struct inode *i, struct kstat *st)
{
	struct hostfile *h = i->priv;
	struct stat hs;
	inode_getattr_generic(i, st);
	int r = host_fstat(h->src.fd, &hs);
	if (r < 0)
		return r;
	/* Kind, size and times are what programs look at; the host's inode, device and owner stay outside. */
	st->mode = hs.st_mode;
	st->size = (uint64_t)hs.st_size;
	st->blocks = (uint64_t)hs.st_blocks;
	st->blksize = (uint32_t)hs.st_blksize;
	st->rdev = S_ISCHR(hs.st_mode) ? hs.st_rdev : 0;
	st->mtime = (struct ktime){hs.st_mtim.tv_sec, (uint32_t)hs.st_mtim.tv_nsec};
	return 0;
}

static int hf_setattr(struct inode *i, const struct iattr *a)
{
	struct hostfile *h = i->priv;
	if (a->valid & (ATTR_MODE | ATTR_UID | ATTR_GID))
		return -EPERM;
	if ((a->valid & ATTR_SIZE) && h->regular)
		return h->mode == O_RDONLY ? -EINVAL : host_ftruncate(h->src.fd, (off_t)a->size);
	return 0;
}

/* Opening /dev/stdout or /proc/self/fd/1 again: the same description outside, whatever the host's mode allows. */
static int hf_permission(struct inode *i, int mask)
{
	struct hostfile *h = i->priv;
	if ((mask & MAY_READ) && h->mode == O_WRONLY)
		return -EACCES;
	if ((mask & MAY_WRITE) && h->mode == O_RDONLY)
		return -EACCES;
	return mask & MAY_EXEC ? -EACCES : 0;
}

static int hf_open(struct inode *i, struct file *f)
{
	struct hostfile *h = i->priv;
	f->ops = &hostfile_ops;
	f->priv = h;
	f->seekable = h->regular;
	if (h->regular) {
		long at = host_lseek(h->src.fd, 0, SEEK_CUR);
		f->pos = at > 0 ? (uint64_t)at : 0;
	}
	return 0;
}

static void hf_evict(struct inode *i)
{
	struct hostfile *h = i->priv;
	if (h->registered)
		loop_unwatch(&h->src);
	host_close(h->src.fd);
	free(h);
}

static const struct inode_ops hostfile_iops = {
	.getattr = hf_getattr,
	.setattr = hf_setattr,
	.permission = hf_permission,
	.open = hf_open,
	.evict = hf_evict,
};

struct file *hostfile_new(int hostfd)
{
	struct stat hs;
	int flags = host_fcntl(hostfd, F_GETFL, 0);
	if (flags < 0 || host_fstat(hostfd, &hs) < 0)
		return NULL;
	struct hostfile *h = calloc(1, sizeof *h);
	struct inode *i = h ? anon_inode(hs.st_mode) : NULL;
	if (!i) {
		free(h);
		return NULL;
	}
	uint8_t termios[64];
	h->src.fd = hostfd;
	h->src.fn = ready_fn;
	h->mode = flags & O_ACCMODE;
	h->regular = S_ISREG(hs.st_mode);
	h->tty = S_ISCHR(hs.st_mode) && host_ioctl(hostfd, TCGETS, termios) == 0;
	h->blocking = h->tty || S_ISFIFO(hs.st_mode) || S_ISSOCK(hs.st_mode);
	h->inode = i;
	waitq_init(&h->q);
	i->ops = &hostfile_iops;
	i->fops = &hostfile_ops;
	i->priv = h;
	char name[40];
	snprintf(name, sizeof name, "host:[%llu]", (unsigned long long)i->ino);
	/* From here on the inode owns the descriptor. */
	struct file *f = file_anon(i, name, h->mode | (flags & O_APPEND), &hostfile_ops, h);
	if (f)
		hf_open(i, f);
	return f;
}
