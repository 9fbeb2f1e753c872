/*
 * The event loop: epoll over the platform's listener, control socket and host descriptors; timers; fibers.
 * Platforms add a poll hook that looks at mailboxes between epoll waits.
 */
#ifndef WARD_LOOP_H
#define WARD_LOOP_H
#include <stdbool.h>
#include <stdint.h>
#include "sentry/base/list.h"

/* A host descriptor watched by the loop. fn runs in the loop, not on a fiber: wake something and return. */
struct loop_source {
	int fd;
	void (*fn)(struct loop_source *, uint32_t epoll_events);
};
/* EVENTS as for epoll (level-triggered). The source must stay alive until loop_unwatch. 0 or -errno. */
int loop_watch(struct loop_source *s, uint32_t events);
int loop_rewatch(struct loop_source *s, uint32_t events);
void loop_unwatch(struct loop_source *s);

/* One-shot timer; `deadline` in CLOCK_MONOTONIC nanoseconds. fn runs in the loop. */
struct timer {
	uint64_t deadline; /* 0: not armed */
	unsigned heap_index;
	void (*fn)(struct timer *);
};
int timer_arm(struct timer *t, uint64_t deadline_ns); /* re-arms; -ENOMEM possible on the first arm only */
void timer_cancel(struct timer *t);

uint64_t now_mono_ns(void);     /* CLOCK_MONOTONIC, read by vDSO */
uint64_t now_real_ns(void);     /* CLOCK_REALTIME */
uint64_t now_boot_ns(void);     /* CLOCK_BOOTTIME */

/* Platform hook: called every turn; returns true when it handled something (then the loop does not sleep).
 * may_sleep() is asked before epoll_wait blocks: it publishes "asleep" and returns false if work slipped in. */
struct loop_hook {
	bool (*poll)(void);
	bool (*may_sleep)(void);
};
void loop_set_hook(const struct loop_hook *h);

int loop_init(void);
void loop_run(void);  /* until loop_stop */
void loop_stop(void);
#endif
