/* Resource limits, names, priorities: what can be asked and set. */
#include "check.h"
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

/* CPU time: the soft limit's signal ends the child. */
static void cpu_limit(void)
{
	struct rlimit r = {1, 3};
	pid_t c = fork();
	int st = 0;

	if (!c) {
		setrlimit(RLIMIT_CPU, &r);
		for (volatile long i = 0;; i++)
			;
	}
	CHECK(waitpid(c, &st, 0) == c);
	CHECK(WIFSIGNALED(st) && WTERMSIG(st) == SIGXCPU);
}

int main(void)
{
	struct rlimit rl, was;
	struct utsname u;
	struct sysinfo si;
	char name[17] = "";
	cpu_set_t set;

	for (int i = 0; i < RLIM_NLIMITS; i++)
		CHECK_EQ(getrlimit(i, &rl), 0);
	CHECK_ERR(getrlimit(99, &rl), EINVAL);
	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &was), 0);
	rl = (struct rlimit){was.rlim_max + (was.rlim_max != RLIM_INFINITY), was.rlim_max};
	if (was.rlim_max != RLIM_INFINITY)
		CHECK_ERR(setrlimit(RLIMIT_NOFILE, &rl), EINVAL);
	CHECK_EQ(prlimit(0, RLIMIT_STACK, NULL, &rl), 0);
	CHECK_ERR(prlimit(99999999, RLIMIT_STACK, NULL, &rl), ESRCH);
	/* a file-size limit sends SIGXFSZ */
	IN_CHILD(SIGXFSZ, {
		rl = (struct rlimit){1000, 1000};
		setrlimit(RLIMIT_FSIZE, &rl);
		rl = (struct rlimit){0, 0};
		setrlimit(RLIMIT_CORE, &rl);
		int fd = open("f", O_CREAT | O_RDWR, 0600);
		char b[800] = {0};

		CHECK_EQ(write(fd, b, 800), 800);
		CHECK_EQ(write(fd, b, 800), 200);
		write(fd, b, 800);
	});
	IN_CHILD(0, {
		rl = (struct rlimit){64 << 20, 64 << 20};
		setrlimit(RLIMIT_AS, &rl);
		CHECK(malloc(256 << 20) == NULL);
	});
	CHECK_EQ(uname(&u), 0);
	CHECK(!strcmp(u.sysname, "Linux") && !strcmp(u.machine, "x86_64") && strlen(u.nodename) > 0);
	CHECK(atoi(u.release) >= 4);
	CHECK_EQ(sysinfo(&si), 0);
	CHECK(si.totalram > 0 && si.procs > 0 && si.mem_unit > 0);
	CHECK_EQ(prctl(PR_SET_NAME, "a-name-longer-than-fits"), 0);
	CHECK_EQ(prctl(PR_GET_NAME, name), 0);
	CHECK(!strcmp(name, "a-name-longer-t"));
	CHECK_EQ(prctl(PR_GET_DUMPABLE), 1);
	CHECK_ERR(prctl(123456), EINVAL);
	CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	CHECK_EQ(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1);
	CHECK(sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) >= 1);
	CHECK(sysconf(_SC_NPROCESSORS_ONLN) >= 1);
	CHECK_EQ(sched_yield(), 0);
	CHECK_EQ(sched_getscheduler(0), SCHED_OTHER);
	CHECK_EQ(sched_get_priority_max(SCHED_FIFO), 99);
	unsigned cpu = 9999;
	CHECK_EQ(syscall(SYS_getcpu, &cpu, NULL, NULL), 0);
	CHECK(cpu < 9999);
	errno = 0;
	CHECK(getpriority(PRIO_PROCESS, 0) != -1 || errno == 0);
	CHECK_EQ(syscall(SYS_personality, 0xffffffff), 0);
	cpu_limit();
	return check_done();
}
