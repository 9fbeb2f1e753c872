/* Futexes as programs use them: mutexes, conditions, robust and PI locks, words shared between processes. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(c)                                                                                   \
	do {                                                                                       \
		if (!(c)) {                                                                        \
			printf("%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #c, errno);           \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)
#define THREADS 4

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, robust, pi;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int count, go;

static long futex(void *word, int op, uint32_t val, void *timeout, void *word2, uint32_t val3)
{
	return syscall(SYS_futex, word, op, val, timeout, word2, val3);
}
static struct timespec later(clockid_t clock, long ms)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_nsec += ms * 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

/* --- threads --------------------------------------------------------------------------------------------------- */
static void *count_and_wait(void *arg)
{
	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(&plain);
		count++;
		pthread_mutex_unlock(&plain);
	}
	pthread_mutex_lock(&plain);
	while (!go)
		pthread_cond_wait(&cond, &plain);
	pthread_mutex_unlock(&plain);
	return arg;
}
static void *die_with_lock(void *arg)
{
	pthread_mutex_lock(&robust);
	return arg;
}
static void *count_pi(void *arg)
{
	for (int i = 0; i < 200; i++) {
		pthread_mutex_lock(&pi);
		count++;
		if (i % 50 == 0)
			usleep(100);
		pthread_mutex_unlock(&pi);
	}
	return arg;
}
static void run_threads(void *(*fn)(void *), void (*between)(void))
{
	pthread_t t[THREADS];
	void *r;

	for (long i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&t[i], NULL, fn, (void *)i));
	if (between)
		between();
	for (long i = 0; i < THREADS; i++) {
		CHECK(!pthread_join(t[i], &r));
		CHECK(r == (void *)i);
	}
}
static void release(void)
{
	usleep(10000);
	pthread_mutex_lock(&plain);
	go = 1;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&plain);
}
static void test_threads(void)
{
	pthread_mutexattr_t a;
	struct timespec t;
	pthread_t thread;

	run_threads(count_and_wait, release);
	CHECK(count == THREADS * 1000);

	t = later(CLOCK_REALTIME, 20);
	pthread_mutex_lock(&plain);
	CHECK(pthread_cond_timedwait(&cond, &plain, &t) == ETIMEDOUT);
	pthread_mutex_unlock(&plain);

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &a);
	CHECK(!pthread_create(&thread, NULL, die_with_lock, NULL));
	pthread_join(thread, NULL);
	CHECK(pthread_mutex_lock(&robust) == EOWNERDEAD);
	CHECK(!pthread_mutex_consistent(&robust));
	CHECK(!pthread_mutex_unlock(&robust));

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
	CHECK(!pthread_mutex_init(&pi, &a));
	count = 0;
	run_threads(count_pi, NULL);
	CHECK(count == THREADS * 200);
	pthread_mutex_lock(&pi);
	CHECK(pthread_mutex_trylock(&pi) == EBUSY);
	pthread_mutex_unlock(&pi);
}

/* --- processes ------------------------------------------------------------------------------------------------- */
static void test_processes(void)
{
	int *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutex_t *m = (pthread_mutex_t *)(word + 64);
	pthread_mutexattr_t a;
	int status;
	pid_t p;

	CHECK(word != MAP_FAILED);
	p = fork();
	if (p == 0) {
		usleep(20000);
		*word = 1;
		_exit(futex(word, FUTEX_WAKE, 1, NULL, NULL, 0) == 1 ? 5 : 6);
	}
	CHECK(futex(word, FUTEX_WAIT, 0, NULL, NULL, 0) == 0 && *word == 1);
	CHECK(waitpid(p, &status, 0) == p && WIFEXITED(status) && WEXITSTATUS(status) == 5);

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(m, &a);
	p = fork();
	if (p == 0) {
		pthread_mutex_lock(m);
		word[1] = 1;
		usleep(30000);
		_exit(0);
	}
	while (!*(volatile int *)&word[1])
		usleep(1000);
	CHECK(pthread_mutex_lock(m) == EOWNERDEAD);
	CHECK(waitpid(p, &status, 0) == p);
	munmap(word, 4096);
}

/* --- the call itself ---------------------------------------------------------------------------------------------- */
struct waiter {
	pthread_t thread;
	uint32_t *word, bitset;
};
static void *bitset_wait(void *arg)
{
	struct waiter *w = arg;

	return (void *)futex(w->word, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, NULL, w->bitset);
}
static long wake_retry(uint32_t *word, int op, uint32_t n, uint32_t bits, long want)
{
	long got = 0;

	for (int i = 0; i < 1000 && got < want; i++) {
		long r = futex(word, op, n, NULL, NULL, bits);

		CHECK(r >= 0);
		got += r;
		usleep(1000);
	}
	return got;
}
static void test_call(void)
{
	uint32_t word = 0, word2 = 0;
	struct timespec t = {0, 10000000}, bad = {0, 1000000000};
	struct waiter w[2] = {{.word = &word, .bitset = 1}, {.word = &word, .bitset = 2}};
	void *r;

	CHECK(futex(&word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0) == -1 && errno == EAGAIN);
	CHECK(futex(&word, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0) == -1 && errno == ETIMEDOUT);
	CHECK(futex(&word, FUTEX_WAIT_PRIVATE, 0, &bad, NULL, 0) == -1 && errno == EINVAL);
	CHECK(futex((char *)&word + 1, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) == -1 && errno == EINVAL);
	CHECK(futex((void *)8, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0) == -1 && errno == EFAULT);
	CHECK(futex((void *)8, FUTEX_WAKE, 1, NULL, NULL, 0) == -1 && errno == EFAULT);
	CHECK(futex((void *)8, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) == 0);
	CHECK(futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, NULL, 0) == -1 && errno == EINVAL);
	CHECK(futex(&word, FUTEX_WAKE_BITSET_PRIVATE, 1, NULL, NULL, 0) == -1 && errno == EINVAL);
	CHECK(futex(&word, FUTEX_WAIT_PRIVATE | FUTEX_CLOCK_REALTIME, 0, &t, NULL, 0) == -1 && errno == ENOSYS);
	CHECK(futex(&word, 99, 0, NULL, NULL, 0) == -1 && errno == ENOSYS);
	CHECK(futex(&word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0) == -1 && errno == EPERM);
	CHECK(futex(&word, FUTEX_CMP_REQUEUE_PRIVATE, 1, (void *)1, &word2, 7) == -1 && errno == EAGAIN);
	CHECK(futex(&word, FUTEX_CMP_REQUEUE_PRIVATE, (uint32_t)-1, (void *)1, &word2, 0) == -1 && errno == EINVAL);
	t = later(CLOCK_MONOTONIC, 10);
	CHECK(futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 0, &t, NULL, ~0u) == -1 && errno == ETIMEDOUT);
	t = later(CLOCK_REALTIME, 10);
	CHECK(futex(&word, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME, 0, &t, NULL, ~0u) == -1 &&
	      errno == ETIMEDOUT);

	for (int i = 0; i < 2; i++)
		CHECK(!pthread_create(&w[i].thread, NULL, bitset_wait, &w[i]));
	CHECK(wake_retry(&word, FUTEX_WAKE_BITSET_PRIVATE, 9, 2, 1) == 1);
	CHECK(!pthread_join(w[1].thread, &r) && r == NULL);
	CHECK(futex(&word, FUTEX_WAKE_BITSET_PRIVATE, 9, NULL, NULL, 4) == 0);
	/* Moved to the other word, the first waiter is no longer found at its own. */
	for (int i = 0; i < 1000 && futex(&word, FUTEX_CMP_REQUEUE_PRIVATE, 0, (void *)1, &word2, 0) != 1; i++)
		usleep(1000);
	CHECK(futex(&word, FUTEX_WAKE_PRIVATE, 9, NULL, NULL, 0) == 0);
	CHECK(futex(&word2, FUTEX_WAKE_PRIVATE, 9, NULL, NULL, 0) == 1);
	CHECK(!pthread_join(w[0].thread, &r) && r == NULL);
	/* word2 |= 6; was it 0? */
	CHECK(futex(&word, FUTEX_WAKE_OP_PRIVATE, 1, (void *)1, &word2,
		    FUTEX_OP(FUTEX_OP_OR, 6, FUTEX_OP_CMP_EQ, 0)) == 0 && word2 == 6);
}

int main(void)
{
	test_call();
	test_threads();
	test_processes();
	puts("futex ok");
	return 0;
}
