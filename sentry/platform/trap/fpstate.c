/*
 * Extended processor state of a stopped thread: it lies in the signal frame on the stub's alternate stack, in the
 * layout the kernel gives every signal frame. That frame is guest memory: what we read is bounded, what we write
 * is sanitised, and the host kernel checks it again at sigreturn.
 */
#include "sentry/platform/trap/trap.h"
#include <cpuid.h>
#include <errno.h>
#include <string.h>

#define FX_SIZE 512u
#define SW_OFF 464u
#define MAGIC1 0x46505853u
#define MAGIC2 0x46505845u
#define FP_MAX 16384u

struct sw_bytes {
	uint32_t magic1, extended_size;
	uint64_t xfeatures;
	uint32_t xstate_size, pad[7];
};

size_t plat_fpstate_size(void)
{
	static size_t size;
	unsigned a, b, c, d;

	if (!size) {
		size = FX_SIZE;
		if (__get_cpuid_count(13, 0, &a, &b, &c, &d) && b >= FX_SIZE + 64 && b <= FP_MAX - 4)
			size = b + 4;
	}
	return size;
}

static uint64_t xcr0(void)
{
	unsigned a, d;

	__asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
	return (uint64_t)d << 32 | a;
}

static bool in_area(uint64_t p, size_t size)
{
	return p >= AREA_BASE && p < AREA_BASE + AREA_TOTAL && size <= AREA_BASE + AREA_TOTAL - p && !(p & 63);
}

/* State of a thread that has none yet. */
static long initial(void *buf, size_t size)
{
	size_t full = plat_fpstate_size();
	char *p = buf;

	if (size < full)
		return -EINVAL;
	memset(buf, 0, full);
	*(uint16_t *)p = 0x37f;
	*(uint32_t *)(p + 24) = 0x1f80;
	*(uint32_t *)(p + 28) = 0xffff;
	if (full > FX_SIZE) {
		struct sw_bytes sw = {MAGIC1, (uint32_t)full, xcr0(), (uint32_t)full - 4, {0}};
		uint32_t m2 = MAGIC2;

		memcpy(p + SW_OFF, &sw, sizeof sw);
		memcpy(p + full - 4, &m2, 4);
	}
	return (long)full;
}

long plat_get_fpstate(struct plat_thread *t, void *buf, size_t size)
{
	struct sw_bytes sw;
	size_t full = plat_fpstate_size();

	if (!t->fpstate || t->fp_reset)
		return initial(buf, size);
	if (size < full || !in_area(t->fpstate, full) ||
	    stub_read(t, buf, t->fpstate, full) != (long)full)
		return -EFAULT;
	memcpy(&sw, (char *)buf + SW_OFF, sizeof sw);
	if (full > FX_SIZE) {
		/* The kernel may have saved fewer features than the machine has: say what the buffer holds. */
		uint32_t m2 = MAGIC2;

		if (sw.magic1 != MAGIC1 || sw.extended_size > full || sw.xstate_size > full - 4 ||
		    sw.xstate_size < FX_SIZE + 64)
			return -EFAULT;
		memcpy((char *)buf + sw.xstate_size, &m2, 4);
		return (long)sw.xstate_size + 4;
	}
	return (long)full;
}

int plat_set_fpstate(struct plat_thread *t, const void *buf, size_t size)
{
	static char tmp[FP_MAX] __attribute__((aligned(64)));
	struct sw_bytes have;

	if (!buf) {
		t->fp_reset = true;
		return 0;
	}
	if (!t->fpstate || !in_area(t->fpstate, plat_fpstate_size()))
		return -EINVAL;
	if (stub_read(t, &have, t->fpstate + SW_OFF, sizeof have) != sizeof have)
		return -EFAULT;
	size_t room = have.magic1 == MAGIC1 ? have.xstate_size : FX_SIZE;

	if (room > plat_fpstate_size() || size < FX_SIZE)
		return -EINVAL;
	if (size > room)
		size = room;
	memcpy(tmp, buf, size);
	*(uint32_t *)(tmp + 24) &= 0xffff; /* mxcsr: no reserved bits */
	memcpy(tmp + SW_OFF, &have, sizeof have);
	if (size >= FX_SIZE + 64) {
		uint64_t *header = (uint64_t *)(tmp + FX_SIZE);

		header[0] &= have.xfeatures;
		memset(header + 1, 0, 56);
	} else if (room >= FX_SIZE + 64) {
		/* A legacy image: the rest is initial. */
		memset(tmp + FX_SIZE, 0, 64);
		*(uint64_t *)(tmp + FX_SIZE) = 3;
		size = FX_SIZE + 64;
	}
	t->fp_reset = false;
	return stub_write(t, t->fpstate, tmp, size) == (long)size ? 0 : -EFAULT;
}
