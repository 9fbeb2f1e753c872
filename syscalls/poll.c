/* poll, ppoll, select, pselect6: copying, time-outs, masks and restarts around the engine in fs/poll.c. */
#include <sys/personality.h>
#include "syscalls/table.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <time.h>
#include "fs/poll.h"
#include "fs/vfs.h"
#include "sentry/base/util.h"
#include "sentry/task/task.h"

#define L_RLIMIT_NOFILE 7
#define POLL_STACK 32

/* DEADLINE 0: none; IMMEDIATE: look once. The number of ready entries or -errno (-ERESTARTSYS: interrupted). */
static int64_t poll_all(struct pollfd *p, unsigned n, uint64_t deadline, bool immediate)
{
	struct poll_wq wq;
	poll_wq_init(&wq);
	if (immediate)
		poll_wq_ready(&wq);
	int64_t count = 0;
	for (;;) {
		for (unsigned i = 0; i < n; i++) {
			p[i].revents = 0;
			if (p[i].fd < 0)
				continue;
			uint32_t want = (uint16_t)p[i].events | POLLERR | POLLHUP;
			struct file *f = fd_get_nopath(p[i].fd);
			uint32_t ev = POLLNVAL;
			if (f) {
				ev = poll_wq_file(&wq, f, want) & want;
				file_put(f);
			}
			p[i].revents = (short)ev;
			if (ev) {
				count++;
				poll_wq_ready(&wq);
			}
		}
		if (wq.error && !count)
			count = wq.error;
		if (count || immediate)
			break;
		int r = poll_wq_sleep(&wq, deadline);
		if (r == -ETIMEDOUT) {
			immediate = true;
		} else if (r) {
			count = r;
			break;
		}
	}
	poll_wq_fini(&wq);
	return count;
}

static int64_t do_poll(uaddr_t ufds, unsigned n, uint64_t deadline, bool immediate)
{
	if (n > current->tg->rlim[L_RLIMIT_NOFILE].cur)
		return -EINVAL;
	struct pollfd small[POLL_STACK], *p = small;
	if (n > POLL_STACK) {
		p = malloc(n * sizeof *p);
		if (!p)
			return -ENOMEM;
	}
	int64_t r = copy_in(p, ufds, n * sizeof *p);
	if (!r)
		r = poll_all(p, n, deadline, immediate);
	if (r >= 0) {
		/* Only revents is written back: another thread may own the rest. A whole-array copy is one transfer
		 * instead of n; the other fields get the values just read. */
		if (copy_out(ufds, p, n * sizeof *p))
			r = -EFAULT;
	}
	if (p != small)
		free(p);
	return r;
}

static int64_t poll_restart(struct task *t)
{
	int64_t r = do_poll(uaddr(t->restart_data[0]), (unsigned)t->restart_data[1], t->restart_data[2], false);
	if (r == -ERESTARTSYS) {
		t->restart_fn = poll_restart;
		return -ERESTART_RESTARTBLOCK;
	}
	return r;
}

int64_t sys_poll(uaddr_t fds, unsigned nfds, int timeout)
{
	uint64_t deadline = timeout > 0 ? deadline_after((uint64_t)timeout * 1000000u) : 0;
	int64_t r = do_poll(fds, nfds, deadline, timeout == 0);
	if (r == -ERESTARTSYS) {
		current->restart_fn = poll_restart;
		current->restart_data[0] = fds.a;
		current->restart_data[1] = nfds;
		current->restart_data[2] = deadline;
		return -ERESTART_RESTARTBLOCK;
	}
	return r;
}

/* Time left until DEADLINE into TS (or a timeval); the tail of every call with an in-out time-out. Linux keeps the
 * call's result when the write fails, but then cannot restart it. */
static int64_t finish(int64_t r, uaddr_t ts, bool timeval, uint64_t deadline)
{
	if (r == -ERESTARTSYS)
		r = -ERESTARTNOHAND;
	if (uaddr_null(ts) || !deadline || (current->personality & STICKY_TIMEOUTS))
		return r;
	uint64_t now = now_mono_ns(), left = deadline > now ? deadline - now : 0;
	int64_t t[2] = {(int64_t)(left / NSEC_PER_SEC), (int64_t)(left % NSEC_PER_SEC)};
	if (timeval)
		t[1] /= 1000;
	if (copy_out_obj(ts, t) && r == -ERESTARTNOHAND)
		r = -EINTR;
	return r;
}

static int timeout_arg(uaddr_t ts, uint64_t *deadline, bool *immediate)
{
	*deadline = 0;
	*immediate = false;
	if (uaddr_null(ts))
		return 0;
	uint64_t ns;
	int r = timeout_in(ts, &ns);
	if (r)
		return r;
	if (ns)
		*deadline = deadline_after(ns);
	else
		*immediate = true;
	return 0;
}

int64_t sys_ppoll(uaddr_t fds, unsigned nfds, uaddr_t timeout, uaddr_t sigmask, size_t sigsetsize)
{
	uint64_t deadline;
	bool immediate;
	int r = timeout_arg(timeout, &deadline, &immediate);
	if (r)
		return r;
	r = sigmask_enter(sigmask, sigsetsize);
	if (r)
		return r;
	int64_t ret = do_poll(fds, nfds, deadline, immediate);
	sigmask_leave(ret == -ERESTARTSYS);
	return finish(ret, timeout, false, deadline);
}

/* --- select ------------------------------------------------------------------------------------------------------ */
#define SEL_IN (EPOLLRDNORM | EPOLLRDBAND | EPOLLIN | EPOLLHUP | EPOLLERR)
#define SEL_OUT (EPOLLWRBAND | EPOLLWRNORM | EPOLLOUT | EPOLLERR)
#define SEL_EX EPOLLPRI
#define SEL_STACK_WORDS 16 /* 1024 descriptors */

struct sel_set {
	uint64_t *in[3], *out[3];
	unsigned words;
};

static int64_t select_round(struct sel_set *s, int n, struct poll_wq *wq)
{
	static const uint32_t kinds[3] = {SEL_IN, SEL_OUT, SEL_EX};
	int64_t count = 0;
	for (unsigned w = 0; w < s->words; w++) {
		uint64_t all = s->in[0][w] | s->in[1][w] | s->in[2][w];
		s->out[0][w] = s->out[1][w] = s->out[2][w] = 0;
		for (; all; all &= all - 1) {
			int bit = __builtin_ctzll(all), fd = (int)w * 64 + bit;
			if (fd >= n)
				break;
			uint32_t want = 0;
			for (int k = 0; k < 3; k++)
				if (s->in[k][w] >> bit & 1)
					want |= kinds[k];
			struct file *f = fd_get_nopath(fd);
			if (!f)
				return -EBADF;
			uint32_t ev = poll_wq_file(wq, f, want);
			file_put(f);
			for (int k = 0; k < 3; k++)
				if ((s->in[k][w] >> bit & 1) && (ev & kinds[k])) {
					s->out[k][w] |= 1ull << bit;
					count++;
					poll_wq_ready(wq);
				}
		}
	}
	return count;
}

static int64_t select_sets(struct sel_set *s, int n, uint64_t deadline, bool immediate)
{
	struct poll_wq wq;
	poll_wq_init(&wq);
	if (immediate)
		poll_wq_ready(&wq);
	int64_t r;
	for (;;) {
		r = select_round(s, n, &wq);
		if (!r)
			r = wq.error;
		if (r || immediate)
			break;
		int e = poll_wq_sleep(&wq, deadline);
		if (e == -ETIMEDOUT) {
			immediate = true;
		} else if (e) {
			r = e;
			break;
		}
	}
	poll_wq_fini(&wq);
	return r;
}

static int64_t do_select(int n, const uaddr_t set[3], uint64_t deadline, bool immediate)
{
	if (n < 0)
		return -EINVAL;
	/* Bits beyond the table name no descriptor: Linux does not even look at them. */
	n = MIN(n, (int)current->files->cap);
	struct sel_set s = {.words = ((unsigned)n + 63) / 64};
	size_t bytes = s.words * sizeof(uint64_t);
	uint64_t small[6 * SEL_STACK_WORDS], *mem = small;
	if (s.words > SEL_STACK_WORDS) {
		mem = malloc(6 * bytes);
		if (!mem)
			return -ENOMEM;
	}
	int64_t r = 0;
	for (unsigned k = 0; k < 3; k++) {
		s.in[k] = mem + k * s.words;
		s.out[k] = mem + (3 + k) * s.words;
		memset(s.in[k], 0, bytes);
		if (!uaddr_null(set[k]) && !r)
			r = copy_in(s.in[k], set[k], bytes);
	}
	if (!r)
		r = select_sets(&s, n, deadline, immediate);
	for (unsigned k = 0; k < 3 && r >= 0; k++)
		if (!uaddr_null(set[k]) && copy_out(set[k], s.out[k], bytes))
			r = -EFAULT;
	if (mem != small)
		free(mem);
	return r;
}

int64_t sys_select(int nfds, uaddr_t readfds, uaddr_t writefds, uaddr_t exceptfds, uaddr_t timeout)
{
	uint64_t deadline = 0;
	bool immediate = false;
	if (!uaddr_null(timeout)) {
		struct timeval tv;
		int r = copy_in_obj(tv, timeout);
		if (r)
			return r;
		if (tv.tv_sec < 0 || tv.tv_usec < 0)
			return -EINVAL;
		/* Linux accepts more than a second of microseconds here and carries. */
		int64_t sec = tv.tv_sec, carry = tv.tv_usec / 1000000;
		if (sec > INT64_MAX / NSEC_PER_SEC - carry - 1)
			deadline = INT64_MAX;
		else if (sec || tv.tv_usec)
			deadline = deadline_after((uint64_t)(sec + carry) * NSEC_PER_SEC + (uint64_t)(tv.tv_usec % 1000000) * 1000u);
		else
			immediate = true;
	}
	uaddr_t set[3] = {readfds, writefds, exceptfds};
	return finish(do_select(nfds, set, deadline, immediate), timeout, true, deadline);
}

int64_t sys_pselect6(int nfds, uaddr_t readfds, uaddr_t writefds, uaddr_t exceptfds, uaddr_t timeout, uaddr_t sigmask)
{
	uint64_t deadline;
	bool immediate;
	int r = timeout_arg(timeout, &deadline, &immediate);
	if (r)
		return r;
	struct {
		uint64_t set, size;
	} mask = {0};
	if (!uaddr_null(sigmask)) {
		r = copy_in_obj(mask, sigmask);
		if (r)
			return r;
	}
	r = sigmask_enter(uaddr(mask.set), mask.size);
	if (r)
		return r;
	uaddr_t set[3] = {readfds, writefds, exceptfds};
	int64_t ret = do_select(nfds, set, deadline, immediate);
	sigmask_leave(ret == -ERESTARTSYS);
	return finish(ret, timeout, false, deadline);
}
