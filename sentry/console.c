/* Relay of the kernel's side of a console tty. Runs in the event loop; never sleeps. */
#include "sentry/console.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include "fs/tty/tty.h"
#include "sentry/base/host.h"
#include "sentry/base/util.h"
#include "sentry/loop.h"

#define RETRY_NS (10 * 1000 * 1000ll)
#define FLUSH_MS 1000

struct console {
	struct loop_source stream;
	struct timer retry;      /* typed bytes wait for room in the tty */
	struct tty *tty;
	uint32_t watched;
	bool eof, writing;
	char in[1024], out[4096];
	size_t in_at, in_size, out_at, out_size;
};

static void watch(struct console *c, uint32_t events)
{
	if (events == c->watched || c->stream.fd < 0)
		return;
	if (!c->watched)
		loop_watch(&c->stream, events);
	else if (!events)
		loop_unwatch(&c->stream);
	else
		loop_rewatch(&c->stream, events);
	c->watched = events;
}

static uint32_t wanted(const struct console *c)
{
	return (c->in_size == 0 && !c->eof ? EPOLLIN : 0) | (c->out_at < c->out_size ? EPOLLOUT : 0);
}

/* Move output until the stream or the tty has no more. True when the stream is full. */
static bool push_output(struct console *c)
{
	for (;;) {
		long n;

		if (c->out_at == c->out_size) {
			c->out_at = 0;
			c->out_size = tty_output(c->tty, c->out, sizeof c->out);
			if (!c->out_size)
				return false;
		}
		n = c->stream.fd < 0 ? -EPIPE : host_write(c->stream.fd, c->out + c->out_at, c->out_size - c->out_at);
		if (n == -EAGAIN)
			return true;
		if (n < 0)
			c->out_at = c->out_size = 0; /* nobody reads: the terminal swallows */
		else
			c->out_at += (size_t)n;
	}
}

static void on_output(struct tty *tty, void *arg)
{
	struct console *c = arg;

	/* tty_output may itself announce room and come back here. */
	if (c->writing)
		return;
	c->writing = true;
	push_output(c);
	c->writing = false;
	watch(c, wanted(c));
}

static void push_input(struct console *c)
{
	while (c->in_at < c->in_size) {
		size_t n = tty_input(c->tty, c->in + c->in_at, c->in_size - c->in_at);

		if (!n) {
			timer_arm(&c->retry, now_mono_ns() + RETRY_NS);
			break;
		}
		c->in_at += n;
	}
	if (c->in_at == c->in_size)
		c->in_at = c->in_size = 0;
	watch(c, wanted(c));
}

static void retry(struct timer *t)
{
	push_input(container_of(t, struct console, retry));
}

static void ready(struct loop_source *s, uint32_t events)
{
	struct console *c = container_of(s, struct console, stream);

	if (events & EPOLLOUT)
		on_output(c->tty, c);
	if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) && c->in_size == 0 && !c->eof) {
		long n = host_read(s->fd, c->in, sizeof c->in);

		if (n > 0) {
			c->in_size = (size_t)n;
			push_input(c);
		} else if (n != -EAGAIN && n != -EINTR) {
			c->eof = true;
			watch(c, 0);
			tty_hangup(c->tty);
		}
	}
}

struct console *console_new(int stream, uint16_t rows, uint16_t cols)
{
	struct console *c = calloc(1, sizeof *c);
	struct l_winsize w = {.rows = rows, .cols = cols};

	if (c) {
		c->stream = (struct loop_source){stream, ready};
		c->retry.fn = retry;
		c->tty = tty_new_console(&w, on_output, c);
	}
	if (!c || !c->tty) {
		free(c);
		host_close(stream);
		return NULL;
	}
	watch(c, EPOLLIN);
	return c;
}

struct tty *console_tty(struct console *c)
{
	return c->tty;
}

void console_winsize(struct console *c, uint16_t rows, uint16_t cols)
{
	struct l_winsize w = {.rows = rows, .cols = cols};

	tty_set_winsize(c->tty, &w);
}

void console_free(struct console *c)
{
	struct pollfd p = {c->stream.fd, POLLOUT};
	uint64_t end = now_mono_ns() + FLUSH_MS * 1000000ull;

	c->writing = true;
	while (push_output(c) && now_mono_ns() < end)
		host_poll(&p, 1, 50);
	watch(c, 0);
	timer_cancel(&c->retry);
	tty_hangup(c->tty);
	/* Other processes may still hold the terminal: it must not call back into what is freed here. */
	c->tty->on_output = NULL;
	tty_put(c->tty);
	host_close(c->stream.fd);
	free(c);
}
