/* Wait queues and the sleep of a task inside a handler. */
#include "sentry/wait.h"
#include "sentry/base/log.h"
#include "sentry/fiber.h"
#include "sentry/loop.h"
#include "sentry/platform/platform.h"
#include "sentry/task/task.h"
#include <errno.h>

void waitq_add(struct waitq *q, struct waiter *w)
{
	list_add_tail(&q->waiters, &w->node);
}
void waitq_del(struct waiter *w)
{
	list_del(&w->node);
}

/* A waiter's function may unlink its own or another waiter, so the walk moves a private marker along the queue. */
static void wake(struct waitq *q, uint32_t events, bool one)
{
	struct waiter mark = {.fn = NULL};

	if (list_empty(&q->waiters))
		return;
	list_add(&q->waiters, &mark.node);
	while (mark.node.next != &q->waiters) {
		struct waiter *w = container_of(mark.node.next, struct waiter, node);

		list_del(&mark.node);
		list_add(&w->node, &mark.node);
		if (!w->fn || (events && w->mask && !(w->mask & events)))
			continue;
		bool exclusive = w->exclusive;

		w->fn(w, events);
		if (one && exclusive)
			break;
	}
	list_del(&mark.node);
}
void waitq_wake(struct waitq *q, uint32_t events)
{
	wake(q, events, false);
}
void waitq_wake_one(struct waitq *q, uint32_t events)
{
	wake(q, events, true);
}

void waiter_wake_task(struct waiter *w, uint32_t events)
{
	struct task_waiter *tw = container_of(w, struct task_waiter, w);

	tw->fired = true;
	fiber_wake(tw->task->fiber);
}
void task_waiter_init(struct task_waiter *tw, uint32_t mask)
{
	list_init(&tw->w.node);
	tw->w.fn = waiter_wake_task;
	tw->w.mask = mask;
	tw->w.exclusive = false;
	tw->task = current;
	tw->fired = false;
}

struct sleep_timer {
	struct timer timer;
	struct fiber *fiber;
	bool fired;
};
static void sleep_timer_fn(struct timer *t)
{
	struct sleep_timer *s = container_of(t, struct sleep_timer, timer);

	s->fired = true;
	fiber_wake(s->fiber);
}

static bool interrupted(struct task *t, bool killable)
{
	return t->exiting || (killable ? signal_fatal_pending(t) : signal_pending(t));
}

static int sleep_common(uint64_t deadline, bool killable, const bool *fired)
{
	struct task *t = current;
	struct sleep_timer st = {.timer.fn = sleep_timer_fn, .fiber = fiber_self()};

	if (interrupted(t, killable))
		return killable ? -EINTR : -ERESTARTSYS;
	if (t->host)
		plat_park(t->host);
	if (deadline && timer_arm(&st.timer, deadline) < 0)
		return -ENOMEM;
	t->in_sleep = true;
	t->sleep_killable = killable;
	fiber_block();
	t->in_sleep = false;
	if (deadline)
		timer_cancel(&st.timer);
	if (fired && *fired)
		return 0;
	if (st.fired)
		return -ETIMEDOUT;
	if (interrupted(t, killable))
		return killable ? -EINTR : -ERESTARTSYS;
	return 0;
}

int wait_sleep(uint64_t deadline)
{
	return sleep_common(deadline, false, NULL);
}
static int wait_one(struct waitq *q, uint64_t deadline, bool killable)
{
	struct task_waiter tw;

	task_waiter_init(&tw, 0);
	waitq_add(q, &tw.w);
	int r = sleep_common(deadline, killable, &tw.fired);

	waitq_del(&tw.w);
	return r;
}
int wait_on(struct waitq *q, uint64_t deadline)
{
	return wait_one(q, deadline, false);
}
int wait_on_killable(struct waitq *q, uint64_t deadline)
{
	return wait_one(q, deadline, true);
}

struct mutex_waiter {
	struct waiter w;
	struct fiber *fiber;
};
static void mutex_wake(struct waiter *w, uint32_t events)
{
	fiber_wake(container_of(w, struct mutex_waiter, w)->fiber);
}
void mutex_lock(struct mutex *m)
{
	while (m->held) {
		struct mutex_waiter mw = {.w = {.fn = mutex_wake, .exclusive = true}, .fiber = fiber_self()};

		waitq_add(&m->q, &mw.w);
		fiber_block();
		waitq_del(&mw.w);
	}
	m->held = true;
}
void mutex_unlock(struct mutex *m)
{
	BUG_ON(!m->held);
	m->held = false;
	waitq_wake_one(&m->q, 0);
}

void task_notify_signal(struct task *t)
{
	if (t->in_sleep) {
		if (!t->sleep_killable || signal_fatal_pending(t) || t->exiting)
			fiber_wake(t->fiber);
	} else if (t->host && t != current) {
		plat_kick(t->host);
	}
}
