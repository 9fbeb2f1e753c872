/*
 * The event loop. Each turn: ready fibers, the platform's hook, due timers, and now and then (or when there is
 * nothing else) epoll. Timers are a binary heap keyed by deadline.
 */
#include "sentry/loop.h"
#include "sentry/base/host.h"
#include "sentry/base/log.h"
#include "sentry/fiber.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>

static int epfd = -1;
static bool stop;
static const struct loop_hook *hook;
static struct timer **heap;
static unsigned heap_count, heap_cap;

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}
uint64_t now_mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}
uint64_t now_real_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}
uint64_t now_boot_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

/* --- timers: heap[1..count]; heap_index 0 = not armed ------------------------------------------------------- */
static void heap_place(unsigned i, struct timer *t)
{
	heap[i] = t;
	t->heap_index = i;
}
static void sift(unsigned i)
{
	struct timer *t = heap[i];

	while (i > 1 && t->deadline < heap[i / 2]->deadline) {
		heap_place(i, heap[i / 2]);
		i /= 2;
	}
	for (;;) {
		unsigned c = 2 * i;

		if (c > heap_count)
			break;
		if (c < heap_count && heap[c + 1]->deadline < heap[c]->deadline)
			c++;
		if (heap[c]->deadline >= t->deadline)
			break;
		heap_place(i, heap[c]);
		i = c;
	}
	heap_place(i, t);
}
int timer_arm(struct timer *t, uint64_t deadline_ns)
{
	t->deadline = deadline_ns ? deadline_ns : 1;
	if (t->heap_index) {
		sift(t->heap_index);
		return 0;
	}
	if (heap_count + 1 >= heap_cap) {
		unsigned cap = heap_cap ? 2 * heap_cap : 64;
		struct timer **h = realloc(heap, cap * sizeof *h);

		if (!h)
			return -ENOMEM;
		heap = h;
		heap_cap = cap;
	}
	heap_place(++heap_count, t);
	sift(heap_count);
	return 0;
}
void timer_cancel(struct timer *t)
{
	unsigned i = t->heap_index;

	t->deadline = 0;
	if (!i)
		return;
	t->heap_index = 0;
	struct timer *last = heap[heap_count--];

	if (last == t)
		return;
	heap_place(i, last);
	sift(i);
}
static bool run_timers(void)
{
	if (!heap_count)
		return false;
	uint64_t now = now_mono_ns();
	bool any = false;

	while (heap_count && heap[1]->deadline <= now) {
		struct timer *t = heap[1];

		timer_cancel(t);
		t->fn(t);
		any = true;
	}
	return any;
}

/* --- descriptors ------------------------------------------------------------------------------------------------ */
static int ctl(int op, struct loop_source *s, uint32_t events)
{
	struct epoll_event ev = {.events = events, .data.ptr = s};

	return epoll_ctl(epfd, op, s->fd, &ev) < 0 ? -errno : 0;
}
int loop_watch(struct loop_source *s, uint32_t events)
{
	return ctl(EPOLL_CTL_ADD, s, events);
}
int loop_rewatch(struct loop_source *s, uint32_t events)
{
	return ctl(EPOLL_CTL_MOD, s, events);
}
/* Events of this turn that are not yet handed out must not reach a source that went away. */
static struct epoll_event batch[32];
static int batch_count, batch_pos;
void loop_unwatch(struct loop_source *s)
{
	ctl(EPOLL_CTL_DEL, s, 0);
	for (int i = batch_pos; i < batch_count; i++)
		if (batch[i].data.ptr == s)
			batch[i].data.ptr = NULL;
}
static bool poll_fds(int64_t timeout_ns)
{
	struct timespec ts = {.tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000};

	batch_count = epoll_pwait2(epfd, batch, 32, timeout_ns < 0 ? NULL : &ts, NULL);
	for (batch_pos = 0; batch_pos < batch_count;) {
		struct epoll_event *e = &batch[batch_pos++];
		struct loop_source *s = e->data.ptr;

		if (s)
			s->fn(s, e->events);
	}
	return batch_count > 0;
}

void loop_set_hook(const struct loop_hook *h)
{
	hook = h;
}
int loop_init(void)
{
	epfd = epoll_create1(EPOLL_CLOEXEC);
	return epfd < 0 ? -errno : 0;
}
void loop_stop(void)
{
	stop = true;
}

#define TURNS_PER_EPOLL 64
void loop_run(void)
{
	unsigned turn = 0;

	while (!stop) {
		bool busy = fiber_run_ready() > 0;

		if (hook)
			busy |= hook->poll();
		busy |= run_timers();
		if (fiber_any_ready())
			busy = true;
		if (stop)
			break;
		if (busy || (hook && !hook->may_sleep())) {
			if (++turn % TURNS_PER_EPOLL == 0)
				poll_fds(0);
			continue;
		}
		int64_t timeout = -1;

		if (heap_count) {
			uint64_t now = now_mono_ns();

			timeout = heap[1]->deadline > now ? (int64_t)(heap[1]->deadline - now) : 0;
		}
		poll_fds(timeout);
	}
}
