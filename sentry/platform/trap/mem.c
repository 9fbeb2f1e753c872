/* Copies between sentry and guest: the call's own window, else process_vm_*, else piece by piece by the stub. */
#include "sentry/platform/trap/trap.h"
#include "sentry/fiber.h"
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define COPY_MAX (MBOX_WINDOW_OUT - MBOX_WINDOW)

/* Can T's stub do something for us now? It must wait for a reply. */
static bool stub_waits(const struct plat_thread *t)
{
	return !t->as->dead && t->state == THR_STOPPED && !t->answered;
}

/* Have the stub do what its mailbox says, and sleep until it did. False: it died. */
static bool ask_stub(struct plat_thread *t, enum mbox_state st, enum thread_state state)
{
	t->state = state;
	thread_publish(t, st);
	thread_wait_event(t);
	/* This sleep may lie between a caller's look at its condition and its own sleep (plat_park flushes outputs): a
	 * wake-up that came meanwhile must not be lost, so the next sleep of this fiber ends at once. */
	fiber_wake(fiber_self());
	if (t->as->dead)
		return false;
	t->state = THR_STOPPED;
	return true;
}

/* One piece by the stub itself. Bytes copied or -EFAULT. */
static long copy_by_stub(struct plat_thread *t, void *buf, uint64_t addr, uint32_t size, bool out)
{
	struct mbox *m = t->m;

	if (!stub_waits(t))
		return -EFAULT;
	t->nstage = 0; /* the window is about to be overwritten */
	m->copy_addr = addr;
	m->copy_size = size;
	m->copy_out = out;
	if (out)
		memcpy((char *)m + MBOX_WINDOW, buf, size);
	if (!ask_stub(t, ST_COPY, THR_COPY))
		return -EFAULT;
	uint64_t done = t->copy_done;

	if (done > size)
		done = 0;
	if (!out)
		memcpy(buf, (char *)m + MBOX_WINDOW, done);
	return done ? (long)done : -EFAULT;
}

int plat_cmpxchg32(struct plat_thread *t, uint64_t addr, uint32_t old, uint32_t new, uint32_t *seen)
{
	struct mbox *m = t->m;

	if ((addr & 3) || addr >= GUEST_TASK_SIZE || !stub_waits(t))
		return -EFAULT;
	if (t->nout)
		outs_flush(t);
	if (!stub_waits(t))
		return -EFAULT;
	m->copy_addr = addr;
	m->xchg_old = old;
	m->xchg_new = new;
	if (!ask_stub(t, ST_XCHG, THR_XCHG) || t->copy_done > UINT32_MAX)
		return -EFAULT;
	*seen = (uint32_t)t->copy_done;
	return 0;
}

static long copy(struct plat_thread *t, void *buf, uint64_t addr, size_t size, bool out)
{
	if (!size)
		return 0;
	if (have_vmread) {
		struct iovec l = {buf, size}, r = {(void *)addr, size};
		/* Full words: the last argument travels on the stack, where the upper half of an int is anything. */
		long n = syscall(out ? SYS_process_vm_writev : SYS_process_vm_readv, (long)t->tid, &l, 1ul, &r, 1ul, 0ul);

		return n > 0 ? n : -EFAULT;
	}
	size_t done = 0;

	while (done < size) {
		uint32_t n = size - done < COPY_MAX ? (uint32_t)(size - done) : COPY_MAX;
		long r = copy_by_stub(t, (char *)buf + done, addr + done, n, out);

		if (r <= 0)
			break;
		done += (size_t)r;
		if (r < n)
			break;
	}
	return done ? (long)done : -EFAULT;
}

long stub_read(struct plat_thread *t, void *dst, uint64_t src, size_t size)
{
	return copy(t, dst, src, size, false);
}
long stub_write(struct plat_thread *t, uint64_t dst, const void *src, size_t size)
{
	return copy(t, (void *)src, dst, size, true);
}

/* Outputs that wait in the window go to guest memory now: someone is about to look at it. */
void outs_flush(struct plat_thread *t)
{
	unsigned n = t->nout;

	t->nout = 0;
	for (unsigned i = 0; i < n; i++) {
		char tmp[MBOX_SIZE - MBOX_WINDOW_OUT];

		memcpy(tmp, (char *)t->m + t->out[i].off, t->out[i].size);
		stub_write(t, t->out[i].addr, tmp, t->out[i].size);
	}
	t->out_off = MBOX_WINDOW_OUT;
}

static size_t clamp(uint64_t addr, size_t size)
{
	if (addr >= GUEST_TASK_SIZE)
		return 0;
	return size < GUEST_TASK_SIZE - addr ? size : GUEST_TASK_SIZE - addr;
}
long plat_read_mem(struct plat_thread *t, void *dst, uint64_t src, size_t size)
{
	size_t n = clamp(src, size);

	if (t->nout)
		outs_flush(t);
	return !size ? 0 : n ? stub_read(t, dst, src, n) : -EFAULT;
}
long plat_write_mem(struct plat_thread *t, uint64_t dst, const void *src, size_t size)
{
	size_t n = clamp(dst, size);

	if (t->nout)
		outs_flush(t);
	return !size ? 0 : n ? stub_write(t, dst, src, n) : -EFAULT;
}

bool plat_window_in(struct plat_thread *t, void *dst, uint64_t src, size_t size)
{
	for (unsigned i = 0; i < t->nstage; i++) {
		struct mbox_span *s = &t->stage[i];

		if (src >= s->addr && src - s->addr <= s->size && size <= s->size - (src - s->addr)) {
			memcpy(dst, (char *)t->m + s->off + (src - s->addr), size);
			return true;
		}
	}
	return false;
}
long plat_window_str(struct plat_thread *t, char *dst, uint64_t src, size_t cap)
{
	for (unsigned i = 0; i < t->nstage; i++) {
		struct mbox_span *s = &t->stage[i];

		if (src != s->addr || !s->size || s->size > cap)
			continue;
		memcpy(dst, (char *)t->m + s->off, s->size);
		size_t n = strnlen(dst, s->size);

		return n < s->size ? (long)n : -1;
	}
	return -1;
}
bool plat_window_peek(struct plat_thread *t, void *dst, uint64_t addr, size_t size)
{
	for (unsigned i = t->nout; i-- > 0;) {
		struct mbox_span *s = &t->out[i];

		if (addr >= s->addr && addr - s->addr <= s->size && size <= s->size - (addr - s->addr)) {
			memcpy(dst, (char *)t->m + s->off + (addr - s->addr), size);
			return true;
		}
	}
	return false;
}
bool plat_window_out(struct plat_thread *t, uint64_t dst, const void *src, size_t size)
{
	if (t->nout >= MBOX_SPANS || size > MBOX_SIZE - t->out_off || clamp(dst, size) != size || !size ||
	    t->answered || t->parked)
		return false;
	memcpy((char *)t->m + t->out_off, src, size);
	t->out[t->nout++] = (struct mbox_span){dst, t->out_off, (uint32_t)size};
	t->out_off += (uint32_t)((size + 7) & ~7ul);
	return true;
}
