/* inotify_init, inotify_init1, inotify_add_watch, inotify_rm_watch. */
#include "syscalls/table.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include "fs/inotify/inotify.h"
#include "fs/vfs.h"

int64_t sys_inotify_init1(int flags)
{
	if (flags & ~(IN_CLOEXEC | IN_NONBLOCK))
		return -EINVAL;
	struct file *f = inotify_new(flags);
	if (!f)
		return -ENOMEM;
	int fd = fd_install(f, 0, flags & IN_CLOEXEC);
	if (fd < 0)
		file_put(f);
	return fd;
}

int64_t sys_inotify_init(void)
{
	return sys_inotify_init1(0);
}

int64_t sys_inotify_add_watch(int fd, uaddr_t upath, unsigned mask)
{
	if (!(mask & IN_ALL_EVENTS) || ((mask & IN_MASK_ADD) && (mask & IN_MASK_CREATE)))
		return -EINVAL;
	char *name;
	int r = copy_in_path(&name, upath, false);
	if (r)
		return r;
	struct file *f = fd_get_nopath(fd);
	struct path p = {0};
	r = !f ? -EBADF : !file_is_inotify(f) ? -EINVAL : 0;
	if (!r)
		r = path_lookup(AT_FDCWD, name,
				(mask & IN_DONT_FOLLOW ? 0 : LOOKUP_FOLLOW) | (mask & IN_ONLYDIR ? LOOKUP_DIRECTORY : 0), &p);
	if (!r) {
		r = inode_permission(p.dentry->inode, MAY_READ);
		if (!r)
			r = inotify_add(f, p.dentry->inode, mask);
		path_put(&p);
	}
	if (f)
		file_put(f);
	free(name);
	return r;
}

int64_t sys_inotify_rm_watch(int fd, int wd)
{
	struct file *f = fd_get_nopath(fd);
	if (!f)
		return -EBADF;
	int r = file_is_inotify(f) ? inotify_remove(f, wd) : -EINVAL;
	file_put(f);
	return r;
}
