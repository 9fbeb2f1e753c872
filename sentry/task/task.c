/* Task objects: creation, references, tables. A task lives until it was reaped and nobody refers to it. */
#include "sentry/task/task.h"
#include "sentry/base/util.h"
#include "sentry/loop.h"
#include <stdlib.h>

struct task *current;
static unsigned count, max_tasks = 30000;

void task_set_limit(unsigned max)
{
	max_tasks = max;
}

unsigned task_count(void)
{
	return count;
}

struct task *task_new(struct tgroup *tg)
{
	struct task *t;

	if (count >= max_tasks)
		return NULL;
	t = calloc(1, sizeof *t);
	if (!t)
		return NULL;
	count++;
	t->refs = 1;
	t->tg = tgroup_get(tg);
	list_init(&t->tg_node);
	list_init(&t->hash);
	sigpending_init(&t->pending);
	t->state = TASK_RUNNING;
	t->cur_nr = -1;
	t->altstack_flags = SS_DISABLE;
	t->timer_slack = t->default_slack = 50000;
	t->start_ns = now_boot_ns();
	return t;
}

struct task *task_get(struct task *t)
{
	t->refs++;
	return t;
}

void task_put(struct task *t)
{
	if (!t || --t->refs)
		return;
	sigpending_flush(&t->pending, ~0ull);
	if (t->user) {
		t->user->tasks--;
		user_count_put(t->user);
	}
	cred_put(t->cred);
	tgroup_put(t->tg);
	count--;
	free(t);
}

void task_link(struct task *t)
{
	pid_hash_task(t);
	list_add_tail(&t->tg->tasks, &t->tg_node);
	t->tg->live++;
}

void task_unlink(struct task *t)
{
	list_del(&t->hash);
	list_del(&t->tg_node);
	task_put(t);
}
