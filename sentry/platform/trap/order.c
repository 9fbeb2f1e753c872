/*
 * Orders: host calls that a stub makes because we asked. Each is a notification on the listener; notif.c continues
 * it only when it equals, argument by argument, the next order of that very thread.
 */
#include "sentry/platform/trap/trap.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

int orders_run(struct plat_thread *t, const struct order *o, unsigned n)
{
	struct mbox *m = t->m;

	if (t->as->dead)
		return -ESRCH;
	outs_flush(t);
	memcpy(t->orders, o, n * sizeof *o);
	t->order_count = n;
	t->order_next = 0;
	for (unsigned i = 0; i < n; i++) {
		struct mbox_order *mo = &m->order[i];

		mo->nr = o[i].nr;
		memcpy(mo->a, o[i].a, sizeof mo->a);
		mo->token = o[i].token;
		mo->slot = o[i].slot;
		mo->result = -ECANCELED;
	}
	m->norder = n;
	t->state = THR_ORDERED;
	t->after_order = true;
	stats.orders += n;
	thread_publish(t, ST_ORDERS);
	thread_wait_event(t);
	t->order_count = 0;
	if (t->as->dead)
		return -ESRCH;
	t->state = THR_STOPPED;
	for (unsigned i = 0; i < n; i++) {
		int64_t r = m->order[i].result;

		if (r < 0 && r > -4096)
			return (int)r;
	}
	/* A success that was never asked of the host is a lie. */
	if (t->order_next != n) {
		as_violation(t->as, "order reported done but never made");
		return -ESRCH;
	}
	return 0;
}

int order_one(struct plat_thread *t, uint64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
	      uint64_t f, int hostfd)
{
	struct order o = {.nr = nr, .a = {a, b, c, d, e, f}, .hostfd = hostfd};

	return orders_run(t, &o, 1);
}

static bool range_ok(uint64_t addr, uint64_t size)
{
	return !(addr & 4095) && size && addr < GUEST_TASK_SIZE && size <= GUEST_TASK_SIZE - addr;
}

int plat_mmap(struct plat_thread *t, uint64_t addr, uint64_t size, int prot, int flags, int hostfd, uint64_t off)
{
	if (!range_ok(addr, size))
		return -EINVAL;
	flags = (flags & (MAP_SHARED | MAP_PRIVATE | MAP_NORESERVE | MAP_GROWSDOWN | MAP_POPULATE)) | MAP_FIXED;
	if (hostfd < 0)
		return order_one(t, SYS_mmap, addr, size, prot, flags | MAP_ANONYMOUS, 0xffffffff, 0, -1);
	return order_one(t, SYS_mmap, addr, size, prot, flags, STUB_FD_MAP, off, hostfd);
}
int plat_munmap(struct plat_thread *t, uint64_t addr, uint64_t size)
{
	return range_ok(addr, size) ? order_one(t, SYS_munmap, addr, size, 0, 0, 0, 0, -1) : -EINVAL;
}
int plat_mprotect(struct plat_thread *t, uint64_t addr, uint64_t size, int prot)
{
	return range_ok(addr, size) ? order_one(t, SYS_mprotect, addr, size, prot, 0, 0, 0, -1) : -EINVAL;
}
int plat_madvise(struct plat_thread *t, uint64_t addr, uint64_t size, int advice)
{
	return range_ok(addr, size) ? order_one(t, SYS_madvise, addr, size, advice, 0, 0, 0, -1) : -EINVAL;
}
int plat_mremap(struct plat_thread *t, uint64_t old, uint64_t old_size, uint64_t new_size, int flags,
		uint64_t new_addr)
{
	if (!range_ok(old, old_size ? old_size : 4096) || !range_ok(new_addr, new_size))
		return -EINVAL;
	flags &= MREMAP_DONTUNMAP;
	if (new_addr != old || flags)
		flags |= MREMAP_MAYMOVE | MREMAP_FIXED;
	return order_one(t, SYS_mremap, old, old_size, new_size, flags, flags ? new_addr : 0, 0, -1);
}
