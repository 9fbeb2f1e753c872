/* --stats: which calls the guest made, how they ended, and how they travelled. */
#include "sentry/trace/stats.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sentry/base/host.h"
#include "sentry/base/util.h"
#include "sentry/kernel.h"
#include "sentry/loop.h"
#include "sentry/platform/platform.h"
#include "syscalls/dispatch.h"
#include "syscalls/table.h"

struct text {
	char buf[4096];
	size_t len;
	int fd;
};

static void flush(struct text *t)
{
	size_t done = 0;

	while (done < t->len) {
		long n = host_write(t->fd, t->buf + done, t->len - done);

		if (n <= 0)
			break;
		done += (size_t)n;
	}
	t->len = 0;
}

static void __attribute__((format(printf, 2, 3))) put(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (sizeof t->buf - t->len < 256)
		flush(t);
	va_start(ap, fmt);
	n = vsnprintf(t->buf + t->len, sizeof t->buf - t->len, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->len += MIN((size_t)n, sizeof t->buf - t->len - 1);
}

static int by_count(const void *a, const void *b)
{
	const int *x = a, *y = b;
	uint64_t cx = dispatch_count(*x)->calls, cy = dispatch_count(*y)->calls;

	return cx < cy ? 1 : cx > cy ? -1 : *x - *y;
}

void stats_write(int fd)
{
	int order[SYSCALL_MAX + 1], count = 0;
	const struct plat_stats *p = plat_stats();
	struct text t = {.len = 0, .fd = fd};
	uint64_t total = 0, errors = 0;

	for (int nr = -1; nr < SYSCALL_MAX; nr++) {
		const struct call_count *c = dispatch_count(nr);

		total += c->calls;
		errors += c->errors;
		if (c->calls)
			order[count++] = nr;
	}
	qsort(order, (size_t)count, sizeof order[0], by_count);
	put(&t, "%7s %12s %10s  %s\n", "%", "calls", "errors", "system call");
	for (int i = 0; i < count; i++) {
		const struct call_count *c = dispatch_count(order[i]);
		const struct syscall_desc *d = syscall_desc(order[i]);

		put(&t, "%6.2f%% %12lu %10lu  %s\n", 100.0 * (double)c->calls / (double)total, c->calls, c->errors,
		    d ? d->name : "(unknown number)");
	}
	put(&t, "%6.2f%% %12lu %10lu  total\n", total ? 100.0 : 0.0, total, errors);
	put(&t, "calls: %lu seen by the platform, %lu by mailbox, %lu by doorbell, %lu parked\n", p->calls,
	    p->by_mailbox, p->by_doorbell, p->parks);
	put(&t, "orders: %lu, kicks: %lu, faults: %lu\n", p->orders, p->kicks, p->faults);
	put(&t, "host processes: %lu from the zygote, %lu forked, %lu threads, %lu killed\n", p->spaces, p->forks,
	    p->clones, p->killed);
	put(&t, "guest processes: %lu, peak memory: %lu KiB\n", sandbox.processes, sandbox.mem_peak_pages * 4);
	flush(&t);
}
