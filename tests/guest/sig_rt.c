/* Real-time signals queue in order; sigwaitinfo, sigtimedwait. */
#include "check.h"

static int seen[16], nseen;
static void on_rt(int s, siginfo_t *si, void *uc)
{
	(void)uc;
	if (nseen < 16)
		seen[nseen++] = (s - SIGRTMIN) * 100 + si->si_value.sival_int;
}

int main(void)
{
	struct sigaction sa = {.sa_sigaction = on_rt, .sa_flags = SA_SIGINFO};
	struct timespec zero = {0, 0}, some = {0, 30000000};
	sigset_t m;
	siginfo_t si;

	sigemptyset(&m);
	for (int i = 0; i < 3; i++) {
		sigaction(SIGRTMIN + i, &sa, NULL);
		sigaddset(&m, SIGRTMIN + i);
		sigaddset(&sa.sa_mask, SIGRTMIN + i);
	}
	for (int i = 0; i < 3; i++)
		sigaction(SIGRTMIN + i, &sa, NULL);
	sigprocmask(SIG_BLOCK, &m, NULL);
	for (int i = 0; i < 3; i++)
		for (int j = 2; j >= 0; j--)
			CHECK_EQ(sigqueue(getpid(), SIGRTMIN + j, (union sigval){.sival_int = i}), 0);
	sigprocmask(SIG_UNBLOCK, &m, NULL);
	CHECK_EQ(nseen, 9);
	for (int i = 0; i < nseen; i++)
		printf("%d ", seen[i]);
	printf("\n");
	sigaddset(&m, SIGUSR1);
	sigprocmask(SIG_BLOCK, &m, NULL);
	CHECK_ERR(sigtimedwait(&m, &si, &zero), EAGAIN);
	double t0 = check_now();
	CHECK_ERR(sigtimedwait(&m, &si, &some), EAGAIN);
	CHECK(check_now() - t0 >= 0.029);
	raise(SIGUSR1);
	sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 5});
	CHECK_EQ(sigwaitinfo(&m, &si), SIGUSR1);
	CHECK_EQ(sigwaitinfo(&m, &si), SIGRTMIN);
	CHECK(si.si_code == SI_QUEUE && si.si_value.sival_int == 5);
	pid_t me = getpid(), c = fork();
	if (c == 0) {
		check_sleep_ms(20);
		kill(me, SIGUSR1);
		_exit(0);
	}
	CHECK_EQ(sigwaitinfo(&m, &si), SIGUSR1);
	CHECK(si.si_pid == c && si.si_code == SI_USER);
	check_wait(c);
	return check_done();
}
