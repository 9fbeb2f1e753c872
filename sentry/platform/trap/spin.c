/*
 * Spinning: after a thread was resumed its next call often comes within microseconds; while we watch its mailbox
 * the call needs no notification. It is worth it only with a free core and while the watch pays: every watch that
 * found nothing halves the willingness to watch again.
 */
#include "sentry/platform/trap/trap.h"
#include "sentry/loop.h"
#include <sched.h>
#include <stdatomic.h>

#define ACTIVE_MAX 16
#define WATCH_NS 30000
bool feature_off(const char *name);

static struct plat_thread *active[ACTIVE_MAX];
static unsigned active_count, cores, running;
static uint64_t watch_until;
static unsigned misses;     /* consecutive watches without a call */
static unsigned skip;       /* resumes to let pass before watching again */
static bool enabled;
static cpu_set_t allowed;

void spin_init(void)
{
	cores = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? (unsigned)CPU_COUNT(&allowed) : 1;
	enabled = cores > 1 && !feature_off("spin");
}

static void drop(struct plat_thread *t)
{
	if (!t->active)
		return;
	t->active = false;
	active[t->active_index] = active[--active_count];
	active[t->active_index]->active_index = t->active_index;
	atomic_store_explicit(&t->m->polled, 0, memory_order_seq_cst);
}

static unsigned own_cpu(void)
{
	unsigned lo, hi, aux;

	__asm__ volatile("rdtscp" : "=a"(lo), "=d"(hi), "=c"(aux));
	return aux & 0xfff;
}

/*
 * Spinning on the guest's own core would keep it from running, and the scheduler is slow to part two tasks that
 * woke each other: step aside ourselves. On a busy machine the other core has its own work and moving there costs a
 * scheduler slice: a slow move makes the next one wait, up to seconds. True when we are elsewhere now.
 */
static bool step_aside(unsigned from)
{
	static uint64_t not_before, pause_ns = 1000000;
	uint64_t before = now_mono_ns(), after;
	cpu_set_t other = allowed;

	if (before < not_before)
		return false;
	CPU_CLR(from, &other);
	if (!CPU_COUNT(&other) || sched_setaffinity(0, sizeof other, &other) < 0)
		return false;
	sched_setaffinity(0, sizeof allowed, &allowed);
	after = now_mono_ns();
	if (after - before > 100000)
		pause_ns = pause_ns < 2000000000 ? pause_ns * 4 : pause_ns;
	else
		pause_ns = 1000000;
	not_before = after + pause_ns;
	return own_cpu() != from;
}

void spin_thread_runs(struct plat_thread *t)
{
	running++;
	bool want = enabled && running < cores && !t->after_order && active_count < ACTIVE_MAX;

	t->after_order = false;
	if (want && skip) {
		skip--;
		want = false;
	}
	if (want && t->cpu == own_cpu() && !(t->ringing && step_aside(t->cpu)))
		want = false;
	if (!want) {
		drop(t);
		return;
	}
	if (!t->active) {
		t->active = true;
		t->active_index = active_count;
		active[active_count++] = t;
		atomic_store_explicit(&t->m->polled, 1, memory_order_seq_cst);
	}
	watch_until = now_mono_ns() + WATCH_NS;
}

void spin_thread_stops(struct plat_thread *t)
{
	if (running)
		running--;
	if (t->active && !t->ringing) {
		misses = 0;
		stats.by_mailbox++;
	}
}

void spin_forget(struct plat_thread *t)
{
	if (t->state == THR_RUNNING && running)
		running--;
	drop(t);
}

static bool spin_poll(void)
{
	bool any = false;

	for (unsigned i = 0; i < active_count; i++) {
		struct plat_thread *t = active[i];

		if (t->state == THR_RUNNING && thread_look(t)) {
			any = true;
			break; /* the list may have changed */
		}
		__builtin_ia32_pause();
	}
	return any;
}

static bool spin_may_sleep(void)
{
	bool someone = false;

	if (!active_count)
		return true;
	for (unsigned i = 0; i < active_count; i++)
		someone |= active[i]->state == THR_RUNNING;
	/* With a guest thread for every core there is none to spin on: the scheduler would let them wait for us. */
	if (someone && running < cores && now_mono_ns() < watch_until)
		return false;
	if (someone && running < cores) {
		misses = misses < 10 ? misses + 1 : 10;
		skip = misses > 2 ? 1u << (misses - 2) : 0;
	}
	/* Stop watching: say so, then look once more (a stub stores its request before it reads `polled`). */
	struct plat_thread *was[ACTIVE_MAX];
	unsigned n = active_count;
	bool slept = true;

	for (unsigned i = 0; i < n; i++)
		was[i] = active[i];
	while (active_count)
		drop(active[active_count - 1]);
	for (unsigned i = 0; i < n && slept; i++)
		if (was[i]->state == THR_RUNNING && thread_look(was[i]))
			slept = false; /* others that slipped in ring the bell when their spin ends */
	return slept;
}

const struct loop_hook spin_hook = {spin_poll, spin_may_sleep};
