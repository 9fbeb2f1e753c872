/*
 * A sibling thread scribbles over the mailboxes while calls are made: whatever the sentry reads there, only the
 * scribbling process may suffer. Then random calls with random arguments from many processes.
 */
#include "sentry/platform/trap/layout.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t seed;

static uint64_t next(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

static void *scribble(__attribute__((unused)) void *arg)
{
	uint64_t s = seed * 2654435761u + 1;

	for (int i = 0; i < 100000; i++) {
		uint64_t slot = next(&s) % 3, off = next(&s) % 2 ? next(&s) % MBOX_WINDOW : next(&s) % MBOX_SIZE;
		uint32_t value = next(&s) % 3 ? (uint32_t)(next(&s) % 64) : (uint32_t)next(&s);

		off &= ~3ull;
		/* some runs spare the sequence word, some the sentry's words: each reaches other checks */
		if (seed % 3 == 0 && off < 8)
			continue;
		if (seed % 3 == 1 && off < 256)
			continue;
		*(volatile uint32_t *)(MBOX_BASE + slot * MBOX_SIZE + off) = value;
	}
	return NULL;
}

static void scribbler(void)
{
	pthread_t t;
	char b[300];
	int p[2];

	pthread_create(&t, NULL, scribble, NULL);
	for (int i = 0; i < 1000; i++) {
		int fd = open("/etc/passwd", O_RDONLY);

		if (read(fd, b, sizeof b) < 0 || close(fd))
			continue;
		void *m = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		munmap(m, 8192);
		if (pipe(p) == 0) {
			if (write(p[1], b, 100) > 0 && read(p[0], b, 100) < 0)
				continue;
			close(p[0]);
			close(p[1]);
		}
	}
	_exit(0);
}

static char *buf;
static uint64_t argument(uint64_t *s)
{
	switch (next(s) % 8) {
	case 0:
		return next(s) % 16;
	case 1:
		return (uint64_t)buf + next(s) % 8192;
	case 2:
		return (uint64_t)buf + 16384 - next(s) % 64;
	case 3:
		return -1ull;
	case 4:
		return next(s);
	case 5:
		return 1ull << next(s) % 64;
	case 6:
		return MBOX_BASE + next(s) % MBOX_TOTAL;
	default:
		return 4096 * (next(s) % 64);
	}
}

static void random_calls(void)
{
	uint64_t s = seed * 88172645463325252ull + 1;

	buf = mmap(NULL, 20480, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(buf + 16384, 4096, PROT_NONE);
	for (int i = 0; i < 16384; i++)
		buf[i] = (char)next(&s);
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	for (int i = 0; i < 300; i++) {
		long nr = (long)(next(&s) % 470);

		switch (nr) {
		case SYS_exit:
		case SYS_exit_group:
		case SYS_fork:
		case SYS_vfork:
		case SYS_clone:
		case SYS_clone3:
		case SYS_kill:
		case SYS_tkill:
		case SYS_tgkill:
		case SYS_rt_sigqueueinfo:
		case SYS_pidfd_send_signal:
			continue;
		}
		syscall(nr, argument(&s), argument(&s), argument(&s), argument(&s), argument(&s), argument(&s));
	}
	_exit(0);
}

/* FN in a process of its own with half a second to live; the rest of the sandbox must go on. */
static void attempt(void (*fn)(void))
{
	pid_t p = fork();

	if (p == 0) {
		setpgid(0, 0);
		fn();
	}
	for (int i = 0; i < 50; i++) {
		if (waitpid(p, NULL, WNOHANG) == p)
			return;
		usleep(10000);
	}
	kill(p, SIGKILL);
	waitpid(p, NULL, 0);
}

int main(void)
{
	for (seed = 1; seed <= 8; seed++)
		attempt(scribbler);
	for (seed = 1; seed <= 40; seed++)
		attempt(random_calls);
	puts("contained");
	return 0;
}
