/*
 * Address spaces and threads: birth (from the zygote, by fork, by clone), identity, death. A new thread counts
 * only when it has said hello with the token of a birth that is expected, from the thread group expected.
 */
#include "sentry/platform/trap/trap.h"
#include "sentry/base/host.h"
#include "sentry/base/log.h"
#include "sentry/fiber.h"
#include "sentry/loop.h"
#include "sentry/wait.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BUCKETS 4096
static struct list tid_hash[BUCKETS], pid_hash[BUCKETS];
struct list births = LIST_INIT(births);
struct plat_stats stats;

struct quarantined {
	struct list node;   /* as->quarantine */
	struct list leaving;
	uint32_t slot;
	pid_t tid;
};

static struct list leaving = LIST_INIT(leaving);

static void quarantine_drop(struct quarantined *q)
{
	list_del(&q->node);
	list_del(&q->leaving);
	free(q);
}
/* Is TID a thread that was told to exit? Its last doorbell may cross that reply. */
bool thread_is_leaving(pid_t tid)
{
	struct quarantined *q;

	list_for_each (q, &leaving, leaving)
		if (q->tid == tid)
			return true;
	return false;
}

static struct list *bucket(struct list *table, pid_t id)
{
	struct list *b = &table[(unsigned)id % BUCKETS];

	if (!b->next)
		list_init(b);
	return b;
}
struct plat_thread *thread_by_tid(pid_t tid)
{
	struct plat_thread *t;

	list_for_each (t, bucket(tid_hash, tid), hash)
		if (t->tid == tid)
			return t;
	return NULL;
}
struct plat_as *as_by_pid(pid_t pid)
{
	struct plat_as *as;

	list_for_each (as, bucket(pid_hash, pid), hash)
		if (as->pid == pid)
			return as;
	return NULL;
}
void thread_set_tid(struct plat_thread *t, pid_t tid)
{
	t->tid = tid;
	list_add(bucket(tid_hash, tid), &t->hash);
}
void as_set_pid(struct plat_as *as, pid_t pid)
{
	as->pid = pid;
	list_add(bucket(pid_hash, pid), &as->hash);
}

static void as_unmap(struct plat_as *as)
{
	if (as->mbox)
		host_munmap(as->mbox, MBOX_TOTAL);
	if (as->mbox_fd >= 0)
		host_close(as->mbox_fd);
	as->mbox = NULL;
	as->mbox_fd = -1;
}
/* Memory goes when the last thread is handed back; the record stays until the host process is reaped. */
static void as_settle(struct plat_as *as)
{
	struct quarantined *q, *tmp;

	if (as->live)
		return;
	as_unmap(as);
	if (as->pid && !as->reaped)
		return;
	list_for_each_safe (q, tmp, &as->quarantine, node)
		quarantine_drop(q);
	list_del(&as->hash);
	free(as);
}

struct plat_as *as_alloc(void)
{
	struct plat_as *as = calloc(1, sizeof *as);

	if (!as)
		return NULL;
	list_init(&as->hash);
	list_init(&as->threads);
	list_init(&as->quarantine);
	as->mbox_fd = host_memfd_create("ward-mailbox", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (as->mbox_fd < 0 || host_ftruncate(as->mbox_fd, MBOX_TOTAL) < 0 ||
	    host_fcntl(as->mbox_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		goto fail;
	void *p = host_mmap(NULL, MBOX_TOTAL, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, as->mbox_fd, 0);

	if (host_is_err(p))
		goto fail;
	as->mbox = p;
	stats.spaces++;
	return as;
fail:
	as_unmap(as);
	free(as);
	return NULL;
}

/* Lowest slot that no living host thread can still be using. */
static int slot_alloc(struct plat_as *as)
{
	struct quarantined *q, *tmp;
	int tries = 0;

	list_for_each_safe (q, tmp, &as->quarantine, node) {
		if (++tries > 8)
			break;
		if (syscall(SYS_tgkill, as->pid, q->tid, 0) == 0)
			continue;
		as->slots[q->slot / 64] &= ~(1ull << (q->slot % 64));
		quarantine_drop(q);
	}
	for (unsigned i = 0; i < SLOT_COUNT / 64; i++)
		if (~as->slots[i]) {
			unsigned s = i * 64 + (unsigned)__builtin_ctzll(~as->slots[i]);

			as->slots[i] |= 1ull << (s % 64);
			return (int)s;
		}
	return -EAGAIN;
}

struct plat_thread *thread_new(struct plat_as *as, uint32_t slot)
{
	struct plat_thread *t = calloc(1, sizeof *t);

	if (!t)
		return NULL;
	as->slots[slot / 64] |= 1ull << (slot % 64);
	t->as = as;
	t->slot = slot;
	t->m = (struct mbox *)(as->mbox + slot * MBOX_SIZE);
	t->seq = 1;
	t->state = THR_STOPPED;
	t->out_off = MBOX_WINDOW_OUT;
	t->regs.cs = 0x33;
	t->regs.ss = 0x2b;
	t->regs.eflags = 0x202;
	t->regs_dirty = true;
	t->m->features = have_fsgsbase ? MBOX_FSGSBASE : 0;
	atomic_store(&t->m->req, 1);
	atomic_store(&t->m->reply, REPLY(1, ST_NONE));
	atomic_store(&t->m->polled, 0);
	atomic_store(&t->m->sleeping, 0);
	list_init(&t->hash);
	list_init(&t->birth);
	list_add_tail(&as->threads, &t->node);
	as->live++;
	return t;
}

static void thread_free(struct plat_thread *t)
{
	struct plat_as *as = t->as;

	spin_forget(t);
	list_del(&t->birth);
	list_del(&t->hash);
	list_del(&t->node);
	free(t);
	as->live--;
}

/* A child that the host made but that never says hello was led astray by its parent: the parent pays. */
#define HELLO_NS 5000000000ull
struct birth_timer {
	struct timer timer;
	struct plat_as *parent;
};
static void birth_late(struct timer *timer)
{
	as_violation(container_of(timer, struct birth_timer, timer)->parent, "its child never said hello");
}

/* Have PARENT's host thread clone; CHILD is what we expect to say hello. 0 or -errno; on failure CHILD is gone. */
static int give_birth(struct plat_thread *parent, struct plat_thread *child, uint64_t flags, uint64_t tls)
{
	struct order o = {.nr = SYS_clone, .a = {flags, 0, 0, 0, tls, 0}, .hostfd = -1, .slot = child->slot};

	host_getrandom(&child->token, sizeof child->token);
	o.token = child->token;
	child->is_process = !(flags & CLONE_VM);
	list_add(&births, &child->birth);
	int r = orders_run(parent, &o, 1);

	if (r == 0 && !child->tid) {
		struct birth_timer late = {.timer.fn = birth_late, .parent = parent->as};

		child->fiber = fiber_self();
		timer_arm(&late.timer, now_mono_ns() + HELLO_NS);
		while (!child->tid && !parent->as->dead && !child->as->dead)
			fiber_block();
		timer_cancel(&late.timer);
		if (!child->tid)
			r = -EAGAIN;
	}
	list_del(&child->birth);
	if (r < 0) {
		struct plat_as *as = child->as;

		thread_free(child);
		if (as != parent->as)
			as_settle(as);
	}
	return r;
}

static void inherit(struct plat_thread *child, const struct plat_thread *t, uint64_t child_sp)
{
	child->regs = t->regs;
	child->regs.rax = 0;
	if (child_sp)
		child->regs.rsp = child_sp;
	child->regs_dirty = true;
	child->frame = t->frame;
	child->fpstate = t->fpstate;
	child->fs_base = t->fs_base;
}

static int new_process(struct plat_thread *t, uint32_t slot, uint64_t flags, uint64_t tls,
		       struct plat_thread **out)
{
	struct plat_as *as = as_alloc();
	struct plat_thread *child = as ? thread_new(as, slot) : NULL;

	if (!child) {
		if (as)
			as_settle(as);
		return -ENOMEM;
	}
	int r = give_birth(t, child, CLONE_PARENT | SIGCHLD | flags, tls);

	if (r < 0)
		return r;
	*out = child;
	return 0;
}

/* The zygote serves one birth at a time. */
static struct mutex zygote_lock = {.q = {LIST_INIT(zygote_lock.q.waiters)}};

int plat_as_new(struct plat_thread **out)
{
	mutex_lock(&zygote_lock);
	int r = new_process(zygote, 0, 0, 0, out);

	mutex_unlock(&zygote_lock);
	if (r == 0) {
		(*out)->frame = zygote->frame;
		(*out)->fpstate = 0;
	}
	return r;
}

int plat_fork(struct plat_thread *t, uint64_t child_sp, bool set_tls, uint64_t tls, struct plat_thread **out)
{
	int r = new_process(t, t->slot, set_tls ? CLONE_SETTLS : 0, set_tls ? tls : 0, out);

	if (r < 0)
		return r;
	inherit(*out, t, child_sp);
	stats.forks++;
	return 0;
}

int plat_clone(struct plat_thread *t, uint64_t child_sp, bool set_tls, uint64_t tls, struct plat_thread **out)
{
	int slot = slot_alloc(t->as);

	if (slot < 0)
		return slot;
	struct plat_thread *child = thread_new(t->as, (uint32_t)slot);

	if (!child) {
		t->as->slots[slot / 64] &= ~(1ull << (slot % 64));
		return -ENOMEM;
	}
	int r = give_birth(t, child,
			   CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
			       (set_tls ? CLONE_SETTLS : 0),
			   set_tls ? tls : 0);
	if (r < 0) {
		t->as->slots[slot / 64] &= ~(1ull << (slot % 64));
		return r;
	}
	inherit(child, t, child_sp);
	uint64_t delta = ((uint64_t)child->slot - t->slot) * AREA_SIZE;

	child->frame += delta;
	if (child->fpstate)
		child->fpstate += delta;
	stats.clones++;
	*out = child;
	return 0;
}

void plat_as_kill(struct plat_as *as)
{
	struct plat_thread *t;

	if (as->dead)
		return;
	as->dead = true;
	stats.killed++;
	if (as->pid && !as->reaped)
		host_kill(as->pid, SIGKILL);
	list_for_each (t, &as->threads, node)
		if (t->fiber && t->fiber != fiber_self())
			fiber_wake(t->fiber);
}
void as_violation(struct plat_as *as, const char *why)
{
	log_warn("guest process (host pid %d) killed: %s", as->pid, why);
	plat_as_kill(as);
}

void plat_thread_exit(struct plat_thread *t)
{
	struct plat_as *as = t->as;

	if (as->live == 1) {
		plat_as_kill(as);
	} else if (!as->dead && t->tid) {
		struct quarantined *q = malloc(sizeof *q);

		if (!q) {
			plat_as_kill(as);
		} else {
			q->slot = t->slot;
			q->tid = t->tid;
			list_add(&as->quarantine, &q->node);
			list_add(&leaving, &q->leaving);
			thread_publish(t, ST_EXIT);
		}
	}
	thread_free(t);
	as_settle(as);
}

struct plat_as *plat_thread_as(struct plat_thread *t)
{
	return t->as;
}

uint64_t plat_thread_cpu_ns(struct plat_thread *t)
{
	struct timespec ts;
	clockid_t id = (clockid_t)((~(unsigned)t->as->pid << 3) | 2);

	if (!t->as->pid || clock_gettime(id, &ts) < 0)
		return 0;
	return (uint64_t)(ts.tv_sec * 1000000000ll + ts.tv_nsec) / (t->as->live ? t->as->live : 1);
}

/* SIGCHLD: collect host processes that ended, by our hand or by somebody else's. */
void reap_children(void)
{
	for (;;) {
		siginfo_t si = {0};

		if (waitid(P_ALL, 0, &si, WEXITED | WNOHANG) < 0 || !si.si_pid)
			return;
		struct plat_as *as = as_by_pid(si.si_pid);

		if (!as)
			continue;
		if (as == zygote->as)
			ward_panic("the zygote died (status %d): the sandbox cannot go on", si.si_status);
		if (!as->dead)
			log_info("stub %d died from outside (code %d status %d)", si.si_pid, si.si_code,
				 si.si_status);
		as->reaped = true;
		plat_as_kill(as);
		as_settle(as);
	}
}

const struct plat_stats *plat_stats(void)
{
	return &stats;
}

/* The end: every stub dies, the zygote last. */
void spaces_kill_all(void)
{
	for (unsigned i = 0; i < BUCKETS; i++) {
		struct plat_as *as;

		if (!pid_hash[i].next)
			continue;
		list_for_each (as, &pid_hash[i], hash)
			if (!as->reaped)
				host_kill(as->pid, SIGKILL);
	}
}
