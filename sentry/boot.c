/* The sentry's life: build the sandbox, shut the doors one after the other, run, stream results, end. */
#include "sentry/boot.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "fs/vfs.h"
#include "sentry/base/log.h"
#include "sentry/base/util.h"
#include "sentry/config.h"
#include "sentry/control.h"
#include "sentry/kernel.h"
#include "sentry/loop.h"
#include "sentry/platform/confine.h"
#include "sentry/platform/platform.h"
#include "sentry/task/task.h"
#include "sentry/trace/stats.h"
#include "sentry/trace/trace.h"

extern char **environ;

/* Everything the monitor had open is closed but what FDS names: the sentry owns nothing it does not need. */
static void close_others(const struct config *c, const struct boot_fds *fds)
{
	int keep[8 + 2 * CONFIG_MAX_LIST] = {fds->stdio[0], fds->stdio[1], fds->stdio[2], fds->control, fds->tty,
					     fds->log, fds->trace, fds->copy_out};
	unsigned from = 0, count = 8;

	for (unsigned i = 0; i < c->bind_count; i++) {
		keep[count++] = c->bind[i].sock;
		keep[count++] = c->bind[i].root;
	}

	for (;;) {
		unsigned next = ~0u;

		for (unsigned i = 0; i < count; i++)
			if (keep[i] >= 0 && (unsigned)keep[i] >= from && (unsigned)keep[i] < next)
				next = (unsigned)keep[i];
		if (next > from)
			syscall(SYS_close_range, from, next == ~0u ? ~0u : next - 1, 0);
		if (next == ~0u)
			return;
		from = next + 1;
	}
}

/* The host's variables are no business of this process: a read bug must find nothing. */
static void wipe_environment(void)
{
	for (char **v = environ; v && *v; v++) {
		/* The switches of development stay readable for the parts that parse them later. */
		if (!strncmp(*v, "WARD_", 5))
			continue;
		explicit_bzero(*v, strlen(*v));
	}
}

static void own_process(pid_t monitor)
{
	struct rlimit rl;
	sigset_t none;

	setsid();
	prctl(PR_SET_NAME, "ward-sentry");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != monitor)
		_exit(WARD_EXIT_ERROR); /* it died before the line above */
	for (int s = 1; s < NSIG; s++)
		if (s != SIGKILL && s != SIGSTOP)
			signal(s, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (!getrlimit(RLIMIT_NOFILE, &rl)) {
		rl.rlim_cur = rl.rlim_max;
		setrlimit(RLIMIT_NOFILE, &rl);
	}
}

static int confine(const struct config *c, struct err *e)
{
	static struct confine_path paths[CONFIG_MAX_LIST + 128];
	unsigned n = 0, view_count;
	const struct hostdir_entry *view = boot_host_view(&view_count);

	if (c->rootfs)
		paths[n++].path = c->rootfs;
	for (unsigned i = 0; i < view_count; i++)
		if (view[i].host)
			paths[n++].path = view[i].host;
	for (unsigned i = 0; i < c->bind_count; i++)
		if (!c->bind[i].rw)
			paths[n++].path = c->bind[i].src;
	return confine_process(paths, n, e);
}

static int boot(struct config *c, struct boot_fds *fds, uint64_t begin, struct err *e)
{
	int rc = loop_init();

	if (rc)
		return err_set(e, WARD_EXIT_ERROR, "event loop: %s", strerror(-rc));
	kernel_init(c);
	task_set_limit(c->pids);
	if (c->trace)
		trace_start(fds->trace >= 0 ? fds->trace : fds->log);
	rc = vfs_init();
	if (rc)
		return err_set(e, WARD_EXIT_ERROR, "file layer: %s", strerror(-rc));
	if (boot_mounts(c, e) || boot_copy_in(c, e))
		return -1;
	if (plat_init(e) || confine(c, e) || plat_start(e))
		return -1;
	rc = control_start(fds->control, begin);
	if (rc)
		return err_set(e, WARD_EXIT_ERROR, "control channel: %s", strerror(-rc));
	if (confine_calls(e))
		return -1;
	return control_spawn_init(c, fds, e);
}

void boot_sentry(struct config *c, struct boot_fds *fds)
{
	uint64_t begin = now_mono_ns();
	struct err e = {0};

	own_process(fds->monitor);
	close_others(c, fds);
	if (boot(c, fds, begin, &e)) {
		control_boot_failed(fds->control, &e);
		if (fds->copy_out >= 0)
			boot_copy_out(NULL, fds->copy_out); /* an empty archive: nothing to complain about */
		plat_shutdown();
		_exit(WARD_EXIT_ERROR);
	}
	wipe_environment();
	loop_run();
	trace_flush();
	if (c->stats)
		stats_write(fds->log);
	plat_shutdown();
	if (fds->copy_out >= 0)
		boot_copy_out(c, fds->copy_out);
	_exit(0);
}
