/* Calls that look into another process: process_vm_readv, process_vm_writev. */
#include "syscalls/table.h"
#include "sentry/base/util.h"
#include "sentry/mm/mm.h"
#include "sentry/platform/platform.h"
#include "sentry/task/task.h"
#include "fs/proc/proc.h"
#include "fs/vfs.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define STEP 65536

/* Remote segments, unlike local ones, are not checked as addresses of the caller: a bad one ends the copy. */
static int remote_iov(struct uio_seg **out, uaddr_t iov, unsigned long count)
{
	struct uio_seg *s;

	*out = NULL;
	if (count > UIO_MAXIOV)
		return -EINVAL;
	if (!count)
		return 0;
	s = malloc(count * sizeof *s);
	if (!s)
		return -ENOMEM;
	if (copy_in(s, iov, count * sizeof *s) < 0) {
		free(s);
		return -EFAULT;
	}
	for (unsigned long i = 0; i < count; i++) {
		if ((int64_t)s[i].size < 0) {
			free(s);
			return -EINVAL;
		}
	}
	*out = s;
	return 0;
}

/* One piece between LOCAL and T's memory: bytes moved, short at the first bad page of either side. */
static long peer_piece(struct task *t, struct uio *local, uint64_t addr, size_t n, bool write, char *buf)
{
	uint64_t span;
	long got, put;

	if (!t->mm || !t->host)
		return -ESRCH;
	span = addr < GUEST_TASK_SIZE ? mm_access_span(t->mm, addr, n, write ? PROT_WRITE : PROT_READ) : 0;
	if (!span)
		return -EFAULT;
	if (!write) {
		got = plat_read_mem(t->host, buf, addr, span);
		return got <= 0 ? -EFAULT : uio_put(local, buf, (size_t)got);
	}
	got = uio_get(local, buf, span);
	if (got <= 0)
		return -EFAULT;
	/* The local copy may have slept: the peer is looked at again. */
	if (!t->mm || !t->host)
		return -ESRCH;
	put = plat_write_mem(t->host, addr, buf, (size_t)got);
	return put <= 0 ? -EFAULT : put;
}

static int64_t peer_copy(struct task *t, struct uio *local, const struct uio_seg *remote, unsigned long count,
			 bool write)
{
	char *buf = malloc(STEP);
	int64_t done = 0;

	if (!buf)
		return -ENOMEM;
	for (unsigned long i = 0; i < count && local->resid; i++) {
		uint64_t at = remote[i].base, left = remote[i].size;

		while (left && local->resid) {
			size_t n = MIN(MIN(left, (uint64_t)STEP), local->resid);
			long r = peer_piece(t, local, at, n, write, buf);

			if (r < 0) {
				free(buf);
				return done ? done : r;
			}
			done += r;
			at += (uint64_t)r;
			left -= (uint64_t)r;
		}
	}
	free(buf);
	return done;
}

static int64_t process_vm(pid_t pid, uaddr_t lvec, unsigned long lcount, uaddr_t rvec, unsigned long rcount,
			  unsigned long flags, bool write)
{
	struct uio_seg *remote;
	struct uio local;
	struct task *t;
	int64_t r;

	if (flags)
		return -EINVAL;
	r = uio_init_iov(&local, lvec, lcount);
	if (r < 0)
		return r;
	if (!local.resid)
		goto out;
	r = remote_iov(&remote, rvec, rcount);
	if (r < 0)
		goto out;
	t = task_find(pid);
	if (!t || !t->mm || !t->host)
		r = -ESRCH;
	else if (!proc_may_access(t))
		r = -EPERM;
	else {
		task_get(t);
		r = peer_copy(t, &local, remote, rcount, write);
		task_put(t);
	}
	free(remote);
out:
	uio_fini(&local);
	return r;
}

int64_t sys_process_vm_readv(pid_t pid, uaddr_t lvec, unsigned long lcount, uaddr_t rvec, unsigned long rcount,
			     unsigned long flags)
{
	return process_vm(pid, lvec, lcount, rvec, rcount, flags, false);
}

int64_t sys_process_vm_writev(pid_t pid, uaddr_t lvec, unsigned long lcount, uaddr_t rvec, unsigned long rcount,
			      unsigned long flags)
{
	return process_vm(pid, lvec, lcount, rvec, rcount, flags, true);
}
