/* pidfd_open(2): holds a counted reference of the process, so the number is never another one's. */
#include "fs/pidfd/pidfd.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include "sentry/base/util.h"
#include "sentry/task/task.h"

static uint32_t pid_poll(struct file *f, struct poll_table *pt)
{
	struct tgroup *tg = f->priv;
	poll_wait(pt, &tg->exit_q);
	/* Reaped counts as gone too: the entry left the table of processes. */
	if (tg->zombie)
		return EPOLLIN | EPOLLRDNORM;
	return tgroup_find(tg->pid) != tg ? EPOLLIN | EPOLLRDNORM | EPOLLHUP : 0;
}

static int pid_fdinfo(struct file *f, char *buf, size_t size)
{
	struct tgroup *tg = f->priv;
	int pid = tgroup_find(tg->pid) == tg ? tg->pid : -1;
	return snprintf(buf, size, "Pid:\t%d\nNSpid:\t%d\n", pid, pid);
}

static void pid_release(struct file *f)
{
	tgroup_put(f->priv);
}

static int no_fsync(struct file *f, bool datasync)
{
	return -EINVAL;
}

/* PIDFD_GET_INFO, first version of the structure. */
struct l_pidfd_info {
	uint64_t mask, cgroupid;
	uint32_t pid, tgid, ppid, ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
	int32_t exit_code;
};
_Static_assert(sizeof(struct l_pidfd_info) == 64, "pidfd_info");
#define INFO_PID 1u
#define INFO_CREDS 2u
#define INFO_EXIT 8u

/* pidfd_info(): once the process is reaped only its exit code is left, for who asks for it (Linux 6.15). */
static int64_t pid_ioctl(struct file *f, unsigned cmd, uint64_t arg)
{
	struct tgroup *tg = f->priv;
	struct l_pidfd_info k = {0};
	uint64_t mask;

	/* Extensible: any size from the first version on. */
	if (_IOC_TYPE(cmd) != 0xff || _IOC_NR(cmd) != 11)
		return -ENOTTY;
	if (!arg || _IOC_SIZE(cmd) < sizeof(k))
		return -EINVAL;
	if (copy_in_obj(mask, uaddr(arg)))
		return -EFAULT;
	struct task *t = tgroup_find(tg->pid) == tg ? tg->leader : NULL;
	if (!t) {
		if (!(mask & INFO_EXIT))
			return -ESRCH;
		k.mask = INFO_EXIT;
		k.exit_code = tg->exit_code;
	} else {
		const struct cred *c = t->cred;

		k = (struct l_pidfd_info){.mask = INFO_PID | INFO_CREDS, .pid = (uint32_t)tg->pid,
					  .tgid = (uint32_t)tg->pid, .ppid = tg->parent ? (uint32_t)tg->parent->pid : 0,
					  .ruid = c->uid, .rgid = c->gid, .euid = c->euid, .egid = c->egid, .suid = c->suid,
					  .sgid = c->sgid, .fsuid = c->fsuid, .fsgid = c->fsgid};
	}
	if (copy_out_obj(uaddr(arg), k))
		return -EFAULT;
	/* What a newer caller has beyond this version reads as zero. */
	char zero[64] = {0};
	for (uint64_t at = sizeof(k), step; at < _IOC_SIZE(cmd); at += step) {
		step = MIN((uint64_t)_IOC_SIZE(cmd) - at, sizeof(zero));
		if (copy_out(uaddr(arg + at), zero, step))
			return -EFAULT;
	}
	return 0;
}

static const struct file_ops pidfd_ops = {
	.ioctl = pid_ioctl,
	.llseek = no_llseek, .poll = pid_poll, .fdinfo = pid_fdinfo, .release = pid_release, .fsync = no_fsync};

int pidfd_new_file(struct tgroup *tg, int flags, struct file **out)
{
	struct inode *i = anon_inode(0600);
	if (!i)
		return -ENOMEM;
	tgroup_get(tg);
	*out = file_anon(i, "anon_inode:[pidfd]", O_RDWR | (flags & O_NONBLOCK), &pidfd_ops, tg);
	if (!*out) {
		tgroup_put(tg);
		return -ENOMEM;
	}
	(*out)->seekable = false;
	return 0;
}

struct tgroup *file_pidfd(const struct file *f)
{
	return f->ops == &pidfd_ops ? f->priv : NULL;
}

struct tgroup *pidfd_tgroup(int fd, bool *nonblock)
{
	struct file *f = fd_get_nopath(fd);
	if (!f)
		return NULL;
	struct tgroup *tg = file_pidfd(f);
	if (nonblock)
		*nonblock = f->flags & O_NONBLOCK;
	file_put(f);
	/* The caller's descriptor table still holds the file: fine until it sleeps. */
	return tg;
}
