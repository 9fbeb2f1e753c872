/* variants: static */
/* Threads: create, join, mutexes, conditions, thread-local storage, ids, signals to threads, exit of the group. */
#include "check.h"
#include <pthread.h>
#include <sched.h>

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cv = PTHREAD_COND_INITIALIZER;
static long counter;
static int turn;
static __thread int tls = 5;
static volatile int handler_tid;

static void *adder(void *arg)
{
	for (int i = 0; i < 2000; i++) {
		pthread_mutex_lock(&mu);
		counter++;
		pthread_mutex_unlock(&mu);
		if (i % 500 == 0)
			sched_yield();
	}
	tls += (int)(long)arg;
	return (void *)(long)tls;
}
static void *pinger(void *arg)
{
	int me = (int)(long)arg;

	for (int i = 0; i < 200; i++) {
		pthread_mutex_lock(&mu);
		while (turn != me)
			pthread_cond_wait(&cv, &mu);
		turn = !me;
		pthread_cond_broadcast(&cv);
		pthread_mutex_unlock(&mu);
	}
	return NULL;
}
static void on_usr(int s)
{
	(void)s;
	handler_tid = (int)syscall(SYS_gettid);
}
static volatile int tid_of;
static void *sleeper(void *arg)
{
	(void)arg;
	tid_of = (int)syscall(SYS_gettid);
	while (!handler_tid)
		check_sleep_ms(5);
	return NULL;
}
static void *forever(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}
static void *spin(void *arg)
{
	(void)arg;
	for (;;)
		__asm__ volatile("pause");
	return NULL;
}
static void *execer(void *arg)
{
	(void)arg;
	execl("/bin/true", "true", NULL);
	_exit(98);
	return NULL;
}

static void *short_thread(void *arg)
{
	return arg;
}
static void *late_thread(void *arg)
{
	check_sleep_ms(20);
	return arg;
}

int main(void)
{
	pthread_t t[8];
	void *ret;

	CHECK_EQ(syscall(SYS_gettid), getpid());
	for (long i = 0; i < 8; i++)
		NEED(pthread_create(&t[i], NULL, adder, (void *)i) == 0);
	for (long i = 0; i < 8; i++) {
		CHECK_EQ(pthread_join(t[i], &ret), 0);
		CHECK_EQ((long)ret, 5 + i);
	}
	CHECK_EQ(counter, 16000);
	CHECK_EQ(tls, 5);
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, pinger, (void *)i);
	for (long i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	signal(SIGUSR1, on_usr);
	pthread_create(&t[0], NULL, sleeper, NULL);
	while (!tid_of)
		check_sleep_ms(1);
	CHECK(tid_of != getpid());
	CHECK_EQ(pthread_kill(t[0], SIGUSR1), 0);
	pthread_join(t[0], NULL);
	CHECK_EQ(handler_tid, tid_of);
	CHECK_ERR(syscall(SYS_tgkill, getpid(), tid_of, 0), ESRCH);
	/* many short threads */
	for (int i = 0; i < 100; i++) {
		pthread_create(&t[0], NULL, short_thread, NULL);
		pthread_join(t[0], NULL);
	}
	/* timed wait */
	struct timespec ts;
	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_nsec += 20000000;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_nsec -= 1000000000;
		ts.tv_sec++;
	}
	pthread_mutex_lock(&mu);
	CHECK_EQ(pthread_cond_timedwait(&cv, &mu, &ts), ETIMEDOUT);
	pthread_mutex_unlock(&mu);
	/* exit of the process takes sleeping and spinning threads along; death by signal too */
	IN_CHILD(4 << 8, {
		pthread_create(&t[0], NULL, forever, NULL);
		pthread_create(&t[1], NULL, spin, NULL);
		check_sleep_ms(10);
		_exit(4);
	});
	IN_CHILD(SIGTERM, {
		signal(SIGTERM, SIG_DFL);
		pthread_create(&t[0], NULL, spin, NULL);
		pthread_create(&t[1], NULL, forever, NULL);
		check_sleep_ms(10);
		kill(getpid(), SIGTERM);
		pause();
	});
	/* exec from a thread that is not the leader replaces the whole process */
	IN_CHILD(0, {
		pthread_create(&t[0], NULL, spin, NULL);
		pthread_create(&t[1], NULL, execer, NULL);
		pause();
	});
	/* a leader that exits first leaves the group alive */
	IN_CHILD(0, {
		pthread_create(&t[0], NULL, late_thread, NULL);
		pthread_exit(NULL);
	});
	/* fork from a thread leaves one thread in the child */
	IN_CHILD(0, {
		pthread_create(&t[0], NULL, forever, NULL);
		IN_CHILD(0, CHECK(syscall(SYS_gettid) == getpid()));
	});
	return check_done();
}
