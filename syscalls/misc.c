/* The machine's name and figures, random bytes, processor number, memory barriers. */
#include "syscalls/table.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "sentry/abi/misc.h"
#include "sentry/base/host.h"
#include "sentry/base/util.h"
#include "sentry/fiber.h"
#include "sentry/kernel.h"
#include "sentry/task/task.h"

#define L_GRND_NONBLOCK 1u
#define L_GRND_RANDOM 2u
#define L_GRND_INSECURE 4u

/* DIFF: the release is ward's level of the interface, not the host's, so that a run does not depend on it. */
int64_t sys_uname(uaddr_t buf)
{
	struct l_utsname u = {
	    .sysname = "Linux",
	    .release = WARD_UTS_RELEASE,
	    .version = WARD_UTS_VERSION,
	    .machine = "x86_64",
	};

	memcpy(u.nodename, sandbox.hostname, sizeof u.nodename);
	memcpy(u.domainname, sandbox.domainname, sizeof u.domainname);
	return copy_out_obj(buf, u);
}

static int64_t set_name(char dst[65], uaddr_t name, int len)
{
	char text[65] = {0};

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (len < 0 || len > 64)
		return -EINVAL;
	if (copy_in(text, name, (size_t)len) < 0)
		return -EFAULT;
	memcpy(dst, text, sizeof text);
	return 0;
}

int64_t sys_sethostname(uaddr_t name, int len)
{
	return set_name(sandbox.hostname, name, len);
}

int64_t sys_setdomainname(uaddr_t name, int len)
{
	return set_name(sandbox.domainname, name, len);
}

int64_t sys_sysinfo(uaddr_t info)
{
	uint64_t total = kernel_total_pages(), used = MIN(sandbox.mem_pages, total);
	struct l_sysinfo s = {
	    .uptime = (int64_t)((now_boot_ns() - sandbox.boot_ns) / NSEC_PER_SEC),
	    .totalram = total * GUEST_PAGE_SIZE,
	    .freeram = (total - used) * GUEST_PAGE_SIZE,
	    .procs = (uint16_t)MIN(task_count(), UINT16_MAX),
	    .mem_unit = 1,
	};

	return copy_out_obj(info, s);
}

int64_t sys_getrandom(uaddr_t buf, size_t count, unsigned flags)
{
	uint8_t small[256], *chunk = small;
	size_t cap = sizeof small, done = 0;
	int64_t r = 0;

	if (flags & ~(L_GRND_NONBLOCK | L_GRND_RANDOM | L_GRND_INSECURE) ||
	    (flags & (L_GRND_RANDOM | L_GRND_INSECURE)) == (L_GRND_RANDOM | L_GRND_INSECURE))
		return -EINVAL;
	count = MIN(count, MAX_RW_COUNT);
	if (count > sizeof small) {
		cap = MIN(count, 65536);
		chunk = malloc(cap);
		if (!chunk)
			return -ENOMEM;
	}
	while (done < count) {
		long n = host_getrandom(chunk, MIN(cap, count - done));

		if (n > 0)
			n = copy_out_some(uaddr_add(buf, done), chunk, (size_t)n);
		if (n <= 0) {
			r = n;
			break;
		}
		done += (size_t)n;
		/* A request of gigabytes must not hold up everybody else; Linux stops at a signal too. */
		if (done % (1u << 20) == 0 && done < count) {
			fiber_yield();
			if (current->exiting || signal_pending(current)) {
				r = -EINTR;
				break;
			}
		}
	}
	if (chunk != small)
		free(chunk);
	return done ? (int64_t)done : r;
}

/* DIFF: the processor is always 0; which one runs a guest thread is the host's affair. */
int64_t sys_getcpu(uaddr_t cpu, uaddr_t node, uint64_t cache)
{
	uint32_t zero = 0;

	if (!uaddr_null(cpu) && copy_out_obj(cpu, zero) < 0)
		return -EFAULT;
	if (!uaddr_null(node) && copy_out_obj(node, zero) < 0)
		return -EFAULT;
	return 0;
}

int64_t sys_syslog(int type, uaddr_t buf, int len)
{
	/* The log is empty; privileges are asked first, then the arguments (do_syslog). */
	if (!capable(CAP_SYSLOG) && !capable(CAP_SYS_ADMIN))
		return -EPERM;
	switch (type) {
	case 0: /* CLOSE */
	case 1: /* OPEN */
	case 5: /* CLEAR */
	case 6: /* CONSOLE_OFF */
	case 7: /* CONSOLE_ON */
	case 9: /* SIZE_UNREAD */
		return 0;
	case 2: /* READ: DIFF: would wait for ever for a line that never comes */
	case 3: /* READ_ALL */
	case 4: /* READ_CLEAR */
		return uaddr_null(buf) || len < 0 ? -EINVAL : 0;
	case 8: /* CONSOLE_LEVEL */
		return len < 1 || len > 8 ? -EINVAL : 0;
	case 10: /* SIZE_BUFFER */
		return 1 << 17;
	default:
		return -EINVAL;
	}
}

/* No command is offered by the sentry: it cannot run a barrier in the guest's threads. Private barriers that the
 * platform lets the guest ask of the host directly never come here. */
int64_t sys_membarrier(int cmd, unsigned flags, int cpu_id)
{
	return cmd == 0 && flags == 0 ? 0 : -EINVAL;
}
