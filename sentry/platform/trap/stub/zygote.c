/*
 * The zygote: cleans its address space down to the stub band, installs the filter, hands the listener to the
 * sentry and then only executes orders; every guest process descends from it. Arguments, hexadecimal: size of the
 * vvar pages before the vDSO, size of the vDSO, filter flags, then the size of each vvar mapping.
 */
#include "stub.h"
#include <linux/filter.h>
#include <stdatomic.h>
#include <stub_filter.h>

/* Shared by the two threads of the start, in the window of slot 0's mailbox. */
struct start {
	_Atomic int listener; /* PENDING, a descriptor or -errno */
	_Atomic int gone;     /* cleared by the kernel when the helper thread has ended */
	u64 vvar_size, vdso_size, filter_flags;
};
#define PENDING (-10000)
#define START ((struct start *)(MBOX_BASE + MBOX_WINDOW))

static u64 parse_hex(const char *s)
{
	u64 v = 0;

	for (; *s; s++)
		v = v << 4 | (u64)(*s <= '9' ? *s - '0' : *s - 'a' + 10);
	return v;
}

static void set_handler(int sig, u64 mask, u64 extra)
{
	u64 act[4] = {(u64)stub_on_signal, 4 /*SIGINFO*/ | 0x08000000 /*ONSTACK*/ | 0x04000000 /*RESTORER*/ | extra,
		      (u64)stub_restorer, mask};

	if (raw6(13, (u64)sig, (u64)act, 0, 8, 0, 0))
		stub_die(120);
}

/* The helper thread is not filtered: it sends the listener over the socket, closes everything but the mailbox
 * and ends, before any guest byte exists. It polls, since a filtered thread may not wake anyone. */
static void send_listener(void *unused)
{
	int fd;

	while ((fd = atomic_load(&START->listener)) == PENDING)
		raw6(24, 0, 0, 0, 0, 0, 0);
	struct {
		u64 len;
		int level, type, fd, pad;
	} c = {20, 1, 1, fd, 0};
	int status = fd;
	u64 iov[2] = {(u64)&status, 4};
	u64 msg[7] = {0, 0, (u64)iov, 1, fd >= 0 ? (u64)&c : 0, fd >= 0 ? 24 : 0, 0};

	raw6(46, STUB_FD_SOCKET, (u64)msg, 0, 0, 0, 0);
	if (raw6(436, 1, ~0u, 0, 0, 0, 0)) /* close_range */
		stub_die(123);
	for (;;)
		raw6(60, 0, 0, 0, 0, 0, 0);
}

static void second_half(void *unused)
{
	/* Nothing but the band remains, and of the band only our pieces. */
	u64 vdso_end = VDSO_BASE + START->vvar_size + START->vdso_size;

	raw6(11, 0, STUB_BASE, 0, 0, 0, 0);
	raw6(11, STUB_END, VDSO_BASE - STUB_END, 0, 0, 0, 0);
	raw6(11, vdso_end, MBOX_BASE - vdso_end, 0, 0, 0, 0);
	raw6(11, MBOX_BASE + MBOX_TOTAL, AREA_BASE - MBOX_BASE - MBOX_TOTAL, 0, 0, 0, 0);
	raw6(11, AREA_BASE + AREA_TOTAL, BAND_END - AREA_BASE - AREA_TOTAL, 0, 0, 0, 0);

	u64 area = slot_area(0), kick = 1ull << (HOST_KICK - 1);
	struct stub_stack_t ss = {area, 0, 0, AREA_SIZE};

	raw6(131, (u64)&ss, 0, 0, 0, 0, 0);
	set_handler(31, kick, 0x40000000);
	set_handler(11, kick, 0x40000000);
	set_handler(7, kick, 0x40000000);
	set_handler(8, kick, 0x40000000);
	set_handler(4, kick, 0x40000000);
	set_handler(5, kick, 0x40000000);
	set_handler(HOST_KICK, 0, 0);

	atomic_store(&START->listener, PENDING);
	atomic_store(&START->gone, 1);
	if (stub_helper(slot_area(1) + AREA_SIZE - 16, &START->gone, send_listener) < 0)
		stub_die(121);
	struct sock_fprog prog = {sizeof stub_filter / sizeof stub_filter[0], (struct sock_filter *)stub_filter};
	s64 fd = raw6(317, 1 /*SET_MODE_FILTER*/, START->filter_flags, (u64)&prog, 0, 0, 0);

	atomic_store(&START->listener, (int)fd);
	while (atomic_load(&START->gone))
		raw6(24, 0, 0, 0, 0, 0, 0);
	if (fd < 0)
		raw6(231, 122, 0, 0, 0, 0, 0);
	/* A fabricated frame: the first reply fills its registers and enters the guest. */
	struct stub_uc *uc = (struct stub_uc *)(area + AREA_SIZE - 2048);
	struct mbox *m = slot_mbox(0);

	for (u32 i = 0; i < sizeof *uc / 8; i++)
		((volatile u64 *)uc)[i] = 0;
	uc->flags = 6;
	uc->stack = ss;
	uc->gregs[R_CSGSFS] = 0x002b000000000033ull;
	uc->gregs[R_EFL] = 0x202;
	m->frame = (u64)uc;
	m->fpstate = 0;
	atomic_store(&m->req, 1);
	stub_first_wait(m, uc);
	stub_enter_guest(uc);
}

void zygote_main(u64 *sp);
void zygote_main(u64 *sp)
{
	char **argv = (char **)(sp + 1);
	u64 *p = sp + 1 + sp[0] + 1, vdso = 0;

	while (*p++)
		;
	for (; p[0]; p += 2)
		if (p[0] == 33)
			vdso = p[1];
	raw6(157, 1, 9, 0, 0, 0, 0);
	if (raw6(9, AREA_BASE, AREA_TOTAL, 3, 0x4032 /*PRIVATE|FIXED|ANON|NORESERVE*/, ~0ull, 0) != (s64)AREA_BASE ||
	    raw6(9, MBOX_BASE, MBOX_TOTAL, 3, 0x11, STUB_FD_MBOX, 0) != (s64)MBOX_BASE ||
	    raw6(28, MBOX_BASE, MBOX_TOTAL, 10, 0, 0, 0))
		stub_die(119);
	struct start *st = START;

	st->vvar_size = parse_hex(argv[1]);
	st->vdso_size = parse_hex(argv[2]);
	st->filter_flags = parse_hex(argv[3]);
	if (vdso && st->vdso_size) {
		u64 v = vdso - st->vvar_size, to = VDSO_BASE;

		for (int i = 4; v < vdso && argv[i]; i++) {
			u64 n = parse_hex(argv[i]);

			if (raw6(25, v, n, n, 3, to, 0) != (s64)to)
				stub_die(118);
			v += n;
			to += n;
		}
		if (raw6(25, vdso, st->vdso_size, st->vdso_size, 3, to, 0) != (s64)to)
			stub_die(117);
	}
	stub_switch_stack(slot_area(0) + AREA_SIZE - 8192, second_half, NULL);
}
