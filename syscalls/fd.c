/* Descriptors: close, close_range, dup and its forms, fcntl. Record locks by fcntl are in fs/locks.c. */
#include "syscalls/table.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/resource.h>
#include "fs/fown.h"
#include "fs/vfs.h"
#include "sentry/base/util.h"
#include "sentry/task/task.h"
#include "syscalls/pathargs.h"

int64_t sys_close(int fd)
{
	return fd_close(fd);
}

int64_t sys_close_range(unsigned first, unsigned last, unsigned flags)
{
	struct fdtable *t = current->files;

	if ((flags & ~(unsigned)(CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC)) || first > last)
		return -EINVAL;
	if ((flags & CLOSE_RANGE_UNSHARE) && t->refs > 1) {
		struct fdtable *own = fdtable_dup(t);

		if (!own)
			return -ENOMEM;
		current->files = own;
		fdtable_put(t);
		t = own;
	}
	for (unsigned fd = first; fd <= last && fd < t->cap; fd++) {
		if (!t->slot[fd])
			continue;
		if (flags & CLOSE_RANGE_CLOEXEC)
			t->cloexec[fd / 64] |= 1ull << (fd % 64);
		else
			fd_close((int)fd);
	}
	return 0;
}

static int64_t dup_from(int oldfd, int min, bool cloexec)
{
	struct file *f = fd_get(oldfd);
	int fd;

	if (!f)
		return -EBADF;
	fd = fd_install(f, min, cloexec);
	if (fd < 0)
		file_put(f);
	return fd;
}

int64_t sys_dup(int oldfd)
{
	return dup_from(oldfd, 0, false);
}

int64_t sys_dup3(int oldfd, int newfd, int flags)
{
	struct file *f;
	int r;

	if ((flags & ~O_CLOEXEC) || oldfd == newfd)
		return -EINVAL;
	if (newfd < 0 || (uint64_t)newfd >= current->tg->rlim[RLIMIT_NOFILE].cur)
		return -EBADF;
	f = fd_get(oldfd);
	if (!f)
		return -EBADF;
	r = fd_install_at(f, (unsigned)newfd, flags & O_CLOEXEC);
	if (r < 0)
		file_put(f);
	return r;
}

int64_t sys_dup2(int oldfd, int newfd)
{
	if (oldfd == newfd) {
		AUTO_FILE struct file *f = fd_get(oldfd);

		return f ? newfd : -EBADF;
	}
	return sys_dup3(oldfd, newfd, 0);
}

static bool cloexec_get(int fd)
{
	return current->files->cloexec[fd / 64] >> (fd % 64) & 1;
}

static int64_t setfl(struct file *f, int fd, int arg)
{
	const int can = O_APPEND | O_DIRECT | O_NOATIME | O_NONBLOCK;

	if (((arg ^ f->flags) & O_APPEND) && (f->inode->fsflags & INODE_APPEND))
		return -EPERM;
	if ((arg & O_NOATIME) && !(f->flags & O_NOATIME) && !inode_owner_or_capable(f->inode))
		return -EPERM;
	if (f->ops->setfl) {
		int r = f->ops->setfl(f, arg);

		if (r < 0)
			return r;
	}
	f->flags = (f->flags & ~can) | (arg & can);
	return (arg ^ f->flags) & O_ASYNC ? fown_async(f, fd, arg & O_ASYNC) : 0;
}

static int64_t locks(struct file *f, int cmd, uaddr_t arg)
{
	struct flock l;
	int r;

	if (copy_in_obj(l, arg))
		return -EFAULT;
	r = lock_fcntl(f, cmd, &l);
	if (r == 0 && (cmd == F_GETLK || cmd == F_OFD_GETLK))
		return copy_out_obj(arg, l);
	return r;
}

static int64_t owner(struct file *f, int cmd, unsigned long arg)
{
	struct f_owner_ex o = {f->owner_type, f->owner_pid};
	int pid = (int)arg;

	switch (cmd) {
	case F_SETOWN:
		if (pid == INT32_MIN)
			return -EINVAL;
		return pid < 0 ? fown_set(f, F_OWNER_PGRP, -pid, true) : fown_set(f, F_OWNER_PID, pid, true);
	case F_GETOWN:
		return f->owner_type == F_OWNER_PGRP ? -f->owner_pid : f->owner_pid;
	case F_SETOWN_EX:
		if (copy_in_obj(o, uaddr(arg)))
			return -EFAULT;
		if (o.type != F_OWNER_TID && o.type != F_OWNER_PID && o.type != F_OWNER_PGRP)
			return -EINVAL;
		return o.pid < 0 ? -ESRCH : fown_set(f, o.type, o.pid, true);
	default:
		return copy_out_obj(uaddr(arg), o);
	}
}

static int64_t do_fcntl(struct file *f, int fd, int cmd, unsigned long arg)
{
	struct fdtable *t = current->files;

	switch (cmd) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		if (arg >= current->tg->rlim[RLIMIT_NOFILE].cur)
			return -EINVAL;
		return dup_from(fd, (int)arg, cmd == F_DUPFD_CLOEXEC);
	case F_GETFD:
		return cloexec_get(fd) ? FD_CLOEXEC : 0;
	case F_SETFD:
		if (arg & FD_CLOEXEC)
			t->cloexec[fd / 64] |= 1ull << (fd % 64);
		else
			t->cloexec[fd / 64] &= ~(1ull << (fd % 64));
		return 0;
	case F_GETFL:
		return f->flags;
	}
	if (f->flags & O_PATH)
		return -EBADF;
	switch (cmd) {
	case F_SETFL:
		return setfl(f, fd, (int)arg);
	case F_GETLK:
	case F_SETLK:
	case F_SETLKW:
	case F_OFD_GETLK:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
		return locks(f, cmd, uaddr(arg));
	case F_GETOWN:
	case F_SETOWN:
	case F_GETOWN_EX:
	case F_SETOWN_EX:
		return owner(f, cmd, arg);
	case F_GETSIG:
		return f->owner_sig;
	case F_SETSIG:
		if (arg > L_NSIG)
			return -EINVAL;
		f->owner_sig = (int)arg;
		return 0;
	case F_GETPIPE_SZ:
	case F_SETPIPE_SZ:
		return pipe_fcntl(f, cmd, arg);
	case F_ADD_SEALS:
	case F_GET_SEALS:
		return f->ops->fcntl ? f->ops->fcntl(f, (unsigned)cmd, arg) : -EINVAL;
	case F_SETLEASE:
		return lease_set(f, fd, (int)arg);
	case F_GETLEASE:
		return lease_get(f);
	}
	return -EINVAL;
}

int64_t sys_fcntl(int fd, int cmd, unsigned long arg)
{
	AUTO_FILE struct file *f = fd_get(fd);

	return f ? do_fcntl(f, fd, cmd, arg) : -EBADF;
}
