/*
 * One sandbox from fork to report: relays signals, enforces --time, notices the sentry's death. The sentry is not
 * trusted: what it sends can only name an outcome.
 */
#include "sentry/cli/monitor.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "fs/gofer/gofer.h"
#include "sentry/archive.h"
#include "sentry/base/log.h"
#include "sentry/base/util.h"
#include "sentry/boot.h"
#include "sentry/cli/cli.h"
#include "sentry/task/spawn.h"

/* Time the sentry gets to kill the guests and stream results after it was asked to end. */
#define GRACE_SECONDS 5

static const int relayed[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH};

uint64_t monitor_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

static void timer_set(int fd, double seconds)
{
	struct itimerspec its = {0};

	its.it_value.tv_sec = (time_t)seconds;
	its.it_value.tv_nsec = (long)((seconds - (double)its.it_value.tv_sec) * 1e9);
	if (!its.it_value.tv_sec && !its.it_value.tv_nsec)
		its.it_value.tv_nsec = 1;
	timerfd_settime(fd, 0, &its, NULL);
}

/* The sentry leads a session of its own in which all stubs are. */
static void kill_hard(struct monitor *m)
{
	if (m->sentry <= 0)
		return;
	kill(-m->sentry, SIGKILL);
	kill(m->sentry, SIGKILL);
}

void monitor_kill(struct monitor *m, enum outcome why)
{
	struct control_msg msg = {.kind = CONTROL_KILL};

	if (m->ended)
		return;
	if (m->result.outcome == OUTCOME_NONE)
		m->result.outcome = why;
	if (m->kill_sent || control_send(m->control, &msg, NULL, 0, NULL, 0)) {
		kill_hard(m);
		return;
	}
	m->kill_sent = true;
	timer_set(m->grace, GRACE_SECONDS);
}

static void send_window(struct monitor *m)
{
	struct control_msg msg = {.kind = CONTROL_WINSIZE};
	uint16_t rows, cols;

	if (!m->c->tty)
		return;
	relay_window(&rows, &cols);
	msg.a = rows;
	msg.b = cols;
	control_send(m->control, &msg, NULL, 0, NULL, 0);
}

static void relay_signal(struct monitor *m, int sig)
{
	struct control_msg msg = {.kind = CONTROL_SIGNAL, .a = sig};
	uint64_t now = monitor_now_ns();

	if (sig == SIGWINCH) {
		send_window(m);
		return;
	}
	if (sig == SIGINT) {
		if (m->last_int_ns && now - m->last_int_ns < NSEC_PER_SEC) {
			monitor_kill(m, OUTCOME_KILLED);
			return;
		}
		m->last_int_ns = now;
	}
	control_send(m->control, &msg, NULL, 0, NULL, 0);
}

/* Signals by which programs end themselves, or faults end them, when memory was refused. */
static bool sign_of_shortage(int sig)
{
	return sig == SIGABRT || sig == SIGSEGV || sig == SIGBUS || sig == SIGKILL || sig == SIGTRAP || sig == SIGILL;
}

static void never_started(struct monitor *m, int error)
{
	struct result *r = &m->result;
	const char *name = m->c->argv[0];
	bool missing = error == ENOENT || error == ENOTDIR;

	r->outcome = OUTCOME_NEVER_STARTED;
	if (error & SPAWN_CWD) {
		r->exit_code = WARD_EXIT_ERROR;
		snprintf(r->text, sizeof r->text, "--cwd %.200s: %s: name a directory of the sandbox",
			 m->c->cwd ? m->c->cwd : config_home(m->c->uid), strerror(error & ~SPAWN_CWD));
	} else if (error == ENOMEM && r->counters.mem_refused) {
		r->exit_code = WARD_EXIT_NOEXEC;
		snprintf(r->text, sizeof r->text, "%.200s: --memory is too small to start it: raise it", name);
	} else if (missing) {
		r->exit_code = WARD_EXIT_NOTFOUND;
		snprintf(r->text, sizeof r->text, "%.200s: not found in the sandbox: name a program of the root in use, or copy it in", name);
	} else {
		r->exit_code = WARD_EXIT_NOEXEC;
		snprintf(r->text, sizeof r->text, "%.200s: cannot be executed: %s: it must be an executable x86-64 program or script",
			 name, strerror(error));
	}
	r->code = r->exit_code;
}

static void program_ended(struct monitor *m, int status, int error)
{
	struct result *r = &m->result;
	const char *name = m->c->argv[0];

	m->ended = true;
	if (r->outcome != OUTCOME_NONE)
		return;
	if (error < 0)
		error = -error;
	if (error) {
		never_started(m, error);
	} else if (WIFSIGNALED(status)) {
		bool memory = r->counters.mem_refused && sign_of_shortage(WTERMSIG(status));

		r->outcome = memory ? OUTCOME_OUT_OF_MEMORY : OUTCOME_SIGNALED;
		r->code = WTERMSIG(status);
		r->exit_code = 128 + r->code;
		snprintf(r->text, sizeof r->text, "%.200s: ended by signal %d (%s)%s", name, r->code, strsignal(r->code),
			 memory ? " after --memory refused it more: raise it" : "");
	} else {
		r->outcome = OUTCOME_EXITED;
		r->code = r->exit_code = WEXITSTATUS(status);
	}
}

/* False when the channel is at its end. */
static bool serve_control(struct monitor *m)
{
	static char text[CONTROL_MAX];
	struct control_msg msg;
	long n = control_recv(m->control, &msg, text, sizeof text - 1, NULL, NULL, MSG_DONTWAIT);

	if (n == -EAGAIN)
		return true;
	if (n < 0)
		return false;
	switch (msg.kind) {
	case CONTROL_STARTED:
		m->started = true;
		m->result.boot_ns = (uint64_t)msg.a;
		break;
	case CONTROL_FAILED:
		text[n] = 0;
		m->ended = true;
		m->result.outcome = OUTCOME_NEVER_STARTED;
		m->result.code = m->result.exit_code = WARD_EXIT_ERROR;
		snprintf(m->result.text, sizeof m->result.text, "%.500s", text);
		break;
	case CONTROL_COUNTERS:
		if (n == sizeof m->result.counters)
			memcpy(&m->result.counters, text, sizeof m->result.counters);
		break;
	case CONTROL_EXITED:
		if (msg.id == 0 && !m->ended)
			program_ended(m, (int)msg.a, (int)msg.b);
		else if (msg.id && m->server)
			server_exec_done(m->server, msg.id, msg.a, msg.b);
		break;
	}
	return true;
}

static void sentry_died(struct monitor *m, int status)
{
	struct result *r = &m->result;

	m->sentry = 0;
	while (serve_control(m))
		if (recv(m->control, &(char){0}, 1, MSG_PEEK | MSG_DONTWAIT) <= 0)
			break;
	if (r->outcome != OUTCOME_NONE)
		return;
	r->outcome = OUTCOME_SANDBOX_LOST;
	r->exit_code = WARD_EXIT_ERROR;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		snprintf(r->text, sizeof r->text, "sandbox lost: the sentry made a host call its own filter forbids; "
			 "WARD_CONFINE=trap names it; please report it");
	else if (WIFSIGNALED(status))
		snprintf(r->text, sizeof r->text, "sandbox lost: the sentry was ended by signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(r->text, sizeof r->text, "sandbox lost: the sentry ended with code %d before the program",
			 WEXITSTATUS(status));
	r->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

static void helper_died(struct monitor *m, int status)
{
	m->helper = 0;
	if (WIFSIGNALED(status))
		log_error("--copy-out: the helper was ended by signal %d", WTERMSIG(status));
	m->copy_failed = !WIFEXITED(status) || WEXITSTATUS(status);
}

static void reap(struct monitor *m)
{
	struct rusage ru;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &ru)) > 0) {
		if (pid == m->sentry) {
			m->result.cpu_ns = ((uint64_t)ru.ru_utime.tv_sec + (uint64_t)ru.ru_stime.tv_sec) * NSEC_PER_SEC +
					   ((uint64_t)ru.ru_utime.tv_usec + (uint64_t)ru.ru_stime.tv_usec) * 1000;
			m->result.peak_rss_bytes = (uint64_t)ru.ru_maxrss * 1024;
			sentry_died(m, status);
		} else if (pid == m->helper) {
			helper_died(m, status);
		}
	}
}

static void serve_signals(struct monitor *m)
{
	struct signalfd_siginfo si;

	while (read(m->signals, &si, sizeof si) == sizeof si) {
		if (si.ssi_signo == SIGCHLD)
			reap(m);
		else
			relay_signal(m, (int)si.ssi_signo);
	}
}

static bool expired(int fd)
{
	uint64_t n;

	return read(fd, &n, sizeof n) == sizeof n;
}

/* The outcomes that are the monitor's own decision get their line and code here. */
static void conclude(struct monitor *m)
{
	struct result *r = &m->result;

	relay_close(&m->relay);
	r->wall_ns = monitor_now_ns() - m->start_ns;
	if (r->outcome == OUTCOME_TIMED_OUT) {
		r->exit_code = WARD_EXIT_TIME;
		snprintf(r->text, sizeof r->text, "time limit of %g s reached: the sandbox was ended; --time sets the limit",
			 m->c->time_limit);
	} else if (r->outcome == OUTCOME_KILLED) {
		r->code = SIGKILL;
		r->exit_code = 128 + SIGKILL;
		snprintf(r->text, sizeof r->text, "sandbox killed on request");
	}
	/* The helper said what was wrong; a run that otherwise succeeded has not delivered. */
	if (m->copy_failed && !r->exit_code)
		r->exit_code = WARD_EXIT_ERROR;
	if (r->text[0])
		cli_line("%s", r->text);
	if (m->c->stats)
		stats_print(m->c, r);
	if (m->c->report && report_write(m->c, r) && !r->exit_code)
		r->exit_code = WARD_EXIT_ERROR;
}

/* --detach: the command that started us waits for one byte: its exit code. */
static void detach_ready(struct monitor *m)
{
	unsigned char code = m->started ? 0 : (unsigned char)m->result.exit_code;
	int null;

	if (m->detach_pipe < 0)
		return;
	if (write(m->detach_pipe, &code, 1) < 0)
		log_warn("--detach: the starting command is gone");
	close(m->detach_pipe);
	m->detach_pipe = -1;
	if (!m->started && m->server)
		server_forget(m->server); /* never started: no record is kept */
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0)
		dup2(null, 2);
}

/* A detached sandbox's record stays until it is removed. */
static bool wanted(const struct monitor *m)
{
	return m->sentry || m->helper || (m->c->detach && m->server && !server_removed(m->server));
}

static void loop(struct monitor *m)
{
	struct pollfd p[6 + SERVER_POLLFDS];
	bool concluded = false;

	while (wanted(m)) {
		unsigned n = 6;

		p[0] = (struct pollfd){m->control, POLLIN};
		p[1] = (struct pollfd){m->signals, POLLIN};
		p[2] = (struct pollfd){m->timer, POLLIN};
		p[3] = (struct pollfd){m->grace, POLLIN};
		relay_prepare(&m->relay, p + 4);
		if (m->server)
			n += server_prepare(m->server, p + n);
		if (poll(p, n, -1) < 0) {
			if (errno != EINTR)
				break;
			continue;
		}
		if (p[0].revents && !serve_control(m)) {
			/* The sentry is going: its death follows as SIGCHLD. */
			close(m->control);
			m->control = -1;
		}
		if (m->started)
			detach_ready(m); /* a failed start is told after its line */
		if (p[2].revents && expired(m->timer))
			monitor_kill(m, OUTCOME_TIMED_OUT);
		if (p[3].revents && expired(m->grace))
			kill_hard(m);
		relay_serve(&m->relay, p + 4);
		if (m->server)
			server_serve(m->server, m, p + 6);
		if (p[1].revents)
			serve_signals(m);
		if (!m->sentry && !m->helper && !concluded) {
			conclude(m);
			detach_ready(m);
			if (m->server)
				server_finished(m->server, m);
			concluded = true;
		}
	}
	if (!concluded)
		conclude(m);
}

/* The copy-out helper exists before the sentry, so that it inherits nothing of it. *OUT: the sentry's pipe end. */
static int start_helper(struct monitor *m, int *out, struct err *e)
{
	int pipe_fd[2];
	pid_t parent;

	if (!m->c->copy_out_count)
		return 0;
	if (pipe2(pipe_fd, O_CLOEXEC))
		return err_set(e, WARD_EXIT_ERROR, "--copy-out: %s", strerror(errno));
	parent = getpid();
	m->helper = fork();
	if (m->helper < 0)
		return err_set(e, WARD_EXIT_ERROR, "--copy-out: cannot fork: %s", strerror(errno));
	if (!m->helper) {
		close(pipe_fd[1]);
		close(0);
		close(1);
		setsid(); /* Ctrl-C is for the guest; what it leaves is still copied */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(WARD_EXIT_ERROR); /* it died before the line above */
		_exit(archive_helper(m->c, pipe_fd[0]));
	}
	close(pipe_fd[0]);
	*out = pipe_fd[1];
	return 0;
}

/* One helper per read-write bind. It ends when the sentry's end of its socket closes. */
static int start_gofers(struct config *c, struct err *e)
{
	pid_t parent = getpid();

	for (unsigned i = 0; i < c->bind_count; i++) {
		struct config_bind *b = &c->bind[i];
		int pair[2];
		pid_t pid;

		if (!b->rw)
			continue;
		b->root = open(b->src, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (b->root < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
			return err_set(e, WARD_EXIT_ERROR, "--bind %s: %s", b->src, strerror(errno));
		pid = fork();
		if (pid < 0)
			return err_set(e, WARD_EXIT_ERROR, "--bind %s: cannot fork: %s", b->src, strerror(errno));
		if (!pid) {
			setsid();
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() != parent)
				_exit(WARD_EXIT_ERROR);
			/* Only the socket, the directory and stderr stay: other binds' sockets would hold those open. */
			pair[1] = fcntl(pair[1], F_DUPFD, 10);
			b->root = fcntl(b->root, F_DUPFD, 10);
			dup2(pair[1], 3);
			dup2(b->root, 4);
			close(0);
			close(1);
			syscall(SYS_close_range, 5, ~0u, 0);
			_exit(gofer_helper(3, 4));
		}
		close(pair[1]);
		b->sock = pair[0];
	}
	return 0;
}

static void close_gofers(struct config *c)
{
	for (unsigned i = 0; i < c->bind_count; i++) {
		if (!c->bind[i].rw)
			continue;
		close(c->bind[i].sock);
		close(c->bind[i].root);
	}
}

static int start(struct monitor *m, struct err *e)
{
	struct config *c = m->c;
	struct boot_fds fds = {.stdio = {0, 1, 2}, .tty = -1, .trace = -1, .copy_out = -1};
	struct stat st;
	sigset_t set;
	int pair[2];

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (unsigned i = 0; i < ARRAY_COUNT(relayed); i++)
		sigaddset(&set, relayed[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	m->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	m->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	m->grace = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (m->signals < 0 || m->timer < 0 || m->grace < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return err_set(e, WARD_EXIT_ERROR, "monitor: %s", strerror(errno));
	if (c->trace_out) {
		fds.trace = open(c->trace_out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (fds.trace < 0)
			return err_set(e, WARD_EXIT_ERROR, "-o %s: %s", c->trace_out, strerror(errno));
	}
	for (int i = 0; i < 3; i++)
		if (fcntl(i, F_GETFD) < 0)
			fds.stdio[i] = -1;
	/* Our own stderr still goes to who started us; the program's only if that is a file. */
	if (c->detach && (fstat(2, &st) || !S_ISREG(st.st_mode)))
		fds.stdio[2] = open("/dev/null", O_RDWR | O_CLOEXEC);
	fds.log = fcntl(2, F_DUPFD_CLOEXEC, 10);
	if (fds.log < 0)
		fds.log = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (c->tty && relay_open(&m->relay, &fds.tty, e))
		return -1;
	if (start_helper(m, &fds.copy_out, e) || start_gofers(c, e))
		return -1;
	fds.monitor = getpid();
	fds.control = pair[1];
	m->control = pair[0];
	m->sentry = fork();
	if (m->sentry < 0)
		return err_set(e, WARD_EXIT_ERROR, "cannot fork the sentry: %s", strerror(errno));
	if (!m->sentry) {
		boot_sentry(c, &fds);
	}
	close(pair[1]);
	close_gofers(c);
	close(fds.log);
	if (fds.trace >= 0)
		close(fds.trace);
	if (fds.copy_out >= 0)
		close(fds.copy_out);
	if (fds.tty >= 0) {
		close(fds.tty);
		relay_raw();
		send_window(m);
	}
	if (c->time_limit > 0)
		timer_set(m->timer, c->time_limit);
	return 0;
}

/*
 * --detach: returns in a background process of its own session, with DETACH_PIPE set; the foreground command waits
 * for the start and exits. Output goes on only where the caller sent it to a file; else it is dropped.
 */
static int detach(struct monitor *m, struct err *e)
{
	unsigned char code = WARD_EXIT_ERROR;
	int pipe_fd[2], null;
	struct stat st;
	pid_t pid;

	if (pipe2(pipe_fd, O_CLOEXEC) || (pid = fork()) < 0)
		return err_set(e, WARD_EXIT_ERROR, "--detach: %s", strerror(errno));
	if (pid) {
		close(pipe_fd[1]);
		if (read(pipe_fd[0], &code, 1) != 1)
			cli_line("--detach: the background process died before the start");
		_exit(code);
	}
	close(pipe_fd[0]);
	setsid();
	m->detach_pipe = pipe_fd[1];
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	dup2(null, 0);
	if (fstat(1, &st) || !S_ISREG(st.st_mode))
		dup2(null, 1);
	return 0;
}

int monitor_run(struct config *c)
{
	static struct monitor m;
	struct timespec now;
	struct err e = {0};

	m = (struct monitor){.c = c, .control = -1, .detach_pipe = -1, .relay = {.stream = -1}};
	clock_gettime(CLOCK_REALTIME, &now);
	m.result.start_real_ns = (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
	m.start_ns = monitor_now_ns();
	if ((c->name && !(m.server = server_open(c->name, &e))) || (c->detach && detach(&m, &e)) || start(&m, &e)) {
		m.result.outcome = OUTCOME_NEVER_STARTED;
		m.result.code = m.result.exit_code = e.exit_code;
		snprintf(m.result.text, sizeof m.result.text, "%s", e.text);
		conclude(&m);
		detach_ready(&m);
	} else {
		loop(&m);
	}
	if (m.server)
		server_close(m.server);
	return m.result.exit_code;
}
