/* Names: link, symlink, unlink, rmdir, rename. */
#include "syscalls/table.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include "fs/vfs.h"
#include "fs/walk.h"
#include "sentry/task/task.h"
#include "syscalls/pathargs.h"

int64_t sys_linkat(int olddirfd, uaddr_t oldpath, int newdirfd, uaddr_t newpath, int flags)
{
	AUTO_PATH struct path old = {0};
	struct last l;
	int r;

	if (flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if ((flags & AT_EMPTY_PATH) && !capable(CAP_DAC_READ_SEARCH))
		return -ENOENT;
	r = user_path(olddirfd, oldpath, (flags & AT_SYMLINK_FOLLOW ? LOOKUP_FOLLOW : 0) |
		      (flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0), &old);
	if (r == 0)
		r = user_parent(newdirfd, newpath, &l);
	if (r < 0)
		return r;
	if (l.type)
		r = -EEXIST;
	else if (l.trailing)
		r = -ENOENT;
	else if (old.dentry->inode->nlink == 0 && old.dentry->parent != old.dentry) /* not an O_TMPFILE */
		r = -ENOENT;
	else
		r = vfs_link(&old, &l.dir, l.name);
	path_put(&l.dir);
	return r;
}

int64_t sys_link(uaddr_t oldpath, uaddr_t newpath)
{
	return sys_linkat(AT_FDCWD, oldpath, AT_FDCWD, newpath, 0);
}

int64_t sys_symlinkat(uaddr_t target, int dirfd, uaddr_t linkpath)
{
	AUTO_STR char *text = NULL;
	struct last l;
	int r = copy_in_path(&text, target, false);

	if (r == 0)
		r = user_parent(dirfd, linkpath, &l);
	if (r < 0)
		return r;
	r = l.type ? -EEXIST : l.trailing ? -ENOENT : vfs_symlink(&l.dir, l.name, text);
	path_put(&l.dir);
	return r;
}

int64_t sys_symlink(uaddr_t target, uaddr_t linkpath)
{
	return sys_symlinkat(target, AT_FDCWD, linkpath);
}

static int do_rmdir(int dirfd, uaddr_t path)
{
	static const int error[] = {[LAST_DOT] = -EINVAL, [LAST_DOTDOT] = -ENOTEMPTY, [LAST_ROOT] = -EBUSY};
	struct last l;
	int r = user_parent(dirfd, path, &l);

	if (r < 0)
		return r;
	r = l.type ? error[l.type] : vfs_rmdir(&l.dir, l.name);
	path_put(&l.dir);
	return r;
}

static int do_unlink(int dirfd, uaddr_t path)
{
	struct last l;
	int r = user_parent(dirfd, path, &l);

	if (r < 0)
		return r;
	if (l.type) {
		r = -EISDIR;
	} else if (l.trailing) {
		struct dentry *d;

		r = dentry_lookup(l.dir.dentry, l.name, &d);
		if (r == 0) {
			r = !d->inode ? -ENOENT : S_ISDIR(d->inode->mode) ? -EISDIR : -ENOTDIR;
			dentry_put(d);
		}
	} else {
		r = vfs_unlink(&l.dir, l.name);
	}
	path_put(&l.dir);
	return r;
}

int64_t sys_unlinkat(int dirfd, uaddr_t path, int flags)
{
	if (flags & ~AT_REMOVEDIR)
		return -EINVAL;
	return flags & AT_REMOVEDIR ? do_rmdir(dirfd, path) : do_unlink(dirfd, path);
}

int64_t sys_unlink(uaddr_t path)
{
	return do_unlink(AT_FDCWD, path);
}

int64_t sys_rmdir(uaddr_t path)
{
	return do_rmdir(AT_FDCWD, path);
}

/* Trailing slashes are fine for directories only. */
static int check_slashes(const struct last *o, const struct last *n, unsigned flags)
{
	struct dentry *d;
	int r = dentry_lookup(o->dir.dentry, o->name, &d);

	if (r < 0 || (!o->trailing && !n->trailing)) {
		if (r == 0)
			dentry_put(d);
		return r;
	}
	if (!d->inode)
		r = -ENOENT;
	else if (!S_ISDIR(d->inode->mode) && (o->trailing || !(flags & RENAME_EXCHANGE)))
		r = -ENOTDIR;
	dentry_put(d);
	return r;
}

int64_t sys_renameat2(int olddirfd, uaddr_t oldpath, int newdirfd, uaddr_t newpath, unsigned flags)
{
	struct last o, n;
	int r;

	if (flags & ~(unsigned)(RENAME_NOREPLACE | RENAME_EXCHANGE))
		return -EINVAL; /* RENAME_WHITEOUT: as a file system that lacks it */
	if ((flags & RENAME_NOREPLACE) && (flags & RENAME_EXCHANGE))
		return -EINVAL;
	r = user_parent(olddirfd, oldpath, &o);
	if (r < 0)
		return r;
	r = user_parent(newdirfd, newpath, &n);
	if (r < 0) {
		path_put(&o.dir);
		return r;
	}
	if (o.dir.mnt != n.dir.mnt)
		r = -EXDEV;
	else if (o.type)
		r = -EBUSY;
	else if (n.type)
		r = flags & RENAME_NOREPLACE ? -EEXIST : -EBUSY;
	else
		r = check_slashes(&o, &n, flags);
	if (r == 0)
		r = vfs_rename(&o.dir, o.name, &n.dir, n.name, flags);
	path_put(&o.dir);
	path_put(&n.dir);
	return r;
}

int64_t sys_renameat(int olddirfd, uaddr_t oldpath, int newdirfd, uaddr_t newpath)
{
	return sys_renameat2(olddirfd, oldpath, newdirfd, newpath, 0);
}

int64_t sys_rename(uaddr_t oldpath, uaddr_t newpath)
{
	return sys_renameat2(AT_FDCWD, oldpath, AT_FDCWD, newpath, 0);
}
