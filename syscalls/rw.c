/* read, write and their vector and positioned forms, lseek, truncation, allocation, and the sync family. */
#include "syscalls/table.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fs/vfs.h"
#include "sentry/base/util.h"
#include "sentry/task/task.h"
#include "syscalls/pathargs.h"

static long file_rw(struct file *f, struct uio *u, uint64_t *pos, bool write)
{
	long r;

	if (write ? !f->can_write : !f->can_read)
		return -EBADF;
	if (write)
		r = f->ops->write ? f->ops->write(f, u, pos) : -EINVAL;
	else
		r = f->ops->read ? f->ops->read(f, u, pos) : -EINVAL;
	if (r > 0)
		notify_file(f, write ? IN_MODIFY : IN_ACCESS);
	return r;
}

int64_t sys_read(int fd, uaddr_t buf, size_t count)
{
	struct file *f = fd_get_nopath(fd);
	struct uio u;

	if (!f)
		return -EBADF;
	uio_init_user(&u, buf, count);
	long r = file_rw(f, &u, &f->pos, false);
	file_put(f);
	return r;
}

int64_t sys_write(int fd, uaddr_t buf, size_t count)
{
	struct file *f = fd_get_nopath(fd);
	struct uio u;

	if (!f)
		return -EBADF;
	uio_init_user(&u, buf, count);
	long r = file_rw(f, &u, &f->pos, true);
	file_put(f);
	return r;
}

static int64_t positioned(int fd, struct uio *u, int64_t off, bool write)
{
	struct file *f = fd_get_nopath(fd);
	uint64_t pos = (uint64_t)off;
	long r;

	if (!f)
		return -EBADF;
	r = f->seekable ? file_rw(f, u, &pos, write) : -ESPIPE;
	file_put(f);
	return r;
}

int64_t sys_pread64(int fd, uaddr_t buf, size_t count, int64_t off)
{
	struct uio u;

	if (off < 0)
		return -EINVAL;
	uio_init_user(&u, buf, count);
	return positioned(fd, &u, off, false);
}

int64_t sys_pwrite64(int fd, uaddr_t buf, size_t count, int64_t off)
{
	struct uio u;

	if (off < 0)
		return -EINVAL;
	uio_init_user(&u, buf, count);
	return positioned(fd, &u, off, true);
}

/* All the vector forms. OFF -1: the file's own position. */
static int64_t vectored(int fd, uaddr_t iov, unsigned long count, int64_t off, unsigned flags, bool write)
{
	struct file *f;
	struct uio u;
	uint64_t pos = (uint64_t)off;
	long r;

	if (flags & ~(unsigned)(RWF_HIPRI | RWF_DSYNC | RWF_SYNC | RWF_NOWAIT | RWF_APPEND))
		return -EOPNOTSUPP;
	f = fd_get_nopath(fd);
	if (!f)
		return -EBADF;
	if (off != -1 && !f->seekable) {
		file_put(f);
		return -ESPIPE;
	}
	r = uio_init_iov(&u, iov, count);
	if (r < 0) {
		file_put(f);
		return r;
	}
	u.nowait = flags & RWF_NOWAIT;
	int saved = f->flags;
	if (write && (flags & RWF_APPEND))
		f->flags |= O_APPEND;
	r = file_rw(f, &u, off == -1 ? &f->pos : &pos, write);
	if (write && (flags & RWF_APPEND))
		f->flags = saved;
	uio_fini(&u);
	file_put(f);
	return r;
}

int64_t sys_readv(int fd, uaddr_t iov, unsigned long count)
{
	return vectored(fd, iov, count, -1, 0, false);
}

int64_t sys_writev(int fd, uaddr_t iov, unsigned long count)
{
	return vectored(fd, iov, count, -1, 0, true);
}

int64_t sys_preadv(int fd, uaddr_t iov, unsigned long count, unsigned long lo, unsigned long hi)
{
	return (int64_t)lo < 0 ? -EINVAL : vectored(fd, iov, count, (int64_t)lo, 0, false);
}

int64_t sys_pwritev(int fd, uaddr_t iov, unsigned long count, unsigned long lo, unsigned long hi)
{
	return (int64_t)lo < 0 ? -EINVAL : vectored(fd, iov, count, (int64_t)lo, 0, true);
}

int64_t sys_preadv2(int fd, uaddr_t iov, unsigned long count, unsigned long lo, unsigned long hi, unsigned flags)
{
	return (int64_t)lo < -1 ? -EINVAL : vectored(fd, iov, count, (int64_t)lo, flags, false);
}

int64_t sys_pwritev2(int fd, uaddr_t iov, unsigned long count, unsigned long lo, unsigned long hi, unsigned flags)
{
	return (int64_t)lo < -1 ? -EINVAL : vectored(fd, iov, count, (int64_t)lo, flags, true);
}

int64_t sys_lseek(int fd, int64_t off, int whence)
{
	struct file *f = fd_get_nopath(fd);
	int64_t r;

	if (!f)
		return -EBADF;
	if (whence < SEEK_SET || whence > SEEK_HOLE)
		r = -EINVAL;
	else if (f->ops->llseek)
		r = f->ops->llseek(f, off, whence);
	else if (f->seekable)
		r = llseek_size(f, off, whence, f->inode->size);
	else
		r = -ESPIPE;
	file_put(f);
	return r;
}

int64_t sys_truncate(uaddr_t path, int64_t length)
{
	AUTO_PATH struct path p = {0};
	int r;

	if (length < 0)
		return -EINVAL;
	r = user_path(AT_FDCWD, path, LOOKUP_FOLLOW, &p);
	return r < 0 ? r : vfs_truncate(&p, (uint64_t)length);
}

int64_t sys_ftruncate(int fd, int64_t length)
{
	AUTO_FILE struct file *f = fd_get_nopath(fd);
	struct iattr a = {.valid = ATTR_SIZE | ATTR_FORCE | ATTR_KILL_PRIV, .size = (uint64_t)length};

	if (length < 0)
		return -EINVAL;
	if (!f)
		return -EBADF;
	if (!S_ISREG(f->inode->mode) || !f->can_write)
		return -EINVAL;
	if (f->inode->fsflags & INODE_APPEND)
		return -EPERM;
	if (a.size > f->inode->size && a.size > current->tg->rlim[RLIMIT_FSIZE].cur) {
		signal_send_task(current, SIGXFSZ, NULL);
		return -EFBIG;
	}
	return vfs_setattr(&f->path, &a);
}

int64_t sys_fallocate(int fd, unsigned mode, int64_t off, int64_t len)
{
	AUTO_FILE struct file *f = NULL;
	uint64_t end;

	if (off < 0 || len <= 0)
		return -EINVAL;
	f = fd_get_nopath(fd);
	if (!f)
		return -EBADF;
	if (mode & ~(unsigned)(FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE | FALLOC_FL_COLLAPSE_RANGE |
			       FALLOC_FL_ZERO_RANGE | FALLOC_FL_INSERT_RANGE | FALLOC_FL_UNSHARE_RANGE))
		return -EOPNOTSUPP;
	if (!f->can_write)
		return -EBADF;
	if (S_ISFIFO(f->inode->mode))
		return -ESPIPE;
	if (S_ISDIR(f->inode->mode))
		return -EISDIR;
	if (!S_ISREG(f->inode->mode))
		return -ENODEV;
	if (__builtin_add_overflow((uint64_t)off, (uint64_t)len, &end) || end > INT64_MAX)
		return -EFBIG;
	if (!(mode & FALLOC_FL_KEEP_SIZE) && end > current->tg->rlim[RLIMIT_FSIZE].cur) {
		signal_send_task(current, SIGXFSZ, NULL);
		return -EFBIG;
	}
	return f->ops->fallocate ? f->ops->fallocate(f, (int)mode, (uint64_t)off, (uint64_t)len) : -EOPNOTSUPP;
}

static int64_t do_fsync(int fd, bool data)
{
	AUTO_FILE struct file *f = fd_get_nopath(fd);

	if (!f)
		return -EBADF;
	if (f->ops->fsync)
		return f->ops->fsync(f, data);
	return S_ISREG(f->inode->mode) || S_ISDIR(f->inode->mode) ? 0 : -EINVAL;
}

int64_t sys_fsync(int fd)
{
	return do_fsync(fd, false);
}

int64_t sys_fdatasync(int fd)
{
	return do_fsync(fd, true);
}

/* Everything written is in memory: there is nothing behind it to wait for. */
int64_t sys_sync(void)
{
	return 0;
}

int64_t sys_syncfs(int fd)
{
	AUTO_FILE struct file *f = fd_get_nopath(fd);

	return f ? 0 : -EBADF;
}

int64_t sys_sync_file_range(int fd, int64_t off, int64_t nbytes, unsigned flags)
{
	AUTO_FILE struct file *f = fd_get_nopath(fd);

	if (!f)
		return -EBADF;
	if ((flags & ~7u) || off < 0 || nbytes < 0 || off + (uint64_t)nbytes > INT64_MAX)
		return -EINVAL;
	return S_ISREG(f->inode->mode) || S_ISDIR(f->inode->mode) || S_ISLNK(f->inode->mode) ? 0 : -ESPIPE;
}

int64_t sys_fadvise64(int fd, int64_t off, size_t len, int advice)
{
	AUTO_FILE struct file *f = fd_get_nopath(fd);

	if (!f)
		return -EBADF;
	if (S_ISFIFO(f->inode->mode))
		return -ESPIPE;
	if ((int64_t)len < 0 || advice < POSIX_FADV_NORMAL || advice > POSIX_FADV_NOREUSE)
		return -EINVAL;
	return 0;
}

int64_t sys_readahead(int fd, int64_t off, size_t count)
{
	AUTO_FILE struct file *f = fd_get_nopath(fd);

	if (!f || !f->can_read)
		return -EBADF;
	return S_ISREG(f->inode->mode) ? 0 : -EINVAL;
}
