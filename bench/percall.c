/*
 * What one call costs: each row is one operation repeated in batches; the figure is the median over the batches of
 * the time per operation, in nanoseconds. The median, because a shared or virtual machine adds time now and then and
 * never takes any away. One program for all contestants, so that the same instructions run everywhere.
 *
 *   percall [-b BATCHES] [-t MICROSECONDS PER BATCH] [ROW...]      prints lines "row nanoseconds"
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BATCHES_MAX 201
#define FILE_SIZE (256 << 10)

static char file_path[64], link_path[64], true_path[4096];
static char buf[64 << 10];
static int file_fd, event_fd, own_pipe[2];
static const char *row_name = "start";

/* A row whose calls fail would measure nothing: the program says so and prints no figure for it. */
static void need(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "percall: %s: %s: %s\n", row_name, what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#define ROW(name) static void row_##name(unsigned n)
#define REPEAT for (unsigned i = 0; i < n; i++)

ROW(getpid) { REPEAT getpid(); }
ROW(getppid_syscall) { REPEAT syscall(SYS_getppid); }
ROW(sched_yield) { REPEAT sched_yield(); }
ROW(clock_gettime) { struct timespec ts; REPEAT clock_gettime(CLOCK_REALTIME, &ts); }
ROW(pread_1) { REPEAT need(pread(file_fd, buf, 1, 0) == 1, "pread"); }
ROW(pread_4k) { REPEAT need(pread(file_fd, buf, 4096, 4096) == 4096, "pread"); }
ROW(pread_64k) { REPEAT need(pread(file_fd, buf, 65536, 0) == 65536, "pread"); }
ROW(pwrite_1) { REPEAT need(pwrite(file_fd, buf, 1, 0) == 1, "pwrite"); }
ROW(lseek) { REPEAT need(lseek(file_fd, i & 1, SEEK_SET) >= 0, "lseek"); }
ROW(fstat) { struct stat st; REPEAT need(fstat(file_fd, &st) == 0, "fstat"); }
ROW(stat) { struct stat st; REPEAT need(stat(file_path, &st) == 0, "stat"); }
ROW(readlink) { REPEAT need(readlink(link_path, buf, sizeof buf) > 0, "readlink"); }
ROW(access) { REPEAT need(access(file_path, R_OK) == 0, "access"); }
ROW(rt_sigprocmask) { sigset_t set; sigemptyset(&set); REPEAT need(sigprocmask(SIG_BLOCK, &set, NULL) == 0, "sigprocmask"); }

ROW(open_close)
{
	REPEAT {
		int fd = open(file_path, O_RDONLY);

		need(fd >= 0 && close(fd) == 0, "open");
	}
}

ROW(pipe_own)
{
	REPEAT need(write(own_pipe[1], buf, 1) == 1 && read(own_pipe[0], buf, 1) == 1, "pipe");
}

ROW(eventfd)
{
	uint64_t v = 1;

	REPEAT need(write(event_fd, &v, 8) == 8 && read(event_fd, &v, 8) == 8, "eventfd");
}

/* One round trip; the child lives for one batch, whose length hides its start. */
ROW(pipe_pingpong)
{
	int there[2], back[2];
	char c = 0;

	need(pipe(there) == 0 && pipe(back) == 0, "pipe");
	pid_t pid = fork();

	need(pid >= 0, "fork");
	if (pid == 0) {
		close(there[1]);
		while (read(there[0], &c, 1) == 1)
			if (write(back[1], &c, 1) != 1)
				break;
		_exit(0);
	}
	close(there[0]);
	close(back[1]);
	REPEAT need(write(there[1], &c, 1) == 1 && read(back[0], &c, 1) == 1, "ping-pong");
	close(there[1]);
	close(back[0]);
	need(waitpid(pid, NULL, 0) == pid, "waitpid");
}

ROW(mmap_touch_munmap)
{
	REPEAT {
		char *p = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		need(p != MAP_FAILED, "mmap");
		*(volatile char *)p = 1;
		munmap(p, 65536);
	}
}

ROW(page_fault)
{
	for (unsigned done = 0; done < n;) {
		unsigned now = n - done < 4096 ? n - done : 4096;
		char *p = mmap(NULL, now * 4096ul, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		need(p != MAP_FAILED, "mmap");
		for (unsigned i = 0; i < now; i++)
			((volatile char *)p)[i * 4096ul] = 1;
		munmap(p, now * 4096ul);
		done += now;
	}
}

ROW(brk)
{
	char *end = (char *)syscall(SYS_brk, 0);

	REPEAT need((char *)syscall(SYS_brk, end + (i & 1 ? 0 : 4096)) != NULL, "brk");
	syscall(SYS_brk, end);
}

ROW(fork_exit_wait)
{
	REPEAT {
		pid_t pid = fork();

		need(pid >= 0, "fork");
		if (pid == 0)
			_exit(0);
		need(waitpid(pid, NULL, 0) == pid, "waitpid");
	}
}

static void exec_true(unsigned n, pid_t (*start)(void))
{
	char *argv[] = {true_path, NULL}, *envp[] = {NULL};
	int status;

	REPEAT {
		pid_t pid = start();

		need(pid >= 0, "fork");
		if (pid == 0) {
			execve(true_path, argv, envp);
			_exit(1);
		}
		need(waitpid(pid, &status, 0) == pid && status == 0, true_path);
	}
}

ROW(fork_exec_wait) { exec_true(n, fork); }

ROW(vfork_exec_wait)
{
	char *argv[] = {true_path, NULL}, *envp[] = {NULL};
	int status;

	REPEAT {
		pid_t pid = vfork();

		if (pid == 0) {
			execve(true_path, argv, envp);
			_exit(1);
		}
		need(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0, true_path);
	}
}

static void *nothing(void *arg) { return arg; }

ROW(thread_create_join)
{
	REPEAT {
		pthread_t t;

		need(pthread_create(&t, NULL, nothing, NULL) == 0 && pthread_join(t, NULL) == 0, "pthread");
	}
}

static atomic_int turn;

static void pass_turn(int mine, int next)
{
	while (atomic_load(&turn) != mine)
		syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, next, NULL, NULL, 0);
	atomic_store(&turn, next);
	syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *other_side(void *arg)
{
	unsigned n = *(unsigned *)arg;

	REPEAT pass_turn(1, 0);
	return NULL;
}

/* One round trip of two threads. */
ROW(futex_pingpong)
{
	pthread_t t;

	atomic_store(&turn, 0);
	need(pthread_create(&t, NULL, other_side, &n) == 0, "pthread");
	REPEAT pass_turn(0, 1);
	pthread_join(t, NULL);
}

ROW(futex_wake_none) { int word = 0; REPEAT syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0); }

static volatile sig_atomic_t caught;
static void on_signal(int sig) { caught++; }

ROW(signal_self)
{
	signal(SIGUSR1, on_signal);
	caught = 0;
	REPEAT raise(SIGUSR1);
	need((unsigned)caught == n, "signals lost");
}

static const struct row {
	const char *name;
	void (*run)(unsigned n);
} rows[] = {
#define R(name) {#name, row_##name}
	R(getpid), R(getppid_syscall), R(clock_gettime), R(rt_sigprocmask), R(futex_wake_none), R(sched_yield),
	R(pread_1), R(pread_4k), R(pread_64k), R(pwrite_1), R(lseek), R(fstat), R(stat), R(open_close), R(readlink),
	R(access), R(pipe_own), R(eventfd), R(pipe_pingpong), R(mmap_touch_munmap), R(page_fault), R(brk),
	R(fork_exit_wait), R(fork_exec_wait), R(vfork_exec_wait), R(thread_create_join), R(futex_pingpong), R(signal_self),
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void measure(const struct row *r, unsigned batches, uint64_t batch_ns)
{
	double each[BATCHES_MAX];
	unsigned n = 1;

	row_name = r->name;
	/* Grow the batch until it fills its time; this warms caches and rewritten call sites too. */
	for (;;) {
		uint64_t start = now_ns();

		r->run(n);
		uint64_t took = now_ns() - start;

		if (took >= batch_ns / 2 || n >= 1u << 24)
			break;
		n *= took * 8 < batch_ns ? 4 : 2;
	}
	for (unsigned b = 0; b < batches; b++) {
		uint64_t start = now_ns();

		r->run(n);
		each[b] = (double)(now_ns() - start) / n;
	}
	qsort(each, batches, sizeof each[0], by_value);
	printf("%s %.1f\n", r->name, each[batches / 2]);
	fflush(stdout);
}

static void prepare(const char *argv0)
{
	const char *slash = strrchr(argv0, '/');

	snprintf(true_path, sizeof true_path, "%.*strue-static", slash ? (int)(slash - argv0 + 1) : 0, argv0);
	snprintf(file_path, sizeof file_path, "/tmp/percall.%d", (int)getpid());
	snprintf(link_path, sizeof link_path, "/tmp/percall.%d.link", (int)getpid());
	file_fd = open(file_path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	need(file_fd >= 0, file_path);
	for (int done = 0; done < FILE_SIZE; done += (int)sizeof buf)
		need(write(file_fd, buf, sizeof buf) == (ssize_t)sizeof buf, "write");
	need(symlink(file_path, link_path) == 0, "symlink");
	event_fd = eventfd(0, 0);
	need(event_fd >= 0 && pipe(own_pipe) == 0, "eventfd, pipe");
}

int main(int argc, char **argv)
{
	unsigned batches = 11, batch_us = 10000;
	int opt;

	while ((opt = getopt(argc, argv, "b:t:")) != -1) {
		if (opt == 'b')
			batches = (unsigned)atoi(optarg);
		else if (opt == 't')
			batch_us = (unsigned)atoi(optarg);
		else
			return 2;
	}
	if (batches < 1 || batches > BATCHES_MAX)
		return 2;
	prepare(argv[0]);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int wanted = optind == argc;

		for (int a = optind; a < argc; a++)
			wanted |= strcmp(argv[a], rows[i].name) == 0;
		if (wanted)
			measure(&rows[i], batches, batch_us * 1000ull);
	}
	unlink(file_path);
	unlink(link_path);
	return 0;
}
