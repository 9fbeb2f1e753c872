/* /proc/PID/stat and status: the fields of proc(5), as ps, top and psutil read them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "fs/proc/proc.h"
#include "fs/tty/tty.h"
#include "sentry/base/util.h"
#include "sentry/kernel.h"
#include "sentry/mm/mm.h"
#include "sentry/platform/platform.h"
#include "sentry/task/task.h"

#define L_RLIMIT_RSS 5
#define L_RLIMIT_STACK 3

/* DIFF: a task that computes between calls and one that waits for the sentry look the same: R. */
static char state_char(const struct pnode *n, const struct task *t)
{
	if (t->tg->stopped)
		return 'T';
	if (n->tid ? t->state == TASK_ZOMBIE : t->tg->zombie)
		return 'Z';
	if (t->state == TASK_ZOMBIE && t->tg->live) {
		/* the leader left before its threads: the process is what the others do */
		struct task *o;
		list_for_each(o, &t->tg->tasks, tg_node)
			if (o->state != TASK_ZOMBIE && !o->in_sleep)
				return 'R';
		return 'S';
	}
	if (t->state == TASK_ZOMBIE)
		return 'Z';
	if (t->state == TASK_DEAD)
		return 'X';
	return t->in_sleep ? (t->sleep_killable ? 'D' : 'S') : 'R';
}

static const char *state_text(char c)
{
	switch (c) {
	case 'R':
		return "R (running)";
	case 'S':
		return "S (sleeping)";
	case 'D':
		return "D (disk sleep)";
	case 'T':
		return "T (stopped)";
	case 'Z':
		return "Z (zombie)";
	default:
		return "X (dead)";
	}
}

struct sigsets {
	uint64_t pending, shared, blocked, ignored, caught;
	unsigned queued;
};
static struct sigsets signal_sets(const struct task *t)
{
	struct sigsets s = {.pending = t->pending.set, .shared = t->tg->shared.set, .blocked = t->sig_mask};
	struct list *l;
	for (l = t->pending.queue.next; l != &t->pending.queue; l = l->next)
		s.queued++;
	for (l = t->tg->shared.queue.next; l != &t->tg->shared.queue; l = l->next)
		s.queued++;
	for (int i = 0; t->tg->sighand && i < L_NSIG; i++) {
		uint64_t h = t->tg->sighand->action[i].handler;
		if (h == 1)
			s.ignored |= 1ull << i;
		else if (h)
			s.caught |= 1ull << i;
	}
	return s;
}

static uint64_t user_ns(const struct pnode *n, const struct task *t)
{
	uint64_t ns = 0;
	if (n->tid)
		return t->host ? plat_thread_cpu_ns(t->host) : 0;
	ns = t->tg->utime_ns;
	struct task *o;
	list_for_each(o, &t->tg->tasks, tg_node)
		if (o->host)
			ns += plat_thread_cpu_ns(o->host);
	return ns;
}

#define TICK_NS 10000000ull /* USER_HZ 100 */

int show_stat(const struct pnode *n, struct strbuf *s)
{
	struct task *t = pnode_task(n);
	if (!t)
		return -ESRCH;
	struct tgroup *tg = t->tg;
	struct mm *mm = t->mm;
	struct session *ses = tg->pgrp ? tg->pgrp->session : NULL;
	struct sigsets sig = signal_sets(t);
	bool see = proc_may_access(t);
	uint64_t start = (n->tid ? t->start_ns : tg->start_ns) - sandbox.boot_ns;
	int prio = t->sched_policy == 1 || t->sched_policy == 2 ? -1 - t->sched_prio : 20 + t->nice;
	strbuf_printf(s, "%d (%.15s) %c %d %d %d %d %d %u ", n->tid ? n->tid : tg->pid, t->comm, state_char(n, t),
		      tg->parent ? tg->parent->pid : 0, tg->pgrp ? tg->pgrp->pgid : 0, ses ? ses->sid : 0,
		      (int)(ses ? tty_nr(ses) : 0), ses ? tty_fg_pgid(ses) : -1, 4194304u);
	strbuf_printf(s, "%llu %llu 0 0 %llu %llu %llu %llu %d %d %u 0 %llu %llu %llu %llu ",
		      (unsigned long long)tg->minflt, (unsigned long long)tg->cminflt,
		      (unsigned long long)(user_ns(n, t) / TICK_NS), (unsigned long long)(tg->stime_ns / TICK_NS),
		      (unsigned long long)(tg->cutime_ns / TICK_NS), (unsigned long long)(tg->cstime_ns / TICK_NS), prio,
		      t->nice, tg->live, (unsigned long long)(start / TICK_NS),
		      (unsigned long long)(mm ? mm->total_pages * GUEST_PAGE_SIZE : 0),
		      (unsigned long long)(mm ? MIN(mm->data_pages, mm->total_pages) : 0),
		      (unsigned long long)tg->rlim[L_RLIMIT_RSS].cur);
	if (mm && see)
		strbuf_printf(s, "%llu %llu %llu 0 0 ", (unsigned long long)mm->start_code, (unsigned long long)mm->end_code,
			      (unsigned long long)mm->start_stack);
	else
		strbuf_puts(s, "0 0 0 0 0 ");
	strbuf_printf(s, "%llu %llu %llu %llu 0 0 0 %d %d %d %d 0 0 0 ", (unsigned long long)(sig.pending & 0x7fffffff),
		      (unsigned long long)(sig.blocked & 0x7fffffff), (unsigned long long)(sig.ignored & 0x7fffffff),
		      (unsigned long long)(sig.caught & 0x7fffffff), tg->exit_signal, 0,
		      t->sched_policy == 1 || t->sched_policy == 2 ? t->sched_prio : 0, t->sched_policy);
	if (mm && see)
		strbuf_printf(s, "%llu %llu %llu %llu %llu %llu %llu %d\n", (unsigned long long)mm->start_data,
			      (unsigned long long)mm->end_data, (unsigned long long)mm->brk_start,
			      (unsigned long long)mm->arg_start, (unsigned long long)mm->arg_end,
			      (unsigned long long)mm->env_start, (unsigned long long)mm->env_end,
			      tg->zombie ? tg->exit_code : 0);
	else
		strbuf_printf(s, "0 0 0 0 0 0 0 %d\n", see && tg->zombie ? tg->exit_code : 0);
	return 0;
}

static void memory_fields(struct strbuf *s, const struct mm *mm)
{
	unsigned long long total = mm->total_pages * 4, data = mm->data_pages * 4;
	unsigned long long text = (PAGE_UP(mm->end_code) - PAGE_DOWN(mm->start_code)) >> 10, stack = 132, lib = 0;
	struct vma *v;
	list_for_each(v, &mm->vmas, node) {
		if (v->name && !strcmp(v->name, "[stack]"))
			stack = (v->end - v->start) >> 10;
		else if (v->file && (v->prot & 4) && v->file != mm->exe)
			lib += (v->end - v->start) >> 10;
	}
	unsigned long long rss = MIN(data + text, total);
	strbuf_printf(s,
		      "VmPeak:\t%8llu kB\nVmSize:\t%8llu kB\nVmLck:\t%8llu kB\nVmPin:\t       0 kB\nVmHWM:\t%8llu kB\n"
		      "VmRSS:\t%8llu kB\nRssAnon:\t%8llu kB\nRssFile:\t%8llu kB\nRssShmem:\t       0 kB\n"
		      "VmData:\t%8llu kB\nVmStk:\t%8llu kB\nVmExe:\t%8llu kB\nVmLib:\t%8llu kB\nVmPTE:\t      64 kB\n"
		      "VmSwap:\t       0 kB\nHugetlbPages:\t       0 kB\nCoreDumping:\t0\nTHP_enabled:\t1\n",
		      total, total, (unsigned long long)mm->locked_pages * 4, rss, rss, MIN(data, rss), text, data, stack, text, lib);
}

int show_status(const struct pnode *n, struct strbuf *s)
{
	struct task *t = pnode_task(n);
	if (!t)
		return -ESRCH;
	struct tgroup *tg = t->tg;
	const struct cred *c = t->cred;
	int id = n->tid ? n->tid : tg->pid, ppid = tg->parent ? tg->parent->pid : 0;
	strbuf_puts(s, "Name:\t");
	for (const char *p = t->comm; *p && p < t->comm + 15; p++) {
		if (*p == '\n')
			strbuf_puts(s, "\\n");
		else if (*p == '\\')
			strbuf_puts(s, "\\\\");
		else
			strbuf_add(s, p, 1);
	}
	strbuf_printf(s, "\nUmask:\t%04o\nState:\t%s\nTgid:\t%d\nNgid:\t0\nPid:\t%d\nPPid:\t%d\nTracerPid:\t0\n",
		      t->fs ? t->fs->umask : 0, state_text(state_char(n, t)), tg->pid, id, ppid);
	strbuf_printf(s, "Uid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\nFDSize:\t%u\nGroups:\t", c->uid, c->euid, c->suid, c->fsuid,
		      c->gid, c->egid, c->sgid, c->fsgid, t->files ? t->files->cap : 0);
	for (unsigned i = 0; i < c->group_count; i++)
		strbuf_printf(s, "%u ", c->groups[i]);
	strbuf_printf(s, "\nNStgid:\t%d\nNSpid:\t%d\nNSpgid:\t%d\nNSsid:\t%d\nKthread:\t0\n", tg->pid, id,
		      tg->pgrp ? tg->pgrp->pgid : 0, tg->pgrp ? tg->pgrp->session->sid : 0);
	if (t->mm)
		memory_fields(s, t->mm);
	struct sigsets g = signal_sets(t);
	strbuf_printf(s,
		      "Threads:\t%u\nSigQ:\t%u/%llu\nSigPnd:\t%016llx\nShdPnd:\t%016llx\nSigBlk:\t%016llx\n"
		      "SigIgn:\t%016llx\nSigCgt:\t%016llx\n",
		      tg->live, g.queued, (unsigned long long)tg->rlim[11].cur, (unsigned long long)g.pending,
		      (unsigned long long)g.shared, (unsigned long long)g.blocked, (unsigned long long)g.ignored,
		      (unsigned long long)g.caught);
	strbuf_printf(s, "CapInh:\t%016llx\nCapPrm:\t%016llx\nCapEff:\t%016llx\nCapBnd:\t%016llx\nCapAmb:\t%016llx\n",
		      (unsigned long long)c->cap_inheritable, (unsigned long long)c->cap_permitted,
		      (unsigned long long)c->cap_effective, (unsigned long long)c->cap_bounding,
		      (unsigned long long)c->cap_ambient);
	strbuf_printf(s,
		      "NoNewPrivs:\t%d\nSeccomp:\t0\nSeccomp_filters:\t0\nSpeculation_Store_Bypass:\tvulnerable\n"
		      "SpeculationIndirectBranch:\tconditional enabled\n",
		      t->no_new_privs);
	uint64_t cpus = t->cpu_mask ? t->cpu_mask : proc_ncpu >= 64 ? ~0ull : (1ull << proc_ncpu) - 1;
	if (cpus >> 32)
		strbuf_printf(s, "Cpus_allowed:\t%x,%08x\n", (unsigned)(cpus >> 32), (unsigned)cpus);
	else
		strbuf_printf(s, "Cpus_allowed:\t%x\n", (unsigned)cpus);
	strbuf_puts(s, "Cpus_allowed_list:\t");
	const char *sep = "";
	for (unsigned i = 0; i < 64; i++) {
		if (!(cpus >> i & 1))
			continue;
		unsigned j = i;
		while (j + 1 < 64 && (cpus >> (j + 1) & 1))
			j++;
		strbuf_printf(s, j > i ? "%s%u-%u" : "%s%u", sep, i, j);
		sep = ",";
		i = j;
	}
	strbuf_puts(s, "\nMems_allowed:\t1\nMems_allowed_list:\t0\nvoluntary_ctxt_switches:\t0\nnonvoluntary_ctxt_switches:\t0\n");
	return 0;
}
