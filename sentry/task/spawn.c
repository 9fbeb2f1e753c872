/*
 * Processes that come from outside the guest: pid 1 and what `ward exec` asks for. The new task builds its own
 * address space on its own fiber and executes the program; whoever asked learns the end through done().
 */
#include "sentry/task/spawn.h"
#include "sentry/task/task.h"
#include "sentry/fiber.h"
#include "sentry/kernel.h"
#include "sentry/mm/mm.h"
#include "sentry/platform/platform.h"
#include "sentry/base/log.h"
#include "sentry/base/util.h"
#include "fs/vfs.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Executes a program for current (loader/). 0 or -errno; the old image stays on failure. */
int do_execve_kernel(const char *path, char *const *argv, char *const *envp);
/* The terminal becomes S's controlling one, PG its foreground group (fs/tty). */
__attribute__((weak)) void tty_attach_session(struct tty *tty, struct session *s, struct pgrp *pg);

struct start {
	char **argv, **envp;
	char *cwd;
	void (*started)(void *arg);
	void *arg;
	struct file *stdio[3];
	struct tty *tty;
};

static void strv_free(char **v)
{
	for (char **p = v; p && *p; p++)
		free(*p);
	free(v);
}

static char **strv_dup(char *const *v)
{
	size_t n = 0;
	char **out;

	while (v && v[n])
		n++;
	out = calloc(n + 1, sizeof *out);
	if (!out)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		out[i] = strdup(v[i]);
		if (!out[i]) {
			strv_free(out);
			return NULL;
		}
	}
	return out;
}

static void start_free(struct start *st)
{
	if (!st)
		return;
	strv_free(st->argv);
	strv_free(st->envp);
	free(st->cwd);
	for (unsigned i = 0; i < 3; i++)
		if (st->stdio[i])
			file_put(st->stdio[i]);
	free(st);
}

/* execvp's search, with the guest's own PATH. */
static int exec_search(struct start *st)
{
	const char *name = st->argv[0], *path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
	int ret = -ENOENT;
	char buf[4096];

	if (!*name)
		return -ENOENT;
	if (strchr(name, '/'))
		return do_execve_kernel(name, st->argv, st->envp);
	for (char **e = st->envp; *e; e++)
		if (!strncmp(*e, "PATH=", 5))
			path = *e + 5;
	for (;;) {
		size_t n = strcspn(path, ":");
		int r;

		if (snprintf(buf, sizeof buf, "%.*s%s%s", (int)n, path, n ? "/" : "", name) < (int)sizeof buf) {
			r = do_execve_kernel(buf, st->argv, st->envp);
			if (r != -ENOENT && r != -ENOTDIR && r != -EACCES)
				return r;
			/* A found but forbidden file is the better message than "not found". */
			if (r == -EACCES)
				ret = -EACCES;
		}
		if (!path[n])
			return ret;
		path += n + 1;
	}
}

static int start_files(struct start *st)
{
	for (int i = 0; i < 3; i++) {
		int fd;

		if (!st->stdio[i])
			continue;
		fd = fd_install(st->stdio[i], i, false);
		if (fd < 0)
			return fd;
		st->stdio[i] = NULL;
	}
	return 0;
}

static int start_memory(struct task *t)
{
	int ret;

	t->mm = mm_new();
	if (!t->mm)
		return -ENOMEM;
	t->mm->users = 1;
	ret = plat_as_new(&t->host);
	if (ret == 0)
		t->mm->as = plat_thread_as(t->host);
	return ret;
}

static int start_cwd(struct task *t, const char *cwd)
{
	struct path p;
	int ret;

	if (!cwd || !strcmp(cwd, "/"))
		return 0;
	ret = path_lookup(AT_FDCWD, cwd, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &p);
	if (ret < 0)
		return ret;
	path_put(&t->fs->cwd);
	t->fs->cwd = p;
	return 0;
}

static void spawn_main(void *arg)
{
	struct task *t = arg;
	struct start *st = (struct start *)(uintptr_t)t->restart_data[0];
	int ret;

	t->restart_data[0] = 0;
	ret = start_memory(t);
	if (ret == 0)
		ret = start_files(st);
	if (ret == 0) {
		ret = start_cwd(t, st->cwd);
		if (ret < 0)
			ret -= SPAWN_CWD;
	}
	if (ret == 0) {
		t->state = TASK_IN_CALL;
		ret = exec_search(st);
		t->state = TASK_RUNNING;
		t->cur_nr = -1;
		if (ret == 0 && st->started)
			st->started(st->arg);
	}
	start_free(st);
	if (ret < 0) {
		t->tg->spawn_error = ret;
		if (!t->tg->exiting)
			tgroup_exit(t->tg, (ret == -ENOENT || ret == -ENOTDIR ? 127 : 126) << 8);
	}
	task_main(t);
}

static struct start *start_new(struct spawn_request *r)
{
	struct start *st = calloc(1, sizeof *st);

	if (!st)
		return NULL;
	st->argv = strv_dup(r->argv);
	st->envp = strv_dup(r->envp);
	st->cwd = r->cwd ? strdup(r->cwd) : NULL;
	st->tty = r->tty;
	st->started = r->started;
	st->arg = r->arg;
	if (!st->argv || !st->argv[0] || !st->envp || (r->cwd && !st->cwd)) {
		start_free(st);
		return NULL;
	}
	return st;
}

/* Session, group and everything a forked process would inherit. */
static int build(struct task *t, struct tgroup *tg, struct spawn_request *r)
{
	struct session *s;
	struct pgrp *pg;

	tg->sighand = sighand_new();
	if (!tg->sighand)
		return -ENOMEM;
	rlimit_init(tg->rlim);
	t->cred = cred_get(r->cred);
	t->user = user_count_get(t->cred->uid);
	if (!t->user)
		return -ENOMEM;
	t->user->tasks++;
	t->files = fdtable_new();
	t->fs = fs_context_new(&vfs_root, &vfs_root);
	if (!t->files || !t->fs)
		return -ENOMEM;
	t->fs->umask = 022;
	s = session_new(tg->pid);
	pg = s ? pgrp_new(tg->pid, s) : NULL;
	session_put(s);
	if (!pg)
		return -ENOMEM;
	tgroup_set_pgrp(tg, pg);
	pgrp_put(pg);
	if (r->tty && tty_attach_session)
		tty_attach_session(r->tty, pg->session, pg);
	return 0;
}

pid_t task_spawn(struct spawn_request *r)
{
	struct tgroup *tg = NULL;
	struct task *t = NULL;
	struct start *st = NULL;
	int ret = -ENOMEM;

	if (!r->argv || !r->argv[0]) {
		ret = -EINVAL;
		goto out;
	}
	st = start_new(r);
	tg = tgroup_new();
	if (!st || !tg)
		goto out;
	ret = pid_alloc();
	if (ret < 0)
		goto out;
	tg->pid = ret;
	t = task_new(tg);
	if (!t) {
		ret = -EAGAIN;
		goto out;
	}
	t->tid = tg->pid;
	ret = build(t, tg, r);
	if (ret < 0)
		goto out;
	ret = -ENOMEM;
	t->fiber = fiber_create(spawn_main, t, t);
	if (!t->fiber)
		goto out;

	memcpy(st->stdio, r->stdio, sizeof st->stdio);
	cred_put(r->cred);
	t->restart_data[0] = (uintptr_t)st;
	tg->leader = t;
	tg->unkillable = tg->pid == 1;
	tg->spawn_done = r->done;
	tg->spawn_arg = r->arg;
	tgroup_link(tg);
	task_get(t);
	sandbox.processes++;
	task_link(t);
	fiber_wake(t->fiber);
	return tg->pid;
out:
	for (unsigned i = 0; i < 3; i++)
		if (r->stdio[i])
			file_put(r->stdio[i]);
	cred_put(r->cred);
	start_free(st);
	if (t) {
		if (t->files)
			fdtable_put(t->files);
		if (t->fs)
			fs_context_put(t->fs);
		tgroup_set_pgrp(tg, NULL);
		task_put(t);
	}
	tgroup_put(tg);
	return ret;
}
