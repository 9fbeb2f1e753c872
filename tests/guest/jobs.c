/* Process groups, sessions, stop and continue as wait reports them. */
#include "check.h"

int main(void)
{
	int st, p[2];
	pid_t c, me = getpid();
	char b;

	CHECK_EQ(getpgid(0), getpgrp());
	CHECK_ERR(getpgid(99999999), ESRCH);
	CHECK_ERR(setpgid(0, -1), EINVAL);
	IN_CHILD(0, {
		CHECK_EQ(setpgid(0, 0), 0);
		CHECK_EQ(getpgrp(), getpid());
		CHECK_ERR(setsid(), EPERM);
	});
	IN_CHILD(0, {
		CHECK_EQ(setsid(), getpid());
		CHECK_EQ(getsid(0), getpid());
		CHECK_EQ(getpgrp(), getpid());
		CHECK_ERR(setpgid(0, 0), EPERM);
		CHECK_ERR(open("/dev/tty", O_RDWR), ENXIO);
	});
	/* a child after exec cannot be moved */
	c = fork();
	if (c == 0) {
		execlp("sleep", "sleep", "5", NULL);
		_exit(9);
	}
	CHECK_EQ(setpgid(c, c), 0);
	CHECK_EQ(getpgid(c), c);
	kill(-c, SIGTERM);
	CHECK_EQ(check_wait(c), SIGTERM);
	CHECK_ERR(kill(-c, 0), ESRCH);
	/* one signal to a whole group */
	NEED(pipe(p) == 0);
	pid_t lead = fork();
	if (lead == 0) {
		setpgid(0, 0);
		for (int i = 0; i < 3; i++)
			if (fork() == 0) {
				b = 'r';
				if (write(p[1], &b, 1) != 1)
					_exit(1);
				for (;;)
					pause();
			}
		close(p[1]);
		for (;;)
			pause();
	}
	close(p[1]);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(read(p[0], &b, 1), 1);
	CHECK_EQ(killpg(lead, SIGKILL), 0);
	CHECK_EQ(check_wait(lead), SIGKILL);
	CHECK_EQ(read(p[0], &b, 1), 0); /* all of them are gone */
	/* stop and continue */
	c = fork();
	if (c == 0)
		for (;;)
			pause();
	kill(c, SIGSTOP);
	CHECK_EQ(waitpid(c, &st, WUNTRACED), c);
	CHECK(WIFSTOPPED(st) && WSTOPSIG(st) == SIGSTOP);
	CHECK_EQ(waitpid(c, &st, WUNTRACED | WNOHANG), 0);
	kill(c, SIGCONT);
	CHECK_EQ(waitpid(c, &st, WCONTINUED), c);
	CHECK(WIFCONTINUED(st));
	kill(c, SIGSTOP);
	siginfo_t si;
	CHECK_EQ(waitid(P_PID, c, &si, WSTOPPED), 0);
	CHECK(si.si_code == CLD_STOPPED && si.si_status == SIGSTOP);
	kill(c, SIGTERM); /* waits until continued */
	CHECK_EQ(waitpid(c, &st, WNOHANG), 0);
	kill(c, SIGCONT);
	CHECK_EQ(check_wait(c), SIGTERM);
	c = fork();
	if (c == 0)
		for (;;)
			__asm__ volatile("pause"); /* a busy process stops, too */
	kill(c, SIGTSTP);
	/* an orphaned group ignores SIGTSTP; this one may be either, so both are right */
	check_sleep_ms(20);
	kill(c, SIGKILL);
	CHECK_EQ(check_wait(c), SIGKILL);
	CHECK_EQ(getpid(), me);
	return check_done();
}
