/*
 * Pseudo-terminals: the numbers, the files of the master side (/dev/ptmx), and the devpts file system, whose
 * directory is the table of living terminals. A terminal keeps its number until its last reference goes.
 */
#include "fs/devpts/devpts.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include "fs/proc/proc.h"
#include "fs/tty/internal.h"
#include "sentry/base/util.h"
#include "sentry/task/task.h"

static struct tty *table[TTY_MAX]; /* not counted */

int devpts_new_index(struct tty *t)
{
	for (int i = 0; i < TTY_MAX; i++)
		if (!table[i]) {
			table[i] = t;
			return i;
		}
	return -ENOSPC;
}

void devpts_free_index(int index, struct tty *t)
{
	if (table[index] == t)
		table[index] = NULL;
}

struct tty *tty_by_index(unsigned index)
{
	return index < TTY_MAX ? table[index] : NULL;
}

/* --- the master's file ------------------------------------------------------------------------------------------------ */
static bool slave_gone(const struct tty *t)
{
	return t->slave_seen && !t->slaves;
}

static long master_read(struct file *f, struct uio *u, uint64_t *pos)
{
	struct tty *t = f->priv;
	uint8_t buf[1024];
	long done = 0;
	if (!u->resid)
		return 0;
	while (!tty_output_pending(t) && !(t->packet && t->pkt_status)) {
		if (slave_gone(t))
			return -EIO;
		if ((f->flags & O_NONBLOCK) || u->nowait)
			return -EAGAIN;
		int r = wait_on(&t->m_q, 0);
		if (r)
			return r;
	}
	if (t->packet) {
		uint8_t status = t->pkt_status;
		t->pkt_status = 0;
		long n = uio_put(u, &status, 1);
		if (n < 0 || status)
			return n;
		done = 1;
	}
	while (u->resid) {
		size_t n = tty_output(t, buf, MIN(u->resid, sizeof buf));
		if (!n)
			break;
		long put = uio_put(u, buf, n);
		if (put < 0)
			return done ? done : put;
		done += put;
	}
	return done;
}

static long master_write(struct file *f, struct uio *u, uint64_t *pos)
{
	struct tty *t = f->priv;
	uint8_t buf[512];
	long done = 0;
	size_t have = 0, at = 0;
	for (;;) {
		if (at == have) {
			if (!u->resid)
				return done;
			long got = uio_get(u, buf, MIN(u->resid, sizeof buf));
			if (got <= 0)
				return done ? done : got;
			have = (size_t)got;
			at = 0;
		}
		if (slave_gone(t))
			return done ? done : -EIO;
		size_t n = tty_input(t, buf + at, have - at);
		at += n;
		done += (long)n;
		if (at == have)
			continue;
		if ((f->flags & O_NONBLOCK) || u->nowait)
			return done ? done : -EAGAIN;
		int r = wait_on(&t->m_q, 0);
		if (r)
			return done ? done : r;
	}
}

static uint32_t master_poll(struct file *f, struct poll_table *pt)
{
	struct tty *t = f->priv;
	uint32_t ev = 0;
	poll_wait(pt, &t->m_q);
	if (tty_output_pending(t))
		ev |= EPOLLIN | EPOLLRDNORM;
	if (t->packet && t->pkt_status)
		ev |= EPOLLPRI | EPOLLIN | EPOLLRDNORM;
	if (slave_gone(t))
		ev |= EPOLLHUP;
	if (tty_input_room(t))
		ev |= EPOLLOUT | EPOLLWRNORM;
	return ev;
}

static int64_t master_ioctl(struct file *f, unsigned cmd, uint64_t arg)
{
	return tty_ioctl(f->priv, true, cmd, arg);
}

static void master_release(struct file *f)
{
	struct tty *t = f->priv;
	if (!--t->masters)
		tty_hangup(t);
	tty_put(t);
}

static int master_fsync(struct file *f, bool datasync)
{
	return -EINVAL;
}

static int master_fdinfo(struct file *f, char *buf, size_t size)
{
	return snprintf(buf, size, "tty-index:\t%d\n", ((struct tty *)f->priv)->index);
}

const struct file_ops master_ops = {
	.read = master_read,
	.write = master_write,
	.llseek = no_llseek,
	.poll = master_poll,
	.ioctl = master_ioctl,
	.release = master_release,
	.fdinfo = master_fdinfo,
	.fsync = master_fsync,
};

int ptmx_open(struct inode *i, struct file *f)
{
	struct tty *t = tty_alloc();
	if (!t)
		return -ENOSPC;
	t->locked = true;
	t->masters = 1;
	if (current)
		t->uid = current->cred->fsuid;
	f->ops = &master_ops;
	f->priv = t; /* takes over the first reference */
	f->seekable = false;
	return 0;
}

/* --- the file system ------------------------------------------------------------------------------------------------------ */
static const struct inode_ops pts_iops;

static struct tty *living(unsigned n)
{
	struct tty *t = tty_by_index(n);
	return t && (t->masters || t->kernel_master) ? t : NULL;
}

static int pts_getattr(struct inode *i, struct kstat *st)
{
	struct tty *t = living(i->rdev & 0xff);
	inode_getattr_generic(i, st);
	if (t) {
		st->uid = t->uid;
		st->mode = S_IFCHR | t->mode;
	}
	return 0;
}

static int pts_setattr(struct inode *i, const struct iattr *a)
{
	struct tty *t = living(i->rdev & 0xff);
	if (!t)
		return -EIO;
	if (a->valid & ATTR_MODE)
		t->mode = a->mode & 07777, i->mode = S_IFCHR | t->mode;
	if (a->valid & ATTR_UID)
		t->uid = i->uid = a->uid;
	if (a->valid & ATTR_GID)
		i->gid = a->gid;
	return 0;
}

static int pts_iopen(struct inode *i, struct file *f)
{
	return chrdev_open(i, f);
}

static const struct inode_ops pts_iops = {.getattr = pts_getattr, .setattr = pts_setattr, .open = pts_iopen};
static const struct inode_ops ptmx_iops = {.open = pts_iopen};

static int dir_lookup(struct inode *dir, const char *name, struct inode **out)
{
	struct inode *i;
	if (!strcmp(name, "ptmx")) {
		i = inode_new(dir->sb, S_IFCHR | 0666);
		if (!i)
			return -ENOMEM;
		i->ino = 2;
		i->rdev = 5u << 8 | 2;
		i->ops = &ptmx_iops;
		*out = i;
		return 0;
	}
	long n = parse_number(name);
	struct tty *t = n >= 0 ? living((unsigned)n) : NULL;
	if (!t)
		return -ENOENT;
	i = inode_new(dir->sb, S_IFCHR | t->mode);
	if (!i)
		return -ENOMEM;
	i->ino = 3 + (uint64_t)n;
	i->rdev = 136u << 8 | (unsigned)n;
	i->uid = t->uid;
	i->gid = 5;
	i->ops = &pts_iops;
	*out = i;
	return 0;
}

static int dir_iterate(struct file *f, struct dir_emit *d)
{
	for (; f->pos < 3 + TTY_MAX; f->pos++) {
		char name[16];
		unsigned n = (unsigned)f->pos;
		uint64_t ino = n;
		if (n < 2) {
			snprintf(name, sizeof name, n ? ".." : ".");
			ino = 1;
		} else if (n == 2) {
			snprintf(name, sizeof name, "ptmx");
		} else if (living(n - 3)) {
			snprintf(name, sizeof name, "%u", n - 3);
		} else {
			continue;
		}
		if (!d->emit(d, name, strlen(name), ino, n < 2 ? DT_DIR : DT_CHR, n + 1))
			break;
	}
	return 0;
}

static const struct file_ops dir_fops = {.iterate = dir_iterate};
static const struct inode_ops dir_iops = {.lookup = dir_lookup};

static int pts_statfs(struct superblock *sb, struct kstatfs *st)
{
	*st = (struct kstatfs){.type = 0x1cd1, .bsize = 4096, .namelen = 255};
	return 0;
}
static const struct super_ops pts_super = {.statfs = pts_statfs};

struct superblock *devpts_new(void)
{
	struct superblock *sb = super_new("devpts", &pts_super);
	struct inode *i = sb ? inode_new(sb, S_IFDIR | 0755) : NULL;
	if (!i) {
		super_put(sb);
		return NULL;
	}
	i->ino = 1;
	i->nlink = 2;
	i->ops = &dir_iops;
	i->fops = &dir_fops;
	sb->root = dentry_root(sb, i);
	if (!sb->root) {
		super_put(sb);
		return NULL;
	}
	sb->root->nocache = true;
	return sb;
}
