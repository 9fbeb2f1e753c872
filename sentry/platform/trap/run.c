/*
 * Requests and replies. A request is valid once: its sequence number is the last one plus one, its kind fits what
 * the thread was doing; everything in it is copied before use. One reply per request, except PARK, which comes
 * before it.
 */
#include "sentry/platform/trap/trap.h"
#include "sentry/base/log.h"
#include "sentry/fiber.h"
#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void thread_answer_ring(struct plat_thread *t)
{
	if (!t->ringing)
		return;
	t->ringing = false;
	notif_sync(!t->active);
	notif_reply(t->notif_id, 0, false);
}

void thread_publish(struct plat_thread *t, enum mbox_state st)
{
	struct mbox *m = t->m;

	if (st == ST_PARK)
		t->parked = true;
	else
		t->answered = true;
	atomic_store_explicit(&m->reply, REPLY(t->seq, st), memory_order_seq_cst);
	if (t->ringing)
		thread_answer_ring(t);
	else if (atomic_load_explicit(&m->sleeping, memory_order_seq_cst))
		futex_wake(&m->reply);
}

static bool take_spans(struct plat_thread *t)
{
	unsigned n = t->m->nstage;

	if (n > MBOX_SPANS)
		return false;
	memcpy(t->stage, t->m->stage, n * sizeof t->stage[0]);
	for (unsigned i = 0; i < n; i++) {
		struct mbox_span *s = &t->stage[i];

		if (s->off < MBOX_WINDOW || s->off > MBOX_WINDOW_OUT || s->size > MBOX_WINDOW_OUT - s->off)
			return false;
	}
	t->nstage = n;
	return true;
}

/* False: the mailbox holds what the stub could never have written. */
static bool take_request(struct plat_thread *t, uint32_t req)
{
	struct mbox *m = t->m;

	if (req != ((t->seq + 1) & SEQ_MASK))
		return false;
	t->kind = m->kind;
	switch (t->state) {
	case THR_RUNNING:
		if (t->kind != MB_CALL && t->kind != MB_FAULT && t->kind != MB_KICK)
			return false;
		break;
	case THR_ORDERED:
		if (t->kind != MB_ORDERS_DONE)
			return false;
		break;
	case THR_COPY:
		if (t->kind != MB_COPY_DONE)
			return false;
		break;
	case THR_XCHG:
		if (t->kind != MB_XCHG_DONE)
			return false;
		break;
	default:
		return false;
	}
	t->seq = req;
	t->answered = t->parked = false;
	if (t->state == THR_COPY || t->state == THR_XCHG) {
		t->copy_done = m->copy_done;
	} else if (t->state == THR_RUNNING) {
		t->nr = m->arch_ok && m->nr < 4096 ? (int)m->nr : -1;
		memcpy(t->args, m->args, sizeof t->args);
		memcpy(&t->regs, m->regs, sizeof t->regs);
		t->signo = m->signo;
		t->code = m->code;
		t->fault_addr = m->fault_addr;
		t->frame = m->frame;
		t->fpstate = m->fpstate;
		if (have_fsgsbase)
			t->fs_base = m->fs_base;
		t->nout = 0;
		t->out_off = MBOX_WINDOW_OUT;
		t->kicked = false;
		if (!take_spans(t))
			return false;
	}
	t->state = THR_STOPPED;
	return true;
}

bool thread_look(struct plat_thread *t)
{
	uint32_t req = atomic_load_explicit(&t->m->req, memory_order_acquire) & SEQ_MASK;

	if (req == t->seq || t->as->dead || !t->tid)
		return false;
	if (!take_request(t, req)) {
		as_violation(t->as, "mailbox: impossible request");
		return true;
	}
	spin_thread_stops(t);
	t->event = true;
	if (t->fiber)
		fiber_resume(t->fiber);
	return true;
}

void thread_wait_event(struct plat_thread *t)
{
	t->fiber = fiber_self();
	while (!t->event && !t->as->dead)
		fiber_block();
	t->event = false;
}

void plat_set_result(struct plat_thread *t, int64_t result)
{
	t->result = result;
	t->regs.rax = (uint64_t)result;
}

void plat_run(struct plat_thread *t, struct plat_event *ev)
{
	struct mbox *m = t->m;

	if (t->as->dead) {
		ev->kind = PLAT_DEAD;
		return;
	}
	m->ret = t->result;
	m->flags = (t->regs_dirty ? MBOX_REGS : 0) | (t->fp_reset ? MBOX_FP_RESET : 0) |
		   (t->set_fs ? MBOX_SET_FS : 0);
	if (t->regs_dirty)
		memcpy(m->regs, &t->regs, sizeof t->regs);
	m->set_fs = t->fs_base;
	m->nout = t->nout;
	if (t->nout)
		memcpy(m->out, t->out, t->nout * sizeof t->out[0]);
	t->regs_dirty = t->fp_reset = t->set_fs = false;
	t->nout = 0;
	t->state = THR_RUNNING;
	spin_thread_runs(t);
	thread_publish(t, ST_DONE);
	thread_wait_event(t);
	if (t->as->dead) {
		ev->kind = PLAT_DEAD;
		return;
	}
	switch (t->kind) {
	case MB_CALL:
		ev->kind = PLAT_CALL;
		ev->nr = t->nr;
		memcpy(ev->args, t->args, sizeof ev->args);
		stats.calls++;
		break;
	case MB_FAULT:
		ev->kind = PLAT_FAULT;
		ev->signo = t->signo;
		ev->code = t->code;
		ev->addr = t->fault_addr;
		t->regs_dirty = true; /* rax must not be taken from `ret` */
		stats.faults++;
		break;
	default:
		ev->kind = PLAT_KICKED;
		t->regs_dirty = true;
		stats.kicks++;
	}
}

void plat_park(struct plat_thread *t)
{
	if (t->parked || t->answered || t->as->dead || t->state != THR_STOPPED)
		return;
	outs_flush(t);
	stats.parks++;
	thread_publish(t, ST_PARK);
}

void plat_kick(struct plat_thread *t)
{
	if (t->state != THR_RUNNING || t->kicked || t->as->dead || !t->tid)
		return;
	t->kicked = true;
	syscall(SYS_tgkill, t->as->pid, t->tid, HOST_KICK);
}

struct guest_regs *plat_regs(struct plat_thread *t)
{
	return &t->regs;
}
void plat_regs_changed(struct plat_thread *t)
{
	t->regs_dirty = true;
}
int plat_set_fs_base(struct plat_thread *t, uint64_t base)
{
	if (base >= GUEST_TASK_SIZE)
		return -EPERM;
	t->fs_base = base;
	t->set_fs = true;
	return 0;
}
uint64_t plat_get_fs_base(struct plat_thread *t)
{
	return t->fs_base;
}
