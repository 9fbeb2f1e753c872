/*
 * Fibers: one stack per guest task, switched by hand. The sentry has one kernel thread; whichever fiber runs
 * owns all kernel state until it blocks. fiber_wake only queues: the woken fiber runs from the event loop.
 */
#ifndef WARD_FIBER_H
#define WARD_FIBER_H
#include <stdbool.h>
#include "sentry/base/list.h"

struct task;

struct fiber {
	struct list ready; /* on the loop's ready queue */
	void *sp;          /* saved stack pointer while not running */
	void *stack;       /* base of its mapping (guard page first) */
	void (*fn)(void *);
	void *arg;
	struct task *task; /* `current` while this fiber runs; NULL for kernel-only fibers */
	bool queued, done;
};

/* NULL when memory is short. The fiber starts when first woken. Its stack returns to a pool when FN returns. */
struct fiber *fiber_create(void (*fn)(void *), void *arg, struct task *task);
/* Sleep until fiber_wake. Only callable on a fiber. */
void fiber_block(void);
/* Queue F to run (no-op when it is queued already or is the running one's own pending wake). */
void fiber_wake(struct fiber *f);
/* Let every ready fiber run, then go on (a handler that copies megabytes calls this between chunks). */
void fiber_yield(void);
/* The running fiber; NULL in the event loop itself. */
struct fiber *fiber_self(void);
/* Called by the event loop: run every fiber that is ready now. Returns the number of switches. */
unsigned fiber_run_ready(void);
bool fiber_any_ready(void);
/* Called by the event loop: switch to F at once (hot path of a mailbox request). F must be blocked. */
void fiber_resume(struct fiber *f);
#endif
