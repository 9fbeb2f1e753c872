/* Clocks, sleeps, interval timers and POSIX timers. Bounds are loose: the machine may be busy. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#define CHECK(c)                                                                                   \
	do {                                                                                       \
		if (!(c)) {                                                                        \
			printf("%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #c, errno);           \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)
#define MS 1000000L

static volatile sig_atomic_t ticks;
static void tick(int signo)
{
	ticks++;
}
static void handle(int signo, int flags)
{
	struct sigaction sa = {.sa_handler = tick, .sa_flags = flags};

	CHECK(!sigaction(signo, &sa, NULL));
	ticks = 0;
}
static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / MS;
}

static void test_clocks(void)
{
	static const clockid_t ids[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID,
					CLOCK_THREAD_CPUTIME_ID, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE,
					CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME, CLOCK_TAI};
	struct timespec a, b;
	struct timeval tv;

	/* The C library's answer (vDSO) and the kernel's are the same clock. */
	for (unsigned i = 0; i < sizeof ids / sizeof ids[0]; i++) {
		CHECK(!clock_gettime(ids[i], &a));
		CHECK(!syscall(SYS_clock_gettime, ids[i], &b));
		CHECK(b.tv_sec - a.tv_sec >= 0 && b.tv_sec - a.tv_sec <= 2);
		CHECK(!clock_getres(ids[i], &a) && a.tv_sec == 0 && a.tv_nsec >= 1);
	}
	CHECK(clock_gettime(77, &a) == -1 && errno == EINVAL);
	CHECK(!syscall(SYS_gettimeofday, &tv, NULL));
	CHECK(labs(time(NULL) - tv.tv_sec) <= 1 && labs(syscall(SYS_time, NULL) - tv.tv_sec) <= 1);
	a.tv_nsec = 1000000000;
	CHECK(clock_settime(CLOCK_REALTIME, &a) == -1 && errno == EINVAL);
	CHECK(clock_settime(CLOCK_MONOTONIC, &a) == -1 && errno == EINVAL);
}

static void test_sleep(void)
{
	struct timespec t = {0, 20 * MS}, rem = {7, 7}, bad = {0, -1};
	long begin = now_ms();

	CHECK(!nanosleep(&t, &rem) && rem.tv_sec == 7);
	CHECK(now_ms() - begin >= 19);
	CHECK(nanosleep(&bad, NULL) == -1 && errno == EINVAL);
	CHECK(clock_nanosleep(CLOCK_MONOTONIC_RAW, 0, &t, NULL) == EOPNOTSUPP);
	CHECK(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &t, NULL) == EINVAL);
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec--;
	CHECK(!clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, NULL));
	clock_gettime(CLOCK_BOOTTIME, &t);
	t.tv_nsec += 20 * MS;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	begin = now_ms();
	CHECK(!clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &t, NULL) && now_ms() - begin >= 18);

	/* A handler ends a sleep and leaves the rest. */
	struct itimerval it = {{0, 0}, {0, 20000}};

	handle(SIGALRM, SA_RESTART);
	CHECK(!setitimer(ITIMER_REAL, &it, NULL));
	t = (struct timespec){5, 0};
	CHECK(nanosleep(&t, &rem) == -1 && errno == EINTR && ticks == 1);
	CHECK(rem.tv_sec == 4 && rem.tv_nsec > 0);
}

static void test_itimers(void)
{
	struct itimerval it = {{0, 10000}, {0, 10000}}, old;
	long begin = now_ms();

	handle(SIGALRM, 0);
	CHECK(!setitimer(ITIMER_REAL, &it, NULL));
	while (ticks < 10)
		pause();
	CHECK(now_ms() - begin >= 95);
	it = (struct itimerval){0};
	CHECK(!setitimer(ITIMER_REAL, &it, &old) && old.it_interval.tv_usec == 10000);
	CHECK(old.it_value.tv_usec > 0 && old.it_value.tv_usec <= 10000);
	CHECK(!getitimer(ITIMER_REAL, &old) && !old.it_value.tv_usec && !old.it_value.tv_sec);
	CHECK(alarm(100) == 0 && alarm(0) == 100);
	CHECK(setitimer(9, &it, NULL) == -1 && errno == EINVAL);
	it.it_value.tv_usec = 1000000;
	CHECK(setitimer(ITIMER_REAL, &it, NULL) == -1 && errno == EINVAL);

	handle(SIGPROF, 0);
	it = (struct itimerval){{0, 0}, {0, 30000}};
	CHECK(!setitimer(ITIMER_PROF, &it, NULL));
	for (begin = now_ms(); !ticks;)
		CHECK(now_ms() - begin < 5000);
}

static void test_posix_timers(void)
{
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 42};
	struct itimerspec its = {{0, 10 * MS}, {0, 10 * MS}}, got;
	struct timespec t = {0, 105 * MS};
	siginfo_t si;
	sigset_t set;
	timer_t id;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	CHECK(!sigprocmask(SIG_BLOCK, &set, NULL));
	CHECK(!timer_create(CLOCK_MONOTONIC, &ev, &id));
	CHECK(!timer_settime(id, 0, &its, NULL));
	while (nanosleep(&t, &t) && errno == EINTR)
		;
	/* One signal stands for all expiries while it is blocked. */
	CHECK(sigwaitinfo(&set, &si) == SIGUSR1);
	CHECK(si.si_code == SI_TIMER && si.si_value.sival_int == 42);
	CHECK(si.si_overrun >= 8 && timer_getoverrun(id) == si.si_overrun);
	CHECK(!timer_gettime(id, &got) && got.it_interval.tv_nsec == 10 * MS && got.it_value.tv_nsec <= 10 * MS);
	its = (struct itimerspec){0};
	CHECK(!timer_settime(id, 0, &its, &got) && got.it_interval.tv_nsec == 10 * MS);
	CHECK(!timer_gettime(id, &got) && !got.it_value.tv_nsec && !got.it_value.tv_sec);
	CHECK(!timer_delete(id));
	CHECK(syscall(SYS_timer_delete, 12345) == -1 && errno == EINVAL);
	ev.sigev_signo = 65;
	CHECK(timer_create(CLOCK_MONOTONIC, &ev, &id) == -1 && errno == EINVAL);
	CHECK(timer_create(CLOCK_MONOTONIC_RAW, NULL, &id) == -1 && errno == EOPNOTSUPP);
	/* A time in the past fires at once. */
	ev.sigev_signo = SIGUSR1;
	CHECK(!timer_create(CLOCK_REALTIME, &ev, &id));
	its.it_value.tv_sec = 1;
	CHECK(!timer_settime(id, TIMER_ABSTIME, &its, NULL));
	CHECK(sigwaitinfo(&set, &si) == SIGUSR1 && si.si_overrun == 0);
}

int main(void)
{
	test_clocks();
	test_sleep();
	test_itimers();
	test_posix_timers();
	puts("timers ok");
	return 0;
}
