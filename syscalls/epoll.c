/* epoll_create, epoll_create1, epoll_ctl, epoll_wait, epoll_pwait, epoll_pwait2. */
#include "syscalls/table.h"
#include <errno.h>
#include <limits.h>
#include "fs/epoll/epoll.h"
#include "fs/poll.h"
#include "fs/vfs.h"

int64_t sys_epoll_create1(int flags)
{
	if (flags & ~EPOLL_CLOEXEC)
		return -EINVAL;
	struct file *f = epoll_new();
	if (!f)
		return -ENOMEM;
	int fd = fd_install(f, 0, flags & EPOLL_CLOEXEC);
	if (fd < 0)
		file_put(f);
	return fd;
}

int64_t sys_epoll_create(int size)
{
	return size <= 0 ? -EINVAL : sys_epoll_create1(0);
}

int64_t sys_epoll_ctl(int epfd, int op, int fd, uaddr_t event)
{
	struct epoll_event ev = {0};
	if (op != EPOLL_CTL_DEL && copy_in_obj(ev, event))
		return -EFAULT;
	struct file *epf = fd_get_nopath(epfd);
	if (!epf)
		return -EBADF;
	struct file *target = fd_get_nopath(fd);
	int r = -EBADF;
	if (target) {
		r = epoll_change(epf, op, target, fd, &ev);
		file_put(target);
	}
	file_put(epf);
	return r;
}

static int64_t do_wait(int epfd, uaddr_t events, int max, uint64_t deadline, bool immediate)
{
	if (max <= 0 || max > (int)(INT_MAX / sizeof(struct epoll_event)))
		return -EINVAL;
	struct file *epf = fd_get_nopath(epfd);
	if (!epf)
		return -EBADF;
	int64_t r = file_is_epoll(epf) ? epoll_collect(epf, events, max, deadline, immediate) : -EINVAL;
	file_put(epf);
	return r;
}

static uint64_t ms_deadline(int ms)
{
	return ms > 0 ? deadline_after((uint64_t)ms * 1000000u) : 0;
}

int64_t sys_epoll_wait(int epfd, uaddr_t events, int maxevents, int timeout)
{
	return do_wait(epfd, events, maxevents, ms_deadline(timeout), timeout == 0);
}

int64_t sys_epoll_pwait(int epfd, uaddr_t events, int maxevents, int timeout, uaddr_t sigmask, size_t sigsetsize)
{
	int r = sigmask_enter(sigmask, sigsetsize);
	if (r)
		return r;
	int64_t ret = do_wait(epfd, events, maxevents, ms_deadline(timeout), timeout == 0);
	sigmask_leave(ret == -EINTR);
	return ret;
}

int64_t sys_epoll_pwait2(int epfd, uaddr_t events, int maxevents, uaddr_t timeout, uaddr_t sigmask, size_t sigsetsize)
{
	uint64_t ns = 0, deadline = 0;
	bool immediate = false;
	if (!uaddr_null(timeout)) {
		int r = timeout_in(timeout, &ns);
		if (r)
			return r;
		if (ns)
			deadline = deadline_after(ns);
		else
			immediate = true;
	}
	int r = sigmask_enter(sigmask, sigsetsize);
	if (r)
		return r;
	int64_t ret = do_wait(epfd, events, maxevents, deadline, immediate);
	sigmask_leave(ret == -EINTR);
	return ret;
}
