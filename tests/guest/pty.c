/* Pseudo-terminals: line discipline, window size, control characters, hang-up, controlling terminal. */
#include "check.h"
#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>

static volatile sig_atomic_t got;
static void on_sig(int s)
{
	got = s;
}
static int rd(int fd, char *buf, int want)
{
	int n = 0, r;

	while (n < want && (r = (int)read(fd, buf + n, want - n)) > 0)
		n += r;
	return n;
}

int main(void)
{
	int m, s;
	char buf[256];
	struct winsize ws = {24, 80, 0, 0}, w2;
	struct termios t;

	NEED(openpty(&m, &s, NULL, NULL, &ws) == 0);
	CHECK(isatty(s));
	CHECK_EQ(ioctl(s, TIOCGWINSZ, &w2), 0);
	CHECK(w2.ws_row == 24 && w2.ws_col == 80);
	CHECK(!strncmp(ttyname(s), "/dev/pts/", 9));
	/* canonical mode: a line is given whole, erase works, echo comes back with CR LF */
	CHECK_EQ(write(m, "abx\177c\n", 6), 6);
	CHECK_EQ(read(s, buf, sizeof buf), 4);
	CHECK(!memcmp(buf, "abc\n", 4));
	CHECK_EQ(rd(m, buf, 9), 9);
	CHECK(!memcmp(buf, "abx\b \bc\r\n", 9));
	CHECK_EQ(write(s, "out\n", 4), 4);
	CHECK(rd(m, buf, 5) == 5 && !memcmp(buf, "out\r\n", 5));
	/* end of file */
	CHECK_EQ(write(m, "\004", 1), 1);
	CHECK_EQ(read(s, buf, 10), 0);
	/* raw mode */
	CHECK_EQ(tcgetattr(s, &t), 0);
	CHECK((t.c_lflag & (ICANON | ECHO | ISIG)) == (ICANON | ECHO | ISIG));
	cfmakeraw(&t);
	CHECK_EQ(tcsetattr(s, TCSANOW, &t), 0);
	CHECK_EQ(write(m, "\003z", 2), 2);
	CHECK_EQ(rd(s, buf, 2), 2);
	CHECK(buf[0] == 3 && buf[1] == 'z');
	CHECK_EQ(write(s, "\n", 1), 1);
	CHECK(read(m, buf, 10) == 1 && buf[0] == '\n');
	t.c_cc[VMIN] = 0;
	t.c_cc[VTIME] = 1;
	CHECK_EQ(tcsetattr(s, TCSANOW, &t), 0);
	CHECK_EQ(read(s, buf, 1), 0);
	/* a session on it: Ctrl-C and window changes reach the foreground group */
	struct termios cooked = t;
	cooked.c_lflag |= ISIG | ICANON;
	CHECK_EQ(tcsetattr(s, TCSANOW, &cooked), 0);
	int p[2];
	NEED(pipe(p) == 0);
	pid_t c = fork();
	if (c == 0) {
		struct sigaction sa = {.sa_handler = on_sig};

		sigaction(SIGINT, &sa, NULL);
		sigaction(SIGWINCH, &sa, NULL);
		setsid();
		CHECK_EQ(ioctl(s, TIOCSCTTY, 0), 0);
		CHECK_EQ(tcgetpgrp(s), getpid());
		CHECK(open("/dev/tty", O_RDWR) >= 0);
		if (write(p[1], "r", 1) != 1)
			_exit(50);
		while (got != SIGINT)
			check_sleep_ms(5);
		if (write(p[1], "i", 1) != 1)
			_exit(51);
		while (got != SIGWINCH)
			check_sleep_ms(5);
		CHECK_EQ(ioctl(s, TIOCGWINSZ, &w2), 0);
		CHECK_EQ(w2.ws_row, 50);
		_exit(check_failed);
	}
	CHECK_EQ(read(p[0], buf, 1), 1);
	CHECK_EQ(write(m, "\003", 1), 1);
	CHECK_EQ(read(p[0], buf, 1), 1);
	ws.ws_row = 50;
	CHECK_EQ(ioctl(m, TIOCSWINSZ, &ws), 0);
	CHECK_EQ(check_wait(c), 0);
	/* the last slave closes: the master reads EIO */
	close(s);
	fcntl(m, F_SETFL, O_NONBLOCK);
	while (read(m, buf, sizeof buf) > 0)
		;
	CHECK_EQ(errno, EIO);
	return check_done();
}
