/* timerfd: expirations of a clock as a file. */
#ifndef WARD_FS_TIMERFD_H
#define WARD_FS_TIMERFD_H
#include "fs/vfs.h"
#include "sentry/time/clock.h"
/* CLOCK was decoded and can_time. FLAGS: TFD_NONBLOCK. NULL: no memory. */
struct file *timerfd_new(int clockid, const struct clock_ref *clock, int flags);
bool file_is_timerfd(const struct file *f);
/* VALUE 0 disarms. OLD (may be NULL): what was left. Nanoseconds. */
int timerfd_set(struct file *f, bool absolute, bool cancel_on_set, uint64_t value, uint64_t interval,
		uint64_t *old_value, uint64_t *old_interval);
void timerfd_get(struct file *f, uint64_t *value, uint64_t *interval);
#endif
