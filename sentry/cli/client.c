/* ps, exec, wait, kill, rm: the commands that talk to a detached sandbox's monitor. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "sentry/base/util.h"
#include "sentry/cli/cli.h"
#include "sentry/cli/relay.h"
#include "sentry/cli/server.h"
#include "sentry/task/spawn.h"

static int connect_path(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (snprintf(a.sun_path, sizeof a.sun_path, "%s", path) >= (int)sizeof a.sun_path)
		errno = ENAMETOOLONG;
	else if (fd >= 0 && !connect(fd, (struct sockaddr *)&a, sizeof a))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int connect_name(const char *name, struct err *e)
{
	char path[108];
	int fd;

	if (server_path(name, path, sizeof path, e))
		return -1;
	fd = connect_path(path);
	if (fd >= 0)
		return fd;
	if (errno == ECONNREFUSED)
		unlink(path); /* its monitor died */
	return err_set(e, WARD_EXIT_ERROR, "%s: no such sandbox: `ward ps` lists them", name);
}

/* One request, one answer. Kind of the answer or -1. */
static int ask(int fd, struct control_msg *m, char *text, size_t size, struct err *e)
{
	long n = control_send(fd, m, NULL, 0, NULL, 0);

	if (!n)
		n = control_recv(fd, m, text, size - 1, NULL, NULL, 0);
	if (n < 0)
		return err_set(e, WARD_EXIT_ERROR, "the sandbox's monitor does not answer: %s", strerror((int)-n));
	text[n] = 0;
	if (m->kind == ANSWER_REFUSED)
		return err_set(e, WARD_EXIT_ERROR, "%s", text);
	return (int)m->kind;
}

static int usage(const char *text)
{
	cli_line("usage: ward %s", text);
	return WARD_EXIT_ERROR;
}

static void print_row(const char *name, const struct control_msg *m, const char *program, json_t *list)
{
	if (list) {
		json_array_append_new(list, json_pack("{s:s, s:s, s:I, s:I, s:s}", "name", name, "state",
						      m->a ? "running" : "finished", "pid", (json_int_t)m->b, "started",
						      (json_int_t)m->c, "program", program));
		return;
	}
	char when[32];
	time_t t = (time_t)m->c;
	struct tm tm;

	strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", localtime_r(&t, &tm));
	printf("%-20s %-9s %-8lld %-20s %s\n", name, m->a ? "running" : "finished", (long long)m->b, when, program);
}

int cmd_ps(int argc, char **argv)
{
	bool json = argc > 1 && !strcmp(argv[1], "--json");
	json_t *list = json ? json_array() : NULL;
	struct err e = {0};
	char dir[64], text[4096];
	struct dirent **names;
	int count;

	if (argc > 1 + json)
		return usage("ps [--json]");
	if (server_dir(dir, sizeof dir, &e))
		return cli_fail(&e);
	count = scandir(dir, &names, NULL, alphasort);
	if (!json)
		printf("%-20s %-9s %-8s %-20s %s\n", "NAME", "STATE", "PID", "STARTED", "PROGRAM");
	for (int i = 0; i < count; i++) {
		char *dot = strstr(names[i]->d_name, ".sock");
		struct control_msg m = {.kind = REQUEST_STATUS};
		char path[400];
		int fd;

		if (dot && !dot[5]) {
			snprintf(path, sizeof path, "%s/%s", dir, names[i]->d_name);
			fd = connect_path(path);
			*dot = 0;
			if (fd < 0 && errno == ECONNREFUSED)
				unlink(path);
			if (fd >= 0 && ask(fd, &m, text, sizeof text, &(struct err){0}) == ANSWER_OK)
				print_row(names[i]->d_name, &m, text, list);
			if (fd >= 0)
				close(fd);
		}
		free(names[i]);
	}
	if (count >= 0)
		free(names);
	if (list) {
		json_dumpf(list, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(list);
	}
	return 0;
}

/* A request with one argument and no result but success. */
static int simple(const char *name, enum request kind, int64_t a)
{
	struct control_msg m = {.kind = kind, .a = a};
	struct err e = {0};
	char text[4096];
	int fd = connect_name(name, &e);

	if (fd < 0 || ask(fd, &m, text, sizeof text, &e) < 0)
		return cli_fail(&e);
	close(fd);
	return 0;
}

int cmd_wait(int argc, char **argv)
{
	struct control_msg m = {.kind = REQUEST_WAIT};
	struct err e = {0};
	char text[4096];
	int fd;

	if (argc != 2)
		return usage("wait NAME");
	fd = connect_name(argv[1], &e);
	if (fd < 0 || ask(fd, &m, text, sizeof text, &e) < 0)
		return cli_fail(&e);
	if (text[0])
		cli_line("%s", text);
	return (int)m.c & 255;
}

static int signal_number(const char *s)
{
	if (isdigit((unsigned char)*s)) {
		int n = atoi(s);

		return n >= 1 && n <= 64 ? n : -1;
	}
	if (!strncmp(s, "SIG", 3))
		s += 3;
	for (int n = 1; n < 32; n++)
		if (sigabbrev_np(n) && !strcmp(sigabbrev_np(n), s))
			return n;
	return -1;
}

int cmd_kill(int argc, char **argv)
{
	int sig = SIGKILL;

	if (argc < 2 || argc > 3)
		return usage("kill NAME [SIGNAL]");
	if (argc == 3)
		sig = signal_number(argv[2]);
	if (sig < 0) {
		cli_line("kill: '%s' is not a signal: give a name as TERM or a number", argv[2]);
		return WARD_EXIT_ERROR;
	}
	return simple(argv[1], REQUEST_KILL, sig == SIGKILL ? 0 : sig);
}

int cmd_rm(int argc, char **argv)
{
	bool force = argc > 1 && (!strcmp(argv[1], "-f") || !strcmp(argv[1], "--force"));

	if (argc != 2 + force)
		return usage("rm [-f] NAME");
	return simple(argv[1 + force], REQUEST_REMOVE, force);
}

/* --- exec ------------------------------------------------------------------------------------------------------ */
struct exec {
	const char *cwd, *env[CONFIG_MAX_ENV];
	unsigned env_count;
	uid_t uid;
	gid_t gid;
	bool tty;
	char **argv;
};

static int exec_options(int argc, char **argv, struct exec *x, const char **name, struct err *e)
{
	static const struct option options[] = {{"tty", no_argument, NULL, 't'}, {"env", required_argument, NULL, 'e'},
						{"cwd", required_argument, NULL, 'c'}, {"user", required_argument, NULL, 'u'}, {0}};
	int o, rc = 0;

	opterr = 0;
	/* Options may stand before and after NAME, up to the program. */
	for (int pass = 0; pass < 2; pass++) {
		while (!rc && (o = getopt_long(argc, argv, "+:te:c:u:", options, NULL)) != -1) {
			if (o == 't') {
				x->tty = true;
			} else if (o == 'e' && x->env_count < CONFIG_MAX_ENV) {
				x->env[x->env_count++] = optarg;
				rc = config_check_env(optarg, e);
			} else if (o == 'c') {
				x->cwd = optarg;
				rc = config_check_guest_path("--cwd", optarg, e);
			} else if (o == 'u') {
				rc = config_parse_user(optarg, &x->uid, &x->gid, e);
			} else {
				rc = err_set(e, WARD_EXIT_ERROR, "exec: %s: no such option or no value", argv[optind - 1]);
			}
		}
		if (rc)
			return rc;
		if (!pass && optind < argc)
			*name = argv[optind++];
	}
	x->argv = argv + optind;
	if (!*name || !x->argv[0])
		return err_set(e, WARD_EXIT_ERROR, "usage: ward exec [-t] [--env K=V] [--cwd DIR] [--user UID[:GID]] NAME -- PROGRAM [ARG...]");
	return 0;
}

static int add(char *text, size_t *size, const char *s)
{
	size_t n = strlen(s) + 1;

	if (*size + n > CONTROL_MAX - sizeof(struct control_msg) - 1)
		return -1;
	memcpy(text + *size, s, n);
	*size += n;
	return 0;
}

static int exec_send(int fd, const struct exec *x, int console, struct err *e)
{
	static char text[CONTROL_MAX];
	struct control_msg m = {.kind = REQUEST_EXEC, .a = x->uid, .b = x->gid, .c = x->tty ? CONTROL_EXEC_TTY : 0};
	char **env = config_guest_env(x->uid, x->tty, x->env, x->env_count);
	int stdio[3] = {0, 1, 2};
	size_t size = 0;
	int rc;

	rc = env ? add(text, &size, x->cwd ? x->cwd : config_home(x->uid)) : -1;
	for (char **p = x->argv; !rc && *p; p++)
		rc = add(text, &size, *p);
	rc = rc ? rc : add(text, &size, "");
	for (char **p = env; !rc && *p; p++)
		rc = add(text, &size, *p);
	if (rc)
		return err_set(e, WARD_EXIT_ERROR, "exec: arguments and environment are longer than %d bytes", CONTROL_MAX);
	rc = control_send(fd, &m, text, size, x->tty ? &console : stdio, x->tty ? 1 : 3);
	if (rc)
		return err_set(e, WARD_EXIT_ERROR, "exec: cannot reach the sandbox: %s", strerror(-rc));
	return 0;
}

static void exec_window(int fd)
{
	struct control_msg m = {.kind = REQUEST_WINSIZE};
	uint16_t rows, cols;

	relay_window(&rows, &cols);
	m.a = rows;
	m.b = cols;
	control_send(fd, &m, NULL, 0, NULL, 0);
}

static int exec_done(const struct control_msg *m, const struct exec *x, const char *text)
{
	int status = (int)m->a, error = (int)m->b;

	if (m->kind == ANSWER_REFUSED) {
		cli_line("exec: %s", text);
		return WARD_EXIT_ERROR;
	}
	if (error & SPAWN_CWD) {
		cli_line("exec: --cwd %s: %s", x->cwd ? x->cwd : config_home(x->uid), strerror(abs(error) & ~SPAWN_CWD));
		return WARD_EXIT_ERROR;
	}
	if (error) {
		cli_line("%s: cannot start: %s", x->argv[0], strerror(abs(error)));
		return abs(error) == ENOENT || abs(error) == ENOTDIR ? WARD_EXIT_NOTFOUND : WARD_EXIT_NOEXEC;
	}
	if (WIFSIGNALED(status)) {
		cli_line("%s: ended by signal %d (%s)", x->argv[0], WTERMSIG(status), strsignal(WTERMSIG(status)));
		return 128 + WTERMSIG(status);
	}
	return WEXITSTATUS(status);
}

/* Relay signals and the terminal until the answer. */
static int exec_wait(int fd, const struct exec *x, struct relay *relay)
{
	static const int relayed[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH};
	struct control_msg m = {0};
	char text[4096];
	sigset_t set;
	int sigs;

	sigemptyset(&set);
	for (unsigned i = 0; i < ARRAY_COUNT(relayed); i++)
		sigaddset(&set, relayed[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigs = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	for (;;) {
		struct pollfd p[4] = {{fd, POLLIN}, {sigs, POLLIN}};
		struct signalfd_siginfo si;
		long n;

		relay_prepare(relay, p + 2);
		if (poll(p, 4, -1) < 0)
			continue;
		relay_serve(relay, p + 2);
		while (p[1].revents && read(sigs, &si, sizeof si) == sizeof si) {
			m = (struct control_msg){.kind = REQUEST_SIGNAL, .a = si.ssi_signo};
			if (si.ssi_signo == SIGWINCH)
				exec_window(fd);
			else
				control_send(fd, &m, NULL, 0, NULL, 0);
		}
		if (!p[0].revents)
			continue;
		n = control_recv(fd, &m, text, sizeof text - 1, NULL, NULL, 0);
		relay_close(relay);
		if (n < 0) {
			cli_line("exec: the sandbox is gone");
			return WARD_EXIT_ERROR;
		}
		text[n] = 0;
		return exec_done(&m, x, text);
	}
}

int cmd_exec(int argc, char **argv)
{
	static struct exec x;
	struct relay relay = {.stream = -1};
	const char *name = NULL;
	struct err e = {0};
	int fd, console = -1;

	if (exec_options(argc, argv, &x, &name, &e))
		return cli_fail(&e);
	fd = connect_name(name, &e);
	if (fd < 0 || (x.tty && relay_open(&relay, &console, &e)) || exec_send(fd, &x, console, &e))
		return cli_fail(&e);
	if (x.tty) {
		close(console);
		relay_raw();
		exec_window(fd);
	}
	return exec_wait(fd, &x, &relay);
}
