/* variants: static musl */
/* Signals: dispositions, masks, pending, siginfo, alternate stack, nesting, reset, kill of groups. */
#include "check.h"

static volatile sig_atomic_t count, last, order[8], norder;
static siginfo_t info;
static char altstack[65536];
static volatile int on_alt, masked_inside;

static void plain(int s)
{
	count++;
	last = s;
	if (norder < 8)
		order[norder++] = s;
}
static void with_info(int s, siginfo_t *si, void *uc)
{
	(void)s;
	(void)uc;
	info = *si;
	count++;
}
static void alt(int s)
{
	char here;
	sigset_t m;

	(void)s;
	on_alt = &here >= altstack && &here < altstack + sizeof altstack;
	sigprocmask(SIG_BLOCK, NULL, &m);
	masked_inside = sigismember(&m, SIGUSR1) && sigismember(&m, SIGUSR2) && !sigismember(&m, SIGHUP);
}

int main(void)
{
	struct sigaction sa = {.sa_handler = plain}, old;
	sigset_t m, pend;

	CHECK_EQ(sigaction(SIGUSR1, &sa, NULL), 0);
	CHECK_EQ(sigaction(SIGUSR1, NULL, &old), 0);
	CHECK(old.sa_handler == plain);
	CHECK_ERR(sigaction(SIGKILL, &sa, NULL), EINVAL);
	CHECK_ERR(sigaction(SIGSTOP, &sa, NULL), EINVAL);
	raise(SIGUSR1);
	CHECK(count == 1 && last == SIGUSR1);
	kill(getpid(), SIGUSR1);
	CHECK_EQ(count, 2);
	/* blocked signals wait, standard ones collapse */
	sigemptyset(&m);
	sigaddset(&m, SIGUSR1);
	CHECK_EQ(sigprocmask(SIG_BLOCK, &m, NULL), 0);
	raise(SIGUSR1);
	raise(SIGUSR1);
	CHECK_EQ(count, 2);
	CHECK_EQ(sigpending(&pend), 0);
	CHECK(sigismember(&pend, SIGUSR1) && !sigismember(&pend, SIGUSR2));
	CHECK_EQ(sigprocmask(SIG_UNBLOCK, &m, NULL), 0);
	CHECK_EQ(count, 3);
	/* ignored signals are dropped even while blocked */
	signal(SIGUSR2, SIG_IGN);
	raise(SIGUSR2);
	sigpending(&pend);
	CHECK(!sigismember(&pend, SIGUSR2));
	/* siginfo of kill */
	sa.sa_sigaction = with_info;
	sa.sa_flags = SA_SIGINFO;
	sigaction(SIGUSR2, &sa, NULL);
	kill(getpid(), SIGUSR2);
	CHECK(info.si_signo == SIGUSR2 && info.si_code == SI_USER && info.si_pid == getpid() &&
	      info.si_uid == getuid());
	sigqueue(getpid(), SIGUSR2, (union sigval){.sival_int = 77});
	CHECK(info.si_code == SI_QUEUE && info.si_value.sival_int == 77);
	/* SIGCHLD's */
	sigaction(SIGCHLD, &sa, NULL);
	pid_t c = fork();
	if (c == 0)
		_exit(12);
	CHECK_EQ(check_wait(c), 12 << 8);
	CHECK(info.si_signo == SIGCHLD && info.si_code == CLD_EXITED && info.si_pid == c && info.si_status == 12);
	signal(SIGCHLD, SIG_DFL);
	/* alternate stack, sa_mask */
	stack_t ss = {.ss_sp = altstack, .ss_size = sizeof altstack}, oss;
	CHECK_EQ(sigaltstack(&ss, NULL), 0);
	memset(&sa, 0, sizeof sa);
	sa.sa_handler = alt;
	sa.sa_flags = SA_ONSTACK;
	sigaddset(&sa.sa_mask, SIGUSR2);
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	CHECK(on_alt && masked_inside);
	CHECK_EQ(sigaltstack(NULL, &oss), 0);
	CHECK(oss.ss_sp == altstack && oss.ss_flags == 0);
	ss.ss_size = 100;
	CHECK_ERR(sigaltstack(&ss, NULL), ENOMEM);
	sigprocmask(SIG_BLOCK, NULL, &m);
	CHECK(!sigismember(&m, SIGUSR1) && !sigismember(&m, SIGUSR2));
	/* SA_RESETHAND, SA_NODEFER */
	memset(&sa, 0, sizeof sa);
	sa.sa_handler = plain;
	sa.sa_flags = SA_RESETHAND;
	sigaction(SIGHUP, &sa, NULL);
	raise(SIGHUP);
	sigaction(SIGHUP, NULL, &old);
	CHECK(old.sa_handler == SIG_DFL);
	IN_CHILD(SIGHUP, raise(SIGHUP));
	/* several pending at once are all delivered */
	signal(SIGUSR1, plain);
	signal(SIGUSR2, plain);
	signal(SIGINT, plain);
	sigfillset(&m);
	sigprocmask(SIG_BLOCK, &m, NULL);
	norder = 0;
	raise(SIGUSR2);
	raise(SIGUSR1);
	raise(SIGINT);
	sigprocmask(SIG_UNBLOCK, &m, NULL);
	CHECK_EQ(norder, 3);
	/* sigsuspend */
	sigemptyset(&m);
	sigaddset(&m, SIGUSR1);
	sigprocmask(SIG_BLOCK, &m, NULL);
	count = 0;
	pid_t me = getpid();
	c = fork();
	if (c == 0) {
		check_sleep_ms(20);
		kill(me, SIGUSR1);
		_exit(0);
	}
	sigset_t empty;
	sigemptyset(&empty);
	CHECK_ERR(sigsuspend(&empty), EINTR);
	CHECK_EQ(count, 1);
	sigprocmask(SIG_BLOCK, NULL, &m);
	CHECK(sigismember(&m, SIGUSR1));
	check_wait(c);
	/* default actions */
	IN_CHILD(0, {
		raise(SIGURG);
		raise(SIGWINCH);
		raise(SIGCHLD);
	});
	IN_CHILD(SIGALRM, raise(SIGALRM));
	IN_CHILD(SIGRTMIN, raise(SIGRTMIN));
	return check_done();
}
