/*
 * /dev: a tmpfs with the nodes that programs expect, and the character devices behind them. As on Linux the node
 * says only a number; chrdev_open finds the device, also for nodes made by mknod elsewhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include "fs/tty/tty.h"
#include "fs/vfs.h"
#include "sentry/base/host.h"
#include "sentry/base/util.h"
#include "sentry/fiber.h"
#include "sentry/task/task.h"

#define DEV(major, minor) ((uint64_t)(major) << 8 | (minor)) /* new_encode_dev for small numbers */
#define DEV_MAJOR(d) (unsigned)((d) >> 8 & 0xfff)
#define DEV_MINOR(d) (unsigned)(((d) & 0xff) | ((d) >> 12 & 0xfff00))
/* A read of an endless device lets others run, and notices a kill, after so many bytes. */
#define DEV_CHUNK (1u << 20)

static long null_read(struct file *f, struct uio *u, uint64_t *pos)
{
	return 0;
}

static long null_write(struct file *f, struct uio *u, uint64_t *pos)
{
	long n = (long)u->resid;
	uio_skip(u, u->resid);
	return n;
}

static int64_t null_llseek(struct file *f, int64_t off, int whence)
{
	f->pos = 0;
	return 0;
}

static bool pause_between_chunks(void)
{
	fiber_yield();
	return signal_pending(current);
}

static long zero_read(struct file *f, struct uio *u, uint64_t *pos)
{
	long done = 0;
	while (u->resid) {
		long n = uio_zero(u, MIN(u->resid, (size_t)DEV_CHUNK));
		if (n < 0)
			return done ? done : n;
		done += n;
		if (u->resid && pause_between_chunks())
			break;
	}
	return done;
}

static int zero_mmap(struct file *f, int prot, int flags, uint64_t off, uint64_t size, int *hostfd, uint64_t *hostoff)
{
	*hostfd = -1;
	*hostoff = 0;
	return 0;
}

static long full_write(struct file *f, struct uio *u, uint64_t *pos)
{
	return -ENOSPC;
}

static long random_read(struct file *f, struct uio *u, uint64_t *pos)
{
	uint8_t buf[1024];
	long done = 0;
	size_t since = 0;
	while (u->resid) {
		size_t n = MIN(u->resid, sizeof buf);
		long r = host_getrandom(buf, n);
		if (r > 0)
			r = uio_put(u, buf, (size_t)r);
		if (r <= 0)
			return done ? done : r;
		done += r;
		since += (size_t)r;
		if (since >= DEV_CHUNK && u->resid) {
			since = 0;
			if (pause_between_chunks())
				break;
		}
	}
	return done;
}

static int64_t random_ioctl(struct file *f, unsigned cmd, uint64_t arg)
{
	if (cmd == 0x80045200) { /* RNDGETENTCNT */
		int bits = 256;
		return copy_out_obj(uaddr(arg), bits);
	}
	return -ENOTTY;
}

static const struct file_ops null_ops = {.read = null_read, .write = null_write, .llseek = null_llseek};
static const struct file_ops zero_ops = {
	.read = zero_read, .write = null_write, .llseek = null_llseek, .mmap = zero_mmap};
static const struct file_ops full_ops = {.read = zero_read, .write = full_write, .llseek = null_llseek};
static const struct file_ops random_ops = {
	.read = random_read, .write = null_write, .llseek = null_llseek, .ioctl = random_ioctl};

int chrdev_open(struct inode *i, struct file *f)
{
	unsigned minor = DEV_MINOR(i->rdev);
	f->seekable = false;
	switch (DEV_MAJOR(i->rdev)) {
	case 1:
		switch (minor) {
		case 3:
			f->ops = &null_ops;
			return 0;
		case 5:
			f->ops = &zero_ops;
			return 0;
		case 7:
			f->ops = &full_ops;
			return 0;
		case 8:
		case 9:
			f->ops = &random_ops;
			return 0;
		}
		return -ENXIO;
	case 5:
		switch (minor) {
		case 0:
			return tty_open_current(i, f);
		case 1:
			return tty_open_console_node(i, f);
		case 2:
			return ptmx_open(i, f);
		}
		return -ENXIO;
	case 136:
		return pts_open(i, f, minor);
	}
	return -ENXIO;
}

/* --- the tree ------------------------------------------------------------------------------------------------------ */
static const struct {
	const char *name;
	uint32_t mode;
	uint64_t dev;
} nodes[] = {
	{"null", 0666, DEV(1, 3)},    {"zero", 0666, DEV(1, 5)},    {"full", 0666, DEV(1, 7)},
	{"random", 0666, DEV(1, 8)},  {"urandom", 0666, DEV(1, 9)}, {"tty", 0666, DEV(5, 0)},
	{"console", 0600, DEV(5, 1)},
};
static const struct {
	const char *name, *target;
} links[] = {
	{"fd", "/proc/self/fd"},
	{"stdin", "/proc/self/fd/0"},
	{"stdout", "/proc/self/fd/1"},
	{"stderr", "/proc/self/fd/2"},
	{"ptmx", "pts/ptmx"},
	{"core", "/proc/kcore"},
};

static int populate(struct inode *dir)
{
	struct inode *made;
	int r;
	for (unsigned k = 0; k < ARRAY_COUNT(nodes); k++) {
		r = dir->ops->mknod(dir, nodes[k].name, S_IFCHR | nodes[k].mode, nodes[k].dev, &made);
		if (r)
			return r;
		inode_put(made);
	}
	for (unsigned k = 0; k < ARRAY_COUNT(links); k++) {
		r = dir->ops->symlink(dir, links[k].name, links[k].target, &made);
		if (r)
			return r;
		inode_put(made);
	}
	static const char *const dirs[] = {"pts", "shm", "mqueue"};
	for (unsigned k = 0; k < ARRAY_COUNT(dirs); k++) {
		r = dir->ops->mkdir(dir, dirs[k], S_IFDIR | (k == 1 ? 01777 : 0755), &made);
		if (r)
			return r;
		if (k == 1)
			made->mode |= 01000; /* whatever mkdir masks: shm_open needs it sticky and open */
		inode_put(made);
	}
	return 0;
}

struct superblock *devfs_new(void)
{
	/* Small limits: nothing but nodes belongs here, and writable memory is what --disk counts. */
	struct superblock *sb = tmpfs_new(1 << 20, 4096);
	if (!sb)
		return NULL;
	sb->fstype = "devtmpfs";
	sb->root->inode->mode = S_IFDIR | 0755;
	if (populate(sb->root->inode)) {
		super_put(sb);
		return NULL;
	}
	return sb;
}
