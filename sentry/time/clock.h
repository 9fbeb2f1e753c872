/* Clocks as the guest numbers them: reading, resolution, sleeping until. Times are nanoseconds. */
#ifndef WARD_TIME_CLOCK_H
#define WARD_TIME_CLOCK_H
#include <stdbool.h>
#include <stdint.h>
#include "sentry/abi/time.h"
#include "sentry/mm/uaccess.h"

struct task;
struct tgroup;

/* What a clock id means. CPU clocks name a task or a group; both are looked up anew at each use. */
enum clock_kind { CLOCK_WALL, CLOCK_CPU_GROUP, CLOCK_CPU_TASK };
struct clock_ref {
	enum clock_kind kind;
	int host_id;      /* WALL: the host's clock of the same meaning */
	pid_t id;         /* CPU: tgid or tid, 0 = the caller's own */
	bool user_only;   /* CPUCLOCK_VIRT */
	bool can_sleep, can_time; /* clock_nanosleep, timer_create exist for it */
	bool needs_wake_alarm;
};
/* 0 or -EINVAL. */
int clock_decode(int clockid, struct clock_ref *c);
/* Now on C: 0 or -EINVAL (the task is gone). */
int clock_now(const struct clock_ref *c, uint64_t *ns);
uint64_t clock_resolution(const struct clock_ref *c);
/* CLOCK_MONOTONIC time at which WALL clock C will stand at NS (now or in the past: <= now). */
uint64_t clock_to_mono(const struct clock_ref *c, uint64_t ns);

/* CPU time of a process: its threads, living and gone. */
uint64_t tgroup_cpu_ns(struct tgroup *tg);
uint64_t task_cpu_ns(struct task *t);

/* Checked conversions; times beyond 292 years are clipped as the kernel's KTIME_MAX. */
#define NS_MAX ((uint64_t)INT64_MAX)
static inline bool timespec_valid(const struct l_timespec *t)
{
	return t->sec >= 0 && t->nsec >= 0 && t->nsec < 1000000000;
}
static inline uint64_t timespec_ns(const struct l_timespec *t)
{
	if (t->sec >= INT64_MAX / 1000000000)
		return NS_MAX;
	return (uint64_t)t->sec * 1000000000u + (uint64_t)t->nsec;
}
static inline struct l_timespec ns_timespec(uint64_t ns)
{
	return (struct l_timespec){(int64_t)(ns / 1000000000u), (int64_t)(ns % 1000000000u)};
}
static inline struct l_timeval ns_timeval(uint64_t ns)
{
	return (struct l_timeval){(int64_t)(ns / 1000000000u), (int64_t)(ns % 1000000000u / 1000)};
}
static inline bool timeval_valid(const struct l_timeval *t)
{
	return t->sec >= 0 && t->usec >= 0 && t->usec < 1000000;
}
static inline uint64_t timeval_ns(const struct l_timeval *t)
{
	return timespec_ns(&(struct l_timespec){t->sec, t->usec * 1000});
}
static inline uint64_t ns_add(uint64_t a, uint64_t b)
{
	return a > NS_MAX - (b > NS_MAX ? NS_MAX : b) ? NS_MAX : a + b;
}
/* Deadline in CLOCK_MONOTONIC of a call's relative timeout at TS; *DEADLINE 0 when TS is NULL. 0, -EFAULT, -EINVAL. */
int deadline_from_user(uaddr_t ts, uint64_t *deadline);
#endif
