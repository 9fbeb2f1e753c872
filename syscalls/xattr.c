/*
 * Extended attributes. Name spaces as Linux: user. on files and directories, trusted. and security. for
 * capable callers; ACLs (system.posix_acl_*) are not kept: EOPNOTSUPP, as a file system mounted noacl.
 */
#include "syscalls/table.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include "fs/vfs.h"
#include "sentry/base/util.h"
#include "sentry/task/task.h"
#include "syscalls/pathargs.h"

#define NAME_SIZE 256
#define VALUE_MAX 65536u
#define LIST_MAX 65536u

static int name_in(char *name, uaddr_t u)
{
	long n = copy_in_str(name, u, NAME_SIZE);

	return n == -ENAMETOOLONG || n == 0 ? -ERANGE : n < 0 ? (int)n : 0;
}

/* May NAME be used on I? WRITE: set or remove. */
static int allowed(struct inode *i, const char *name, bool write)
{
	if (write && (i->fsflags & (INODE_IMMUTABLE | INODE_APPEND)))
		return -EPERM;
	if (!strncmp(name, "user.", 5)) {
		if (!S_ISREG(i->mode) && !S_ISDIR(i->mode))
			return write ? -EPERM : -ENODATA;
		if (write && S_ISDIR(i->mode) && (i->mode & S_ISVTX) && !inode_owner_or_capable(i))
			return -EPERM;
		return inode_permission(i, write ? MAY_WRITE : MAY_READ);
	}
	if (!strncmp(name, "trusted.", 8))
		return capable(CAP_SYS_ADMIN) ? 0 : write ? -EPERM : -ENODATA;
	if (!strncmp(name, "security.", 9))
		return write && !capable(CAP_SYS_ADMIN) ? -EPERM : 0;
	return -EOPNOTSUPP;
}

static bool readonly(const struct path *p)
{
	return (p->mnt && (p->mnt->flags & MS_RDONLY)) || p->dentry->sb->readonly;
}

static int64_t set(const struct path *p, uaddr_t uname, uaddr_t value, size_t size, unsigned flags)
{
	struct inode *i = p->dentry->inode;
	AUTO_STR char *buf = NULL;
	char name[NAME_SIZE];
	int r;

	if (flags & ~(unsigned)(XATTR_CREATE | XATTR_REPLACE))
		return -EINVAL;
	r = name_in(name, uname);
	if (r < 0)
		return r;
	if (size > VALUE_MAX)
		return -E2BIG;
	buf = malloc(size + 1);
	if (!buf)
		return -ENOMEM;
	if (size && copy_in(buf, value, size))
		return -EFAULT;
	r = readonly(p) ? -EROFS : allowed(i, name, true);
	if (r < 0)
		return r;
	return i->ops->setxattr ? i->ops->setxattr(i, name, buf, size, (int)flags) : -EOPNOTSUPP;
}

static int64_t get(const struct path *p, uaddr_t uname, uaddr_t value, size_t size)
{
	struct inode *i = p->dentry->inode;
	AUTO_STR char *buf = NULL;
	char name[NAME_SIZE];
	long n;
	int r = name_in(name, uname);

	if (r == 0)
		r = allowed(i, name, false);
	if (r < 0)
		return r;
	if (!i->ops->getxattr)
		return -EOPNOTSUPP;
	size = MIN(size, VALUE_MAX);
	buf = malloc(size + 1);
	if (!buf)
		return -ENOMEM;
	n = i->ops->getxattr(i, name, buf, size);
	return n > 0 && size && copy_out(value, buf, (size_t)n) ? -EFAULT : n;
}

static int64_t list(const struct path *p, uaddr_t out, size_t size)
{
	struct inode *i = p->dentry->inode;
	AUTO_STR char *buf = NULL;
	long n;

	if (!i->ops->listxattr)
		return 0;
	size = MIN(size, LIST_MAX);
	buf = malloc(size + 1);
	if (!buf)
		return -ENOMEM;
	n = i->ops->listxattr(i, buf, size);
	if (n > 0 && size && !capable(CAP_SYS_ADMIN)) { /* trusted names are not shown to everybody */
		long kept = 0;

		for (long at = 0; at < n;) {
			size_t len = strlen(buf + at) + 1;

			if (strncmp(buf + at, "trusted.", 8)) {
				memmove(buf + kept, buf + at, len);
				kept += (long)len;
			}
			at += (long)len;
		}
		n = kept;
	}
	return n > 0 && size && copy_out(out, buf, (size_t)n) ? -EFAULT : n;
}

static int64_t drop(const struct path *p, uaddr_t uname)
{
	struct inode *i = p->dentry->inode;
	char name[NAME_SIZE];
	int r = name_in(name, uname);

	if (r == 0)
		r = readonly(p) ? -EROFS : allowed(i, name, true);
	if (r < 0)
		return r;
	return i->ops->removexattr ? i->ops->removexattr(i, name) : -EOPNOTSUPP;
}

/* The three ways to name the object. */
#define BY_PATH(flags, call)                                                                       \
	do {                                                                                       \
		AUTO_PATH struct path p = {0};                                                     \
		int r_ = user_path(AT_FDCWD, path, flags, &p);                                     \
		return r_ < 0 ? r_ : (call);                                                       \
	} while (0)
#define BY_FD(call)                                                                                \
	do {                                                                                       \
		AUTO_FILE struct file *f = fd_get_nopath(fd);                                      \
		if (!f)                                                                            \
			return -EBADF;                                                             \
		struct path p = f->path;                                                           \
		return (call);                                                                     \
	} while (0)

int64_t sys_setxattr(uaddr_t path, uaddr_t name, uaddr_t value, size_t size, unsigned flags)
{
	BY_PATH(LOOKUP_FOLLOW, set(&p, name, value, size, flags));
}
int64_t sys_lsetxattr(uaddr_t path, uaddr_t name, uaddr_t value, size_t size, unsigned flags)
{
	BY_PATH(0, set(&p, name, value, size, flags));
}
int64_t sys_fsetxattr(int fd, uaddr_t name, uaddr_t value, size_t size, unsigned flags)
{
	BY_FD(set(&p, name, value, size, flags));
}
int64_t sys_getxattr(uaddr_t path, uaddr_t name, uaddr_t value, size_t size)
{
	BY_PATH(LOOKUP_FOLLOW, get(&p, name, value, size));
}
int64_t sys_lgetxattr(uaddr_t path, uaddr_t name, uaddr_t value, size_t size)
{
	BY_PATH(0, get(&p, name, value, size));
}
int64_t sys_fgetxattr(int fd, uaddr_t name, uaddr_t value, size_t size)
{
	BY_FD(get(&p, name, value, size));
}
int64_t sys_listxattr(uaddr_t path, uaddr_t out, size_t size)
{
	BY_PATH(LOOKUP_FOLLOW, list(&p, out, size));
}
int64_t sys_llistxattr(uaddr_t path, uaddr_t out, size_t size)
{
	BY_PATH(0, list(&p, out, size));
}
int64_t sys_flistxattr(int fd, uaddr_t out, size_t size)
{
	BY_FD(list(&p, out, size));
}
int64_t sys_removexattr(uaddr_t path, uaddr_t name)
{
	BY_PATH(LOOKUP_FOLLOW, drop(&p, name));
}
int64_t sys_lremovexattr(uaddr_t path, uaddr_t name)
{
	BY_PATH(0, drop(&p, name));
}
int64_t sys_fremovexattr(int fd, uaddr_t name)
{
	BY_FD(drop(&p, name));
}
