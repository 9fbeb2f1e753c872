/* variants: static musl */
/* exec: arguments pass, state is kept and reset as POSIX says; scripts; exact errors; vfork and posix_spawn. */
#include "check.h"
#include <spawn.h>
#include <sys/resource.h>

extern char **environ;

static void put(const char *path, const void *data, size_t n, int mode)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	NEED(fd >= 0 && write(fd, data, n) == (long)n);
	fchmod(fd, mode);
	close(fd);
}

static void on_int(int s)
{
	(void)s;
}

static int run(const char *path, char *const argv[])
{
	pid_t c = fork();

	if (c == 0) {
		execve(path, argv, environ);
		_exit(errno);
	}
	return check_wait(c) >> 8;
}

int main(int argc, char **argv)
{
	char *const none[] = {"x", NULL};

	if (argc > 1 && !strcmp(argv[1], "kept")) {
		sigset_t m;
		struct sigaction sa;

		sigprocmask(SIG_BLOCK, NULL, &m);
		CHECK(sigismember(&m, SIGUSR1) && !sigismember(&m, SIGUSR2));
		sigaction(SIGTERM, NULL, &sa);
		CHECK(sa.sa_handler == SIG_IGN);
		sigaction(SIGINT, NULL, &sa);
		CHECK(sa.sa_handler == SIG_DFL);
		CHECK(getenv("NEWVAR") && !strcmp(getenv("NEWVAR"), "v"));
		CHECK_EQ(getpid(), atoi(argv[2]));
		char cwd[4096];
		CHECK(getcwd(cwd, sizeof cwd) && !strcmp(strrchr(cwd, '/'), "/sub"));
		return check_failed;
	}
	if (argc > 1 && !strcmp(argv[1], "echo")) {
		for (int i = 0; i < argc; i++)
			printf("[%s]", i ? argv[i] : "0");
		printf("\n");
		return 5;
	}
	CHECK_EQ(run("/nonexistent", none), ENOENT);
	CHECK_EQ(run(".", none), EACCES);
	put("noexec", "#!/bin/sh\n", 10, 0600);
	CHECK_EQ(run("noexec", none), EACCES);
	put("junk", "junk that is no program", 23, 0700);
	CHECK_EQ(run("junk", none), ENOEXEC);
	put("empty", "", 0, 0700);
	CHECK_EQ(run("empty", none), ENOEXEC);
	put("short", "\177ELF", 4, 0700);
	CHECK_EQ(run("short", none), ENOEXEC);
	CHECK_EQ(run("junk/x", none), ENOTDIR);
	put("badinterp", "#!/no/such/interp\n", 18, 0700);
	CHECK_EQ(run("badinterp", none), ENOENT);
	put("selfloop", "#!./selfloop\n", 13, 0700);
	CHECK_EQ(run("selfloop", none), ELOOP);
	put("ok.sh", "#!/bin/sh\necho \"script $# $1\"\nexit 9\n", 37, 0700);
	CHECK_EQ(run("./ok.sh", (char *const[]){"x", "arg one", NULL}), 9);
	put("opt.sh", "#! /bin/sh -e  \nfalse\nexit 3\n", 29, 0700);
	CHECK_EQ(run("./opt.sh", none), 1);
	char line[300];
	char self[4096] = {0};
	NEED(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
	snprintf(line, sizeof line, "#!%.200s echo\n", self);
	put("viaself", line, strlen(line), 0700);
	CHECK_EQ(run("./viaself", (char *const[]){"zero", "last", NULL}), 5);
	put("viascript", "#!./viaself second\n", 19, 0700);
	CHECK_EQ(run("./viascript", (char *const[]){"zero", "last", NULL}), 5);
	/* kept and reset state */
	sigset_t m;
	sigemptyset(&m);
	sigaddset(&m, SIGUSR1);
	sigprocmask(SIG_SETMASK, &m, NULL);
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, on_int);
	mkdir("sub", 0755);
	IN_CHILD(0, {
		char pid[16];

		CHECK_EQ(chdir("sub"), 0);
		snprintf(pid, sizeof pid, "%d", getpid());
		char *av[] = {"exec", "kept", pid, NULL};
		char *ev[] = {"NEWVAR=v", NULL};
		execve("/proc/self/exe", av, ev);
	});
	/* big argument lists pass, too big ones do not */
	char *big = malloc(131072 + 10);
	memset(big, 'a', 131072);
	big[131072] = 0;
	CHECK_EQ(run(self, (char *const[]){"x", "none", big, NULL}), E2BIG);
	big[131071] = 0;
	CHECK_EQ(run("/bin/true", (char *const[]){"x", big, NULL}), 0);
	/* vfork shares memory until exec */
	volatile int flag = 0;
	pid_t c = vfork();
	if (c == 0) {
		flag = 1;
		execl("/bin/true", "true", NULL);
		_exit(99);
	}
	CHECK_EQ(flag, 1);
	CHECK_EQ(check_wait(c), 0);
	c = vfork();
	if (c == 0) {
		flag = 2;
		_exit(6);
	}
	CHECK_EQ(flag, 2);
	CHECK_EQ(check_wait(c), 6 << 8);
	/* posix_spawn with a redirection */
	posix_spawn_file_actions_t fa;
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 1, "out", O_CREAT | O_WRONLY, 0600);
	CHECK_EQ(posix_spawnp(&c, "echo", &fa, NULL, (char *const[]){"echo", "spawned", NULL}, environ), 0);
	CHECK_EQ(check_wait(c), 0);
	int fd = open("out", O_RDONLY);
	CHECK(read(fd, line, sizeof line) == 8 && !memcmp(line, "spawned\n", 8));
	CHECK_EQ(posix_spawn(&c, "/nonexistent", NULL, NULL, none, environ), ENOENT);
	/* fexecve */
	fd = open("/bin/true", O_RDONLY | O_CLOEXEC);
	IN_CHILD(0, fexecve(fd, none, environ));
	/* a thread of the caller is gone after exec: exec from many forks */
	for (int i = 0; i < 10; i++)
		IN_CHILD(0, execl("/bin/true", "true", NULL));
	return check_done();
}
