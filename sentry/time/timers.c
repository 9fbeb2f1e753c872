/*
 * Interval and POSIX timers, all of them objects on tg->timers; an interval timer is made at its first use.
 *
 * A timer whose period is shorter than MIN_PERIOD fires no more often than that and counts the rest as overruns,
 * so a guest cannot make the loop spin. CPU-time timers are sampled: the next look is when the time could be used
 * up at the earliest, and while the process uses none, ever later up to CPU_LOOK_MAX.
 */
#include "sentry/time/timers.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include "sentry/base/util.h"
#include "sentry/task/task.h"
#include "sentry/time/clock.h"

#define MIN_PERIOD 50000u
#define CPU_LOOK_MIN 1000000u
#define CPU_LOOK_MAX 200000000u
#define PTIMER_MAX 4096 /* per process; Linux bounds them by RLIMIT_SIGPENDING */

struct ptimer {
	struct list node;      /* tg->timers, ascending id */
	struct tgroup *tg;     /* not counted: the group frees its timers before it goes */
	int id;                /* >= 0: timer_create; -1 - which: an interval timer */
	struct clock_ref clock;
	int notify, signo;
	uint64_t value;
	pid_t tid;             /* SIGEV_THREAD_ID: looked up at every expiry */
	uint64_t deadline;     /* on its clock (wall clocks: on CLOCK_MONOTONIC); 0 = disarmed */
	uint64_t interval;
	uint64_t cpu_seen, cpu_look; /* CPU clocks: reading at the last look, pause until the next */
	int overrun;           /* of the signal sent last */
	int overrun_last;      /* of the signal delivered last, while one is pending */
	struct timer timer;
};

#define CPU_LIMIT_ID (-4) /* RLIMIT_CPU; interval timers are -1 to -3 */

/* --- the clock a timer runs on ------------------------------------------------------------------------------ */
static uint64_t ptimer_now(struct ptimer *p)
{
	struct task *t;

	switch (p->clock.kind) {
	case CLOCK_CPU_GROUP: {
		struct tgroup *tg = p->clock.id ? tgroup_find(p->clock.id) : p->tg;

		return tg ? tgroup_cpu_ns(tg) : 0;
	}
	case CLOCK_CPU_TASK:
		t = task_find(p->clock.id);
		return t && t->tg == p->tg ? task_cpu_ns(t) : 0;
	default:
		return now_mono_ns();
	}
}

/* Arm the loop's timer for the next time P needs a look. */
static int ptimer_schedule(struct ptimer *p)
{
	uint64_t now = now_mono_ns(), cpu, left, threads;

	if (!p->deadline) {
		timer_cancel(&p->timer);
		return 0;
	}
	if (p->clock.kind == CLOCK_WALL)
		return timer_arm(&p->timer, MAX(p->deadline, now));
	cpu = ptimer_now(p);
	left = p->deadline > cpu ? p->deadline - cpu : 0;
	threads = p->clock.kind == CLOCK_CPU_GROUP ? MAX(p->tg->live, 1u) : 1;
	if (cpu != p->cpu_seen || !p->cpu_look)
		p->cpu_look = MAX(left / threads, CPU_LOOK_MIN);
	else
		p->cpu_look = MIN(2 * p->cpu_look, MAX(left / threads, CPU_LOOK_MAX));
	p->cpu_seen = cpu;
	return timer_arm(&p->timer, ns_add(now, p->cpu_look));
}

/* --- expiry --------------------------------------------------------------------------------------------------- */
/* The signal of P that still waits for delivery, or NULL. */
static struct sigqueue *pending_signal(struct ptimer *p, struct task *target)
{
	struct sigpending *sp = target ? &target->pending : &p->tg->shared;
	struct sigqueue *q;

	if (!(sp->set & SIGBIT(p->signo)))
		return NULL;
	list_for_each(q, &sp->queue, node)
		if (q->info.signo == p->signo && q->info.code == L_SI_TIMER && q->info.timer.tid == p->id)
			return q;
	return NULL;
}

static struct task *ptimer_target(struct ptimer *p)
{
	struct task *t = p->notify == L_SIGEV_THREAD_ID ? task_find(p->tid) : NULL;

	return t && t->tg == p->tg ? t : NULL;
}

static int overrun_add(int have, uint64_t more)
{
	return more > (uint64_t)(INT32_MAX - have) ? INT32_MAX : have + (int)more;
}

/* EXPIRED periods have passed. */
static void ptimer_notify(struct ptimer *p, uint64_t expired)
{
	struct task *target;
	struct sigqueue *q;

	if (p->notify == L_SIGEV_NONE)
		return;
	if (p->id < 0) { /* an interval timer: the kernel's own signal, no count */
		signal_send_group(p->tg, p->signo, NULL);
		return;
	}
	target = ptimer_target(p);
	if (p->notify == L_SIGEV_THREAD_ID && !target)
		return;
	q = pending_signal(p, target);
	if (q) {
		p->overrun = overrun_add(p->overrun, expired);
		q->info.timer.overrun = p->overrun;
		return;
	}
	p->overrun_last = p->overrun;
	p->overrun = overrun_add(0, expired - 1);
	struct l_siginfo info = {.signo = p->signo, .code = L_SI_TIMER};

	info.timer.tid = p->id;
	info.timer.overrun = p->overrun;
	info.timer.value = p->value;
	if (target)
		signal_send_task(target, p->signo, &info);
	else
		signal_send_group(p->tg, p->signo, &info);
}

static void cpu_limit_hit(struct ptimer *p, uint64_t cpu);

static void ptimer_fire(struct timer *t)
{
	struct ptimer *p = container_of(t, struct ptimer, timer);
	uint64_t now = ptimer_now(p), expired = 1;

	if (!p->deadline)
		return;
	if (now < p->deadline) { /* a CPU clock that has not come there yet */
		ptimer_schedule(p);
		return;
	}
	if (p->id == CPU_LIMIT_ID) {
		cpu_limit_hit(p, now);
		return;
	}
	if (p->interval) {
		expired = (now - p->deadline) / p->interval + 1;
		p->deadline = ns_add(p->deadline, expired * p->interval);
		if (p->clock.kind == CLOCK_WALL && p->deadline < now + MIN_PERIOD) {
			uint64_t skip = (now + MIN_PERIOD - p->deadline) / p->interval;

			p->deadline += skip * p->interval;
			expired += skip;
		}
		p->cpu_look = 0;
		ptimer_schedule(p); /* cannot fail: a fired timer keeps its room in the heap */
	} else {
		p->deadline = 0;
	}
	ptimer_notify(p, expired);
}

/* --- the list ------------------------------------------------------------------------------------------------- */
static struct ptimer *ptimer_find(struct tgroup *tg, int id)
{
	struct ptimer *p;

	list_for_each(p, &tg->timers, node)
		if (p->id == id)
			return p;
	return NULL;
}

static struct ptimer *ptimer_find_user(int id)
{
	return id < 0 ? NULL : ptimer_find(current->tg, id);
}

static void ptimer_free(struct ptimer *p)
{
	timer_cancel(&p->timer);
	list_del(&p->node);
	free(p);
}

/* Put P on the list under the lowest free id (or its own when negative). -EAGAIN at the limit. */
static int ptimer_link(struct tgroup *tg, struct ptimer *p, bool user)
{
	struct ptimer *q, *after = NULL;
	int id = 0;

	list_for_each(q, &tg->timers, node) {
		if (q->id < 0) {
			after = q;
			continue;
		}
		if (!user || q->id != id)
			break;
		after = q;
		id++;
	}
	if (user && id >= PTIMER_MAX)
		return -EAGAIN;
	if (user)
		p->id = id;
	p->tg = tg;
	p->timer.fn = ptimer_fire;
	list_add(after ? &after->node : &tg->timers, &p->node);
	return 0;
}

/* Time left and the period; 1 ns when P is due but has not fired, because 0 would mean disarmed. */
static void ptimer_read(struct ptimer *p, uint64_t *value, uint64_t *interval)
{
	uint64_t now;

	*value = 0;
	*interval = p->interval;
	if (!p->deadline)
		return;
	now = ptimer_now(p);
	*value = p->deadline > now ? p->deadline - now : 1;
}

static int ptimer_arm(struct ptimer *p, uint64_t deadline, uint64_t interval)
{
	int r;

	p->deadline = deadline;
	p->interval = interval;
	p->cpu_look = 0;
	p->overrun = p->overrun_last = 0;
	r = ptimer_schedule(p);
	if (r < 0)
		p->deadline = 0;
	return r;
}

/* --- POSIX timers ----------------------------------------------------------------------------------------------- */
int ptimer_create(int clockid, const struct l_sigevent *ev, int *id)
{
	struct clock_ref c;
	struct ptimer *p;
	int r = clock_decode(clockid, &c);

	if (r < 0)
		return r;
	if (!c.can_time)
		return -EOPNOTSUPP;
	if (c.needs_wake_alarm && !capable(CAP_WAKE_ALARM))
		return -EPERM;
	if (ev) {
		struct task *t;

		switch (ev->notify) {
		case L_SIGEV_THREAD_ID:
			t = task_find(ev->tid);
			if (!t || t->tg != current->tg)
				return -EINVAL;
			/* fall through */
		case L_SIGEV_SIGNAL:
		case L_SIGEV_THREAD:
			if (ev->signo <= 0 || ev->signo > L_NSIG)
				return -EINVAL;
			break;
		case L_SIGEV_NONE:
			break;
		default:
			return -EINVAL;
		}
	}
	p = calloc(1, sizeof *p);
	if (!p)
		return -EAGAIN;
	p->clock = c;
	if (c.kind == CLOCK_CPU_TASK && !c.id)
		p->clock.id = current->tid;
	r = ptimer_link(current->tg, p, true);
	if (r < 0) {
		free(p);
		return r;
	}
	p->notify = ev ? ev->notify : L_SIGEV_SIGNAL;
	p->signo = ev ? ev->signo : SIGALRM;
	p->value = ev ? ev->value : (uint64_t)p->id;
	p->tid = ev ? ev->tid : 0;
	*id = p->id;
	return 0;
}

int ptimer_set(int id, unsigned flags, const struct l_itimerspec *v, struct l_itimerspec *old)
{
	struct ptimer *p = ptimer_find_user(id);
	uint64_t value, interval, deadline = 0;

	if (!timespec_valid(&v->value) || !timespec_valid(&v->interval) || !p)
		return -EINVAL;
	ptimer_read(p, &value, &interval);
	if (p->notify == L_SIGEV_NONE && value == 1 && !interval)
		value = 0;
	*old = (struct l_itimerspec){ns_timespec(interval), ns_timespec(value)};
	value = timespec_ns(&v->value);
	if (value) {
		if (!(flags & L_TIMER_ABSTIME))
			deadline = ns_add(ptimer_now(p), value);
		else if (p->clock.kind == CLOCK_WALL)
			deadline = clock_to_mono(&p->clock, value);
		else
			deadline = value;
	}
	return ptimer_arm(p, deadline, timespec_ns(&v->interval));
}

int ptimer_get(int id, struct l_itimerspec *v)
{
	struct ptimer *p = ptimer_find_user(id);
	uint64_t value, interval;

	if (!p)
		return -EINVAL;
	ptimer_read(p, &value, &interval);
	*v = (struct l_itimerspec){ns_timespec(interval), ns_timespec(value)};
	return 0;
}

int ptimer_overrun(int id)
{
	struct ptimer *p = ptimer_find_user(id);

	if (!p)
		return -EINVAL;
	return pending_signal(p, ptimer_target(p)) ? p->overrun_last : p->overrun;
}

int ptimer_delete(int id)
{
	struct ptimer *p = ptimer_find_user(id);

	if (!p)
		return -EINVAL;
	ptimer_free(p);
	return 0;
}

/* --- interval timers -------------------------------------------------------------------------------------------- */
static struct ptimer *itimer_find(struct tgroup *tg, int which, bool create)
{
	struct ptimer *p = ptimer_find(tg, -1 - which);

	if (p || !create)
		return p;
	p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->id = -1 - which;
	p->clock.kind = which == L_ITIMER_REAL ? CLOCK_WALL : CLOCK_CPU_GROUP;
	p->clock.user_only = which == L_ITIMER_VIRTUAL;
	p->signo = which == L_ITIMER_REAL ? SIGALRM : which == L_ITIMER_VIRTUAL ? SIGVTALRM : SIGPROF;
	ptimer_link(tg, p, false);
	return p;
}

int itimer_get(struct tgroup *tg, int which, uint64_t *value, uint64_t *interval)
{
	struct ptimer *p;

	*value = *interval = 0;
	if (which < L_ITIMER_REAL || which > L_ITIMER_PROF)
		return -EINVAL;
	p = itimer_find(tg, which, false);
	if (p)
		ptimer_read(p, value, interval);
	return 0;
}

int itimer_set(struct tgroup *tg, int which, uint64_t value, uint64_t interval, uint64_t *old_value,
	       uint64_t *old_interval)
{
	struct ptimer *p;
	int r = itimer_get(tg, which, old_value, old_interval);

	if (r < 0)
		return r;
	p = itimer_find(tg, which, value != 0);
	if (!p)
		return value ? -ENOMEM : 0;
	return ptimer_arm(p, value ? ns_add(ptimer_now(p), value) : 0, interval);
}

/* --- RLIMIT_CPU ------------------------------------------------------------------------------------------------------ */
int timers_cpu_limit(struct tgroup *tg)
{
	const struct l_rlimit *r = &tg->rlim[RLIMIT_CPU];
	struct ptimer *p = ptimer_find(tg, CPU_LIMIT_ID);
	uint64_t limit = MIN(r->cur, r->max);

	if (limit == L_RLIM_INFINITY)
		return p ? ptimer_arm(p, 0, 0) : 0;
	if (!p) {
		p = calloc(1, sizeof *p);
		if (!p)
			return -ENOMEM;
		p->id = CPU_LIMIT_ID;
		p->clock.kind = CLOCK_CPU_GROUP;
		p->signo = SIGXCPU;
		ptimer_link(tg, p, false);
	}
	/* A limit of nothing counts as one second, as in Linux. */
	limit = MAX(limit, 1u);
	return ptimer_arm(p, limit > NS_MAX / 1000000000u ? NS_MAX : limit * 1000000000u, 0);
}

/* SIGXCPU at the soft limit and every second from there, SIGKILL at the hard one (check_process_timers). */
static void cpu_limit_hit(struct ptimer *p, uint64_t cpu)
{
	struct l_rlimit *r = &p->tg->rlim[RLIMIT_CPU];
	uint64_t seconds = cpu / 1000000000u;

	p->deadline = 0;
	if (seconds >= r->max) {
		signal_send_group(p->tg, SIGKILL, NULL);
		return;
	}
	if (seconds >= r->cur) {
		r->cur = seconds + 1;
		signal_send_group(p->tg, SIGXCPU, NULL);
	}
	timers_cpu_limit(p->tg); /* cannot fail: a fired timer keeps its room in the heap */
}

/* --- life of the group -------------------------------------------------------------------------------------------- */
static void free_timers(struct tgroup *tg, bool interval_too)
{
	struct ptimer *p, *tmp;

	list_for_each_safe(p, tmp, &tg->timers, node)
		if (interval_too || p->id >= 0)
			ptimer_free(p);
}

void timers_exit(struct tgroup *tg)
{
	free_timers(tg, true);
}

void timers_exec(struct tgroup *tg)
{
	free_timers(tg, false);
}
