/*
 * Pending signals: a set of numbers and a queue of siginfo. A standard signal is queued once; real-time ones
 * each time, in order, against the sender's RLIMIT_SIGPENDING. A signal in the set without a queue entry lost its
 * information (limit or no memory).
 */
#include "sentry/signal/signal.h"
#include "sentry/task/task.h"
#include <stdlib.h>
#include <string.h>

void sigpending_init(struct sigpending *p)
{
	p->set = 0;
	list_init(&p->queue);
}

static void sigqueue_free(struct sigqueue *q)
{
	list_del(&q->node);
	if (q->user) {
		q->user->signals--;
		user_count_put(q->user);
	}
	free(q);
}

void sigpending_flush(struct sigpending *p, uint64_t mask)
{
	struct sigqueue *q, *tmp;

	if (!(p->set & mask))
		return;
	p->set &= ~mask;
	list_for_each_safe(q, tmp, &p->queue, node)
		if (mask & SIGBIT(q->info.signo))
			sigqueue_free(q);
}

int sigpending_add(struct sigpending *p, int signo, const struct l_siginfo *info, struct user_count *user,
		   uint64_t limit)
{
	struct sigqueue *q = NULL;
	/* The kernel's own standard signals are never refused for the limit (they coalesce, so they are bounded). */
	bool override = signo < SIGRTMIN_KERNEL && (!info || info->code >= 0);

	if (signo < SIGRTMIN_KERNEL && (p->set & SIGBIT(signo)))
		return 0;
	if (override || !user || user->signals < limit)
		q = calloc(1, sizeof *q);
	if (!q) {
		/* Information of a queued real-time signal must not be lost silently; kill(2) may lose it. */
		if (signo >= SIGRTMIN_KERNEL && info && info->code != L_SI_USER)
			return -EAGAIN;
		p->set |= SIGBIT(signo);
		return 0;
	}
	if (info) {
		q->info = *info;
		q->info.signo = signo;
	} else {
		q->info.signo = signo;
		q->info.code = L_SI_KERNEL;
	}
	if (user) {
		q->user = user;
		user->refs++;
		user->signals++;
	}
	list_add_tail(&p->queue, &q->node);
	p->set |= SIGBIT(signo);
	return 0;
}

/* Faults first, then the lowest number: next_signal() of Linux. */
static int next_signal(uint64_t set)
{
	if (set & SIG_MASK_SYNC)
		set &= SIG_MASK_SYNC;
	return set ? __builtin_ctzll(set) + 1 : 0;
}

int sigpending_take(struct sigpending *p, uint64_t mask, struct l_siginfo *info)
{
	int signo = next_signal(p->set & mask);
	struct sigqueue *q, *first = NULL;
	bool more = false;

	if (!signo)
		return 0;
	list_for_each(q, &p->queue, node) {
		if (q->info.signo != signo)
			continue;
		if (first) {
			more = true;
			break;
		}
		first = q;
	}
	if (!more)
		p->set &= ~SIGBIT(signo);
	memset(info, 0, sizeof *info);
	info->signo = signo;
	if (first) {
		*info = first->info;
		sigqueue_free(first);
	}
	return signo;
}

struct sighand *sighand_new(void)
{
	struct sighand *h = calloc(1, sizeof *h);

	if (!h)
		return NULL;
	h->refs = 1;
	waitq_init(&h->signalfd_q);
	return h;
}

struct sighand *sighand_dup(const struct sighand *h)
{
	struct sighand *n = sighand_new();

	if (n)
		memcpy(n->action, h->action, sizeof n->action);
	return n;
}

void sighand_put(struct sighand *h)
{
	if (!h || --h->refs)
		return;
	/* An epoll item of a signalfd may still be linked here: its task is gone, it shall never fire again. */
	while (!list_empty(&h->signalfd_q.waiters))
		list_del(h->signalfd_q.waiters.next);
	free(h);
}
