/*
 * Guest memory of the current task. Bytes that came with the call or may go back with its reply travel in the
 * call's own window; all else is copied through the platform, after the table was asked: the host's ways into
 * another process (FOLL_FORCE) do not look at protections.
 */
#include "sentry/mm/uaccess.h"
#include "sentry/base/util.h"
#include "sentry/mm/mm.h"
#include "sentry/platform/platform.h"
#include "sentry/task/task.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static bool range_ok(uint64_t a, size_t size)
{
	return a < GUEST_TASK_SIZE && size <= GUEST_TASK_SIZE - a;
}

long copy_in_some(void *dst, uaddr_t src, size_t size)
{
	size_t done = 0;
	uint64_t span;

	if (!size)
		return 0;
	if (!current->host || !current->mm || src.a >= GUEST_TASK_SIZE)
		return -EFAULT;
	size = MIN(size, GUEST_TASK_SIZE - src.a);
	if (plat_window_in(current->host, dst, src.a, size))
		return (long)size;
	span = mm_access_span(current->mm, src.a, size, PROT_READ);
	while (done < span) {
		long n = plat_read_mem(current->host, (char *)dst + done, src.a + done, span - done);

		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done ? (long)done : -EFAULT;
}

long copy_out_some(uaddr_t dst, const void *src, size_t size)
{
	size_t done = 0;
	uint64_t span;

	if (!size)
		return 0;
	if (!current->host || !current->mm || dst.a >= GUEST_TASK_SIZE)
		return -EFAULT;
	size = MIN(size, GUEST_TASK_SIZE - dst.a);
	span = mm_access_span(current->mm, dst.a, size, PROT_WRITE);
	if (span == size && plat_window_out(current->host, dst.a, src, size))
		return (long)size;
	while (done < span) {
		long n = plat_write_mem(current->host, dst.a + done, (const char *)src + done, span - done);

		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done ? (long)done : -EFAULT;
}

int copy_in(void *dst, uaddr_t src, size_t size)
{
	if (!size)
		return 0;
	if (!range_ok(src.a, size) || copy_in_some(dst, src, size) != (long)size)
		return -EFAULT;
	return 0;
}

int copy_out(uaddr_t dst, const void *src, size_t size)
{
	if (!size)
		return 0;
	if (!range_ok(dst.a, size) || copy_out_some(dst, src, size) != (long)size)
		return -EFAULT;
	return 0;
}

static const char zeros[4096];

int clear_out(uaddr_t dst, size_t size)
{
	while (size) {
		size_t n = MIN(size, sizeof zeros);

		if (copy_out(dst, zeros, n) < 0)
			return -EFAULT;
		dst = uaddr_add(dst, n);
		size -= n;
	}
	return 0;
}

long copy_in_str(char *dst, uaddr_t src, size_t cap)
{
	size_t done = 0;
	long n;

	if (!current->host || !current->mm || src.a >= GUEST_TASK_SIZE)
		return -EFAULT;
	n = plat_window_str(current->host, dst, src.a, cap);
	if (n >= 0)
		return n;
	/* Page by page: the string may end right before one that is not there. */
	while (done < cap) {
		uint64_t a = src.a + done;
		size_t want = MIN(cap - done, GUEST_PAGE_SIZE - (a & (GUEST_PAGE_SIZE - 1)));
		char *nul;

		if (a >= GUEST_TASK_SIZE)
			return -EFAULT;
		n = copy_in_some(dst + done, uaddr(a), want);
		if (n <= 0)
			return -EFAULT;
		nul = memchr(dst + done, 0, (size_t)n);
		if (nul)
			return nul - dst;
		if ((size_t)n < want)
			return -EFAULT;
		done += want;
	}
	return -ENAMETOOLONG;
}

int copy_in_path(char **out, uaddr_t src, bool empty_ok)
{
	char buf[4096];
	long n = copy_in_str(buf, src, sizeof buf);

	if (n < 0)
		return (int)n;
	if (n == 0 && !empty_ok)
		return -ENOENT;
	*out = malloc((size_t)n + 1);
	if (!*out)
		return -ENOMEM;
	memcpy(*out, buf, (size_t)n + 1);
	return 0;
}
