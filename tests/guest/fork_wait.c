/* variants: static musl */
/* Processes: fork, exit codes, death by signal, every kind of wait, orphans, many children. */
#include "check.h"
#include <sys/prctl.h>
#include <sys/resource.h>

int main(void)
{
	int st;
	siginfo_t si;
	pid_t c;
	struct rusage ru;

	CHECK_ERR(wait(&st), ECHILD);
	IN_CHILD(7 << 8, _exit(7));
	IN_CHILD(255 << 8, _exit(-1));
	IN_CHILD(SIGKILL, kill(getpid(), SIGKILL));
	IN_CHILD(SIGTERM, raise(SIGTERM));
	IN_CHILD(SIGABRT, {
		struct rlimit none = {0, 0};
		setrlimit(RLIMIT_CORE, &none);
		abort();
	});
	c = fork();
	if (c == 0) {
		check_sleep_ms(30);
		_exit(3);
	}
	CHECK_EQ(waitpid(c, &st, WNOHANG), 0);
	CHECK_EQ(waitid(P_PID, c, &si, WEXITED | WNOWAIT), 0);
	CHECK(si.si_pid == c && si.si_status == 3 && si.si_code == CLD_EXITED && si.si_signo == SIGCHLD);
	CHECK_EQ(wait4(-1, &st, 0, &ru), c);
	CHECK_EQ(st, 3 << 8);
	CHECK_ERR(waitpid(c, &st, 0), ECHILD);
	CHECK_ERR(waitpid(-1, &st, 0x1234567), EINVAL);
	CHECK_ERR(waitid(P_ALL, 0, &si, 0), EINVAL);
	/* the pids are different and parents are right */
	pid_t me = getpid();
	IN_CHILD(0, {
		CHECK(getpid() != me);
		CHECK(getppid() == me);
		CHECK_ERR(wait(&st), ECHILD);
	});
	/* many at once, collected in any order */
	pid_t kids[50];
	for (int i = 0; i < 50; i++) {
		kids[i] = fork();
		NEED(kids[i] >= 0);
		if (kids[i] == 0)
			_exit(i);
	}
	int seen = 0, sum = 0;
	while (wait(&st) > 0) {
		seen++;
		sum += WEXITSTATUS(st);
	}
	CHECK_EQ(seen, 50);
	CHECK_EQ(sum, 49 * 50 / 2);
	CHECK_EQ(errno, ECHILD);
	/* SIGCHLD ignored: children vanish, wait ends with ECHILD */
	signal(SIGCHLD, SIG_IGN);
	c = fork();
	if (c == 0)
		_exit(1);
	CHECK_ERR(waitpid(c, &st, 0), ECHILD);
	signal(SIGCHLD, SIG_DFL);
	/* a subreaper inherits orphans */
	CHECK_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	c = fork();
	if (c == 0) {
		if (fork() == 0) {
			while (getppid() != me)
				check_sleep_ms(1);
			_exit(44);
		}
		_exit(0);
	}
	CHECK_EQ(check_wait(c), 0);
	CHECK(wait(&st) > 0);
	CHECK_EQ(st, 44 << 8);
	/* kill and its errors */
	CHECK_EQ(kill(me, 0), 0);
	CHECK_ERR(kill(me, 65), EINVAL);
	CHECK_ERR(kill(c, 0), ESRCH);
	/* depth: a chain of forks returns its length */
	int depth = 0;
	while (depth < 20) {
		c = fork();
		NEED(c >= 0);
		if (c > 0) {
			st = check_wait(c);
			if (depth)
				_exit(WEXITSTATUS(st));
			CHECK_EQ(WEXITSTATUS(st), 20);
			break;
		}
		depth++;
	}
	if (depth)
		_exit(depth);
	return check_done();
}
