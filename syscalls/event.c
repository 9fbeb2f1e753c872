/* eventfd, timerfd, signalfd: descriptors for events. */
#include "syscalls/table.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include "fs/eventfd/eventfd.h"
#include "fs/signalfd/signalfd.h"
#include "fs/timerfd/timerfd.h"
#include "fs/vfs.h"
#include "sentry/task/task.h"
#include "sentry/time/clock.h"

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

/* --- timerfd --------------------------------------------------------------------------------------------------------- */
int64_t sys_timerfd_create(int clockid, int flags)
{
	if (flags & ~(TFD_CLOEXEC | TFD_NONBLOCK))
		return -EINVAL;
	struct clock_ref c;
	if (clockid != CLOCK_MONOTONIC && clockid != CLOCK_REALTIME && clockid != CLOCK_BOOTTIME &&
	    clockid != CLOCK_REALTIME_ALARM && clockid != CLOCK_BOOTTIME_ALARM)
		return -EINVAL;
	int r = clock_decode(clockid, &c);
	if (r)
		return r;
	if (c.needs_wake_alarm && !capable(CAP_WAKE_ALARM))
		return -EPERM;
	return install(timerfd_new(clockid, &c, flags), flags & TFD_CLOEXEC);
}

static int64_t spec_out(uaddr_t u, uint64_t value, uint64_t interval)
{
	struct l_itimerspec s = {.interval = ns_timespec(interval), .value = ns_timespec(value)};
	return copy_out_obj(u, s);
}

int64_t sys_timerfd_settime(int fd, unsigned flags, uaddr_t value, uaddr_t old)
{
	struct l_itimerspec s;
	if (copy_in_obj(s, value))
		return -EFAULT;
	if (flags & ~(unsigned)(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET))
		return -EINVAL;
	if (!timespec_valid(&s.value) || !timespec_valid(&s.interval))
		return -EINVAL;
	struct file *f = fd_get_nopath(fd);
	if (!f)
		return -EBADF;
	int64_t r = -EINVAL;
	uint64_t ov, oi;
	if (file_is_timerfd(f))
		r = timerfd_set(f, flags & TFD_TIMER_ABSTIME, flags & TFD_TIMER_CANCEL_ON_SET, timespec_ns(&s.value),
				timespec_ns(&s.interval), &ov, &oi);
	file_put(f);
	if (!r && !uaddr_null(old))
		r = spec_out(old, ov, oi);
	return r;
}

int64_t sys_timerfd_gettime(int fd, uaddr_t value)
{
	struct file *f = fd_get_nopath(fd);
	if (!f)
		return -EBADF;
	int64_t r = -EINVAL;
	if (file_is_timerfd(f)) {
		uint64_t v, i;
		timerfd_get(f, &v, &i);
		r = spec_out(value, v, i);
	}
	file_put(f);
	return r;
}

/* --- signalfd ---------------------------------------------------------------------------------------------------------- */
int64_t sys_signalfd4(int fd, uaddr_t mask, size_t sigsetsize, int flags)
{
	uint64_t set;
	if (flags & ~(SFD_CLOEXEC | SFD_NONBLOCK) || sigsetsize != sizeof set)
		return -EINVAL;
	if (copy_in_obj(set, mask))
		return -EFAULT;
	if (fd == -1)
		return install(signalfd_new(set, flags), flags & SFD_CLOEXEC);
	struct file *f = fd_get_nopath(fd);
	if (!f)
		return -EBADF;
	int64_t r = file_is_signalfd(f) ? fd : -EINVAL;
	if (r == fd)
		signalfd_set_mask(f, set);
	file_put(f);
	return r;
}

int64_t sys_signalfd(int fd, uaddr_t mask, size_t sigsetsize)
{
	return sys_signalfd4(fd, mask, sigsetsize, 0);
}
