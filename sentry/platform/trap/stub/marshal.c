/*
 * Small inputs travel with the call: the row of the call's table says which arguments are strings, buffers or
 * fixed structures the kernel reads; they are copied into the window here. What does not fit or faults is left
 * out: the sentry then reads guest memory itself and finds the right error.
 */
#include "stub.h"

enum { M_REG, M_STR_IN, M_BUF_IN, M_BUF_OUT, M_FIX_IN, M_FIX_OUT, M_FIX_IO, M_PTR };
#define KIND(name, ctype, marshal, fixed, printer) enum { K_##name = M_##marshal | ((fixed) % 4096) << 4 };
#include "syscalls/argkinds.def"
#undef KIND

#define NR_COUNT 512
#define SYS0(nr, name, sup, cls, fl)
#define SYS1(nr, name, sup, cls, fl, a, an) [nr] = {K_##a},
#define SYS2(nr, name, sup, cls, fl, a, an, b, bn) [nr] = {K_##a, K_##b},
#define SYS3(nr, name, sup, cls, fl, a, an, b, bn, c, cn) [nr] = {K_##a, K_##b, K_##c},
#define SYS4(nr, name, sup, cls, fl, a, an, b, bn, c, cn, d, dn) [nr] = {K_##a, K_##b, K_##c, K_##d},
#define SYS5(nr, name, sup, cls, fl, a, an, b, bn, c, cn, d, dn, e, en)                            \
	[nr] = {K_##a, K_##b, K_##c, K_##d, K_##e},
#define SYS6(nr, name, sup, cls, fl, a, an, b, bn, c, cn, d, dn, e, en, f, fn)                     \
	[nr] = {K_##a, K_##b, K_##c, K_##d, K_##e, K_##f},
#define NOSYS(nr, ...)
static const uint16_t kinds[NR_COUNT][6] = {
#if __has_include("syscalls/table.def")
#include "syscalls/table.def"
#endif
};

#define MAX_BUF 4096u

void stub_stage(struct mbox *m)
{
	u32 off = MBOX_WINDOW, n = 0;
	char *base = (char *)m;

	m->nstage = 0;
	if (m->nr >= NR_COUNT)
		return;
	const uint16_t *k = kinds[m->nr];

	for (int i = 0; i < 6 && n < MBOX_SPANS; i++) {
		u64 addr = m->args[i], size;
		u32 room = MBOX_WINDOW_OUT - off;

		switch (k[i] & 15) {
		case M_STR_IN: {
			if (addr - 1 >= STUB_BASE - 1)
				continue;
			long got = stub_copy_str(base + off, (char *)addr, room < 1024 ? room : 1024);

			if (got < 0)
				continue;
			size = (u64)got;
			break;
		}
		case M_BUF_IN:
		case M_FIX_IN:
		case M_FIX_IO:
			size = (k[i] & 15) == M_BUF_IN ? (i < 5 ? m->args[i + 1] : 0) : (u64)k[i] >> 4;
			if (!size || size > room || size > MAX_BUF || addr - 1 >= STUB_BASE - size)
				continue;
			if (stub_copy(base + off, (void *)addr, size))
				continue;
			break;
		default:
			continue;
		}
		m->stage[n++] = (struct mbox_span){addr, off, (u32)size};
		off += (size + 7) & ~7ull;
		if (off >= MBOX_WINDOW_OUT)
			break;
	}
	m->nstage = n;
}
