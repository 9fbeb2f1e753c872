/* Serving a detached sandbox's control socket. Only its owner (and root) is answered. */
#include "sentry/cli/server.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "sentry/base/util.h"
#include "sentry/cli/monitor.h"

#define MAX_CLIENTS (SERVER_POLLFDS - 1)

struct client {
	int fd;           /* -1 = free */
	uint32_t exec_id; /* 0 = none running */
	bool waiting;
};
struct server {
	int fd;
	bool finished, removed;
	uint32_t next_id;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct client client[MAX_CLIENTS];
};

int server_dir(char *buf, size_t size, struct err *e)
{
	const char *run = getenv("XDG_RUNTIME_DIR");
	struct stat st;

	if (run && *run == '/' && strlen(run) < 40)
		snprintf(buf, size, "%s/ward", run);
	else
		snprintf(buf, size, "/tmp/ward-%u", geteuid());
	if (mkdir(buf, 0700) && errno != EEXIST)
		return err_set(e, WARD_EXIT_ERROR, "cannot make %s: %s", buf, strerror(errno));
	/* In /tmp somebody else may have been first. */
	if (lstat(buf, &st) || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
		return err_set(e, WARD_EXIT_ERROR, "%s must be a directory of this user with mode 0700: remove it", buf);
	return 0;
}

int server_path(const char *name, char *buf, size_t size, struct err *e)
{
	char dir[64];

	if (config_check_name(name, e) || server_dir(dir, sizeof dir, e))
		return -1;
	if (snprintf(buf, size, "%s/%s.sock", dir, name) >= (int)size)
		return err_set(e, WARD_EXIT_ERROR, "name '%s' is too long", name);
	return 0;
}

/* Is somebody listening at A? A socket file nobody serves is left over from a crash. */
static bool alive(const struct sockaddr_un *a)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	bool yes = fd >= 0 && !connect(fd, (const struct sockaddr *)a, sizeof *a);

	if (fd >= 0)
		close(fd);
	return yes;
}

struct server *server_open(const char *name, struct err *e)
{
	struct server *s = calloc(1, sizeof *s);
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	mode_t mask;
	int rc;

	if (!s) {
		err_set(e, WARD_EXIT_ERROR, "out of memory");
		return NULL;
	}
	for (unsigned i = 0; i < MAX_CLIENTS; i++)
		s->client[i].fd = -1;
	s->fd = -1;
	if (server_path(name, a.sun_path, sizeof a.sun_path, e))
		goto fail;
	if (alive(&a)) {
		err_set(e, WARD_EXIT_ERROR, "--name %s: a sandbox of that name exists: `ward rm -f %s` removes it", name, name);
		goto fail;
	}
	unlink(a.sun_path);
	s->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mask = umask(0177);
	rc = s->fd < 0 || bind(s->fd, (struct sockaddr *)&a, sizeof a) || listen(s->fd, 16);
	umask(mask);
	if (rc) {
		err_set(e, WARD_EXIT_ERROR, "%s: %s", a.sun_path, strerror(errno));
		goto fail;
	}
	memcpy(s->path, a.sun_path, sizeof s->path);
	return s;
fail:
	if (s->fd >= 0)
		close(s->fd);
	free(s);
	return NULL;
}

unsigned server_prepare(const struct server *s, struct pollfd *p)
{
	p[0] = (struct pollfd){s->fd, POLLIN};
	for (unsigned i = 0; i < MAX_CLIENTS; i++)
		p[1 + i] = (struct pollfd){s->client[i].fd, POLLIN};
	return SERVER_POLLFDS;
}

static void accept_client(struct server *s)
{
	int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ucred peer;
	socklen_t size = sizeof peer;

	if (fd < 0)
		return;
	if (!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && (peer.uid == geteuid() || peer.uid == 0))
		for (unsigned i = 0; i < MAX_CLIENTS; i++)
			if (s->client[i].fd < 0) {
				s->client[i] = (struct client){.fd = fd};
				return;
			}
	close(fd);
}

static void answer(struct client *c, enum request kind, int64_t a, int64_t b, int64_t extra, const char *text)
{
	struct control_msg m = {.kind = kind, .a = a, .b = b, .c = extra};

	control_send(c->fd, &m, text, text ? strlen(text) + 1 : 0, NULL, 0);
}

static void answer_wait(struct client *c, const struct monitor *m)
{
	c->waiting = false;
	answer(c, ANSWER_DONE, 0, 0, m->result.exit_code, m->result.text);
}

static void forward(const struct monitor *m, enum control_kind kind, uint32_t id, int64_t a, int64_t b)
{
	struct control_msg msg = {.kind = kind, .id = id, .a = a, .b = b};

	control_send(m->control, &msg, NULL, 0, NULL, 0);
}

static void drop(struct server *s, struct monitor *m, struct client *c)
{
	/* Who asked is gone: its program gets what a closed terminal would send. */
	if (c->exec_id && !s->finished)
		forward(m, CONTROL_SIGNAL, c->exec_id, SIGHUP, 0);
	close(c->fd);
	*c = (struct client){.fd = -1};
}

static void request_exec(struct server *s, struct monitor *m, struct client *c, struct control_msg *msg, const char *text,
			 size_t size, const int *fds, unsigned fd_count)
{
	if (s->finished || m->ended || m->control < 0) {
		answer(c, ANSWER_REFUSED, 0, 0, 0, "the sandbox has ended");
		return;
	}
	if (c->exec_id) {
		answer(c, ANSWER_REFUSED, 0, 0, 0, "one program per connection");
		return;
	}
	if (!++s->next_id)
		s->next_id = 1;
	c->exec_id = s->next_id;
	msg->kind = CONTROL_EXEC;
	msg->id = c->exec_id;
	if (control_send(m->control, msg, text, size, fds, fd_count)) {
		c->exec_id = 0;
		answer(c, ANSWER_REFUSED, 0, 0, 0, "the sandbox does not answer");
	}
}

static void request(struct server *s, struct monitor *m, struct client *c)
{
	static char text[CONTROL_MAX];
	struct control_msg msg;
	int fds[CONTROL_FDS];
	unsigned fd_count = CONTROL_FDS;
	long n = control_recv(c->fd, &msg, text, sizeof text, fds, &fd_count, MSG_DONTWAIT);

	if (n == -EAGAIN)
		return;
	if (n < 0) {
		drop(s, m, c);
		return;
	}
	switch ((enum request)msg.kind) {
	case REQUEST_STATUS:
		answer(c, ANSWER_OK, !s->finished, getpid(), (int64_t)(m->result.start_real_ns / NSEC_PER_SEC), m->c->argv[0]);
		break;
	case REQUEST_EXEC:
		request_exec(s, m, c, &msg, text, (size_t)n, fds, fd_count);
		break;
	case REQUEST_SIGNAL:
	case REQUEST_WINSIZE:
		if (c->exec_id && !s->finished)
			forward(m, msg.kind == REQUEST_SIGNAL ? CONTROL_SIGNAL : CONTROL_WINSIZE, c->exec_id, msg.a, msg.b);
		break;
	case REQUEST_WAIT:
		c->waiting = true;
		if (s->finished)
			answer_wait(c, m);
		break;
	case REQUEST_KILL:
		if (s->finished) {
			answer(c, ANSWER_REFUSED, 0, 0, 0, "the sandbox has ended");
			break;
		}
		if (msg.a == 0)
			monitor_kill(m, OUTCOME_KILLED);
		else
			forward(m, CONTROL_SIGNAL, 0, msg.a, 0);
		answer(c, ANSWER_OK, 0, 0, 0, NULL);
		break;
	case REQUEST_REMOVE:
		if (!s->finished && !msg.a) {
			answer(c, ANSWER_REFUSED, 0, 0, 0, "the sandbox is running: end it by `ward kill`, or use rm -f");
			break;
		}
		if (!s->finished)
			monitor_kill(m, OUTCOME_KILLED);
		s->removed = true;
		/* The name is free at once; the answer tells the rest. */
		unlink(s->path);
		answer(c, ANSWER_OK, 0, 0, 0, NULL);
		break;
	default:
		answer(c, ANSWER_REFUSED, 0, 0, 0, "no such request");
	}
	for (unsigned i = 0; i < fd_count; i++)
		close(fds[i]);
}

void server_serve(struct server *s, struct monitor *m, const struct pollfd *p)
{
	for (unsigned i = 0; i < MAX_CLIENTS; i++)
		if (s->client[i].fd >= 0 && p[1 + i].fd == s->client[i].fd && p[1 + i].revents)
			request(s, m, &s->client[i]);
	if (p[0].revents)
		accept_client(s);
}

void server_exec_done(struct server *s, uint32_t id, int64_t status, int64_t error)
{
	for (unsigned i = 0; i < MAX_CLIENTS; i++) {
		struct client *c = &s->client[i];

		if (c->fd < 0 || c->exec_id != id)
			continue;
		c->exec_id = 0;
		answer(c, ANSWER_DONE, status, error, 0, NULL);
	}
}

void server_finished(struct server *s, const struct monitor *m)
{
	if (s->finished)
		return;
	s->finished = true;
	for (unsigned i = 0; i < MAX_CLIENTS; i++) {
		struct client *c = &s->client[i];

		if (c->fd >= 0 && c->exec_id) {
			c->exec_id = 0;
			answer(c, ANSWER_DONE, SIGKILL, 0, 0, NULL);
		}
		if (c->fd >= 0 && c->waiting)
			answer_wait(c, m);
	}
}

bool server_removed(const struct server *s)
{
	return s->removed;
}

void server_forget(struct server *s)
{
	if (!s->removed)
		unlink(s->path);
	s->removed = true;
}

void server_close(struct server *s)
{
	for (unsigned i = 0; i < MAX_CLIENTS; i++)
		if (s->client[i].fd >= 0)
			close(s->client[i].fd);
	close(s->fd);
	if (!s->removed)
		unlink(s->path);
	free(s);
}
