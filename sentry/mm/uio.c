/* Scatter/gather over guest or kernel memory: each segment is moved by one copy straight from or to its place. */
#include "sentry/mm/uaccess.h"
#include "sentry/base/util.h"
#include "sentry/platform/platform.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void uio_init_user(struct uio *u, uaddr_t buf, size_t size)
{
	memset(u, 0, sizeof *u);
	size = MIN(size, MAX_RW_COUNT);
	u->one = (struct uio_seg){buf.a, size};
	u->seg = &u->one;
	u->count = 1;
	u->resid = size;
}

void uio_init_kernel(struct uio *u, void *buf, size_t size)
{
	uio_init_user(u, uaddr((uintptr_t)buf), size);
	u->kernel = true;
}

int uio_init_iov(struct uio *u, uaddr_t iov, unsigned long count)
{
	memset(u, 0, sizeof *u);
	u->seg = &u->one;
	if (count > UIO_MAXIOV)
		return -EINVAL;
	if (!count)
		return 0;
	/* struct iovec has struct uio_seg's layout on x86-64. */
	if (count > 1) {
		u->heap = malloc(count * sizeof *u->heap);
		if (!u->heap)
			return -ENOMEM;
		u->seg = u->heap;
	}
	if (copy_in(u->seg, iov, count * sizeof *u->seg) < 0) {
		uio_fini(u);
		return -EFAULT;
	}
	for (unsigned i = 0; i < count; i++) {
		if ((int64_t)u->seg[i].size < 0) {
			uio_fini(u);
			return -EINVAL;
		}
	}
	for (unsigned i = 0; i < count; i++) {
		struct uio_seg *s = &u->seg[i];

		/* Linux checks every range at import, whatever is moved in the end. */
		if (s->size && (s->base >= GUEST_TASK_SIZE || s->size > GUEST_TASK_SIZE - s->base)) {
			uio_fini(u);
			return -EFAULT;
		}
		s->size = MIN(s->size, MAX_RW_COUNT - u->resid);
		u->resid += s->size;
	}
	u->count = (unsigned)count;
	return 0;
}

void uio_fini(struct uio *u)
{
	free(u->heap);
	u->heap = NULL;
	u->seg = NULL;
	u->count = 0;
	u->resid = 0;
}

void uio_skip(struct uio *u, size_t n)
{
	n = MIN(n, u->resid);
	u->resid -= n;
	while (u->count) {
		size_t k = MIN(n, u->seg->size);

		u->seg->base += k;
		u->seg->size -= k;
		n -= k;
		if (u->seg->size)
			break;
		u->seg++;
		u->count--;
	}
}

enum move { PUT, GET, ZERO };

static long move_seg(struct uio *u, enum move how, char *kernel, size_t n)
{
	uint64_t base = u->seg->base;

	if (!u->kernel) {
		if (how == PUT)
			return copy_out_some(uaddr(base), kernel, n);
		if (how == GET)
			return copy_in_some(kernel, uaddr(base), n);
		return clear_out(uaddr(base), n) < 0 ? -EFAULT : (long)n;
	}
	if (how == PUT)
		memcpy((void *)base, kernel, n);
	else if (how == GET)
		memcpy(kernel, (void *)base, n);
	else
		memset((void *)base, 0, n);
	return (long)n;
}

static long move(struct uio *u, enum move how, char *kernel, size_t n)
{
	size_t done = 0;

	n = MIN(n, u->resid);
	while (done < n) {
		size_t want;
		long k;

		if (!u->seg->size) {
			uio_skip(u, 0);
			continue;
		}
		want = MIN(n - done, u->seg->size);
		k = move_seg(u, how, how == ZERO ? NULL : kernel + done, want);
		if (k <= 0)
			return done ? (long)done : -EFAULT;
		done += (size_t)k;
		uio_skip(u, (size_t)k);
		if ((size_t)k < want)
			break;
	}
	return (long)done;
}

long uio_put(struct uio *u, const void *src, size_t n)
{
	return move(u, PUT, (char *)src, n);
}

long uio_get(struct uio *u, void *dst, size_t n)
{
	return move(u, GET, dst, n);
}

/* In steps of a page, so that a fault in the middle reports what was done before it. */
long uio_zero(struct uio *u, size_t n)
{
	size_t done = 0;

	n = MIN(n, u->resid);
	while (done < n) {
		long k = move(u, ZERO, NULL, MIN(n - done, GUEST_PAGE_SIZE));

		if (k <= 0)
			return done ? (long)done : k;
		done += (size_t)k;
	}
	return (long)done;
}
