/*
 * Timers of a process: interval timers (setitimer, alarm) and POSIX timers (timer_create). They belong to the
 * thread group and send signals from the event loop.
 */
#ifndef WARD_TIME_TIMERS_H
#define WARD_TIME_TIMERS_H
#include <stdint.h>
#include "sentry/abi/time.h"

struct tgroup;

/* For the task layer. Exit (once, when the process becomes a zombie): every timer is disarmed and freed. Exec:
 * POSIX timers go, interval timers stay. A new group must have tg->timers initialised and nothing else. */
void timers_exit(struct tgroup *tg);
void timers_exec(struct tgroup *tg);

/* ITIMER_*: VALUE 0 disarms. What was set before goes to the OLD pointers. 0, -EINVAL, -ENOMEM. Nanoseconds. */
int itimer_set(struct tgroup *tg, int which, uint64_t value, uint64_t interval, uint64_t *old_value,
	       uint64_t *old_interval);
int itimer_get(struct tgroup *tg, int which, uint64_t *value, uint64_t *interval);

/* RLIMIT_CPU of TG was set or inherited: watch it. 0, -ENOMEM. */
int timers_cpu_limit(struct tgroup *tg);

/* POSIX timers of current's group. */
int ptimer_create(int clockid, const struct l_sigevent *ev /* NULL: SIGALRM */, int *id);
int ptimer_set(int id, unsigned flags, const struct l_itimerspec *value, struct l_itimerspec *old);
int ptimer_get(int id, struct l_itimerspec *value);
int ptimer_overrun(int id);
int ptimer_delete(int id);
#endif
