/* Mode, owner and times. */
#include "syscalls/table.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <utime.h>
#include "fs/vfs.h"
#include "sentry/base/util.h"
#include "sentry/task/task.h"
#include "syscalls/pathargs.h"

static int64_t chmod_path(const struct path *p, uint32_t mode)
{
	struct iattr a = {.valid = ATTR_MODE, .mode = mode & 07777};

	if (p->dentry->inode && S_ISLNK(p->dentry->inode->mode))
		return -EOPNOTSUPP;
	return vfs_setattr(p, &a);
}

int64_t sys_fchmodat2(int dirfd, uaddr_t path, uint32_t mode, int flags)
{
	AUTO_PATH struct path p = {0};
	int r;

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	r = user_path(dirfd, path, (flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW) |
		      (flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0), &p);
	return r < 0 ? r : chmod_path(&p, mode);
}

int64_t sys_fchmodat(int dirfd, uaddr_t path, uint32_t mode)
{
	return sys_fchmodat2(dirfd, path, mode, 0);
}

int64_t sys_chmod(uaddr_t path, uint32_t mode)
{
	return sys_fchmodat2(AT_FDCWD, path, mode, 0);
}

int64_t sys_fchmod(int fd, uint32_t mode)
{
	AUTO_FILE struct file *f = fd_get_nopath(fd);

	return f ? chmod_path(&f->path, mode) : -EBADF;
}

static int64_t chown_path(const struct path *p, uid_t uid, gid_t gid)
{
	struct iattr a = {.valid = ATTR_KILL_PRIV, .uid = uid, .gid = gid};

	if (uid != (uid_t)-1)
		a.valid |= ATTR_UID;
	if (gid != (gid_t)-1)
		a.valid |= ATTR_GID;
	return vfs_setattr(p, &a);
}

int64_t sys_fchownat(int dirfd, uaddr_t path, uid_t uid, gid_t gid, int flags)
{
	AUTO_PATH struct path p = {0};
	int r;

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	r = user_path(dirfd, path, (flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW) |
		      (flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0), &p);
	return r < 0 ? r : chown_path(&p, uid, gid);
}

int64_t sys_chown(uaddr_t path, uid_t uid, gid_t gid)
{
	return sys_fchownat(AT_FDCWD, path, uid, gid, 0);
}

int64_t sys_lchown(uaddr_t path, uid_t uid, gid_t gid)
{
	return sys_fchownat(AT_FDCWD, path, uid, gid, AT_SYMLINK_NOFOLLOW);
}

int64_t sys_fchown(int fd, uid_t uid, gid_t gid)
{
	AUTO_FILE struct file *f = fd_get_nopath(fd);

	return f ? chown_path(&f->path, uid, gid) : -EBADF;
}

/* T NULL: now. Both UTIME_NOW counts as NULL: write permission is enough (utimensat(2)). */
static int64_t utimes_path(const struct path *p, const struct timespec *t)
{
	struct iattr a = {.valid = 0};
	struct ktime now = ktime_now();

	if (!t || (t[0].tv_nsec == UTIME_NOW && t[1].tv_nsec == UTIME_NOW)) {
		a.valid = ATTR_ATIME | ATTR_MTIME | ATTR_TOUCH;
		a.atime = a.mtime = now;
		return vfs_setattr(p, &a);
	}
	if (t[0].tv_nsec != UTIME_OMIT) {
		a.valid |= ATTR_ATIME;
		a.atime = t[0].tv_nsec == UTIME_NOW ? now : (struct ktime){t[0].tv_sec, (uint32_t)t[0].tv_nsec};
	}
	if (t[1].tv_nsec != UTIME_OMIT) {
		a.valid |= ATTR_MTIME;
		a.mtime = t[1].tv_nsec == UTIME_NOW ? now : (struct ktime){t[1].tv_sec, (uint32_t)t[1].tv_nsec};
	}
	return a.valid ? vfs_setattr(p, &a) : 0;
}

static int64_t utimes_at(int dirfd, uaddr_t path, const struct timespec *t, int flags)
{
	AUTO_PATH struct path p = {0};
	int r;

	if (uaddr_null(path) && dirfd != AT_FDCWD) {
		AUTO_FILE struct file *f = NULL;

		if (flags & ~AT_EMPTY_PATH)
			return -EINVAL;
		f = fd_get_nopath(dirfd);
		return f ? utimes_path(&f->path, t) : -EBADF;
	}
	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	r = user_path(dirfd, path, (flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW) |
		      (flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0), &p);
	return r < 0 ? r : utimes_path(&p, t);
}

static bool bad_nsec(long n)
{
	return n != UTIME_NOW && n != UTIME_OMIT && (n < 0 || n >= NSEC_PER_SEC);
}

int64_t sys_utimensat(int dirfd, uaddr_t path, uaddr_t times, int flags)
{
	struct timespec t[2];

	if (uaddr_null(times))
		return utimes_at(dirfd, path, NULL, flags);
	if (copy_in_obj(t, times))
		return -EFAULT;
	if (t[0].tv_nsec == UTIME_OMIT && t[1].tv_nsec == UTIME_OMIT)
		return 0;
	if (bad_nsec(t[0].tv_nsec) || bad_nsec(t[1].tv_nsec))
		return -EINVAL;
	return utimes_at(dirfd, path, t, flags);
}

int64_t sys_futimesat(int dirfd, uaddr_t path, uaddr_t times)
{
	struct timeval v[2];
	struct timespec t[2];

	if (uaddr_null(times))
		return utimes_at(dirfd, path, NULL, 0);
	if (copy_in_obj(v, times))
		return -EFAULT;
	for (int k = 0; k < 2; k++) {
		if (v[k].tv_usec < 0 || v[k].tv_usec >= 1000000)
			return -EINVAL;
		t[k] = (struct timespec){v[k].tv_sec, v[k].tv_usec * 1000};
	}
	return utimes_at(dirfd, path, t, 0);
}

int64_t sys_utimes(uaddr_t path, uaddr_t times)
{
	return sys_futimesat(AT_FDCWD, path, times);
}

int64_t sys_utime(uaddr_t path, uaddr_t times)
{
	struct utimbuf b;

	if (uaddr_null(times))
		return utimes_at(AT_FDCWD, path, NULL, 0);
	if (copy_in_obj(b, times))
		return -EFAULT;
	struct timespec t[2] = {{b.actime, 0}, {b.modtime, 0}};
	return utimes_at(AT_FDCWD, path, t, 0);
}
