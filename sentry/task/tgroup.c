/* Thread groups (processes): creation, the table in pid order. */
#include "sentry/task/task.h"
#include "sentry/base/util.h"
#include <stdlib.h>

static struct list all = LIST_INIT(all);

struct tgroup *tgroup_new(void)
{
	struct tgroup *tg = calloc(1, sizeof *tg);

	if (!tg)
		return NULL;
	tg->refs = 1;
	list_init(&tg->tasks);
	list_init(&tg->children);
	list_init(&tg->sibling);
	list_init(&tg->pgrp_node);
	list_init(&tg->timers);
	list_init(&tg->hash);
	list_init(&tg->all);
	sigpending_init(&tg->shared);
	waitq_init(&tg->child_q);
	waitq_init(&tg->exit_q);
	waitq_init(&tg->exec_q);
	tg->exit_signal = SIGCHLD;
	tg->dumpable = true;
	tg->start_ns = now_boot_ns();
	return tg;
}

struct tgroup *tgroup_get(struct tgroup *tg)
{
	tg->refs++;
	return tg;
}

void tgroup_put(struct tgroup *tg)
{
	if (!tg || --tg->refs)
		return;
	sigpending_flush(&tg->shared, ~0ull);
	sighand_put(tg->sighand);
	free(tg);
}

void tgroup_link(struct tgroup *tg)
{
	struct list *at = all.prev;

	pid_hash_tgroup(tg);
	/* Numbers mostly rise, so the place is near the end. */
	while (at != &all && list_entry(at, struct tgroup, all)->pid > tg->pid)
		at = at->prev;
	list_add(at, &tg->all);
	if (tg->parent)
		list_add_tail(&tg->parent->children, &tg->sibling);
}

struct tgroup *tgroup_next(pid_t from)
{
	struct tgroup *tg;

	list_for_each(tg, &all, all)
		if (tg->pid >= from)
			return tg;
	return NULL;
}

void tgroup_release(struct tgroup *tg)
{
	struct task *leader = tg->leader;

	list_del(&tg->hash);
	list_del(&tg->all);
	list_del(&tg->sibling);
	tgroup_set_pgrp(tg, NULL);
	tg->parent = NULL;
	tg->leader = NULL;
	if (leader)
		task_unlink(leader);
	tgroup_put(tg);
}
