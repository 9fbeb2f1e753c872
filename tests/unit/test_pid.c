/* Pid numbers: rising, wrapping, never one that is in use. */
#include <criterion/criterion.h>
#include "sentry/task/task.h"

Test(pid, numbers_rise_and_wrap_to_300)
{
	pid_max = 310;
	cr_assert_eq(pid_alloc(), 1);
	cr_assert_eq(pid_alloc(), 2);
	for (pid_t i = 3; i < 310; i++)
		cr_assert_eq(pid_alloc(), i);
	cr_assert_eq(pid_alloc(), 300);
}

Test(pid, groups_keep_numbers_busy)
{
	struct session s = {.sid = 2};
	struct pgrp g = {.pgid = 3};
	struct task t = {.tid = 4};
	struct tgroup tg = {.pid = 5};

	pid_hash_session(&s);
	pid_hash_pgrp(&g);
	pid_hash_task(&t);
	pid_hash_tgroup(&tg);
	cr_assert_eq(pid_alloc(), 1);
	cr_assert_eq(pid_alloc(), 6);
	cr_assert_eq(task_find(4), &t);
	cr_assert_eq(tgroup_find(5), &tg);
	cr_assert_eq(pgrp_find(3), &g);
	cr_assert_eq(session_find(2), &s);
	cr_assert_null(task_find(5));
	list_del(&t.hash);
	cr_assert_null(task_find(4));
	cr_assert(!pid_in_use(4));
}

Test(pid, none_left)
{
	static struct task t[400];

	pid_max = 400;
	for (pid_t i = 1; i < 400; i++) {
		t[i].tid = i;
		pid_hash_task(&t[i]);
	}
	cr_assert_eq(pid_alloc(), -EAGAIN);
}
