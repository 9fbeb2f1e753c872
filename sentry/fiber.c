/*
 * Fibers: a switch saves the callee-saved registers on the old stack and pops them from the new one. The event
 * loop is the "root" side of every switch: fibers never switch to each other directly, so the loop sees every
 * turn and a wake-up costs two short switches.
 */
#include "sentry/fiber.h"
#include "sentry/base/host.h"
#include "sentry/base/log.h"
#include <stdlib.h>
#include <sys/mman.h>
#ifdef WARD_ASAN
#include <sanitizer/common_interface_defs.h>
#define FIBER_STACK (512ul << 10)
#else
#define FIBER_STACK (128ul << 10)
#endif
#define GUARD 4096ul
#define POOL_MAX 64

extern struct task *current;

static struct list ready = LIST_INIT(ready);
static struct fiber *running;
static void *root_sp;
static void *pool[POOL_MAX];
static unsigned pool_count;
static unsigned long switches;
#ifdef WARD_ASAN
static void *root_fake;
static const void *root_bottom;
static size_t root_size;
#endif

void fiber_switch_asm(void **save, void *load);
__asm__(".text\n"
	".globl fiber_switch_asm\n"
	".type fiber_switch_asm,@function\n"
	"fiber_switch_asm:\n"
	"	push %rbp\n	push %rbx\n	push %r12\n	push %r13\n	push %r14\n	push %r15\n"
	"	mov %rsp,(%rdi)\n"
	"	mov %rsi,%rsp\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbx\n	pop %rbp\n"
	"	ret\n"
	".size fiber_switch_asm,.-fiber_switch_asm\n");

static void to_root(struct fiber *f, bool last)
{
#ifdef WARD_ASAN
	void *fake = NULL;
	__sanitizer_start_switch_fiber(last ? NULL : &fake, root_bottom, root_size);
#endif
	fiber_switch_asm(&f->sp, root_sp);
#ifdef WARD_ASAN
	__sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
	(void)last;
}

static void fiber_entry(void)
{
	struct fiber *f = running;

#ifdef WARD_ASAN
	__sanitizer_finish_switch_fiber(NULL, &root_bottom, &root_size);
#endif
	f->fn(f->arg);
	f->done = true;
	to_root(f, true);
	ward_panic("a finished fiber was resumed");
}

static void *stack_alloc(void)
{
	if (pool_count)
		return pool[--pool_count];
	char *base = host_mmap(NULL, FIBER_STACK + GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			       -1, 0);

	if (host_is_err(base))
		return NULL;
	if (host_is_err(host_mmap(base + GUARD, FIBER_STACK, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0))) {
		host_munmap(base, FIBER_STACK + GUARD);
		return NULL;
	}
	return base;
}

static void stack_free(void *stack)
{
	if (pool_count < POOL_MAX)
		pool[pool_count++] = stack;
	else
		host_munmap(stack, FIBER_STACK + GUARD);
}

struct fiber *fiber_create(void (*fn)(void *), void *arg, struct task *task)
{
	struct fiber *f = calloc(1, sizeof *f);

	if (!f)
		return NULL;
	f->stack = stack_alloc();
	if (!f->stack) {
		free(f);
		return NULL;
	}
	f->fn = fn;
	f->arg = arg;
	f->task = task;
	list_init(&f->ready);
	/* The frame that the first switch pops: six registers, then the entry as return address (16n+8 at entry). */
	void **top = (void **)((char *)f->stack + GUARD + FIBER_STACK);

	*--top = NULL;
	*--top = (void *)fiber_entry;
	for (int i = 0; i < 6; i++)
		*--top = NULL;
	f->sp = top;
	return f;
}

static void reap(struct fiber *f)
{
	list_del(&f->ready);
	stack_free(f->stack);
	free(f);
}

/* From the loop into F until it blocks or ends. */
static void enter(struct fiber *f)
{
	running = f;
	current = f->task;
	switches++;
#ifdef WARD_ASAN
	__sanitizer_start_switch_fiber(&root_fake, (char *)f->stack + GUARD, FIBER_STACK);
#endif
	fiber_switch_asm(&root_sp, f->sp);
#ifdef WARD_ASAN
	__sanitizer_finish_switch_fiber(root_fake, NULL, NULL);
#endif
	running = NULL;
	current = NULL;
	if (f->done)
		reap(f);
}

void fiber_block(void)
{
	BUG_ON(!running);
	to_root(running, false);
}

void fiber_wake(struct fiber *f)
{
	if (f->queued || f->done)
		return;
	f->queued = true;
	list_add_tail(&ready, &f->ready);
}

void fiber_yield(void)
{
	fiber_wake(running);
	fiber_block();
}

struct fiber *fiber_self(void)
{
	return running;
}

bool fiber_any_ready(void)
{
	return !list_empty(&ready);
}

unsigned fiber_run_ready(void)
{
	unsigned n = 0;

	/* Bounded: fibers woken meanwhile run in this turn too, but descriptors get their look in between. */
	while (!list_empty(&ready) && n < 256) {
		struct fiber *f = list_first(&ready, struct fiber, ready);

		list_del(&f->ready);
		f->queued = false;
		enter(f);
		n++;
	}
	return n;
}

void fiber_resume(struct fiber *f)
{
	BUG_ON(running);
	if (f->queued) {
		list_del(&f->ready);
		f->queued = false;
	}
	enter(f);
}
