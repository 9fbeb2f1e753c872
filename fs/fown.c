/*
 * Signals about files: whom F_SETOWN named gets SIGIO, or the signal F_SETSIG chose, when a file with O_ASYNC becomes
 * ready or its lease is to be given up. Readiness comes from the queues that the file's poll operation names, so
 * pipes, terminals and sockets need nothing of their own for it.
 */
#include "fs/fown.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include "fs/inotify/inotify.h"
#include "sentry/base/util.h"
#include "sentry/task/task.h"

#define HOOKS 4
struct hook {
	struct waiter w;
	struct fasync *owner;
};
struct fasync {
	struct poll_table pt;
	struct file *file; /* not counted: the file owns us */
	int fd;            /* descriptor by which O_ASYNC was set: si_fd */
	unsigned used;
	struct hook hook[HOOKS]; /* no file names more queues than two */
};

static bool may_signal(const struct file *f, const struct task *t)
{
	const struct cred *c = t->cred;

	return f->owner_euid == 0 || f->owner_euid == c->suid || f->owner_euid == c->uid || f->owner_uid == c->suid ||
	       f->owner_uid == c->uid;
}

/* The signal to one task (ONLY) or process, with SIGIO in its place when the queue is full (send_sigio_to_task). */
static void send_to(struct file *f, struct tgroup *tg, struct task *only, const struct l_siginfo *si)
{
	struct task *t = only ? only : tg->leader;

	if (!t || !t->cred || !may_signal(f, t))
		return;
	if (si->signo && (only ? signal_send_task(only, si->signo, si) : signal_send_group(tg, si->signo, si)) == 0)
		return;
	if (only)
		signal_send_task(only, SIGIO, NULL);
	else
		signal_send_group(tg, SIGIO, NULL);
}

/* Signals whose si_code values mean something else: SI_SIGIO is used with them. */
#define OWN_CODES                                                                                               \
	(SIGBIT(SIGILL) | SIGBIT(SIGFPE) | SIGBIT(SIGSEGV) | SIGBIT(SIGBUS) | SIGBIT(SIGTRAP) | SIGBIT(SIGCHLD) | \
	 SIGBIT(SIGSYS))

void fown_signal(struct file *f, int fd, int code, uint32_t band)
{
	struct l_siginfo si = {.signo = f->owner_sig, .code = code, .poll = {.band = band, .fd = fd}};
	struct tgroup *tg;
	struct task *t;
	struct pgrp *pg;

	if (si.signo && (SIGBIT(si.signo) & OWN_CODES))
		si.code = SI_SIGIO;
	if (!f->owner_pid)
		return;
	/* DIFF: the owner is kept as a number; Linux would not signal a later process with the same one. */
	switch (f->owner_type) {
	case F_OWNER_TID:
		t = task_find(f->owner_pid);
		if (t)
			send_to(f, t->tg, t, &si);
		break;
	case F_OWNER_PID:
		tg = tgroup_find(f->owner_pid);
		if (tg)
			send_to(f, tg, NULL, &si);
		break;
	case F_OWNER_PGRP:
		pg = pgrp_find(f->owner_pid);
		if (pg)
			list_for_each(tg, &pg->members, pgrp_node)
				send_to(f, tg, NULL, &si);
		break;
	}
}

int fown_set(struct file *f, int type, int pid, bool force)
{
	if (f->owner_pid && !force)
		return 0;
	if (pid && !(type == F_OWNER_TID   ? task_find(pid) != NULL
		     : type == F_OWNER_PID ? tgroup_find(pid) != NULL
					   : pgrp_find(pid) != NULL))
		return -ESRCH;
	f->owner_type = type;
	f->owner_pid = pid;
	f->owner_uid = current->cred->uid;
	f->owner_euid = current->cred->euid;
	return 0;
}

static void fired(struct waiter *w, uint32_t events)
{
	struct fasync *a = container_of(w, struct hook, w)->owner;
	struct file *f = a->file;

	if (!events || ((events & (EPOLLIN | EPOLLRDNORM | EPOLLPRI)) && f->can_read))
		fown_signal(f, a->fd, POLL_IN, EPOLLIN | EPOLLRDNORM);
	else if ((events & (EPOLLOUT | EPOLLWRNORM)) && f->can_write)
		fown_signal(f, a->fd, POLL_OUT, EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND);
	else if (events & (EPOLLHUP | EPOLLERR))
		fown_signal(f, a->fd, POLL_HUP, EPOLLHUP | EPOLLERR);
}

static void hook_add(struct poll_table *pt, struct waitq *q)
{
	struct fasync *a = container_of(pt, struct fasync, pt);
	struct hook *h;

	if (a->used == HOOKS)
		return;
	h = &a->hook[a->used++];
	h->owner = a;
	h->w.fn = fired;
	waitq_add(q, &h->w);
}

/* Files whose kind has a fasync operation in Linux; with others O_ASYNC is silently not set. */
static bool can_async(const struct file *f)
{
	uint32_t m = f->inode->mode;

	return f->ops && f->ops->poll && (S_ISFIFO(m) || S_ISSOCK(m) || S_ISCHR(m) || file_is_inotify(f));
}

int fown_async(struct file *f, int fd, bool on)
{
	struct fasync *a = f->fasync;

	if (!can_async(f))
		return 0;
	if (!on) {
		fown_drop(f);
		f->flags &= ~O_ASYNC;
		return 0;
	}
	if (!a) {
		a = calloc(1, sizeof(*a));
		if (!a)
			return -ENOMEM;
		a->file = f;
		a->pt.add = hook_add;
		f->fasync = a;
		f->ops->poll(f, &a->pt);
	}
	a->fd = fd;
	f->flags |= O_ASYNC;
	return 0;
}

void fown_drop(struct file *f)
{
	struct fasync *a = f->fasync;

	if (!a)
		return;
	for (unsigned n = 0; n < a->used; n++)
		waitq_del(&a->hook[n].w);
	free(a);
	f->fasync = NULL;
}
