/* Pending signals: coalescing, order, limits, lost information. */
#include <criterion/criterion.h>
#include "sentry/signal/signal.h"
#include "sentry/task/task.h"

static struct l_siginfo queued(int signo, uint64_t value)
{
	struct l_siginfo i = {.signo = signo, .code = L_SI_QUEUE};

	i.rt.value = value;
	return i;
}

Test(sigqueue, standard_signals_coalesce)
{
	struct sigpending p;
	struct l_siginfo out;

	sigpending_init(&p);
	cr_assert_eq(sigpending_add(&p, SIGUSR1, &(struct l_siginfo){.code = L_SI_USER, .rt.pid = 7}, NULL, 0), 0);
	cr_assert_eq(sigpending_add(&p, SIGUSR1, &(struct l_siginfo){.code = L_SI_USER, .rt.pid = 8}, NULL, 0), 0);
	cr_assert_eq(sigpending_take(&p, ~0ull, &out), SIGUSR1);
	cr_assert_eq(out.rt.pid, 7, "the first one's information stays");
	cr_assert_eq(sigpending_take(&p, ~0ull, &out), 0);
	cr_assert_eq(p.set, 0);
}

Test(sigqueue, realtime_signals_queue_in_order)
{
	struct sigpending p;
	struct l_siginfo out, in;

	sigpending_init(&p);
	for (unsigned i = 0; i < 5; i++) {
		in = queued(40, i);
		cr_assert_eq(sigpending_add(&p, 40, &in, NULL, 0), 0);
	}
	in = queued(35, 99);
	cr_assert_eq(sigpending_add(&p, 35, &in, NULL, 0), 0);
	cr_assert_eq(sigpending_take(&p, ~0ull, &out), 35, "the lowest number first");
	for (unsigned i = 0; i < 5; i++) {
		cr_assert_eq(sigpending_take(&p, ~0ull, &out), 40);
		cr_assert_eq(out.rt.value, i);
		cr_assert_eq(!!(p.set & SIGBIT(40)), i < 4);
	}
}

Test(sigqueue, faults_come_first)
{
	struct sigpending p;
	struct l_siginfo out;

	sigpending_init(&p);
	sigpending_add(&p, SIGHUP, NULL, NULL, 0);
	sigpending_add(&p, SIGSEGV, NULL, NULL, 0);
	cr_assert_eq(sigpending_take(&p, ~0ull, &out), SIGSEGV);
	cr_assert_eq(out.code, L_SI_KERNEL);
	cr_assert_eq(sigpending_take(&p, ~SIGBIT(SIGHUP), &out), 0, "masked ones stay");
	cr_assert_eq(sigpending_take(&p, ~0ull, &out), SIGHUP);
}

Test(sigqueue, limit_refuses_queued_and_loses_plain)
{
	struct sigpending p;
	struct user_count u = {.refs = 1};
	struct l_siginfo in = queued(40, 1), out;

	sigpending_init(&p);
	list_init(&u.node);
	cr_assert_eq(sigpending_add(&p, 40, &in, &u, 2), 0);
	cr_assert_eq(sigpending_add(&p, 40, &in, &u, 2), 0);
	cr_assert_eq(u.signals, 2);
	cr_assert_eq(sigpending_add(&p, 40, &in, &u, 2), -EAGAIN);
	in.code = L_SI_USER;
	cr_assert_eq(sigpending_add(&p, 41, &in, &u, 2), 0, "kill(2) is never refused");
	cr_assert_eq(sigpending_take(&p, SIGBIT(41), &out), 41);
	cr_assert_eq(out.code, 0);
	sigpending_flush(&p, ~0ull);
	cr_assert_eq(u.signals, 0);
	cr_assert_eq(u.refs, 1);
}
