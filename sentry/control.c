/*
 * The sentry's side of the control channel: starts programs (process 1 and what `ward exec` asks for), passes
 * signals and window sizes on, reports ends.
 */
#include "sentry/control.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "fs/tty/tty.h"
#include "fs/vfs.h"
#include "sentry/base/host.h"
#include "sentry/base/log.h"
#include "sentry/base/util.h"
#include "sentry/boot.h"
#include "sentry/config.h"
#include "sentry/console.h"
#include "sentry/kernel.h"
#include "sentry/loop.h"
#include "sentry/platform/platform.h"
#include "sentry/signal/signal.h"
#include "sentry/task/spawn.h"
#include "sentry/task/task.h"

#define MAX_PROGRAMS 256
#define MAX_STRINGS 4096

/* A program started from outside: process 1 (id 0) or one `ward exec`. */
struct program {
	uint32_t id;
	pid_t pid; /* 0 = free slot */
	struct console *console; /* of -t, or NULL */
};
static struct program programs[MAX_PROGRAMS];
static struct loop_source source;
static char packet[CONTROL_MAX];
static uint64_t boot_begin_ns;

static void report(uint32_t id, int status, int error)
{
	struct control_msg m = {.kind = CONTROL_EXITED, .id = id, .a = status, .b = error};

	control_send(source.fd, &m, NULL, 0, NULL, 0);
}

static void report_counters(void)
{
	struct control_msg m = {.kind = CONTROL_COUNTERS};
	struct control_counters n = {
	    .calls = plat_stats()->calls,
	    .processes = sandbox.processes,
	    .peak_bytes = sandbox.mem_peak_pages * 4096,
	    .mem_refused = sandbox.mem_refused,
	};

	control_send(source.fd, &m, &n, sizeof n, NULL, 0);
}

/* The program replaced its starter: only now is the sandbox worth a name. */
static void program_started(void *arg)
{
	struct control_msg m = {.kind = CONTROL_STARTED, .a = (int64_t)(now_mono_ns() - boot_begin_ns)};
	struct program *p = arg;

	if (p->id == 0)
		control_send(source.fd, &m, NULL, 0, NULL, 0);
}

static void program_done(void *arg, int status, int error)
{
	struct program *p = arg;

	p->pid = 0;
	if (p->console)
		console_free(p->console);
	p->console = NULL;
	if (p->id == 0) {
		/* A program that could not be started has no wait status worth showing. */
		if (error && !sandbox.ending) {
			sandbox.ending = true;
			report_counters();
			report(0, 0, error);
			loop_stop();
			return;
		}
		kernel_init_exited(status);
		return;
	}
	report(p->id, status, error < 0 ? -error : error);
}

void control_init_exited(int wait_status)
{
	report_counters();
	report(0, wait_status, 0);
}

void control_boot_failed(int fd, const struct err *e)
{
	struct control_msg m = {.kind = CONTROL_FAILED, .a = e->exit_code};

	control_send(fd, &m, e->text, strlen(e->text) + 1, NULL, 0);
}

static struct program *program_find(uint32_t id)
{
	for (unsigned i = 0; i < MAX_PROGRAMS; i++)
		if (programs[i].pid && programs[i].id == id)
			return &programs[i];
	return NULL;
}

/* Descriptors 0 to 2 of the program: its console, or what the caller passed. Takes FDS over. */
static int open_stdio(struct program *p, struct spawn_request *r, bool tty, const int fds[3])
{
	if (tty) {
		p->console = fds[0] >= 0 ? console_new(fds[0], 24, 80) : NULL;
		if (!p->console)
			return -ENOMEM;
		r->tty = console_tty(p->console);
		for (int i = 0; i < 3; i++) {
			r->stdio[i] = tty_open_slave(r->tty, O_RDWR);
			if (!r->stdio[i])
				return -ENOMEM;
		}
		return 0;
	}
	for (int i = 0; i < 3; i++) {
		if (fds[i] < 0)
			continue;
		r->stdio[i] = hostfile_new(fds[i]);
		if (!r->stdio[i])
			return -ENOMEM;
	}
	return 0;
}

/* Takes STDIO over (with TTY: the console stream alone, as the first). 0 or -errno. */
static int spawn(uint32_t id, char *const *argv, char *const *envp, const char *cwd, uid_t uid, gid_t gid, bool tty,
		 const int stdio[3])
{
	struct spawn_request r = {.argv = argv, .envp = envp, .cwd = cwd, .started = program_started, .done = program_done};
	struct program *p = NULL;
	pid_t pid;

	for (unsigned i = 0; i < MAX_PROGRAMS && !p; i++)
		if (!programs[i].pid)
			p = &programs[i];
	if (!p)
		return -EAGAIN;
	pid = open_stdio(p, &r, tty, stdio);
	r.cred = cred_new(uid, gid);
	if (!pid && r.cred) {
		p->id = id;
		p->pid = -1;
		r.arg = p;
		pid = task_spawn(&r);
		p->pid = pid > 0 ? pid : 0;
	}
	else if (!pid)
		pid = -ENOMEM;
	if (pid < 0) {
		for (int i = 0; i < 3; i++)
			if (r.stdio[i])
				file_put(r.stdio[i]);
		if (r.cred)
			cred_put(r.cred);
		if (p->console)
			console_free(p->console);
		p->console = NULL;
		return pid;
	}
	return 0;
}

int control_spawn_init(const struct config *c, const struct boot_fds *fds, struct err *e)
{
	char **env = config_guest_env(c->uid, c->tty, c->env, c->env_count);
	int rc;

	if (!env)
		return err_set(e, WARD_EXIT_ERROR, "environment: out of memory");
	rc = spawn(0, c->argv, env, c->cwd ? c->cwd : config_home(c->uid), c->uid, c->gid, c->tty,
		   c->tty ? &fds->tty : fds->stdio);
	if (rc)
		return err_set(e, WARD_EXIT_ERROR, "cannot start process 1: %s", strerror(-rc));
	return 0;
}

/* Text: cwd NUL argv... NUL "" NUL env... NUL, cut into pointers. */
static void serve_exec(const struct control_msg *m, char *text, size_t size, const int *fds, unsigned fd_count)
{
	char **list = calloc(MAX_STRINGS + 2, sizeof *list);
	unsigned n = 0, env = 0;
	const char *cwd = text;
	int stdio[3] = {-1, -1, -1}, rc = -EINVAL;

	for (unsigned i = 0; i < fd_count; i++)
		stdio[i] = fds[i];
	if (!list || size == 0 || text[size - 1])
		goto out;
	for (size_t at = strlen(text) + 1; at < size && n < MAX_STRINGS; at += strlen(text + at) + 1) {
		if (!text[at] && !env) {
			list[n++] = NULL;
			env = n;
			continue;
		}
		list[n++] = text + at;
	}
	if (!env || env == 1)
		goto out;
	rc = sandbox.ending ? -ESRCH
			    : spawn(m->id, list, list + env, cwd, (uid_t)m->a, (gid_t)m->b, m->c & CONTROL_EXEC_TTY,
				    stdio);
	fd_count = 0;
out:
	for (unsigned i = 0; i < fd_count; i++)
		host_close(fds[i]);
	if (rc)
		report(m->id, 0, -rc);
	free(list);
}

static void serve_signal(const struct control_msg *m)
{
	struct program *p = program_find(m->id);
	struct tgroup *tg = p ? tgroup_find(p->pid) : NULL;
	struct l_siginfo info = {.signo = (int)m->a, .code = L_SI_USER};

	if (!tg || m->a < 1 || m->a > L_NSIG)
		return;
	if (tg->pgrp)
		signal_send_pgrp(tg->pgrp, (int)m->a, &info);
	else
		signal_send_group(tg, (int)m->a, &info);
}

static void serve_winsize(const struct control_msg *m)
{
	struct program *p = program_find(m->id);

	if (p && p->console)
		console_winsize(p->console, (uint16_t)m->a, (uint16_t)m->b);
}

static void serve(struct loop_source *s, uint32_t events)
{
	struct control_msg m;
	int fds[CONTROL_FDS];
	unsigned fd_count = CONTROL_FDS;
	long n = control_recv(s->fd, &m, packet, sizeof packet, fds, &fd_count, MSG_DONTWAIT);

	if (n == -EAGAIN)
		return;
	if (n < 0) {
		/* The monitor is gone: nobody is left to run for. */
		sandbox.ending = true;
		loop_stop();
		return;
	}
	switch (m.kind) {
	case CONTROL_SIGNAL:
		serve_signal(&m);
		break;
	case CONTROL_WINSIZE:
		serve_winsize(&m);
		break;
	case CONTROL_KILL:
		kernel_init_exited(SIGKILL);
		break;
	case CONTROL_EXEC:
		serve_exec(&m, packet, (size_t)n, fds, fd_count);
		return;
	}
	for (unsigned i = 0; i < fd_count; i++)
		host_close(fds[i]);
}

int control_start(int fd, uint64_t begin_ns)
{
	boot_begin_ns = begin_ns;
	source.fd = fd;
	source.fn = serve;
	return loop_watch(&source, 1 /* EPOLLIN */);
}
