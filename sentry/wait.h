/*
 * Wait queues. A sleeper links a waiter into one or more queues; wake calls the waiter's function, which for a
 * task wakes its fiber, for epoll marks an item ready. Wake-ups may be spurious: always re-check the condition.
 */
#ifndef WARD_WAIT_H
#define WARD_WAIT_H
#include <stdbool.h>
#include <stdint.h>
#include "sentry/base/list.h"

struct waitq {
	struct list waiters;
};
struct waiter {
	struct list node; /* empty when in no queue */
	void (*fn)(struct waiter *, uint32_t events);
	uint32_t mask;    /* poll events of interest; 0 = all */
	bool exclusive;   /* wake_one stops after it */
};

static inline void waitq_init(struct waitq *q)
{
	list_init(&q->waiters);
}
void waitq_add(struct waitq *q, struct waiter *w);
void waitq_del(struct waiter *w);
/* Call fn of every waiter whose mask meets EVENTS (EVENTS 0: every waiter). fn may unlink its own waiter. */
void waitq_wake(struct waitq *q, uint32_t events);
/* As waitq_wake, but stops after the first exclusive waiter. */
void waitq_wake_one(struct waitq *q, uint32_t events);

/*
 * Sleep of the current task in a handler. DEADLINE in CLOCK_MONOTONIC ns, 0 = none.
 * 0: woken (re-check the condition); -ETIMEDOUT; -ERESTARTSYS: a signal is to be handled or the task is dying
 * (return it, or -EINTR, or -ERESTARTNOHAND / -ERESTART_RESTARTBLOCK as Linux does for that call).
 * The first sleep of a call parks the guest thread.
 */
int wait_on(struct waitq *q, uint64_t deadline);
/* Same for a caller that has linked its own waiters, whose fn is waiter_wake_task with `task` set. */
struct task;
struct task_waiter {
	struct waiter w;
	struct task *task;
	bool fired; /* set by waiter_wake_task */
};
void task_waiter_init(struct task_waiter *tw, uint32_t mask);
void waiter_wake_task(struct waiter *w, uint32_t events);
int wait_sleep(uint64_t deadline);
/* As wait_on, but only fatal signals interrupt (-EINTR then). */
int wait_on_killable(struct waitq *q, uint64_t deadline);

/* A lock for work that sleeps in the middle (an order to a stub). Not interruptible: the holder always comes back, since
 * a dead stub ends its order too. Holders and sleepers are fibers. */
struct mutex {
	bool held;
	struct waitq q;
};
static inline void mutex_init(struct mutex *m)
{
	m->held = false;
	waitq_init(&m->q);
}
void mutex_lock(struct mutex *m);
void mutex_unlock(struct mutex *m);

/* T has something to look at (signal, exit): wakes it from an interruptible sleep, or kicks it out of guest code. */
void task_notify_signal(struct task *t);

/* Kernel-internal errno values: never leave dispatch (see sentry/task/run.c). */
#define ERESTARTSYS 512
#define ERESTARTNOINTR 513
#define ERESTARTNOHAND 514
#define ERESTART_RESTARTBLOCK 516
#endif
