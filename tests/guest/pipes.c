/* variants: musl */
/* Pipes and FIFOs: blocking, EOF, EPIPE, SIGPIPE, atomicity, non-blocking, capacity. */
#include "check.h"
#include <sys/ioctl.h>

static volatile sig_atomic_t got_pipe;
static void on_pipe(int s)
{
	got_pipe = s;
}

int main(void)
{
	int p[2], n;
	char buf[70000];

	CHECK_EQ(pipe(p), 0);
	CHECK_EQ(write(p[1], "hello", 5), 5);
	CHECK_EQ(ioctl(p[0], FIONREAD, &n), 0);
	CHECK_EQ(n, 5);
	CHECK_EQ(read(p[0], buf, 3), 3);
	CHECK_EQ(read(p[0], buf, 30), 2);
	CHECK_ERR(lseek(p[0], 0, SEEK_SET), ESPIPE);
	CHECK_ERR(write(p[0], "x", 1), EBADF);
	CHECK_ERR(read(p[1], buf, 1), EBADF);
	CHECK_ERR(pread(p[0], buf, 1, 0), ESPIPE);
	fcntl(p[0], F_SETFL, O_NONBLOCK);
	CHECK_ERR(read(p[0], buf, 1), EAGAIN);
	fcntl(p[1], F_SETFL, O_NONBLOCK);
	CHECK_EQ(fcntl(p[1], F_GETPIPE_SZ), 65536);
	CHECK_EQ(write(p[1], buf, 70000), 65536);
	CHECK_ERR(write(p[1], buf, 1), EAGAIN);
	CHECK_EQ(read(p[0], buf, 4096), 4096);
	CHECK_EQ(write(p[1], buf, 4096), 4096);
	CHECK_EQ(read(p[0], buf, 70000), 65536);
	/* a blocked reader is woken by the writer, sees EOF after the last one closed */
	fcntl(p[0], F_SETFL, 0);
	fcntl(p[1], F_SETFL, 0);
	pid_t c = fork();
	if (c == 0) {
		close(p[0]);
		check_sleep_ms(20);
		CHECK_EQ(write(p[1], "late", 4), 4);
		_exit(check_failed);
	}
	close(p[1]);
	CHECK_EQ(read(p[0], buf, 100), 4);
	CHECK_EQ(read(p[0], buf, 100), 0);
	CHECK_EQ(check_wait(c), 0);
	close(p[0]);
	/* a writer blocked on a full pipe moves on when read */
	CHECK_EQ(pipe(p), 0);
	c = fork();
	if (c == 0) {
		close(p[0]);
		memset(buf, 'z', sizeof buf);
		for (int i = 0; i < 10; i++)
			CHECK_EQ(write(p[1], buf, sizeof buf), sizeof buf);
		_exit(check_failed);
	}
	close(p[1]);
	long total = 0, r;
	while ((r = read(p[0], buf, 5000)) > 0) {
		total += r;
		for (long i = 0; i < r; i++)
			if (buf[i] != 'z')
				CHECK(!"bytes through the pipe");
	}
	CHECK_EQ(total, 700000);
	CHECK_EQ(check_wait(c), 0);
	close(p[0]);
	/* no reader */
	CHECK_EQ(pipe2(p, O_CLOEXEC), 0);
	CHECK_EQ(fcntl(p[0], F_GETFD), FD_CLOEXEC);
	close(p[0]);
	signal(SIGPIPE, on_pipe);
	CHECK_ERR(write(p[1], "x", 1), EPIPE);
	CHECK_EQ(got_pipe, SIGPIPE);
	signal(SIGPIPE, SIG_IGN);
	CHECK_ERR(write(p[1], "x", 1), EPIPE);
	CHECK_EQ(write(p[1], "x", 0), 0);
	signal(SIGPIPE, SIG_DFL);
	IN_CHILD(SIGPIPE, write(p[1], "x", 1));
	close(p[1]);
	CHECK_ERR(pipe2(p, 0x123), EINVAL);
	/* FIFO */
	CHECK_EQ(mkfifo("fifo", 0600), 0);
	CHECK_ERR(open("fifo", O_WRONLY | O_NONBLOCK), ENXIO);
	c = fork();
	if (c == 0) {
		int w = open("fifo", O_WRONLY);

		_exit(write(w, "through", 7) != 7);
	}
	n = open("fifo", O_RDONLY);
	CHECK(n >= 0);
	CHECK_EQ(read(n, buf, 7), 7);
	CHECK(!memcmp(buf, "through", 7));
	CHECK_EQ(read(n, buf, 7), 0);
	CHECK_EQ(check_wait(c), 0);
	return check_done();
}
