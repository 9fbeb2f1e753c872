/* Clocks and timers: order, sleeps, interval timers, alarm, POSIX timers, CPU clocks. */
#include "check.h"
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>

static volatile sig_atomic_t hits, val;
static void on_sig(int s, siginfo_t *si, void *uc)
{
	(void)s;
	(void)uc;
	hits++;
	val = si->si_value.sival_int;
}

int main(void)
{
	struct timespec a, b, req = {0, 30000000};
	struct timeval tv;
	struct itimerval it = {{0, 10000}, {0, 10000}}, old;
	struct sigaction sa = {.sa_sigaction = on_sig, .sa_flags = SA_SIGINFO};
	struct rusage ru;
	double t0;
	timer_t tm;

	for (int c = 0; c < 12; c++) {
		if (c >= 8 && c <= 10) /* the alarm clocks need a hardware clock */
			continue;
		CHECK_EQ(clock_gettime(c, &a), 0);
		CHECK_EQ(clock_getres(c, &b), 0);
	}
	CHECK_ERR(clock_gettime(99, &a), EINVAL);
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (int i = 0; i < 1000; i++) {
		clock_gettime(CLOCK_MONOTONIC, &b);
		if (b.tv_sec < a.tv_sec || (b.tv_sec == a.tv_sec && b.tv_nsec < a.tv_nsec))
			CHECK(!"monotonic clock goes forward");
		a = b;
	}
	gettimeofday(&tv, NULL);
	CHECK(llabs((long long)tv.tv_sec - time(NULL)) <= 1);
	CHECK(tv.tv_sec > 1600000000);
	t0 = check_now();
	CHECK_EQ(nanosleep(&req, NULL), 0);
	CHECK(check_now() - t0 >= 0.03 && check_now() - t0 < 1);
	req.tv_nsec = 1000000000;
	CHECK_ERR(nanosleep(&req, NULL), EINVAL);
	clock_gettime(CLOCK_MONOTONIC, &a);
	a.tv_sec -= 1;
	CHECK_EQ(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &a, NULL), 0);
	sigaction(SIGALRM, &sa, NULL);
	CHECK_EQ(setitimer(ITIMER_REAL, &it, NULL), 0);
	while (hits < 3)
		pause();
	CHECK_EQ(getitimer(ITIMER_REAL, &old), 0);
	CHECK_EQ(old.it_interval.tv_usec, 10000);
	memset(&it, 0, sizeof it);
	CHECK_EQ(setitimer(ITIMER_REAL, &it, &old), 0);
	CHECK_EQ(old.it_interval.tv_usec, 10000);
	hits = 0;
	check_sleep_ms(30);
	CHECK_EQ(hits, 0);
	CHECK_EQ(alarm(100), 0);
	CHECK_EQ(alarm(0), 100);
	it.it_value.tv_usec = 10000000;
	CHECK_ERR(setitimer(ITIMER_REAL, &it, NULL), EINVAL);
	/* POSIX timer with a value */
	struct sigevent se = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 321};
	struct itimerspec its = {{0, 0}, {0, 10000000}};
	sigaction(SIGRTMIN, &sa, NULL);
	CHECK_EQ(timer_create(CLOCK_MONOTONIC, &se, &tm), 0);
	CHECK_EQ(timer_settime(tm, 0, &its, NULL), 0);
	while (!hits)
		pause();
	CHECK_EQ(val, 321);
	CHECK_EQ(timer_gettime(tm, &its), 0);
	CHECK(its.it_value.tv_sec == 0 && its.it_value.tv_nsec == 0);
	CHECK_EQ(timer_getoverrun(tm), 0);
	CHECK_EQ(timer_delete(tm), 0);
	/* CPU time grows while spinning, not while sleeping */
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	check_sleep_ms(50);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	CHECK((b.tv_sec - a.tv_sec) + (b.tv_nsec - a.tv_nsec) / 1e9 < 0.04);
	t0 = check_now();
	while (check_now() - t0 < 0.1)
		;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	CHECK((a.tv_sec - b.tv_sec) + (a.tv_nsec - b.tv_nsec) / 1e9 > 0.02);
	CHECK_EQ(getrusage(RUSAGE_SELF, &ru), 0);
	CHECK(ru.ru_utime.tv_sec + ru.ru_utime.tv_usec / 1e6 + ru.ru_stime.tv_sec + ru.ru_stime.tv_usec / 1e6 > 0.01);
	CHECK(times(&(struct tms){0}) != (clock_t)-1);
	/* the child has no timers, exec keeps the interval timer */
	it = (struct itimerval){{0, 0}, {5, 0}};
	setitimer(ITIMER_REAL, &it, NULL);
	IN_CHILD(0, {
		getitimer(ITIMER_REAL, &old);
		CHECK(old.it_value.tv_sec == 0 && old.it_value.tv_usec == 0);
	});
	alarm(0);
	IN_CHILD(SIGALRM, {
		signal(SIGALRM, SIG_DFL);
		it = (struct itimerval){{0, 0}, {0, 20000}};
		setitimer(ITIMER_REAL, &it, NULL);
		execlp("sleep", "sleep", "5", NULL);
	});
	return check_done();
}
