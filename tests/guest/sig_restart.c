/* What an interrupted call returns: EINTR, SA_RESTART, time left, pause, per call kind. */
#include "check.h"
#include <poll.h>
#include <sys/select.h>
#include <sys/time.h>

static volatile sig_atomic_t hits;
static void on_alarm(int s)
{
	(void)s;
	hits++;
}
static void arm(int ms)
{
	struct itimerval it = {{0, 0}, {0, ms * 1000}};

	setitimer(ITIMER_REAL, &it, NULL);
}
static void handler(int flags)
{
	struct sigaction sa = {.sa_handler = on_alarm, .sa_flags = flags};

	sigaction(SIGALRM, &sa, NULL);
}

int main(void)
{
	int p[2];
	char c;
	pid_t kid;
	struct pollfd pf;
	struct timespec ts = {1, 0}, rem;

	NEED(pipe(p) == 0);
	handler(0);
	arm(20);
	CHECK_ERR(read(p[0], &c, 1), EINTR);
	CHECK_EQ(hits, 1);
	/* with SA_RESTART the read goes on until data comes */
	handler(SA_RESTART);
	kid = fork();
	if (kid == 0) {
		check_sleep_ms(80);
		_exit(write(p[1], "x", 1) != 1);
	}
	arm(20);
	CHECK_EQ(read(p[0], &c, 1), 1);
	CHECK_EQ(hits, 2);
	CHECK_EQ(check_wait(kid), 0);
	/* wait restarts too */
	kid = fork();
	if (kid == 0) {
		check_sleep_ms(60);
		_exit(0);
	}
	arm(20);
	CHECK_EQ(waitpid(kid, NULL, 0), kid);
	CHECK_EQ(hits, 3);
	handler(0);
	kid = fork();
	if (kid == 0) {
		check_sleep_ms(60);
		_exit(0);
	}
	arm(20);
	CHECK_ERR(waitpid(kid, NULL, 0), EINTR);
	CHECK_EQ(check_wait(kid), 0);
	/* poll, select and sleeps never restart with a handler */
	handler(SA_RESTART);
	pf.fd = p[0];
	pf.events = POLLIN;
	arm(20);
	CHECK_ERR(poll(&pf, 1, 1000), EINTR);
	arm(20);
	CHECK_ERR(select(0, NULL, NULL, NULL, &(struct timeval){1, 0}), EINTR);
	arm(20);
	CHECK_ERR(nanosleep(&ts, &rem), EINTR);
	CHECK(rem.tv_sec == 0 && rem.tv_nsec > 500000000);
	arm(20);
	CHECK_ERR(pause(), EINTR);
	arm(20);
	CHECK_EQ(clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, &rem), EINTR);
	/* a stop and a continue do not end a sleep or a read */
	signal(SIGALRM, SIG_DFL);
	kid = fork();
	if (kid == 0) {
		struct timespec t = {0, 150000000};
		double t0 = check_now();
		int r = nanosleep(&t, NULL);

		_exit(r != 0 || check_now() - t0 < 0.14);
	}
	check_sleep_ms(30);
	kill(kid, SIGSTOP);
	check_sleep_ms(30);
	kill(kid, SIGCONT);
	CHECK_EQ(check_wait(kid), 0);
	kid = fork();
	if (kid == 0) {
		int r = (int)read(p[0], &c, 1);

		_exit(r == 1 ? 0 : errno);
	}
	check_sleep_ms(20);
	kill(kid, SIGSTOP);
	check_sleep_ms(20);
	kill(kid, SIGCONT);
	check_sleep_ms(20);
	CHECK_EQ(write(p[1], "x", 1), 1);
	CHECK_EQ(check_wait(kid), 0);
	/* a signal whose handler is SIG_IGN does not interrupt */
	signal(SIGUSR1, SIG_IGN);
	pid_t me = getpid();
	kid = fork();
	if (kid == 0) {
		check_sleep_ms(20);
		kill(me, SIGUSR1);
		check_sleep_ms(20);
		_exit(write(p[1], "x", 1) != 1);
	}
	CHECK_EQ(read(p[0], &c, 1), 1);
	CHECK_EQ(check_wait(kid), 0);
	printf("%d handler runs\n", (int)hits);
	return check_done();
}
