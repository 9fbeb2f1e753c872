/* eventfd, timerfd, signalfd: descriptors for events. */
#include "syscalls/table.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include "fs/eventfd/eventfd.h"
#include "fs/vfs.h"

static int64_t install(struct file *f, bool cloexec)
{
	if (!f)
		return -ENOMEM;
	int fd = fd_install(f, 0, cloexec);
	if (fd < 0)
		file_put(f);
	return fd;
}

int64_t sys_eventfd2(unsigned count, int flags)
{
	if (flags & ~(EFD_SEMAPHORE | EFD_CLOEXEC | EFD_NONBLOCK))
		return -EINVAL;
	return install(eventfd_new(count, flags), flags & EFD_CLOEXEC);
}

int64_t sys_eventfd(unsigned count)
{
	return sys_eventfd2(count, 0);
}
