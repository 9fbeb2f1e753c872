/*
 * What every self-checking guest program uses. A program prints only what is the same on every correct kernel (no pids,
 * addresses or times), because the runner compares its output natively and in ward. CHECK counts and goes on, so that one
 * run shows every difference; check_done gives main's return value.
 */
#ifndef WARD_TESTS_CHECK_H
#define WARD_TESTS_CHECK_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int check_count, check_failed;

__attribute__((unused)) static void check_at(int ok, const char *file, int line, const char *text)
{
	int e = errno;

	__atomic_add_fetch(&check_count, 1, __ATOMIC_RELAXED);
	if (!ok) {
		__atomic_add_fetch(&check_failed, 1, __ATOMIC_RELAXED);
		printf("%s:%d: failed: %s (errno %d %s)\n", file, line, text, e, strerror(e));
		fflush(stdout);
	}
	errno = e;
}

__attribute__((unused)) static void check_eq_at(long long got, long long want, const char *file, int line,
						const char *text)
{
	int e = errno;

	__atomic_add_fetch(&check_count, 1, __ATOMIC_RELAXED);
	if (got != want) {
		__atomic_add_fetch(&check_failed, 1, __ATOMIC_RELAXED);
		printf("%s:%d: failed: %s is %lld, not %lld (errno %d %s)\n", file, line, text, got, want, e,
		       strerror(e));
		fflush(stdout);
	}
	errno = e;
}

#define CHECK(...) check_at(!!(__VA_ARGS__), __FILE_NAME__, __LINE__, #__VA_ARGS__)
#define CHECK_EQ(got, want) check_eq_at((long long)(got), (long long)(want), __FILE_NAME__, __LINE__, #got)
/* EXPR must be -1 with errno E. */
#define CHECK_ERR(expr, e)                                                                         \
	do {                                                                                       \
		errno = 0;                                                                         \
		long r_ = (long)(expr);                                                            \
		check_eq_at(r_ == -1 ? errno : r_ == 0 ? 0 : 1000000 + r_, (e), __FILE_NAME__, __LINE__, \
			    "errno of " #expr);                                                    \
	} while (0)
/* A check without which going on makes no sense. */
#define NEED(...)                                                                                 \
	do {                                                                                       \
		if (!(__VA_ARGS__)) {                                                                    \
			printf("%s:%d: cannot go on: %s (errno %d %s)\n", __FILE_NAME__, __LINE__, #__VA_ARGS__, errno, \
			       strerror(errno));                                                   \
			fflush(stdout);                                                            \
			_exit(2);                                                                  \
		}                                                                                  \
	} while (0)

__attribute__((unused)) static int check_done(void)
{
	if (check_failed)
		printf("%d of %d checks failed\n", check_failed, check_count);
	else
		printf("%d checks\n", check_count);
	fflush(stdout);
	return check_failed != 0;
}

/* A raw call: the kernel's return value, -errno included. */
__attribute__((unused)) static long raw6(long nr, long a, long b, long c, long d, long e, long f)
{
	long ret;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}
/* POISON puts noise above an int argument, which the kernel must not look at. */
#define POISON(x) ((long)(0xdeadbeef00000000ull | (uint32_t)(x)))
#define raw0(n) raw6(n, POISON(1), POISON(2), POISON(3), POISON(4), POISON(5), POISON(6))
#define raw1(n, a) raw6(n, (long)(a), POISON(2), POISON(3), POISON(4), POISON(5), POISON(6))
#define raw2(n, a, b) raw6(n, (long)(a), (long)(b), POISON(3), POISON(4), POISON(5), POISON(6))
#define raw3(n, a, b, c) raw6(n, (long)(a), (long)(b), (long)(c), POISON(4), POISON(5), POISON(6))
#define raw4(n, a, b, c, d) raw6(n, (long)(a), (long)(b), (long)(c), (long)(d), POISON(5), POISON(6))

__attribute__((unused)) static double check_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}
__attribute__((unused)) static void check_sleep_ms(int ms)
{
	struct timespec ts = {ms / 1000, ms % 1000 * 1000000l};

	while (nanosleep(&ts, &ts) < 0 && errno == EINTR)
		;
}
/* Waits for PID and returns its wait status, -1 on error. */
__attribute__((unused)) static int check_wait(pid_t pid)
{
	int st;
	pid_t r;

	do
		r = waitpid(pid, &st, 0);
	while (r < 0 && errno == EINTR);
	return r == pid ? st : -1;
}
/* Runs BODY in a child and checks that it ended with wait status WANT. */
#define IN_CHILD(want, ...)                                                                       \
	do {                                                                                       \
		fflush(stdout);                                                                    \
		pid_t c_ = fork();                                                                 \
		NEED(c_ >= 0);                                                                     \
		if (c_ == 0) {                                                                     \
			check_failed = 0;                                                          \
			__VA_ARGS__;                                                               \
			fflush(stdout);                                                            \
			_exit(check_failed ? 99 : 0);                                              \
		}                                                                                  \
		check_eq_at(check_wait(c_), (want), __FILE_NAME__, __LINE__, "status of child " #__VA_ARGS__);  \
	} while (0)
#endif
