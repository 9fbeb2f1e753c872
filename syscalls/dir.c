/* Directories: getdents, getcwd, chdir, chroot, umask, mkdir, rmdir, mknod. */
#include "syscalls/table.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include "fs/vfs.h"
#include "sentry/base/util.h"
#include "sentry/task/task.h"
#include "syscalls/pathargs.h"

#define DENTS_MAX 65536u

struct dents {
	struct dir_emit e;
	char *buf;
	size_t size, used;
	bool old; /* getdents(2): the type is the last byte */
	bool too_small;
};

static bool dents_emit(struct dir_emit *e, const char *name, size_t size, uint64_t ino, unsigned type, uint64_t next)
{
	struct dents *d = (struct dents *)e;
	size_t head = d->old ? 18 : 19, n = ALIGN_UP(head + size + 1 + (d->old ? 1 : 0), 8);
	char *p = d->buf + d->used;

	if (n > d->size - d->used) {
		d->too_small = !d->used;
		return false;
	}
	memset(p, 0, n);
	memcpy(p, &ino, 8);
	memcpy(p + 8, &next, 8);
	uint16_t reclen = (uint16_t)n;
	memcpy(p + 16, &reclen, 2);
	memcpy(p + head, name, size);
	p[d->old ? n - 1 : 18] = (char)type;
	d->used += n;
	return true;
}

static int64_t dents(int fd, uaddr_t buf, unsigned count, bool old)
{
	AUTO_FILE struct file *f = fd_get_nopath(fd);
	struct dents d = {.e = {.emit = dents_emit}, .size = MIN(count, DENTS_MAX), .old = old};
	AUTO_STR char *mem = NULL;
	int r;

	if (!f)
		return -EBADF;
	if (!S_ISDIR(f->inode->mode) || !f->ops->iterate)
		return -ENOTDIR;
	if (f->path.dentry && f->path.dentry->dead)
		return -ENOENT;
	mem = d.buf = malloc(d.size ? d.size : 1);
	if (!mem)
		return -ENOMEM;
	r = f->ops->iterate(f, &d.e);
	if (d.used)
		return copy_out(buf, d.buf, d.used) ? -EFAULT : (int64_t)d.used;
	return r < 0 ? r : d.too_small ? -EINVAL : 0;
}

int64_t sys_getdents64(int fd, uaddr_t buf, unsigned count)
{
	return dents(fd, buf, count, false);
}

int64_t sys_getdents(int fd, uaddr_t buf, unsigned count)
{
	return dents(fd, buf, count, true);
}

int64_t sys_getcwd(uaddr_t buf, size_t size)
{
	AUTO_STR char *text = malloc(PATH_MAX);
	long n;

	if (!text)
		return -ENOMEM;
	if (current->fs->cwd.dentry->dead)
		return -ENOENT;
	n = path_text(&current->fs->cwd, &current->fs->root, text, PATH_MAX);
	if (n < 0)
		return n;
	if ((size_t)n + 1 > size)
		return -ERANGE;
	return copy_out(buf, text, (size_t)n + 1) ? -EFAULT : n + 1;
}

/* P (counted, taken over) becomes *SLOT. */
static void replace(struct path *slot, struct path *p)
{
	struct path old = *slot;

	*slot = *p;
	*p = (struct path){0};
	path_put(&old);
}

int64_t sys_chdir(uaddr_t path)
{
	AUTO_PATH struct path p = {0};
	int r = user_path(AT_FDCWD, path, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &p);

	if (r == 0)
		r = inode_permission(p.dentry->inode, MAY_EXEC);
	if (r == 0)
		replace(&current->fs->cwd, &p);
	return r;
}

int64_t sys_fchdir(int fd)
{
	AUTO_FILE struct file *f = fd_get(fd);
	int r;

	if (!f)
		return -EBADF;
	if (!S_ISDIR(f->inode->mode))
		return -ENOTDIR;
	r = inode_permission(f->inode, MAY_EXEC);
	if (r == 0) {
		struct path p = f->path;

		path_get(&p);
		replace(&current->fs->cwd, &p);
	}
	return r;
}

int64_t sys_chroot(uaddr_t path)
{
	AUTO_PATH struct path p = {0};
	int r = user_path(AT_FDCWD, path, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &p);

	if (r == 0)
		r = inode_permission(p.dentry->inode, MAY_EXEC);
	if (r == 0 && !capable(CAP_SYS_CHROOT))
		r = -EPERM;
	if (r == 0)
		replace(&current->fs->root, &p);
	return r;
}

int64_t sys_umask(uint32_t mask)
{
	uint32_t old = current->fs->umask;

	current->fs->umask = mask & 0777;
	return old;
}

int64_t sys_mkdirat(int dirfd, uaddr_t path, uint32_t mode)
{
	struct last l;
	int r = user_parent(dirfd, path, &l);

	if (r < 0)
		return r;
	r = l.type ? -EEXIST : vfs_mkdir(&l.dir, l.name, mode & 01777 & ~current->fs->umask);
	path_put(&l.dir);
	return r;
}

int64_t sys_mkdir(uaddr_t path, uint32_t mode)
{
	return sys_mkdirat(AT_FDCWD, path, mode);
}

int64_t sys_mknodat(int dirfd, uaddr_t path, uint32_t mode, unsigned dev)
{
	struct last l;
	int r;

	switch (mode & S_IFMT) {
	case 0:
		mode |= S_IFREG;
		break;
	case S_IFREG:
	case S_IFCHR:
	case S_IFBLK:
	case S_IFIFO:
	case S_IFSOCK:
		break;
	case S_IFDIR:
		return -EPERM;
	default:
		return -EINVAL;
	}
	r = user_parent(dirfd, path, &l);
	if (r < 0)
		return r;
	if (l.type)
		r = -EEXIST;
	else if (l.trailing)
		r = -ENOENT;
	else
		r = vfs_mknod(&l.dir, l.name, (mode & S_IFMT) | (mode & 07777 & ~current->fs->umask),
			      S_ISCHR(mode) || S_ISBLK(mode) ? dev : 0);
	path_put(&l.dir);
	return r;
}

int64_t sys_mknod(uaddr_t path, uint32_t mode, unsigned dev)
{
	return sys_mknodat(AT_FDCWD, path, mode, dev);
}
