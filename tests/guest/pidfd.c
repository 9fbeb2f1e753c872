/* Process descriptors: open, poll, signal, wait; close_range; clone3 with a pidfd. */
#include "check.h"
#include <linux/sched.h>
#include <poll.h>

int main(void)
{
	siginfo_t si;
	pid_t c = fork();
	int fd, st;
	struct pollfd p;

	if (c == 0)
		for (;;)
			pause();
	fd = (int)syscall(SYS_pidfd_open, c, 0);
	NEED(fd >= 0);
	CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	p = (struct pollfd){fd, POLLIN, 0};
	CHECK_EQ(poll(&p, 1, 0), 0);
	CHECK_EQ(syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0), 0);
	CHECK_EQ(syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0), 0);
	CHECK_EQ(poll(&p, 1, 5000), 1);
	CHECK_EQ(p.revents & POLLIN, POLLIN);
	CHECK_EQ(waitid(3 /* P_PIDFD */, fd, &si, WEXITED), 0);
	CHECK(si.si_pid == c && si.si_status == SIGTERM && si.si_code == CLD_KILLED);
	CHECK_ERR(syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0), ESRCH);
	CHECK_ERR(syscall(SYS_pidfd_open, 99999999, 0), ESRCH);
	CHECK_ERR(syscall(SYS_pidfd_open, -1, 0), EINVAL);
	int pfd = -1;
	struct clone_args a = {.flags = CLONE_PIDFD, .pidfd = (uint64_t)&pfd, .exit_signal = SIGCHLD};
	fflush(stdout);
	c = (pid_t)syscall(SYS_clone3, &a, sizeof a);
	NEED(c >= 0);
	if (c == 0)
		_exit(21);
	CHECK(pfd >= 0);
	CHECK_EQ(waitpid(c, &st, 0), c);
	CHECK_EQ(st, 21 << 8);
	CHECK_ERR(syscall(SYS_clone3, &a, 10), EINVAL);
	return check_done();
}
