/* pidfd_open(2): holds a counted reference of the process, so the number is never another one's. */
#include "fs/pidfd/pidfd.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
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

static const struct file_ops pidfd_ops = {
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
