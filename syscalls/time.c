/* Clocks, sleeping, interval timers and POSIX timers: argument checks in Linux's order, work in sentry/time. */
#include "syscalls/table.h"
#include <errno.h>
#include "sentry/abi/misc.h"
#include "sentry/base/util.h"
#include "sentry/task/task.h"
#include "sentry/time/clock.h"
#include "sentry/time/timers.h"

/* --- reading and setting ------------------------------------------------------------------------------------- */
int64_t sys_clock_gettime(int clockid, uaddr_t tp)
{
	struct l_timespec ts;
	struct clock_ref c;
	uint64_t ns;

	if (clock_decode(clockid, &c) < 0 || clock_now(&c, &ns) < 0)
		return -EINVAL;
	ts = ns_timespec(ns);
	return copy_out_obj(tp, ts);
}

int64_t sys_clock_getres(int clockid, uaddr_t res)
{
	struct l_timespec ts;
	struct clock_ref c;

	if (clock_decode(clockid, &c) < 0)
		return -EINVAL;
	ts = ns_timespec(clock_resolution(&c));
	return uaddr_null(res) ? 0 : copy_out_obj(res, ts);
}

int64_t sys_clock_settime(int clockid, uaddr_t tp)
{
	struct l_timespec ts;
	struct clock_ref c;

	if (clock_decode(clockid, &c) < 0 || (c.kind == CLOCK_WALL && clockid != L_CLOCK_REALTIME))
		return -EINVAL;
	if (copy_in_obj(ts, tp) < 0)
		return -EFAULT;
	if (!timespec_valid(&ts))
		return -EINVAL;
	return -EPERM;
}

int64_t sys_gettimeofday(uaddr_t tv, uaddr_t tz)
{
	struct l_timeval now = ns_timeval(now_real_ns());
	struct l_timezone zone = {0};

	if (!uaddr_null(tv) && copy_out_obj(tv, now) < 0)
		return -EFAULT;
	return uaddr_null(tz) ? 0 : copy_out_obj(tz, zone);
}

int64_t sys_settimeofday(uaddr_t tv, uaddr_t tz)
{
	struct l_timezone zone;
	struct l_timeval t;

	if (!uaddr_null(tv)) {
		if (copy_in_obj(t, tv) < 0)
			return -EFAULT;
		if (!timeval_valid(&t))
			return -EINVAL;
	}
	if (!uaddr_null(tz) && copy_in_obj(zone, tz) < 0)
		return -EFAULT;
	return -EPERM;
}

int64_t sys_time(uaddr_t tloc)
{
	int64_t now = (int64_t)(now_real_ns() / NSEC_PER_SEC);

	if (!uaddr_null(tloc) && copy_out_obj(tloc, now) < 0)
		return -EFAULT;
	return now;
}

/* The clock is the host's: it can be read, and its discipline looks like that of an unsynchronised machine. */
static int64_t read_timex(uaddr_t buf)
{
	enum { STA_UNSYNC = 0x40, TIME_ERROR = 5 };
	struct l_timex tx;
	uint64_t now = now_real_ns();

	if (copy_in_obj(tx, buf) < 0)
		return -EFAULT;
	if ((tx.modes & 0x8000) && !(tx.modes & 1)) /* ADJ_ADJTIME only with ADJ_OFFSET_SINGLESHOT */
		return -EINVAL;
	if (tx.modes && tx.modes != 0xa001 /* ADJ_OFFSET_SS_READ */)
		return -EPERM;
	tx = (struct l_timex){
	    .modes = tx.modes,
	    .maxerror = 16000000,
	    .esterror = 16000000,
	    .status = STA_UNSYNC,
	    .constant = 2,
	    .precision = 1,
	    .tolerance = 32768000,
	    .sec = (int64_t)(now / NSEC_PER_SEC),
	    .usec = (int64_t)(now % NSEC_PER_SEC / 1000),
	    .tick = 10000,
	};
	return copy_out_obj(buf, tx) < 0 ? -EFAULT : TIME_ERROR;
}

int64_t sys_adjtimex(uaddr_t buf)
{
	return read_timex(buf);
}

int64_t sys_clock_adjtime(int clockid, uaddr_t buf)
{
	struct clock_ref c;

	if (clock_decode(clockid, &c) < 0)
		return -EINVAL;
	if (clockid != L_CLOCK_REALTIME)
		return -EOPNOTSUPP;
	return read_timex(buf);
}

/* --- sleeping -------------------------------------------------------------------------------------------------- */
/* Sleep until CLOCK_MONOTONIC reaches DEADLINE. 0 or -ERESTARTSYS. */
static int sleep_until(uint64_t deadline)
{
	struct waitq q;
	int r = 0;

	waitq_init(&q);
	while (r == 0 && now_mono_ns() < deadline)
		r = wait_on(&q, deadline);
	return r == -ETIMEDOUT ? 0 : r;
}

/* A CPU clock only moves while somebody runs, so it is looked at again and again. */
static int sleep_until_cpu(const struct clock_ref *c, uint64_t deadline)
{
	uint64_t now;
	int r;

	while (clock_now(c, &now) == 0 && now < deadline) {
		r = sleep_until(ns_add(now_mono_ns(), MAX((deadline - now) / 4, 1000000u)));
		if (r < 0)
			return r;
	}
	return 0;
}

/* Interrupted relative sleep: tell the rest and arrange that the restart ends when this one would have. */
static int64_t sleep_again(struct task *t);
static int64_t sleep_relative(uint64_t deadline, uaddr_t rem)
{
	struct l_timespec left;
	uint64_t now;
	int r = sleep_until(deadline);

	if (r != -ERESTARTSYS)
		return r;
	now = now_mono_ns();
	if (now >= deadline)
		return 0;
	left = ns_timespec(deadline - now);
	if (!uaddr_null(rem) && copy_out_obj(rem, left) < 0)
		return -EFAULT;
	current->restart_fn = sleep_again;
	current->restart_data[0] = deadline;
	current->restart_data[1] = rem.a;
	return -ERESTART_RESTARTBLOCK;
}
static int64_t sleep_again(struct task *t)
{
	return sleep_relative(t->restart_data[0], uaddr(t->restart_data[1]));
}

int64_t sys_nanosleep(uaddr_t req, uaddr_t rem)
{
	struct l_timespec ts;

	if (copy_in_obj(ts, req) < 0)
		return -EFAULT;
	if (!timespec_valid(&ts))
		return -EINVAL;
	return sleep_relative(ns_add(now_mono_ns(), timespec_ns(&ts)), rem);
}

int64_t sys_clock_nanosleep(int clockid, unsigned flags, uaddr_t req, uaddr_t rem)
{
	struct clock_ref c;
	struct l_timespec ts;
	uint64_t now, want;
	int r;

	if (clock_decode(clockid, &c) < 0)
		return -EINVAL;
	if (!c.can_sleep || clockid == L_CLOCK_THREAD_CPUTIME_ID)
		return -EOPNOTSUPP;
	if (copy_in_obj(ts, req) < 0)
		return -EFAULT;
	if (!timespec_valid(&ts))
		return -EINVAL;
	if (c.needs_wake_alarm && !capable(CAP_WAKE_ALARM))
		return -EPERM;
	want = timespec_ns(&ts);
	if (c.kind != CLOCK_WALL) {
		if (!(flags & L_TIMER_ABSTIME) && clock_now(&c, &now) == 0)
			want = ns_add(want, now);
		r = sleep_until_cpu(&c, want);
		/* DIFF: an interrupted relative sleep on a CPU clock is not restarted with its rest. */
		return r == -ERESTARTSYS ? (flags & L_TIMER_ABSTIME ? -ERESTARTNOHAND : -EINTR) : r;
	}
	if (!(flags & L_TIMER_ABSTIME))
		return sleep_relative(ns_add(now_mono_ns(), want), rem);
	r = sleep_until(clock_to_mono(&c, want));
	return r == -ERESTARTSYS ? -ERESTARTNOHAND : r;
}

/* --- interval timers --------------------------------------------------------------------------------------------- */
static struct l_timeval left_timeval(uint64_t ns)
{
	/* Less than a microsecond left is not yet zero, which would mean disarmed. */
	return ns_timeval(ns && ns < 1000 ? 1000 : ns);
}

int64_t sys_getitimer(int which, uaddr_t value)
{
	uint64_t v, i;
	struct l_itimerval it;

	if (itimer_get(current->tg, which, &v, &i) < 0)
		return -EINVAL;
	it = (struct l_itimerval){left_timeval(i), left_timeval(v)};
	return copy_out_obj(value, it);
}

int64_t sys_setitimer(int which, uaddr_t value, uaddr_t old)
{
	struct l_itimerval it = {0};
	uint64_t v, i;
	int r;

	if (!uaddr_null(value)) { /* NULL disarms: a Linux oddity kept for old programs */
		if (copy_in_obj(it, value) < 0)
			return -EFAULT;
		if (!timeval_valid(&it.value) || !timeval_valid(&it.interval))
			return -EINVAL;
	}
	r = itimer_set(current->tg, which, timeval_ns(&it.value), timeval_ns(&it.interval), &v, &i);
	if (r < 0 || uaddr_null(old))
		return r;
	it = (struct l_itimerval){left_timeval(i), left_timeval(v)};
	return copy_out_obj(old, it);
}

int64_t sys_alarm(unsigned seconds)
{
	uint64_t v, i, sec;
	int r = itimer_set(current->tg, L_ITIMER_REAL, MIN((uint64_t)seconds, INT32_MAX) * NSEC_PER_SEC, 0,
			   &v, &i);

	if (r < 0)
		return r;
	/* Rounded to the nearest second, but a running alarm never reads as 0. */
	sec = v / NSEC_PER_SEC;
	return (int64_t)(v % NSEC_PER_SEC >= NSEC_PER_SEC / 2 || (v && !sec) ? sec + 1 : sec);
}

/* --- POSIX timers -------------------------------------------------------------------------------------------------- */
int64_t sys_timer_create(int clockid, uaddr_t event, uaddr_t timerid)
{
	struct l_sigevent ev;
	int id, r;

	if (!uaddr_null(event) && copy_in_obj(ev, event) < 0)
		return -EFAULT;
	r = ptimer_create(clockid, uaddr_null(event) ? NULL : &ev, &id);
	if (r < 0)
		return r;
	if (copy_out_obj(timerid, id) < 0) {
		ptimer_delete(id);
		return -EFAULT;
	}
	return 0;
}

int64_t sys_timer_settime(int timerid, unsigned flags, uaddr_t value, uaddr_t old)
{
	struct l_itimerspec v, o;
	int r;

	if (uaddr_null(value))
		return -EINVAL;
	if (copy_in_obj(v, value) < 0)
		return -EFAULT;
	r = ptimer_set(timerid, flags, &v, &o);
	if (r < 0 || uaddr_null(old))
		return r;
	return copy_out_obj(old, o);
}

int64_t sys_timer_gettime(int timerid, uaddr_t value)
{
	struct l_itimerspec v;
	int r = ptimer_get(timerid, &v);

	return r < 0 ? r : copy_out_obj(value, v);
}

int64_t sys_timer_getoverrun(int timerid)
{
	return ptimer_overrun(timerid);
}

int64_t sys_timer_delete(int timerid)
{
	return ptimer_delete(timerid);
}
