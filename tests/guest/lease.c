/* Leases, and signals about files: F_SETLEASE and its breaking, O_ASYNC with F_SETSIG. */
#include "check.h"
#include <poll.h>
#include <sys/inotify.h>
#include <sys/uio.h>

static void leases(void)
{
	int rw = open("leased", O_CREAT | O_RDWR, 0600), ro, other;
	sigset_t io;
	siginfo_t si;
	struct timespec soon = {5, 0};

	NEED(rw >= 0);
	CHECK_EQ(fcntl(rw, F_GETLEASE), F_UNLCK);
	CHECK_ERR(fcntl(rw, F_SETLEASE, 77), EINVAL);
	CHECK_ERR(fcntl(rw, F_SETLEASE, F_UNLCK), EAGAIN);
	CHECK_ERR(fcntl(rw, F_SETLEASE, F_RDLCK), EAGAIN); /* open for writing */
	CHECK_EQ(fcntl(rw, F_SETLEASE, F_WRLCK), 0);
	CHECK_EQ(fcntl(rw, F_GETLEASE), F_WRLCK);
	close(rw);
	ro = open("leased", O_RDONLY);
	other = open("leased", O_RDONLY);
	CHECK_ERR(fcntl(ro, F_SETLEASE, F_WRLCK), EAGAIN); /* open twice */
	CHECK_EQ(fcntl(other, F_SETLEASE, F_RDLCK), 0);
	CHECK_EQ(fcntl(ro, F_SETLEASE, F_RDLCK), 0);
	close(other);
	CHECK_ERR(open("leased", O_WRONLY | O_NONBLOCK), EWOULDBLOCK);
	CHECK_EQ(fcntl(ro, F_GETLEASE), F_UNLCK); /* what it is to become */
	CHECK_EQ(fcntl(ro, F_SETLEASE, F_UNLCK), 0);
	/* SIGIO tells of the first breaker */
	sigemptyset(&io);
	sigaddset(&io, SIGIO);
	sigtimedwait(&io, NULL, &(struct timespec){0, 0});
	close(ro);
	rw = open("leased", O_RDWR);
	CHECK_EQ(fcntl(rw, F_SETSIG, SIGIO), 0);
	CHECK_EQ(fcntl(rw, F_SETLEASE, F_WRLCK), 0);
	pid_t c = fork();
	if (c == 0) {
		close(rw);
		int r = open("leased", O_RDONLY);

		CHECK(r >= 0);
		_exit(check_failed);
	}
	CHECK_EQ(sigtimedwait(&io, &si, &soon), SIGIO);
	CHECK_EQ(si.si_fd, rw);
	CHECK_EQ(si.si_code, POLL_MSG);
	CHECK_EQ(fcntl(rw, F_GETLEASE), F_RDLCK);
	CHECK_ERR(fcntl(rw, F_SETLEASE, F_RDLCK), EAGAIN);
	CHECK_EQ(fcntl(rw, F_SETLEASE, F_UNLCK), 0);
	CHECK_EQ(check_wait(c), 0);
	close(rw);
}

static void async(void)
{
	sigset_t set;
	siginfo_t si;
	struct timespec soon = {5, 0};
	int p[2];

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGIO);
	NEED(pipe(p) == 0);
	CHECK_ERR(fcntl(p[0], F_SETOWN, 0x3fffffff), ESRCH);
	CHECK_EQ(fcntl(p[0], F_SETOWN, getpid()), 0);
	CHECK_EQ(fcntl(p[0], F_SETFL, O_ASYNC), 0);
	CHECK_EQ(fcntl(p[0], F_GETFL) & O_ASYNC, O_ASYNC);
	CHECK_EQ(write(p[1], "a", 1), 1);
	CHECK_EQ(sigtimedwait(&set, NULL, &soon), SIGIO);
	CHECK_EQ(fcntl(p[0], F_SETSIG, SIGUSR1), 0);
	CHECK_EQ(write(p[1], "b", 1), 1);
	CHECK_EQ(sigtimedwait(&set, &si, &soon), SIGUSR1);
	CHECK_EQ(si.si_fd, p[0]);
	CHECK_EQ(si.si_code, POLL_IN);
	CHECK_EQ(fcntl(p[0], F_SETFL, 0), 0);
	CHECK_EQ(write(p[1], "c", 1), 1);
	CHECK_ERR(sigtimedwait(&set, NULL, &(struct timespec){0, 20000000}), EAGAIN);
	/* regular files have no such events: the flag does not stay */
	int fd = open("leased", O_RDWR);

	CHECK_EQ(fcntl(fd, F_SETFL, O_ASYNC), 0);
	CHECK_EQ(fcntl(fd, F_GETFL) & O_ASYNC, 0);
}

/* An unlinked file's events still reach its directory's watch, unless IN_EXCL_UNLINK. */
static void unlinked(unsigned flag, int want)
{
	int in = inotify_init1(IN_NONBLOCK), fd = open("gone", O_CREAT | O_RDWR, 0600), n = 0;
	char buf[512];

	CHECK(inotify_add_watch(in, ".", IN_MODIFY | flag) > 0);
	unlink("gone");
	CHECK_EQ(write(fd, "x", 1), 1);
	if (read(in, buf, sizeof(buf)) > 0)
		n = 1;
	CHECK_EQ(n, want);
	close(fd);
	close(in);
}

/* vmsplice of more than a pipe takes: what fits, without waiting for a reader. */
static void vmsplice_short(void)
{
	static char big[1 << 20];
	struct iovec v = {big, sizeof(big)};
	int p[2];

	NEED(pipe(p) == 0);
	ssize_t n = vmsplice(p[1], &v, 1, 0);
	CHECK(n > 0 && n < (ssize_t)sizeof(big));
	CHECK_ERR(vmsplice(p[1], &v, 1, SPLICE_F_NONBLOCK), EAGAIN);
}

int main(void)
{
	sigset_t set;
	struct flock l = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
	int fd = open("locked", O_CREAT | O_RDWR, 0600);

	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* F_GETLK names the lowest lock, in whatever order they were taken */
	l.l_start = 10, l.l_len = 5;
	CHECK_EQ(fcntl(fd, F_SETLK, &l), 0);
	l.l_type = F_WRLCK, l.l_start = 1;
	CHECK_EQ(fcntl(fd, F_SETLK, &l), 0);
	IN_CHILD(0, {
		l = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
		CHECK_EQ(fcntl(fd, F_GETLK, &l), 0);
		CHECK_EQ(l.l_start, 1);
	});
	leases();
	async();
	unlinked(0, 1);
	unlinked(IN_EXCL_UNLINK, 0);
	vmsplice_short();
	return check_done();
}
