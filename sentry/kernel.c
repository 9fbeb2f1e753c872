/* State of the sandbox and its end. */
#include "sentry/kernel.h"
#include <errno.h>
#include <stdio.h>
#include "sentry/base/log.h"
#include "sentry/config.h"
#include "sentry/control.h"
#include "sentry/loop.h"
#include "sentry/task/task.h"

struct sandbox sandbox;

void kernel_init(const struct config *c)
{
	snprintf(sandbox.hostname, sizeof sandbox.hostname, "%s", c->hostname);
	snprintf(sandbox.domainname, sizeof sandbox.domainname, "(none)");
	sandbox.boot_ns = now_boot_ns();
	/* Rounded up: a limit below a page must not read as none. */
	sandbox.mem_limit_pages = c->memory / 4096 + (c->memory % 4096 != 0);
	sandbox.disk_limit = c->disk;
	sandbox.max_tasks = c->pids;
}

uint64_t kernel_total_pages(void)
{
	/* DIFF: without a limit the guest sees a fixed figure instead of the host's memory. */
	return sandbox.mem_limit_pages ? sandbox.mem_limit_pages : 4ull << 30 >> 12;
}

int kernel_charge_pages(int64_t pages)
{
	uint64_t now = sandbox.mem_pages + (uint64_t)pages;

	if (pages < 0 && (uint64_t)-pages > sandbox.mem_pages)
		now = 0;
	if (pages > 0 && sandbox.mem_limit_pages && now > sandbox.mem_limit_pages) {
		sandbox.mem_refused++;
		return -ENOMEM;
	}
	sandbox.mem_pages = now;
	if (now > sandbox.mem_peak_pages)
		sandbox.mem_peak_pages = now;
	return 0;
}

void kernel_init_exited(int wait_status)
{
	if (sandbox.ending)
		return;
	sandbox.ending = true;
	control_init_exited(wait_status);
	loop_stop();
}
