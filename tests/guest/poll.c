/* poll, ppoll, select, pselect: readiness, hang-up, timeouts, waking. */
#include "check.h"
#include <poll.h>
#include <sys/select.h>

int main(void)
{
	int p[2], q[2], fd;
	struct pollfd f[3];
	fd_set r, w;
	struct timeval tv = {0, 20000};
	struct timespec ts = {0, 20000000};
	double t0;
	char c;

	NEED(pipe(p) == 0 && pipe(q) == 0);
	f[0] = (struct pollfd){p[0], POLLIN, 0};
	f[1] = (struct pollfd){p[1], POLLOUT, 0};
	f[2] = (struct pollfd){-1, POLLIN, 7};
	CHECK_EQ(poll(f, 3, 0), 1);
	CHECK(f[0].revents == 0 && f[1].revents == POLLOUT && f[2].revents == 0);
	t0 = check_now();
	CHECK_EQ(poll(f, 1, 20), 0);
	CHECK(check_now() - t0 >= 0.019);
	CHECK_EQ(write(p[1], "x", 1), 1);
	CHECK_EQ(poll(f, 2, -1), 2);
	CHECK_EQ(f[0].revents, POLLIN);
	CHECK_EQ(read(p[0], &c, 1), 1);
	close(p[1]);
	f[1].fd = 99;
	CHECK_EQ(poll(f, 2, -1), 2);
	CHECK_EQ(f[0].revents, POLLHUP);
	CHECK_EQ(f[1].revents, POLLNVAL);
	CHECK_EQ(poll(NULL, 0, 5), 0);
	CHECK_EQ(ppoll(NULL, 0, &ts, NULL), 0);
	/* the reader's end closed */
	CHECK_EQ(pipe(p), 0);
	close(p[0]);
	f[0] = (struct pollfd){p[1], POLLOUT, 0};
	CHECK_EQ(poll(f, 1, 0), 1);
	CHECK_EQ(f[0].revents, POLLOUT | POLLERR);
	/* regular files are always ready */
	fd = open("f", O_CREAT | O_RDWR, 0600);
	f[0] = (struct pollfd){fd, POLLIN | POLLOUT, 0};
	CHECK_EQ(poll(f, 1, 0), 1);
	CHECK_EQ(f[0].revents, POLLIN | POLLOUT);
	/* woken from another process */
	pid_t k = fork();
	if (k == 0) {
		check_sleep_ms(30);
		_exit(write(q[1], "abc", 3) != 3);
	}
	f[0] = (struct pollfd){q[0], POLLIN, 0};
	t0 = check_now();
	CHECK_EQ(poll(f, 1, 5000), 1);
	CHECK(check_now() - t0 >= 0.02 && check_now() - t0 < 4);
	CHECK_EQ(check_wait(k), 0);
	/* select */
	FD_ZERO(&r);
	FD_ZERO(&w);
	FD_SET(q[0], &r);
	FD_SET(q[1], &w);
	CHECK_EQ(select(q[1] + 1, &r, &w, NULL, NULL), 2);
	CHECK(FD_ISSET(q[0], &r) && FD_ISSET(q[1], &w));
	char buf[8];
	CHECK_EQ(read(q[0], buf, 8), 3);
	FD_ZERO(&r);
	FD_SET(q[0], &r);
	CHECK_EQ(select(q[0] + 1, &r, NULL, NULL, &tv), 0);
	CHECK(!FD_ISSET(q[0], &r));
	CHECK(tv.tv_sec == 0 && tv.tv_usec == 0);
	FD_ZERO(&r);
	FD_SET(50, &r);
	CHECK_ERR(select(51, &r, NULL, NULL, &tv), EBADF);
	CHECK_ERR(select(-1, NULL, NULL, NULL, &tv), EINVAL);
	/* pselect swaps the mask for the time of the wait */
	sigset_t m, none;
	sigemptyset(&m);
	sigemptyset(&none);
	sigaddset(&m, SIGCHLD);
	sigprocmask(SIG_BLOCK, &m, NULL);
	k = fork();
	if (k == 0)
		_exit(0);
	FD_ZERO(&r);
	FD_SET(q[0], &r);
	/* SIGCHLD's default action is to be ignored, which does not interrupt */
	CHECK_EQ(pselect(q[0] + 1, &r, NULL, NULL, &ts, &none), 0);
	check_wait(k);
	return check_done();
}
