/* epoll: level and edge triggering, one-shot, modification, nesting, errors; eventfd, timerfd, signalfd with it. */
#include "check.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

int main(void)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = 77}, out[4];
	int ep = epoll_create1(EPOLL_CLOEXEC), p[2], e, t, s, ep2;
	char buf[16];
	uint64_t v;

	NEED(ep >= 0 && pipe(p) == 0);
	CHECK_EQ(fcntl(ep, F_GETFD), FD_CLOEXEC);
	CHECK_EQ(epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &ev), 0);
	CHECK_ERR(epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &ev), EEXIST);
	CHECK_ERR(epoll_ctl(ep, EPOLL_CTL_MOD, p[1], &ev), ENOENT);
	CHECK_ERR(epoll_ctl(ep, EPOLL_CTL_ADD, 99, &ev), EBADF);
	CHECK_ERR(epoll_ctl(ep, EPOLL_CTL_ADD, ep, &ev), EINVAL);
	int f = open("f", O_CREAT | O_RDWR, 0600);
	CHECK_ERR(epoll_ctl(ep, EPOLL_CTL_ADD, f, &ev), EPERM);
	CHECK_EQ(epoll_wait(ep, out, 4, 0), 0);
	CHECK_ERR(epoll_wait(ep, out, 0, 0), EINVAL);
	NEED(write(p[1], "ab", 2) == 2);
	CHECK_EQ(epoll_wait(ep, out, 4, -1), 1);
	CHECK(out[0].events == EPOLLIN && out[0].data.u64 == 77);
	CHECK_EQ(epoll_wait(ep, out, 4, 0), 1);
	/* edge: once per arrival */
	ev.events = EPOLLIN | EPOLLET;
	CHECK_EQ(epoll_ctl(ep, EPOLL_CTL_MOD, p[0], &ev), 0);
	CHECK_EQ(epoll_wait(ep, out, 4, 0), 1);
	CHECK_EQ(epoll_wait(ep, out, 4, 0), 0);
	NEED(write(p[1], "c", 1) == 1);
	CHECK_EQ(epoll_wait(ep, out, 4, 0), 1);
	CHECK_EQ(epoll_wait(ep, out, 4, 0), 0);
	ev.events = EPOLLIN | EPOLLONESHOT;
	CHECK_EQ(epoll_ctl(ep, EPOLL_CTL_MOD, p[0], &ev), 0);
	CHECK_EQ(epoll_wait(ep, out, 4, 0), 1);
	CHECK_EQ(epoll_wait(ep, out, 4, 0), 0);
	CHECK_EQ(epoll_ctl(ep, EPOLL_CTL_MOD, p[0], &ev), 0);
	CHECK_EQ(epoll_wait(ep, out, 4, 0), 1);
	NEED(read(p[0], buf, 16) == 3);
	ev.events = EPOLLIN;
	CHECK_EQ(epoll_ctl(ep, EPOLL_CTL_MOD, p[0], &ev), 0);
	pid_t k = fork();
	if (k == 0) {
		check_sleep_ms(30);
		_exit(write(p[1], "x", 1) != 1);
	}
	CHECK_EQ(epoll_wait(ep, out, 4, 5000), 1);
	CHECK_EQ(check_wait(k), 0);
	CHECK_EQ(epoll_ctl(ep, EPOLL_CTL_DEL, p[0], NULL), 0);
	CHECK_ERR(epoll_ctl(ep, EPOLL_CTL_DEL, p[0], NULL), ENOENT);
	CHECK_EQ(epoll_wait(ep, out, 4, 0), 0);
	/* eventfd */
	e = eventfd(3, EFD_NONBLOCK);
	NEED(e >= 0);
	CHECK_EQ(read(e, &v, 8), 8);
	CHECK_EQ(v, 3);
	CHECK_ERR(read(e, &v, 8), EAGAIN);
	CHECK_ERR(read(e, &v, 4), EINVAL);
	ev.data.u64 = 1;
	CHECK_EQ(epoll_ctl(ep, EPOLL_CTL_ADD, e, &ev), 0);
	CHECK_EQ(epoll_wait(ep, out, 4, 0), 0);
	v = 5;
	CHECK_EQ(write(e, &v, 8), 8);
	CHECK_EQ(write(e, &v, 8), 8);
	CHECK_EQ(epoll_wait(ep, out, 4, 0), 1);
	CHECK_EQ(read(e, &v, 8), 8);
	CHECK_EQ(v, 10);
	v = -2;
	CHECK_EQ(write(e, &v, 8), 8);
	v = 1;
	CHECK_ERR(write(e, &v, 8), EAGAIN);
	v = -1;
	CHECK_ERR(write(e, &v, 8), EINVAL);
	close(e);
	e = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK);
	CHECK(read(e, &v, 8) == 8 && v == 1);
	CHECK(read(e, &v, 8) == 8 && v == 1);
	CHECK_ERR(read(e, &v, 8), EAGAIN);
	close(e);
	/* timerfd */
	t = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	NEED(t >= 0);
	CHECK_ERR(read(t, &v, 8), EAGAIN);
	struct itimerspec its = {{0, 5000000}, {0, 5000000}};
	CHECK_EQ(timerfd_settime(t, 0, &its, NULL), 0);
	ev.data.u64 = 2;
	CHECK_EQ(epoll_ctl(ep, EPOLL_CTL_ADD, t, &ev), 0);
	CHECK_EQ(epoll_wait(ep, out, 4, 5000), 1);
	CHECK_EQ(out[0].data.u64, 2);
	check_sleep_ms(30);
	CHECK(read(t, &v, 8) == 8 && v >= 3);
	CHECK_EQ(timerfd_gettime(t, &its), 0);
	CHECK_EQ(its.it_interval.tv_nsec, 5000000);
	close(t);
	/* signalfd */
	sigset_t m;
	struct signalfd_siginfo si;
	sigemptyset(&m);
	sigaddset(&m, SIGUSR1);
	sigprocmask(SIG_BLOCK, &m, NULL);
	s = signalfd(-1, &m, SFD_NONBLOCK);
	NEED(s >= 0);
	CHECK_ERR(read(s, &si, sizeof si), EAGAIN);
	kill(getpid(), SIGUSR1);
	ev.data.u64 = 3;
	CHECK_EQ(epoll_ctl(ep, EPOLL_CTL_ADD, s, &ev), 0);
	CHECK_EQ(epoll_wait(ep, out, 4, 0), 1);
	CHECK_EQ(read(s, &si, sizeof si), sizeof si);
	CHECK(si.ssi_signo == SIGUSR1 && (int)si.ssi_pid == getpid());
	/* an epoll inside an epoll */
	ep2 = epoll_create1(0);
	ev.data.u64 = 4;
	CHECK_EQ(epoll_ctl(ep2, EPOLL_CTL_ADD, ep, &ev), 0);
	CHECK_EQ(epoll_wait(ep2, out, 4, 0), 0);
	kill(getpid(), SIGUSR1);
	CHECK_EQ(epoll_wait(ep2, out, 4, 1000), 1);
	CHECK_EQ(out[0].data.u64, 4);
	/* hang-up is always told; a closed file leaves the set */
	ep2 = epoll_create1(0);
	ev.events = 0;
	CHECK_EQ(epoll_ctl(ep2, EPOLL_CTL_ADD, p[0], &ev), 0);
	NEED(read(p[0], buf, 16) == 1);
	close(p[1]);
	CHECK_EQ(epoll_wait(ep2, out, 4, 1000), 1);
	CHECK_EQ(out[0].events, EPOLLHUP);
	close(p[0]);
	CHECK_EQ(epoll_wait(ep2, out, 4, 0), 0);
	return check_done();
}
