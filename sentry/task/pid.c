/*
 * Pid numbers and the tables keyed by them. A number is free when no task, process, process group or session
 * has it: a group keeps its leader's number busy after the leader is gone, as in Linux. Numbers rise and wrap
 * at pid_max to 300, so that early (daemon) numbers are not taken again.
 */
#include "sentry/task/task.h"
#include "sentry/base/util.h"

#define PID_BUCKETS 1024u
#define PID_RESERVED 300

unsigned pid_max = 32768;
static pid_t last_pid;
static struct list task_table[PID_BUCKETS], tgroup_table[PID_BUCKETS], pgrp_table[PID_BUCKETS],
    session_table[PID_BUCKETS];

static struct list *bucket(struct list *table, pid_t pid)
{
	struct list *b = &table[(unsigned)pid % PID_BUCKETS];

	if (!b->next)
		list_init(b);
	return b;
}

struct task *task_find(pid_t tid)
{
	struct task *t;

	list_for_each(t, bucket(task_table, tid), hash)
		if (t->tid == tid)
			return t;
	return NULL;
}

struct tgroup *tgroup_find(pid_t pid)
{
	struct tgroup *tg;

	list_for_each(tg, bucket(tgroup_table, pid), hash)
		if (tg->pid == pid)
			return tg;
	return NULL;
}

struct pgrp *pgrp_find(pid_t pgid)
{
	struct pgrp *pg;

	list_for_each(pg, bucket(pgrp_table, pgid), hash)
		if (pg->pgid == pgid)
			return pg;
	return NULL;
}

struct session *session_find(pid_t sid)
{
	struct session *s;

	list_for_each(s, bucket(session_table, sid), hash)
		if (s->sid == sid)
			return s;
	return NULL;
}

void pid_hash_task(struct task *t)
{
	list_add(bucket(task_table, t->tid), &t->hash);
}
void pid_hash_tgroup(struct tgroup *tg)
{
	list_add(bucket(tgroup_table, tg->pid), &tg->hash);
}
void pid_hash_pgrp(struct pgrp *pg)
{
	list_add(bucket(pgrp_table, pg->pgid), &pg->hash);
}
void pid_hash_session(struct session *s)
{
	list_add(bucket(session_table, s->sid), &s->hash);
}

bool pid_in_use(pid_t pid)
{
	return task_find(pid) || tgroup_find(pid) || pgrp_find(pid) || session_find(pid);
}

pid_t pid_alloc(void)
{
	for (unsigned tries = 0; tries < pid_max; tries++) {
		pid_t pid = last_pid + 1;

		if ((unsigned)pid >= pid_max)
			pid = PID_RESERVED;
		last_pid = pid;
		if (!pid_in_use(pid))
			return pid;
	}
	return -EAGAIN;
}
