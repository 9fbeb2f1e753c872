/*
 * The conversation with the sentry: hand a request over, wait for the reply (spin while the sentry polls this
 * slot, ring the doorbell otherwise, sleep on the reply word when parked), execute the orders that come back.
 */
#include "stub.h"
#include <stdatomic.h>

#define SPIN_TURNS 2000

/* The processor we run on, as the kernel keeps it in TSC_AUX: lets the sentry spin on another one. */
static u64 this_cpu(void)
{
	u32 lo, hi, aux;

	__asm__ volatile("rdtscp" : "=a"(lo), "=d"(hi), "=c"(aux));
	return aux & 0xfff;
}

static void ring(u64 what, u64 token)
{
	s64 r = raw6(DOORBELL_NR, what, token, this_cpu(), 0, 0, COOKIE_OWN);

	if (r < 0 && r != -4 /* EINTR */ && r != -512)
		stub_die(125); /* the sentry is gone or refuses: nothing can be served any more */
}

static u32 wait_reply(struct mbox *m, u32 seq)
{
	if (atomic_load_explicit(&m->polled, memory_order_seq_cst))
		for (int i = 0; i < SPIN_TURNS; i++) {
			u32 r = atomic_load_explicit(&m->reply, memory_order_acquire);

			if (REPLY_SEQ(r) == seq && REPLY_STATE(r) != ST_NONE)
				break;
			__builtin_ia32_pause();
		}
	for (;;) {
		u32 r = atomic_load_explicit(&m->reply, memory_order_acquire);

		if (REPLY_SEQ(r) == seq && REPLY_STATE(r) != ST_NONE) {
			if (REPLY_STATE(r) != ST_PARK)
				return REPLY_STATE(r);
			atomic_store(&m->sleeping, 1);
			raw6(202, (u64)&m->reply, 0, r, 0, 0, COOKIE_OWN);
			atomic_store(&m->sleeping, 0);
			continue;
		}
		ring(RING_REQUEST, 0);
	}
}

static u32 ask(struct mbox *m, u32 kind)
{
	u32 seq = (atomic_load_explicit(&m->req, memory_order_relaxed) + 1) & SEQ_MASK;

	m->kind = kind;
	atomic_store_explicit(&m->req, seq, memory_order_seq_cst);
	return wait_reply(m, seq);
}

/* A new process: says who it is (the sentry puts its mailbox at descriptor 0), ties its life to the sentry's and
 * maps its mailbox, which fork did not copy. */
static void hello_process(u64 token)
{
	ring(RING_HELLO, token);
	raw6(157, 1, 9, 0, 0, 0, 0);
	if (raw6(9, MBOX_BASE, MBOX_TOTAL, 3, 0x11, COOKIE_OWN_HI << 32 | STUB_FD_MBOX, 0) != (s64)MBOX_BASE ||
	    raw6(28, MBOX_BASE, MBOX_TOTAL, 10, 0, 0, COOKIE_OWN))
		stub_die(126);
}

struct birth {
	u64 token;
	struct stub_uc *uc;
	u32 slot;
};
static void thread_main(void *arg)
{
	struct birth *b = arg;
	struct mbox *m = slot_mbox(b->slot);

	atomic_store(&m->req, 1);
	ring(RING_HELLO, b->token);
	stub_first_wait(m, b->uc);
	stub_enter_guest(b->uc);
}

/* Copy the live part of this thread's area (signal frame with extended state) to the new thread's. */
static s64 order_thread(struct mbox_order *o, struct stub_uc *uc)
{
	u64 area = slot_area(addr_slot((u64)uc)), child = slot_area((u32)o->slot), delta = child - area;
	struct stub_uc *cuc = (struct stub_uc *)((u64)uc + delta);

	if (o->slot >= SLOT_COUNT)
		return -22;
	stub_copy(cuc, uc, area + AREA_SIZE - (u64)uc);
	cuc->stack = (struct stub_stack_t){child, 0, 0, AREA_SIZE};
	if (cuc->fpregs)
		cuc->fpregs += delta;
	struct birth *b = (struct birth *)(((u64)cuc - 128) & ~15ull);

	b->token = o->token;
	b->uc = cuc;
	b->slot = (u32)o->slot;
	slot_mbox(b->slot)->frame = (u64)cuc;
	slot_mbox(b->slot)->fpstate = cuc->fpregs;
	return stub_clone(o->a[0], (u64)b - 16, o->a[4], COOKIE_ORDER, thread_main, b);
}

/* Returns true in the child of a fork. */
static int run_orders(struct mbox *m, struct stub_uc *uc)
{
	u32 n = m->norder;

	for (u32 i = 0; i < n && i < MBOX_ORDERS; i++) {
		struct mbox_order o = m->order[i];
		s64 r;

		if (o.nr == 56 && (o.a[0] & 0x100)) {
			r = order_thread(&o, uc);
		} else if (o.nr == 56) {
			r = stub_clone(o.a[0], 0, o.a[4], COOKIE_ORDER, NULL, NULL);
			if (r == 0) {
				hello_process(o.token);
				atomic_store(&m->req, 1);
				return 1;
			}
		} else if (o.nr == 9) {
			r = raw6(9, o.a[0], o.a[1], o.a[2], o.a[3],
				 COOKIE_ORDER_HI << 32 | (o.a[4] & 0xffffffff), o.a[5]);
		} else {
			r = raw6(o.nr, o.a[0], o.a[1], o.a[2], o.a[3], o.a[4], COOKIE_ORDER);
		}
		m->order[i].result = r;
		if (r < 0 && r > -4096)
			break;
	}
	return 0;
}

static __attribute__((noreturn)) void thread_exit(void)
{
	for (;;)
		raw6(60, 0, 0, 0, 0, 0, COOKIE_OWN);
}

/* The reply is DONE: outputs to their places, result or registers into the frame. */
static void finish(struct mbox *m, struct stub_uc *uc)
{
	u32 n = m->nout, flags = m->flags;
	s64 ret = m->ret;

	for (u32 i = 0; i < n && i < MBOX_SPANS; i++)
		if (stub_copy((void *)m->out[i].addr, (char *)m + m->out[i].off, m->out[i].size))
			ret = -14;
	if (flags & MBOX_REGS) {
		for (int i = 0; i < 23; i++)
			uc->gregs[i] = m->regs[i];
	} else {
		uc->gregs[R_RAX] = (u64)ret;
	}
	if (flags & MBOX_FP_RESET)
		uc->fpregs = 0;
	if (flags & MBOX_SET_FS)
		raw6(158, 0x1002, m->set_fs, 0, 0, 0, 0);
}

static void converse(struct mbox *m, struct stub_uc *uc, u32 st)
{
	for (;;) {
		switch (st) {
		case ST_DONE:
			finish(m, uc);
			return;
		case ST_ORDERS:
			if (run_orders(m, uc))
				st = wait_reply(m, 1);
			else
				st = ask(m, MB_ORDERS_DONE);
			break;
		case ST_COPY: {
			u32 size = m->copy_size;

			m->copy_done = 0;
			if (size <= MBOX_SIZE - MBOX_WINDOW) {
				char *w = (char *)m + MBOX_WINDOW;

				m->copy_done = size - (u64)(m->copy_out ? stub_copy((void *)m->copy_addr, w, size)
								   : stub_copy(w, (void *)m->copy_addr, size));
			}
			st = ask(m, MB_COPY_DONE);
			break;
		}
		case ST_XCHG:
			m->copy_done = stub_cmpxchg((void *)m->copy_addr, m->xchg_old, m->xchg_new);
			st = ask(m, MB_XCHG_DONE);
			break;
		case ST_EXIT:
			thread_exit();
		default:
			stub_die(127);
		}
	}
}

void stub_serve(struct mbox *m, struct stub_uc *uc, u32 kind)
{
	converse(m, uc, ask(m, kind));
}
/* A new thread or zygote: its first reply answers a request nobody made (sequence 1). */
void stub_first_wait(struct mbox *m, struct stub_uc *uc)
{
	converse(m, uc, wait_reply(m, 1));
}
