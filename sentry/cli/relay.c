/* Relay between the caller's terminal and the console stream. */
#include "sentry/cli/relay.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>
#include "sentry/config.h"

static struct termios saved;
static bool raw;

static void restore(void)
{
	if (raw)
		tcsetattr(0, TCSADRAIN, &saved);
	raw = false;
}

void relay_raw(void)
{
	struct termios t;

	if (raw || tcgetattr(0, &saved))
		return;
	atexit(restore);
	t = saved;
	cfmakeraw(&t);
	if (!tcsetattr(0, TCSADRAIN, &t))
		raw = true;
}

int relay_open(struct relay *r, int *far, struct err *e)
{
	int pair[2];

	r->stream = -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_set(e, WARD_EXIT_ERROR, "-t: %s", strerror(errno));
	fcntl(pair[0], F_SETFL, O_NONBLOCK);
	fcntl(pair[1], F_SETFL, O_NONBLOCK);
	r->stream = pair[0];
	r->in_open = true;
	*far = pair[1];
	return 0;
}

void relay_window(uint16_t *rows, uint16_t *cols)
{
	struct winsize w;

	*rows = 24;
	*cols = 80;
	for (int fd = 0; fd < 3; fd++) {
		if (ioctl(fd, TIOCGWINSZ, &w) || !w.ws_row || !w.ws_col)
			continue;
		*rows = w.ws_row;
		*cols = w.ws_col;
		return;
	}
}

void relay_prepare(const struct relay *r, struct pollfd p[2])
{
	p[0] = (struct pollfd){r->stream, POLLIN | (r->to_size ? POLLOUT : 0)};
	p[1] = (struct pollfd){r->stream >= 0 && r->in_open && !r->to_size ? 0 : -1, POLLIN};
}

static void write_out(const char *p, size_t size)
{
	while (size) {
		ssize_t n = write(1, p, size);

		if (n < 0 && errno == EAGAIN)
			poll(&(struct pollfd){1, POLLOUT}, 1, 100);
		else if (n < 0 && errno != EINTR)
			return;
		if (n > 0) {
			p += n;
			size -= (size_t)n;
		}
	}
}

/* False when nothing is left to read for now. */
static bool pump_out(struct relay *r)
{
	char buf[4096];
	ssize_t n = read(r->stream, buf, sizeof buf);

	if (n > 0) {
		write_out(buf, (size_t)n);
		return true;
	}
	if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		close(r->stream);
		r->stream = -1;
	}
	return false;
}

void relay_serve(struct relay *r, const struct pollfd p[2])
{
	if (r->stream < 0)
		return;
	if (p[1].revents) {
		ssize_t n = read(0, r->to, sizeof r->to);

		if (n > 0) {
			r->to_at = 0;
			r->to_size = (unsigned)n;
		} else if (n == 0) {
			/* A terminal says end of input by a character, not by closing. */
			r->to[0] = 4;
			r->to_at = 0;
			r->to_size = 1;
			r->in_open = false;
		} else if (errno != EAGAIN && errno != EINTR) {
			r->in_open = false;
		}
	}
	if (r->to_size) {
		ssize_t n = write(r->stream, r->to + r->to_at, r->to_size);

		if (n > 0) {
			r->to_at += (unsigned)n;
			r->to_size -= (unsigned)n;
		}
	}
	if (p[0].revents & (POLLIN | POLLHUP | POLLERR))
		pump_out(r);
}

void relay_close(struct relay *r)
{
	while (r->stream >= 0 && pump_out(r))
		;
	if (r->stream >= 0)
		close(r->stream);
	r->stream = -1;
	restore();
}
