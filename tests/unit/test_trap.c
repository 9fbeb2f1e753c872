/*
 * The trap platform by itself: tiny machine-code guests run under a fiber and their events are checked. Each case
 * starts its own zygote.
 */
#include "sentry/base/log.h"
#include "sentry/fiber.h"
#include "sentry/loop.h"
#include "sentry/platform/platform.h"
#include "sentry/platform/trap/layout.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define CODE 0x400000ull
#define DATA 0x600000ull
#define SP (DATA + 0x3000)

static void (*scenario)(struct plat_thread *t);
static bool finished;

/* A guest with CODE executable, DATA writable and BYTES at CODE. */
static struct plat_thread *guest(const void *bytes, size_t size)
{
	struct plat_thread *t;

	cr_assert_eq(plat_as_new(&t), 0);
	cr_assert_eq(plat_mmap(t, CODE, 0x1000, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, -1, 0), 0);
	cr_assert_eq(plat_mmap(t, DATA, 0x4000, PROT_READ | PROT_WRITE, MAP_PRIVATE, -1, 0), 0);
	cr_assert_eq(plat_write_mem(t, CODE, bytes, size), (long)size);
	plat_regs(t)->rip = CODE;
	plat_regs(t)->rsp = SP;
	plat_regs_changed(t);
	return t;
}
static void main_fiber(void *unused)
{
	/* mov $39,%eax; syscall; jmp to the start */
	static const unsigned char loop[] = {0xb8, 39, 0, 0, 0, 0x0f, 0x05, 0xeb, 0xf7};
	struct plat_thread *t = guest(loop, sizeof loop);

	scenario(t);
	finished = true;
	loop_stop();
}
static void run(void (*fn)(struct plat_thread *))
{
	struct err e = {0};

	scenario = fn;
	cr_assert_eq(loop_init(), 0);
	cr_assert_eq(plat_init(&e) || plat_start(&e), 0, "%s", e.text);
	fiber_wake(fiber_create(main_fiber, NULL, NULL));
	loop_run();
	plat_shutdown();
	cr_assert(finished);
}
static void expect_call(struct plat_thread *t, int nr)
{
	struct plat_event ev;

	plat_run(t, &ev);
	cr_assert_eq(ev.kind, PLAT_CALL);
	cr_assert_eq(ev.nr, nr);
}

static void calls(struct plat_thread *t)
{
	for (int i = 0; i < 1000; i++) {
		expect_call(t, SYS_getpid);
		cr_assert_eq(plat_regs(t)->rip, CODE + 7);
		plat_set_result(t, i);
	}
	plat_thread_exit(t);
}
Test(trap, calls_arrive_with_their_number_and_place, .timeout = 20)
{
	run(calls);
}

static struct plat_thread *other;
static int other_calls;
static void other_main(void *unused)
{
	struct plat_event ev;

	for (int i = 0; i < 10; i++) {
		plat_run(other, &ev);
		cr_assert_eq(ev.kind, PLAT_CALL);
		other_calls++;
		plat_set_result(other, 0);
	}
	plat_thread_exit(other);
}
static void forks(struct plat_thread *t)
{
	expect_call(t, SYS_getpid);
	cr_assert_eq(plat_fork(t, 0, false, 0, &other), 0);
	cr_assert_neq(plat_thread_as(other), plat_thread_as(t));
	/* memory is copied, not shared */
	uint64_t v = 7, w = 0;

	cr_assert_eq(plat_write_mem(other, DATA, &v, 8), 8);
	cr_assert_eq(plat_read_mem(t, &w, DATA, 8), 8);
	cr_assert_eq(w, 0);
	fiber_wake(fiber_create(other_main, NULL, NULL));
	while (other_calls < 10)
		expect_call(t, SYS_getpid);
	plat_thread_exit(t);
}
Test(trap, fork_copies_the_address_space, .timeout = 20)
{
	run(forks);
}

static void clones(struct plat_thread *t)
{
	expect_call(t, SYS_getpid);
	for (int round = 0; round < 50; round++) {
		other_calls = 0;
		cr_assert_eq(plat_clone(t, SP - 0x800, false, 0, &other), 0);
		cr_assert_eq(plat_thread_as(other), plat_thread_as(t));
		fiber_wake(fiber_create(other_main, NULL, NULL));
		while (other_calls < 10)
			expect_call(t, SYS_getpid);
	}
	plat_thread_exit(t);
}
Test(trap, threads_come_and_go_in_one_address_space, .timeout = 30)
{
	run(clones);
}

static void faults(struct plat_thread *t)
{
	struct plat_event ev;

	expect_call(t, SYS_getpid);
	cr_assert_eq(plat_munmap(t, CODE, 0x1000), 0);
	plat_run(t, &ev);
	cr_assert_eq(ev.kind, PLAT_FAULT);
	cr_assert_eq(ev.signo, 11);
	cr_assert_eq(ev.addr, CODE + 7);
	cr_assert_eq(plat_regs(t)->trapno, 14);
	plat_thread_exit(t);
}
Test(trap, a_fault_reports_signal_and_address, .timeout = 20)
{
	run(faults);
}

static void exchanges(struct plat_thread *t)
{
	uint32_t seen, value = 5;

	expect_call(t, SYS_getpid);
	cr_assert_eq(plat_write_mem(t, DATA, &value, 4), 4);
	cr_assert_eq(plat_cmpxchg32(t, DATA, 5, 9, &seen), 0);
	cr_assert_eq(seen, 5);
	cr_assert_eq(plat_cmpxchg32(t, DATA, 5, 11, &seen), 0);
	cr_assert_eq(seen, 9, "a word that differs is reported and left alone");
	cr_assert_eq(plat_read_mem(t, &value, DATA, 4), 4);
	cr_assert_eq(value, 9);
	cr_assert_eq(plat_cmpxchg32(t, DATA + 2, 0, 1, &seen), -EFAULT);
	cr_assert_eq(plat_cmpxchg32(t, 0x700000, 0, 1, &seen), -EFAULT);
	cr_assert_eq(plat_mprotect(t, DATA, 0x1000, PROT_READ), 0);
	cr_assert_eq(plat_cmpxchg32(t, DATA, 9, 1, &seen), -EFAULT);
	expect_call(t, SYS_getpid);
	plat_thread_exit(t);
}
Test(trap, a_word_is_exchanged_by_its_own_process, .timeout = 20)
{
	run(exchanges);
}

/* A guest that uses the cookie to make a call nobody ordered is killed. */
static void unordered(struct plat_thread *t)
{
	/* mov $11,%eax; xor %edi,%edi; mov $4096,%esi; xor edx,edx; xor r10d,r10d; xor r8d,r8d; movabs $COOKIE,%r9; syscall */
	static const unsigned char code[] = {0xb8, 11,	 0,    0,    0,	   0x31, 0xff, 0xbe, 0,	   16,	 0,    0,
					     0x31, 0xd2, 0x45, 0x31, 0xd2, 0x45, 0x31, 0xc0, 0x49, 0xb9};
	unsigned char all[sizeof code + 10];
	uint64_t cookie = COOKIE_ORDER;
	struct plat_event ev;

	memcpy(all, code, sizeof code);
	memcpy(all + sizeof code, &cookie, 8);
	memcpy(all + sizeof code + 8, "\x0f\x05", 2);
	expect_call(t, SYS_getpid);
	cr_assert_eq(plat_write_mem(t, CODE + 0x100, all, sizeof all), (long)sizeof all);
	plat_regs(t)->rip = CODE + 0x100;
	plat_regs_changed(t);
	plat_run(t, &ev);
	cr_assert_eq(ev.kind, PLAT_DEAD);
	plat_thread_exit(t);
}
Test(trap, a_call_that_was_not_ordered_kills, .timeout = 20)
{
	log_setup(2, LOG_ERROR);
	run(unordered);
}

static struct plat_thread *kick_target;
static void kick_fire(struct timer *unused)
{
	plat_kick(kick_target);
}
static void kicks(struct plat_thread *t)
{
	static struct timer timer = {.fn = kick_fire};

	static const unsigned char spin[] = {0xeb, 0xfe}; /* jmp . */
	struct plat_event ev;

	expect_call(t, SYS_getpid);
	cr_assert_eq(plat_write_mem(t, CODE + 0x100, spin, 2), 2);
	plat_regs(t)->rip = CODE + 0x100;
	plat_regs_changed(t);
	kick_target = t;
	cr_assert_eq(timer_arm(&timer, now_mono_ns() + 2000000), 0);
	plat_run(t, &ev);
	cr_assert_eq(ev.kind, PLAT_KICKED);
	cr_assert_eq(plat_regs(t)->rip, CODE + 0x100);
	plat_thread_exit(t);
}
Test(trap, a_kick_interrupts_guest_code, .timeout = 20)
{
	run(kicks);
}
