/* ioctl: the requests that every descriptor knows; all others go to the file. */
#include "syscalls/table.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include "fs/fown.h"
#include "fs/vfs.h"
#include "sentry/task/task.h"

#define L_FS_IOC_GETFLAGS 0x80086601u
#define L_FS_IOC_SETFLAGS 0x40086602u

static int64_t set_flag(struct file *f, uaddr_t arg, int flag)
{
	int on;
	if (copy_in_obj(on, arg))
		return -EFAULT;
	int flags = on ? f->flags | flag : f->flags & ~flag;
	if (f->ops && f->ops->setfl) {
		int r = f->ops->setfl(f, flags);
		if (r < 0)
			return r;
	}
	f->flags = flags;
	return 0;
}

static int64_t set_cloexec(int fd, bool on)
{
	struct fdtable *t = current->files;
	if ((unsigned)fd >= t->cap || !t->slot[fd])
		return -EBADF;
	uint64_t bit = 1ull << (fd % 64);
	if (on)
		t->cloexec[fd / 64] |= bit;
	else
		t->cloexec[fd / 64] &= ~bit;
	return 0;
}

/* Flags of chattr(1) (ioctl_setflags): whoever owns the file, and the two that bind even root by capability. */
static int64_t set_fsflags(struct file *f, uaddr_t arg)
{
	struct inode *i = f->inode;
	const uint32_t bound = INODE_IMMUTABLE | INODE_APPEND;
	uint32_t flags;

	if (!i->ops || !i->ops->setflags)
		return -ENOTTY;
	if (copy_in_obj(flags, arg))
		return -EFAULT;
	if (f->path.mnt && (f->path.mnt->flags & MS_RDONLY))
		return -EROFS;
	if (!inode_owner_or_capable(i) || (((flags ^ i->fsflags) & bound) && !capable(CAP_LINUX_IMMUTABLE)))
		return -EPERM;
	return i->ops->setflags(i, flags);
}

static int64_t regular_ioctl(struct file *f, unsigned cmd, uaddr_t arg)
{
	if (cmd == L_FS_IOC_GETFLAGS)
		return f->inode->ops && f->inode->ops->setflags ? copy_out_obj(arg, f->inode->fsflags) : -ENOTTY;
	if (cmd == L_FS_IOC_SETFLAGS)
		return set_fsflags(f, arg);
	if (cmd == FIONREAD && S_ISREG(f->inode->mode)) {
		int64_t left = (int64_t)f->inode->size - (int64_t)f->pos;
		int n = left > INT_MAX ? INT_MAX : (int)left;
		return copy_out_obj(arg, n);
	}
	return -ENOTTY;
}

int64_t sys_ioctl(int fd, unsigned cmd, unsigned long arg)
{
	struct file *f = fd_get_nopath(fd);
	if (!f)
		return -EBADF;
	int64_t r;
	switch (cmd) {
	case FIOCLEX:
		r = set_cloexec(fd, true);
		break;
	case FIONCLEX:
		r = set_cloexec(fd, false);
		break;
	case FIONBIO:
		r = set_flag(f, uaddr(arg), O_NONBLOCK);
		break;
	case FIOASYNC: {
		int on;
		r = copy_in_obj(on, uaddr(arg)) ? -EFAULT : fown_async(f, fd, on);
		break;
	}
	case FIOQSIZE: {
		int64_t size = (int64_t)f->inode->size;
		r = S_ISREG(f->inode->mode) || S_ISDIR(f->inode->mode) ? copy_out_obj(uaddr(arg), size) : -ENOTTY;
		break;
	}
	default:
		r = f->ops && f->ops->ioctl ? f->ops->ioctl(f, cmd, arg) : -ENOTTY;
		if (r == -ENOTTY && (S_ISREG(f->inode->mode) || S_ISDIR(f->inode->mode)))
			r = regular_ioctl(f, cmd, uaddr(arg));
	}
	file_put(f);
	return r;
}
