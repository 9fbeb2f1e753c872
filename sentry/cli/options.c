/* Options of `ward run`. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sentry/base/util.h"
#include "sentry/cli/cli.h"
#include "sentry/trace/trace.h"

enum {
	OPT_ROOTFS = 256, OPT_BIND, OPT_COPY_IN, OPT_COPY_OUT, OPT_CWD, OPT_ENV, OPT_USER, OPT_HOSTNAME, OPT_TIME,
	OPT_DISK, OPT_MEMORY, OPT_PIDS, OPT_TRACE, OPT_STATS, OPT_DETACH, OPT_NAME, OPT_REPORT, OPT_PLATFORM,
};
static const struct option options[] = {
    {"rootfs", required_argument, NULL, OPT_ROOTFS}, {"bind", required_argument, NULL, OPT_BIND},
    {"copy-in", required_argument, NULL, OPT_COPY_IN}, {"copy-out", required_argument, NULL, OPT_COPY_OUT},
    {"cwd", required_argument, NULL, OPT_CWD}, {"env", required_argument, NULL, OPT_ENV},
    {"user", required_argument, NULL, OPT_USER}, {"hostname", required_argument, NULL, OPT_HOSTNAME},
    {"tty", no_argument, NULL, 't'}, {"time", required_argument, NULL, OPT_TIME},
    {"disk", required_argument, NULL, OPT_DISK}, {"memory", required_argument, NULL, OPT_MEMORY},
    {"pids", required_argument, NULL, OPT_PIDS}, {"trace", optional_argument, NULL, OPT_TRACE},
    {"output", required_argument, NULL, 'o'}, {"stats", no_argument, NULL, OPT_STATS},
    {"detach", no_argument, NULL, OPT_DETACH}, {"name", required_argument, NULL, OPT_NAME},
    {"report", required_argument, NULL, OPT_REPORT}, {"platform", required_argument, NULL, OPT_PLATFORM},
    {"help", no_argument, NULL, 'h'}, {0},
};

static void help(void)
{
	fputs("usage: ward run [OPTIONS] [--] PROGRAM [ARG...]\n"
	      "  --rootfs host|DIR        read-only root: a view of the host's programs (default) or a directory\n"
	      "  --bind SRC:DST[:ro|rw]   show a host directory inside; read-only unless rw\n"
	      "  --copy-in SRC:DST        copy a host file or directory in before the start\n"
	      "  --copy-out SRC:DST       copy a file or directory out (SRC inside) after the end, also a failed one\n"
	      "  --cwd DIR                directory to start in (default: the user's home)\n"
	      "  --env NAME=VALUE         set a variable; nothing of the host's environment is passed\n"
	      "  --user UID[:GID]         user inside the sandbox (default 0:0)\n"
	      "  --hostname NAME          name of the sandbox (default ward)\n"
	      "  -t, --tty                give the program a terminal\n"
	      "  --time SECONDS           end everything after that long (exit code 124)\n"
	      "  --disk SIZE              limit of the writable layer (default 2G)\n"
	      "  --memory SIZE            limit of the guest's memory\n"
	      "  --pids N                 limit of processes and threads (default 4096)\n"
	      "  --trace[=CLASS|CALL,..]  print system calls as strace does; -o FILE writes them there\n"
	      "  --stats                  print counters at the end\n"
	      "  --detach --name N        run in the background; see ward ps, exec, wait, kill, rm\n"
	      "  --report FILE            write a JSON record of the end\n"
	      "  --platform auto|trap     how guest code runs\n"
	      "exit codes: the program's; 128+signal; 124 time limit; 125 ward's error; 126 not executable; 127 not found\n",
	      stdout);
	exit(0);
}

static int check_destination(const char *opt, const char *dst, struct err *e);

static int add_copy(const char *opt, struct config_copy *list, unsigned *count, bool in, struct err *e)
{
	struct config_copy *p = &list[*count];
	struct stat st;

	if (*count == CONFIG_MAX_LIST)
		return err_set(e, WARD_EXIT_ERROR, "%s: at most %d times", opt, CONFIG_MAX_LIST);
	if (config_split_pair(opt, optarg, &p->src, &p->dst, e) ||
	    config_check_guest_path(opt, in ? p->dst : p->src, e))
		return -1;
	if (in && stat(p->src, &st))
		return err_set(e, WARD_EXIT_ERROR, "%s %s: %s: give an existing file or directory of the host", opt, p->src,
			       strerror(errno));
	if (!in && check_destination(opt, p->dst, e))
		return -1;
	(*count)++;
	return 0;
}

/* A result that cannot be written at the end is better refused at the start. */
static int check_destination(const char *opt, const char *dst, struct err *e)
{
	char *dir = strdup(dst), *slash;
	struct stat st;
	size_t n = dir ? strlen(dir) : 0;
	int rc = 0;

	if (!dir)
		return err_set(e, WARD_EXIT_ERROR, "%s: out of memory", opt);
	while (n > 1 && dir[n - 1] == '/')
		dir[--n] = 0;
	slash = strrchr(dir, '/');
	if (slash)
		slash[slash == dir] = 0;
	if (stat(slash ? dir : ".", &st) || (!S_ISDIR(st.st_mode) && (errno = ENOTDIR)) || access(slash ? dir : ".", W_OK | X_OK))
		rc = err_set(e, WARD_EXIT_ERROR, "%s %s: cannot write to the directory %s: %s", opt, dst, slash ? dir : ".",
			     strerror(errno));
	free(dir);
	return rc;
}

static int add_bind(struct config *c, struct err *e)
{
	struct config_bind *b = &c->bind[c->bind_count];
	struct stat st;

	if (c->bind_count == CONFIG_MAX_LIST)
		return err_set(e, WARD_EXIT_ERROR, "--bind: at most %d times", CONFIG_MAX_LIST);
	if (config_parse_bind(optarg, b, e))
		return -1;
	if (stat(b->src, &st) || !S_ISDIR(st.st_mode))
		return err_set(e, WARD_EXIT_ERROR, "--bind %s: not a directory of the host: for one file use --copy-in", b->src);
	c->bind_count++;
	return 0;
}

static int add_env(struct config *c, struct err *e)
{
	if (c->env_count == CONFIG_MAX_ENV)
		return err_set(e, WARD_EXIT_ERROR, "--env: at most %d times", CONFIG_MAX_ENV);
	if (config_check_env(optarg, e))
		return -1;
	c->env[c->env_count++] = optarg;
	return 0;
}

static int set_rootfs(struct config *c, struct err *e)
{
	struct stat st;

	if (!strcmp(optarg, "host")) {
		c->rootfs = NULL;
		return 0;
	}
	if (stat(optarg, &st) || !S_ISDIR(st.st_mode))
		return err_set(e, WARD_EXIT_ERROR, "--rootfs %s: not a directory: give `host` or a directory that holds a root", optarg);
	c->rootfs = realpath(optarg, NULL);
	return c->rootfs ? 0 : err_set(e, WARD_EXIT_ERROR, "--rootfs %s: %s", optarg, strerror(errno));
}

static int set_platform(struct config *c, struct err *e)
{
	if (strcmp(optarg, "auto") && strcmp(optarg, "trap"))
		return err_set(e, WARD_EXIT_ERROR, "--platform %s: unknown: use auto or trap", optarg);
	c->platform = optarg;
	return 0;
}

static int set_hostname(struct config *c, struct err *e)
{
	if (config_check_name(optarg, e)) {
		e->exit_code = 0;
		return err_set(e, WARD_EXIT_ERROR, "--hostname '%.80s': use letters, digits, '.' and '-'", optarg);
	}
	snprintf(c->hostname, sizeof c->hostname, "%s", optarg);
	return 0;
}

static int option(int o, char **argv, struct config *c, struct err *e)
{
	switch (o) {
	case OPT_ROOTFS:
		return set_rootfs(c, e);
	case OPT_BIND:
		return add_bind(c, e);
	case OPT_COPY_IN:
		return add_copy("--copy-in", c->copy_in, &c->copy_in_count, true, e);
	case OPT_COPY_OUT:
		return add_copy("--copy-out", c->copy_out, &c->copy_out_count, false, e);
	case OPT_CWD:
		c->cwd = optarg;
		return config_check_guest_path("--cwd", optarg, e);
	case OPT_ENV:
		return add_env(c, e);
	case OPT_USER:
		return config_parse_user(optarg, &c->uid, &c->gid, e);
	case OPT_HOSTNAME:
		return set_hostname(c, e);
	case 't':
		c->tty = true;
		return 0;
	case OPT_TIME:
		return config_parse_seconds("--time", optarg, &c->time_limit, e);
	case OPT_DISK:
		return config_parse_size("--disk", optarg, &c->disk, e);
	case OPT_MEMORY:
		return config_parse_size("--memory", optarg, &c->memory, e);
	case OPT_PIDS:
		return config_parse_count("--pids", optarg, 1000000, &c->pids, e);
	case OPT_TRACE:
		c->trace = optarg ? optarg : "";
		return trace_parse_filter(c->trace, e);
	case 'o':
		c->trace_out = optarg;
		return 0;
	case OPT_STATS:
		c->stats = true;
		return 0;
	case OPT_DETACH:
		c->detach = true;
		return 0;
	case OPT_NAME:
		c->name = optarg;
		return config_check_name(optarg, e);
	case OPT_REPORT:
		c->report = optarg;
		return check_destination("--report", optarg, e);
	case OPT_PLATFORM:
		return set_platform(c, e);
	case 'h':
		help();
	}
	if (o == ':')
		return err_set(e, WARD_EXIT_ERROR, "%s: needs a value: see `ward run --help`", argv[optind - 1]);
	return err_set(e, WARD_EXIT_ERROR, "%s: no such option of run: see `ward run --help`", argv[optind - 1]);
}

int options_run(int argc, char **argv, struct config *c, struct err *e)
{
	int o;

	opterr = 0;
	config_defaults(c);
	while ((o = getopt_long(argc, argv, "+:to:h", options, NULL)) != -1)
		if (option(o, argv, c, e))
			return -1;
	if (optind == argc)
		return err_set(e, WARD_EXIT_ERROR, "run: no program given: as in `ward run -- python3 script.py`");
	if (c->detach && !c->name)
		return err_set(e, WARD_EXIT_ERROR, "--detach: needs --name NAME, by which ps, exec, wait and kill find it");
	if (c->detach && c->tty)
		return err_set(e, WARD_EXIT_ERROR, "--detach and -t exclude each other: use `ward exec -t` later");
	c->argv = argv + optind;
	return 0;
}
