/* stat and its forms, statx, statfs, access, readlink. */
#include "syscalls/table.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "fs/vfs.h"
#include "sentry/base/util.h"
#include "sentry/task/task.h"
#include "syscalls/pathargs.h"

_Static_assert(sizeof(struct stat) == 144 && sizeof(struct statx) == 256 && sizeof(struct statfs) == 120, "ABI");

static struct timespec ts(struct ktime t)
{
	return (struct timespec){t.sec, t.nsec};
}

static int64_t stat_out(const struct path *p, uaddr_t out)
{
	struct kstat k;
	struct stat st;
	int r = vfs_getattr(p, &k);

	if (r < 0)
		return r;
	memset(&st, 0, sizeof(st));
	st.st_dev = k.dev;
	st.st_ino = k.ino;
	st.st_nlink = k.nlink;
	st.st_mode = k.mode;
	st.st_uid = k.uid;
	st.st_gid = k.gid;
	st.st_rdev = k.rdev;
	st.st_size = (off_t)k.size;
	st.st_blksize = k.blksize;
	st.st_blocks = (blkcnt_t)k.blocks;
	st.st_atim = ts(k.atime);
	st.st_mtim = ts(k.mtime);
	st.st_ctim = ts(k.ctime);
	return copy_out_obj(out, st);
}

int64_t sys_newfstatat(int dirfd, uaddr_t path, uaddr_t out, int flags)
{
	AUTO_PATH struct path p = {0};
	int r;

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH | 0x6000 /* AT_STATX_SYNC_TYPE */))
		return -EINVAL;
	if ((flags & AT_EMPTY_PATH) && uaddr_null(path)) { /* Linux 6.11: NULL is "" */
		AUTO_FILE struct file *f = fd_get(dirfd);

		return f ? stat_out(&f->path, out) : -EBADF;
	}
	r = user_path(dirfd, path, (flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW) |
		      (flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0), &p);
	return r < 0 ? r : stat_out(&p, out);
}

int64_t sys_stat(uaddr_t path, uaddr_t out)
{
	return sys_newfstatat(AT_FDCWD, path, out, 0);
}

int64_t sys_lstat(uaddr_t path, uaddr_t out)
{
	return sys_newfstatat(AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);
}

int64_t sys_fstat(int fd, uaddr_t out)
{
	AUTO_FILE struct file *f = fd_get(fd);

	return f ? stat_out(&f->path, out) : -EBADF;
}

static struct statx_timestamp xts(struct ktime t)
{
	return (struct statx_timestamp){.tv_sec = t.sec, .tv_nsec = t.nsec};
}

int64_t sys_statx(int dirfd, uaddr_t path, int flags, unsigned mask, uaddr_t out)
{
	AUTO_PATH struct path p = {0};
	struct kstat k;
	struct statx x;
	int r;

	if ((mask & STATX__RESERVED) || (flags & 0x6000) == 0x6000)
		return -EINVAL;
	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH | 0x6000))
		return -EINVAL;
	if ((flags & AT_EMPTY_PATH) && uaddr_null(path)) {
		AUTO_FILE struct file *f = fd_get(dirfd);

		if (!f)
			return -EBADF;
		p = f->path;
		path_get(&p);
	} else {
		r = user_path(dirfd, path, (flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW) |
			      (flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0), &p);
		if (r < 0)
			return r;
	}
	r = vfs_getattr(&p, &k);
	if (r < 0)
		return r;
	memset(&x, 0, sizeof(x));
	x.stx_mask = STATX_BASIC_STATS | STATX_BTIME;
	x.stx_blksize = k.blksize;
	x.stx_nlink = k.nlink;
	x.stx_uid = k.uid;
	x.stx_gid = k.gid;
	x.stx_mode = (uint16_t)k.mode;
	x.stx_ino = k.ino;
	x.stx_size = k.size;
	x.stx_blocks = k.blocks;
	x.stx_atime = xts(k.atime);
	x.stx_btime = xts(k.btime);
	x.stx_ctime = xts(k.ctime);
	x.stx_mtime = xts(k.mtime);
	x.stx_rdev_major = major(k.rdev);
	x.stx_rdev_minor = minor(k.rdev);
	x.stx_dev_major = major(k.dev);
	x.stx_dev_minor = minor(k.dev);
	if (p.mnt) {
		x.stx_attributes_mask = STATX_ATTR_MOUNT_ROOT;
		if (p.mnt->root == p.dentry)
			x.stx_attributes |= STATX_ATTR_MOUNT_ROOT;
#ifdef STATX_MNT_ID
		x.stx_mask |= STATX_MNT_ID;
		x.stx_mnt_id = (uint64_t)p.mnt->id;
#endif
	}
	return copy_out_obj(out, x);
}

static int64_t statfs_out(const struct path *p, uaddr_t out)
{
	struct superblock *sb = p->dentry->sb;
	struct kstatfs k = {.bsize = 4096, .namelen = 255};
	struct statfs st;
	int r = sb->ops && sb->ops->statfs ? sb->ops->statfs(sb, &k) : 0;
	unsigned mf = p->mnt ? p->mnt->flags : 0;

	if (r < 0)
		return r;
	memset(&st, 0, sizeof(st));
	st.f_type = (long)k.type;
	st.f_bsize = (long)k.bsize;
	st.f_blocks = k.blocks;
	st.f_bfree = k.bfree;
	st.f_bavail = k.bavail;
	st.f_files = k.files;
	st.f_ffree = k.ffree;
	st.f_fsid.__val[0] = (int)sb->dev;
	st.f_namelen = (long)k.namelen;
	st.f_frsize = (long)k.bsize;
	/* ST_* bits: those of MS_* for the first four, 0x20 says that the field is valid. */
	st.f_flags = 0x20 | (mf & (MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC)) | (mf & MS_NOATIME ? 0x400 : 0x1000);
	return copy_out_obj(out, st);
}

int64_t sys_statfs(uaddr_t path, uaddr_t out)
{
	AUTO_PATH struct path p = {0};
	int r = user_path(AT_FDCWD, path, LOOKUP_FOLLOW, &p);

	return r < 0 ? r : statfs_out(&p, out);
}

int64_t sys_fstatfs(int fd, uaddr_t out)
{
	AUTO_FILE struct file *f = fd_get(fd);

	return f ? statfs_out(&f->path, out) : -EBADF;
}

static int access_path(const struct path *p, int mode)
{
	struct inode *i = p->dentry->inode;
	unsigned mf = p->mnt ? p->mnt->flags : 0;
	int r;

	if ((mode & X_OK) && S_ISREG(i->mode) && (mf & MS_NOEXEC))
		return -EACCES;
	r = mode ? inode_permission(i, mode) : 0; /* R_OK, W_OK, X_OK are MAY_* */
	if (r < 0 || !(mode & W_OK))
		return r;
	return (mf & MS_RDONLY) && (S_ISREG(i->mode) || S_ISDIR(i->mode) || S_ISLNK(i->mode)) ? -EROFS : 0;
}

int64_t sys_faccessat2(int dirfd, uaddr_t path, int mode, int flags)
{
	AUTO_PATH struct path p = {0};
	struct cred *own = current->cred, *real = NULL;
	int r;

	if ((mode & ~7) || (flags & ~(AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)))
		return -EINVAL;
	/* Asked with the real ids. Nothing below sleeps, so nobody sees the exchange. */
	if (!(flags & AT_EACCESS) && (own->fsuid != own->uid || own->fsgid != own->gid)) {
		real = cred_dup(own);
		if (!real)
			return -ENOMEM;
		real->fsuid = own->uid;
		real->fsgid = own->gid;
		real->cap_effective = own->uid == 0 ? own->cap_permitted : 0;
		current->cred = real;
	}
	r = user_path(dirfd, path, (flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW) |
		      (flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0), &p);
	if (r == 0)
		r = access_path(&p, mode);
	current->cred = own;
	if (real)
		cred_put(real);
	return r;
}

int64_t sys_faccessat(int dirfd, uaddr_t path, int mode)
{
	return sys_faccessat2(dirfd, path, mode, 0);
}

int64_t sys_access(uaddr_t path, int mode)
{
	return sys_faccessat2(AT_FDCWD, path, mode, 0);
}

int64_t sys_readlinkat(int dirfd, uaddr_t path, uaddr_t buf, int size)
{
	AUTO_PATH struct path p = {0};
	AUTO_STR char *text = NULL;
	AUTO_STR char *name = NULL;
	struct inode *i;
	long n;
	int r;

	if (size <= 0)
		return -EINVAL;
	r = copy_in_path(&name, path, true);
	if (r == 0)
		r = path_lookup(dirfd, name, LOOKUP_EMPTY, &p);
	if (r < 0)
		return r;
	i = p.dentry->inode;
	if (!S_ISLNK(i->mode))
		return *name ? -EINVAL : -ENOENT;
	if (!i->ops->readlink)
		return -EINVAL;
	text = malloc(PATH_MAX);
	if (!text)
		return -ENOMEM;
	n = i->ops->readlink(i, text, PATH_MAX);
	if (n < 0)
		return n;
	n = MIN(n, (long)size);
	return copy_out(buf, text, (size_t)n) ? -EFAULT : n;
}

int64_t sys_readlink(uaddr_t path, uaddr_t buf, int size)
{
	return sys_readlinkat(AT_FDCWD, path, buf, size);
}
