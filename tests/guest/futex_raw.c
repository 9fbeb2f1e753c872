/* Raw futexes: wait, wake, requeue, bitset, timeouts, between processes, robust list. */
#include "check.h"
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>

static int *f;
static long futex(int *a, int op, int v, const struct timespec *ts, int *b, int v3)
{
	return syscall(SYS_futex, a, op, v, ts, b, v3);
}
static void *waiter(void *arg)
{
	return (void *)futex(arg, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}
static pthread_mutex_t *rm;
static void *die_holding(void *arg)
{
	(void)arg;
	pthread_mutex_lock(rm);
	return NULL;
}

int main(void)
{
	struct timespec ts = {0, 20000000};
	pthread_t t[3];
	void *r;
	double t0;
	pid_t c;

	f = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	NEED(f != MAP_FAILED);
	CHECK_ERR(futex(f, FUTEX_WAIT, 1, NULL, NULL, 0), EAGAIN);
	t0 = check_now();
	CHECK_ERR(futex(f, FUTEX_WAIT, 0, &ts, NULL, 0), ETIMEDOUT);
	CHECK(check_now() - t0 >= 0.019);
	CHECK_EQ(futex(f, FUTEX_WAKE, 1, NULL, NULL, 0), 0);
	CHECK_ERR(futex((int *)((char *)f + 1), FUTEX_WAIT, 0, NULL, NULL, 0), EINVAL);
	CHECK_ERR(futex((int *)16, FUTEX_WAIT, 0, NULL, NULL, 0), EFAULT);
	CHECK_ERR(futex(f, 99, 0, NULL, NULL, 0), ENOSYS);
	CHECK_ERR(futex(f, FUTEX_WAIT_BITSET, 0, NULL, NULL, 0), EINVAL);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, waiter, &f[1]);
	check_sleep_ms(50);
	/* two are moved, one is woken */
	CHECK_EQ(futex(&f[1], FUTEX_CMP_REQUEUE_PRIVATE, 1, (void *)2, &f[2], 0), 3);
	CHECK_EQ(futex(&f[1], FUTEX_WAKE_PRIVATE, 9, NULL, NULL, 0), 0);
	CHECK_EQ(futex(&f[2], FUTEX_WAKE_PRIVATE, 9, NULL, NULL, 0), 2);
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], &r);
		CHECK(r == 0);
	}
	CHECK_ERR(futex(&f[1], FUTEX_CMP_REQUEUE, 1, (void *)2, &f[2], 7), EAGAIN);
	/* across processes through shared memory */
	c = fork();
	if (c == 0)
		_exit(futex(&f[3], FUTEX_WAIT, 0, NULL, NULL, 0) ? errno : 0);
	int woken = 0;
	for (int i = 0; i < 200 && !woken; i++) {
		check_sleep_ms(5);
		woken = (int)futex(&f[3], FUTEX_WAKE, 1, NULL, NULL, 0);
	}
	CHECK_EQ(woken, 1);
	CHECK_EQ(check_wait(c), 0);
	/* a process-shared mutex */
	pthread_mutexattr_t ma;
	pthread_mutex_t *m = (void *)(f + 64);
	pthread_mutexattr_init(&ma);
	pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(m, &ma);
	f[4] = 0;
	c = fork();
	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(m);
		f[4]++;
		pthread_mutex_unlock(m);
	}
	if (c == 0)
		_exit(0);
	CHECK_EQ(check_wait(c), 0);
	CHECK_EQ(f[4], 2000);
	/* the owner of a robust mutex dies: thread, then process */
	rm = (void *)(f + 128);
	pthread_mutexattr_setrobust(&ma, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(rm, &ma);
	pthread_create(&t[0], NULL, die_holding, NULL);
	pthread_join(t[0], NULL);
	CHECK_EQ(pthread_mutex_lock(rm), EOWNERDEAD);
	CHECK_EQ(pthread_mutex_consistent(rm), 0);
	CHECK_EQ(pthread_mutex_unlock(rm), 0);
	c = fork();
	if (c == 0) {
		pthread_mutex_lock(rm);
		_exit(0);
	}
	CHECK_EQ(check_wait(c), 0);
	CHECK_EQ(pthread_mutex_lock(rm), EOWNERDEAD);
	return check_done();
}
