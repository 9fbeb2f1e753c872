/*
 * Clocks. Wall clocks are the host's own, read through its vDSO, so that the guest's vDSO and the sentry agree;
 * CPU clocks add up what the platform counts for each guest thread.
 */
#include "sentry/time/clock.h"
#include <errno.h>
#include <time.h>
#include "sentry/loop.h"
#include "sentry/platform/platform.h"
#include "sentry/task/task.h"

/* A negative id: bits 0-1 which time (prof, virt, sched, fd), bit 2 thread, the rest the inverted pid. */
#define DYN_TYPE(id) ((id) & 3)
#define DYN_THREAD 4
#define DYN_VIRT 1
#define DYN_FD 3

uint64_t task_cpu_ns(struct task *t)
{
	return t->host ? plat_thread_cpu_ns(t->host) : 0;
}

uint64_t tgroup_cpu_ns(struct tgroup *tg)
{
	uint64_t ns = tg->utime_ns + tg->stime_ns;
	struct task *t;

	list_for_each(t, &tg->tasks, tg_node)
		ns += task_cpu_ns(t);
	return ns;
}

static struct tgroup *clock_group(const struct clock_ref *c)
{
	return c->id ? tgroup_find(c->id) : current->tg;
}

/* A thread clock is only for threads of the caller's own process (posix_cpu_clock rules). */
static struct task *clock_task(const struct clock_ref *c)
{
	struct task *t = c->id ? task_find(c->id) : current;

	return t && t->tg == current->tg ? t : NULL;
}

int clock_decode(int id, struct clock_ref *c)
{
	*c = (struct clock_ref){.kind = CLOCK_WALL, .host_id = id};
	if (id < 0) {
		c->id = ~(id >> 3);
		if (DYN_TYPE(id) == DYN_FD || c->id < 0)
			return -EINVAL;
		c->kind = id & DYN_THREAD ? CLOCK_CPU_TASK : CLOCK_CPU_GROUP;
		c->user_only = DYN_TYPE(id) == DYN_VIRT;
		c->can_sleep = c->can_time = true;
		return c->kind == CLOCK_CPU_TASK ? (clock_task(c) ? 0 : -EINVAL)
						 : (clock_group(c) ? 0 : -EINVAL);
	}
	switch (id) {
	case L_CLOCK_REALTIME_ALARM:
		c->needs_wake_alarm = true;
		c->host_id = L_CLOCK_REALTIME;
		c->can_sleep = c->can_time = true;
		return 0;
	case L_CLOCK_BOOTTIME_ALARM:
		c->needs_wake_alarm = true;
		c->host_id = L_CLOCK_BOOTTIME;
		c->can_sleep = c->can_time = true;
		return 0;
	case L_CLOCK_REALTIME:
	case L_CLOCK_MONOTONIC:
	case L_CLOCK_BOOTTIME:
	case L_CLOCK_TAI:
		c->can_sleep = c->can_time = true;
		return 0;
	case L_CLOCK_MONOTONIC_RAW:
	case L_CLOCK_REALTIME_COARSE:
	case L_CLOCK_MONOTONIC_COARSE:
		return 0;
	case L_CLOCK_PROCESS_CPUTIME_ID:
		c->kind = CLOCK_CPU_GROUP;
		c->can_sleep = c->can_time = true;
		return 0;
	case L_CLOCK_THREAD_CPUTIME_ID:
		c->kind = CLOCK_CPU_TASK;
		c->can_time = true;
		return 0;
	}
	return -EINVAL;
}

int clock_now(const struct clock_ref *c, uint64_t *ns)
{
	struct timespec ts;

	if (c->kind == CLOCK_CPU_GROUP) {
		struct tgroup *tg = clock_group(c);

		*ns = tg ? tgroup_cpu_ns(tg) : 0;
		return tg ? 0 : -EINVAL;
	}
	if (c->kind == CLOCK_CPU_TASK) {
		struct task *t = clock_task(c);

		*ns = t ? task_cpu_ns(t) : 0;
		return t ? 0 : -EINVAL;
	}
	if (clock_gettime(c->host_id, &ts) < 0)
		return -EINVAL;
	*ns = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	return 0;
}

uint64_t clock_resolution(const struct clock_ref *c)
{
	struct timespec ts;

	if (c->kind != CLOCK_WALL || clock_getres(c->host_id, &ts) < 0)
		return 1;
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t clock_to_mono(const struct clock_ref *c, uint64_t ns)
{
	uint64_t now = 0, mono = now_mono_ns();

	if (c->host_id == L_CLOCK_MONOTONIC)
		return ns;
	/* DIFF: a change of the host's wall clock during the sleep is not followed. */
	clock_now(c, &now);
	return ns <= now ? mono : ns_add(mono, ns - now);
}

int deadline_from_user(uaddr_t ts, uint64_t *deadline)
{
	struct l_timespec t;

	*deadline = 0;
	if (uaddr_null(ts))
		return 0;
	if (copy_in_obj(t, ts) < 0)
		return -EFAULT;
	if (!timespec_valid(&t))
		return -EINVAL;
	*deadline = ns_add(now_mono_ns(), timespec_ns(&t));
	return 0;
}
