/* Waiting for children: zombies, stops and continues (do_wait of kernel/exit.c). All threads share the children. */
#include "sentry/task/wait.h"
#include "sentry/time/clock.h"
#include "sentry/task/task.h"
#include "sentry/platform/platform.h"
#include "sentry/base/util.h"
#include <string.h>
#include <sys/wait.h>

#ifndef __WNOTHREAD
#define __WNOTHREAD 0x20000000
#endif
#ifndef __WALL
#define __WALL 0x40000000
#endif
#ifndef __WCLONE
#define __WCLONE 0x80000000
#endif

static void ns_to_timeval(uint64_t ns, struct timeval *tv)
{
	tv->tv_sec = (time_t)(ns / 1000000000);
	tv->tv_usec = (suseconds_t)(ns % 1000000000 / 1000);
}

void tgroup_rusage(struct tgroup *tg, struct rusage *ru)
{
	memset(ru, 0, sizeof *ru);
	/* DIFF: the platform tells one CPU time per thread; all of it counts as user time. */
	ns_to_timeval(tgroup_cpu_ns(tg) - tg->stime_ns, &ru->ru_utime);
	ns_to_timeval(tg->stime_ns, &ru->ru_stime);
	ru->ru_maxrss = (long)tg->maxrss_kb;
	ru->ru_minflt = (long)tg->minflt;
}

void tgroup_children_rusage(struct tgroup *tg, struct rusage *ru)
{
	memset(ru, 0, sizeof *ru);
	ns_to_timeval(tg->cutime_ns, &ru->ru_utime);
	ns_to_timeval(tg->cstime_ns, &ru->ru_stime);
	ru->ru_maxrss = (long)tg->cmaxrss_kb;
	ru->ru_minflt = (long)tg->cminflt;
}

void task_rusage(struct task *t, struct rusage *ru)
{
	memset(ru, 0, sizeof *ru);
	ns_to_timeval(t->host ? plat_thread_cpu_ns(t->host) : 0, &ru->ru_utime);
}

int wait_code(int status, int *info_status)
{
	if (WIFEXITED(status)) {
		*info_status = WEXITSTATUS(status);
		return CLD_EXITED;
	}
	*info_status = WTERMSIG(status);
	return status & 0x80 ? CLD_DUMPED : CLD_KILLED;
}

static bool eligible(struct tgroup *c, enum wait_type type, pid_t target, unsigned options)
{
	bool is_clone = c->exit_signal != SIGCHLD;

	if (type == WAIT_PID && c->pid != target)
		return false;
	if (type == WAIT_PGRP && (!c->pgrp || c->pgrp->pgid != target))
		return false;
	if ((options & __WNOTHREAD) && c->parent_tid != current->tid)
		return false;
	/* A "clone child" is one that does not report by SIGCHLD; __WALL takes both kinds. */
	return (options & __WALL) || is_clone == !!(options & __WCLONE);
}

static void reap(struct tgroup *c)
{
	struct tgroup *me = current->tg;

	me->cutime_ns += c->utime_ns + c->cutime_ns;
	me->cstime_ns += c->stime_ns + c->cstime_ns;
	me->cmaxrss_kb = MAX(me->cmaxrss_kb, MAX(c->maxrss_kb, c->cmaxrss_kb));
	me->cminflt += c->minflt + c->cminflt;
	tgroup_release(c);
}

/* What C has to report, if anything OPTIONS asks for. */
static bool report(struct tgroup *c, unsigned options, struct wait_result *out)
{
	out->pid = c->pid;
	out->uid = c->leader && c->leader->cred ? c->leader->cred->uid : 0;
	if (c->zombie) {
		if (!(options & WEXITED))
			return false;
		out->status = c->exit_code;
		out->code = wait_code(c->exit_code, &out->info_status);
		tgroup_rusage(c, &out->ru);
		if (!(options & WNOWAIT))
			reap(c);
		return true;
	}
	if ((options & WUNTRACED) && c->stopped && c->stop_reported && c->stop_signal) {
		out->status = c->stop_signal << 8 | 0x7f;
		out->code = CLD_STOPPED;
		out->info_status = c->stop_signal;
		tgroup_rusage(c, &out->ru);
		if (!(options & WNOWAIT))
			c->stop_signal = 0;
		return true;
	}
	if ((options & WCONTINUED) && c->continued_pending) {
		out->status = 0xffff;
		out->code = CLD_CONTINUED;
		out->info_status = SIGCONT;
		tgroup_rusage(c, &out->ru);
		if (!(options & WNOWAIT))
			c->continued_pending = false;
		return true;
	}
	return false;
}

int64_t do_wait(enum wait_type type, pid_t target, int options, struct wait_result *out)
{
	struct tgroup *me = current->tg, *c;

	for (;;) {
		bool any = false;
		int ret;

		list_for_each(c, &me->children, sibling) {
			if (!eligible(c, type, target, (unsigned)options))
				continue;
			any = true;
			if (report(c, (unsigned)options, out))
				return out->pid;
		}
		if (!any)
			return -ECHILD;
		if (options & WNOHANG)
			return 0;
		ret = wait_on(&me->child_q, 0);
		if (ret < 0)
			return ret;
	}
}
