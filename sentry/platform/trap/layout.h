/*
 * What the stub, the sentry and the filter generator agree on: addresses of the stub band, cookies, the mailbox.
 * Everything here lies in memory that belongs to the guest: the sentry copies a field once and validates it.
 *
 *   STUB_BASE   text and read-only data of the stub (linked there)
 *   VDSO_BASE   the host's vvar pages and vDSO, moved here by the zygote
 *   MBOX_BASE   mailboxes: one per thread slot, a memfd shared with the sentry, not inherited by fork
 *   AREA_BASE   thread areas: alternate signal stack of each thread slot, private memory
 */
#ifndef WARD_TRAP_LAYOUT_H
#define WARD_TRAP_LAYOUT_H
#include <stdint.h>

#define STUB_BASE 0x7ff000000000ull
#define STUB_END (STUB_BASE + 0x100000)
#define VDSO_BASE 0x7ff000200000ull
#define VDSO_SPAN 0x100000ull
#define MBOX_BASE 0x7ff010000000ull
#define MBOX_SIZE 16384ull
#define SLOT_COUNT 16384u
#define MBOX_TOTAL (MBOX_SIZE * SLOT_COUNT)
#define AREA_BASE 0x7ff100000000ull
#define AREA_SIZE 65536ull
#define AREA_TOTAL (AREA_SIZE * SLOT_COUNT)
#define BAND_END 0x7ffffffff000ull

/* Dead argument bits that tell the stub's own calls from the guest's. They protect nothing: what they unlock is
 * harmless (OWN) or compared argument by argument with what the sentry ordered (ORDER). */
#define COOKIE_OWN 0x57a4d0015eed0a11ull
#define COOKIE_ORDER 0x57a4d0025eed0a12ull
#define COOKIE_ORDER_HI 0x57a4d002ull /* upper half of mmap's descriptor */
#define COOKIE_OWN_HI 0x57a4d001ull

#define DOORBELL_NR 110 /* getppid with COOKIE_OWN in its sixth argument */
enum { RING_REQUEST = 0, RING_HELLO = 1 };

#define HOST_KICK 10 /* SIGUSR1 */

/* Descriptors of a stub. */
enum { STUB_FD_MBOX = 0, STUB_FD_SOCKET = 1, STUB_FD_MAP = 3 };

enum mbox_kind { MB_NONE, MB_CALL, MB_FAULT, MB_KICK, MB_ORDERS_DONE, MB_COPY_DONE, MB_XCHG_DONE };
enum mbox_state { ST_NONE, ST_DONE, ST_PARK, ST_ORDERS, ST_EXIT, ST_COPY, ST_XCHG };
#define REPLY_SEQ(r) ((r) >> 3)
#define REPLY_STATE(r) ((r)&7)
#define REPLY(seq, st) (((seq) << 3) | (st))
#define SEQ_MASK 0x1fffffffu

#define MBOX_SPANS 6
#define MBOX_ORDERS 16
struct mbox_span {
	uint64_t addr;
	uint32_t off, size;
};
struct mbox_order {
	uint64_t nr, a[6];
	int64_t result; /* written by the stub */
	uint64_t token; /* clone: proves which birth the child belongs to */
	uint64_t slot;  /* clone of a thread: its slot */
};
#define MBOX_REGS 1u     /* load all registers */
#define MBOX_FP_RESET 2u /* initial extended state */
#define MBOX_SET_FS 4u
#define MBOX_FSGSBASE 1u /* features: rdfsbase may be used */
struct mbox {
	/* written by the stub */
	_Atomic uint32_t req;
	uint32_t kind;
	_Atomic uint32_t sleeping;
	uint32_t pad0[13];
	/* written by the sentry */
	_Atomic uint32_t reply __attribute__((aligned(64)));
	_Atomic uint32_t polled;
	uint32_t flags, nout;
	int64_t ret;
	uint64_t set_fs;
	uint32_t norder, features;
	uint64_t copy_addr;
	uint32_t copy_size, copy_out;
	uint32_t xchg_old, xchg_new; /* compare-and-exchange of the word at copy_addr */
	/* the request */
	uint64_t nr __attribute__((aligned(64)));
	uint64_t args[6];
	uint32_t arch_ok, nstage;
	uint64_t frame, fpstate, fs_base, fault_addr;
	int32_t signo, code;
	uint64_t copy_done; /* bytes copied; of an exchange: the word as it was, XCHG_FAULT if it could not be done */
	uint64_t regs[23];
	struct mbox_span stage[MBOX_SPANS];
	struct mbox_span out[MBOX_SPANS];
	struct mbox_order order[MBOX_ORDERS];
};
#define XCHG_FAULT (~0ull)
#define MBOX_WINDOW 2304u
#define MBOX_WINDOW_OUT 9216u /* inputs below, outputs above */
_Static_assert(sizeof(struct mbox) <= MBOX_WINDOW, "mailbox control part");
#endif
