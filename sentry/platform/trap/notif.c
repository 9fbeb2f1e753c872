/*
 * The seccomp listener. A notification is a doorbell (no data: the mailbox has it), a hello of a new process or
 * thread, or an order in progress. Who speaks is known from the notification's pid alone.
 */
#include "sentry/platform/trap/trap.h"
#include "sentry/base/log.h"
#include "sentry/fiber.h"
#include "sentry/loop.h"
#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
#define THREAD_FLAG 0x100ull /* CLONE_VM */

int notif_reply(uint64_t id, int error, bool cont)
{
	struct seccomp_notif_resp r = {
	    .id = id, .error = error, .flags = cont ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0};

	return ioctl(listener_fd, SECCOMP_IOCTL_NOTIF_SEND, &r) < 0 ? -errno : 0;
}

/* A synchronous wake-up keeps the guest on our core: right when we are about to sleep, fatal when we go on spinning. */
void notif_sync(bool on)
{
	static bool is_on;

	if (!have_syncwake || on == is_on)
		return;
	uint64_t flags = on ? SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP : 0;

	if (ioctl(listener_fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS, flags) < 0)
		have_syncwake = false;
	is_on = on;
}

int notif_addfd(uint64_t id, int fd, int as_fd)
{
	struct seccomp_notif_addfd a = {
	    .id = id, .flags = SECCOMP_ADDFD_FLAG_SETFD, .srcfd = (unsigned)fd, .newfd = (unsigned)as_fd};

	return ioctl(listener_fd, SECCOMP_IOCTL_NOTIF_ADDFD, &a) < 0 ? -errno : 0;
}

static bool order_matches(const struct order *o, const struct seccomp_data *d)
{
	if ((uint64_t)(unsigned)d->nr != o->nr)
		return false;
	const uint64_t *a = (const uint64_t *)d->args;

	switch (o->nr) {
	case SYS_mmap:
		return a[0] == o->a[0] && a[1] == o->a[1] && a[2] == o->a[2] && a[3] == o->a[3] &&
		       a[4] == (COOKIE_ORDER_HI << 32 | o->a[4]) && a[5] == o->a[5];
	case SYS_clone:
		/* The stack of a thread lies in its own area; where exactly is the stub's business. */
		if (o->a[0] & THREAD_FLAG) {
			uint64_t area = AREA_BASE + o->slot * AREA_SIZE;

			if (a[1] < area || a[1] > area + AREA_SIZE)
				return false;
		} else if (a[1]) {
			return false;
		}
		return a[0] == o->a[0] && !a[2] && !a[3] && a[4] == o->a[4] && a[5] == COOKIE_ORDER;
	default:
		return a[0] == o->a[0] && a[1] == o->a[1] && a[2] == o->a[2] && a[3] == o->a[3] &&
		       a[4] == o->a[4] && a[5] == COOKIE_ORDER;
	}
}

static void on_order(struct plat_thread *t, const struct seccomp_notif *n)
{
	unsigned i = t->order_next;
	bool ok = t->state == THR_ORDERED && !t->as->dead;

	/* The next one, or the previous once more (a signal restarted the call before it began). */
	if (ok && i < t->order_count && order_matches(&t->orders[i], &n->data))
		t->order_next++;
	else if (ok && i > 0 && order_matches(&t->orders[i - 1], &n->data))
		i--;
	else {
		notif_reply(n->id, -EPERM, false);
		as_violation(t->as, "a call was made that was not ordered");
		return;
	}
	if (t->orders[i].hostfd >= 0) {
		int r = notif_addfd(n->id, t->orders[i].hostfd, STUB_FD_MAP);

		if (r < 0) {
			notif_reply(n->id, r == -ENOENT ? -EINTR : r, false);
			return;
		}
	}
	notif_reply(n->id, 0, true);
}

/* An unknown thread: only a birth that is expected, named by its token and checked for its thread group. */
static void on_hello(const struct seccomp_notif *n)
{
	struct plat_thread *b;
	pid_t tid = (pid_t)n->pid;

	list_for_each (b, &births, birth) {
		if (b->token != n->data.args[1] || b->tid)
			continue;
		pid_t tgid = b->is_process ? tid : b->as->pid;

		if (syscall(SYS_tgkill, tgid, tid, 0) < 0)
			break;
		if (b->is_process) {
			int r = notif_addfd(n->id, b->as->mbox_fd, STUB_FD_MBOX);

			if (r == -ENOENT)
				return;
			if (r < 0) {
				log_warn("cannot hand a mailbox to a new process: error %d", -r);
				break;
			}
			as_set_pid(b->as, tid);
		}
		thread_set_tid(b, tid);
		list_del(&b->birth);
		b->ringing = true;
		b->notif_id = n->id;
		if (b->answered || b->parked)
			thread_answer_ring(b);
		if (b->fiber)
			fiber_wake(b->fiber);
		return;
	}
	/* A process on its way out may still ring; anyone else has no business here. */
	struct plat_as *as = as_by_pid(tid);

	if (as && as->dead) {
		notif_reply(n->id, -EPERM, false);
		return;
	}
	log_info("an unknown thread spoke (call %d, %llx %llx): killed", n->data.nr, (unsigned long long)n->data.args[0], (unsigned long long)n->data.args[1]);
	notif_reply(n->id, -EPERM, false);
	syscall(SYS_kill, tid, SIGKILL);
}

static void on_doorbell(struct plat_thread *t, const struct seccomp_notif *n)
{
	t->ringing = true;
	t->notif_id = n->id;
	t->cpu = (unsigned)n->data.args[2];
	stats.by_doorbell++;
	if (thread_look(t))
		return;
	/* Nothing new: it rang for a request that has its reply by now, or is being served. */
	if (t->answered || t->parked)
		thread_answer_ring(t);
}

static void on_listener(struct loop_source *s, uint32_t events)
{
	struct seccomp_notif n;

	memset(&n, 0, sizeof n);
	if (ioctl(listener_fd, SECCOMP_IOCTL_NOTIF_RECV, &n) < 0)
		return; /* withdrawn: its thread died */
	struct plat_thread *t = thread_by_tid((pid_t)n.pid);

	if (!t && n.data.nr == DOORBELL_NR && n.data.args[0] == RING_REQUEST && thread_is_leaving((pid_t)n.pid))
		notif_reply(n.id, 0, false);
	else if (!t)
		on_hello(&n);
	else if (n.data.nr == DOORBELL_NR)
		on_doorbell(t, &n);
	else
		on_order(t, &n);
}

static struct loop_source source = {.fn = on_listener};
int notif_init(void)
{
	source.fd = listener_fd;
	return loop_watch(&source, EPOLLIN);
}
