/*
 * Process groups and sessions. A process holds one reference of its group, a group one of its session; both
 * leave their tables with the last reference.
 */
#include "sentry/task/task.h"
#include "sentry/base/util.h"
#include <stdlib.h>

/* The tty layer forgets a session that is gone. */
__attribute__((weak)) void tty_session_gone(struct session *s);

struct session *session_new(pid_t sid)
{
	struct session *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->refs = 1;
	s->sid = sid;
	pid_hash_session(s);
	return s;
}

struct session *session_get(struct session *s)
{
	s->refs++;
	return s;
}

void session_put(struct session *s)
{
	if (!s || --s->refs)
		return;
	if (s->tty && tty_session_gone)
		tty_session_gone(s);
	list_del(&s->hash);
	free(s);
}

struct pgrp *pgrp_new(pid_t pgid, struct session *s)
{
	struct pgrp *pg = calloc(1, sizeof *pg);

	if (!pg)
		return NULL;
	pg->refs = 1;
	pg->pgid = pgid;
	pg->session = session_get(s);
	list_init(&pg->members);
	pid_hash_pgrp(pg);
	return pg;
}

struct pgrp *pgrp_get(struct pgrp *pg)
{
	pg->refs++;
	return pg;
}

void pgrp_put(struct pgrp *pg)
{
	if (!pg || --pg->refs)
		return;
	list_del(&pg->hash);
	session_put(pg->session);
	free(pg);
}

void tgroup_set_pgrp(struct tgroup *tg, struct pgrp *pg)
{
	struct pgrp *old = tg->pgrp;

	if (pg)
		pgrp_get(pg);
	list_del(&tg->pgrp_node);
	tg->pgrp = pg;
	if (pg)
		list_add_tail(&pg->members, &tg->pgrp_node);
	pgrp_put(old);
}

bool pgrp_is_orphaned(struct pgrp *pg, struct tgroup *ignore)
{
	struct tgroup *tg;

	list_for_each(tg, &pg->members, pgrp_node) {
		if (tg == ignore || tg->zombie || !tg->parent)
			continue;
		if (tg->parent->pgrp && tg->parent->pgrp != pg && tg->parent->pgrp->session == pg->session)
			return false;
	}
	return true;
}

bool pgrp_has_stopped(struct pgrp *pg)
{
	struct tgroup *tg;

	list_for_each(tg, &pg->members, pgrp_node)
		if (tg->stopped)
			return true;
	return false;
}

int64_t do_setsid(void)
{
	struct tgroup *tg = current->tg;
	struct session *s;
	struct pgrp *pg;

	/* A group of that number may exist even when the caller left it: EPERM as well. */
	if (pgrp_find(tg->pid))
		return -EPERM;
	s = session_new(tg->pid);
	if (!s)
		return -ENOMEM;
	pg = pgrp_new(tg->pid, s);
	session_put(s);
	if (!pg)
		return -ENOMEM;
	tgroup_set_pgrp(tg, pg);
	pgrp_put(pg);
	return tg->pid;
}
