/* /proc/PID and /proc/PID/task/TID: the entries that are about one process or thread. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fs/proc/proc.h"
#include "sentry/base/util.h"
#include "sentry/mm/mm.h"
#include "sentry/platform/platform.h"
#include "sentry/task/task.h"

/* Memory of another process that /proc shows (arguments, environment): at most this much. */
#define AREA_MAX (2u << 20)

static int show_area(const struct pnode *n, struct strbuf *s, bool env)
{
	struct task *t = pnode_task(n);
	if (!t)
		return -ESRCH;
	if (!t->mm || !t->host)
		return 0;
	uint64_t start = env ? t->mm->env_start : t->mm->arg_start, end = env ? t->mm->env_end : t->mm->arg_end;
	if (end <= start)
		return 0;
	size_t size = (size_t)MIN(end - start, (uint64_t)AREA_MAX);
	char *at = strbuf_room(s, size);
	if (!at)
		return 0;
	long got = plat_read_mem(t->host, at, start, size);
	if (got > 0)
		s->size += (size_t)got;
	/* setproctitle: a last byte that is no NUL means the title runs on into the environment. */
	if (!env && got == (long)size && s->data[s->size - 1]) {
		uint64_t more = t->mm->env_end > end ? MIN(t->mm->env_end - end, (uint64_t)4096) : 0;
		size_t len = strnlen(s->data, s->size);
		if (len < s->size) {
			s->size = len;
		} else if (more && (at = strbuf_room(s, (size_t)more))) {
			got = plat_read_mem(t->host, at, end, (size_t)more);
			if (got > 0)
				s->size += strnlen(at, (size_t)got);
		}
	}
	return 0;
}

static int show_cmdline(const struct pnode *n, struct strbuf *s)
{
	return show_area(n, s, false);
}

static int show_environ(const struct pnode *n, struct strbuf *s)
{
	return show_area(n, s, true);
}

static int show_auxv(const struct pnode *n, struct strbuf *s)
{
	struct task *t = pnode_task(n);
	if (!t)
		return -ESRCH;
	if (!t->mm)
		return 0;
	unsigned i = 0;
	while (i + 2 < ARRAY_COUNT(t->mm->auxv) && t->mm->auxv[i])
		i += 2;
	strbuf_add(s, t->mm->auxv, (i + 2) * sizeof(uint64_t));
	return 0;
}

static int show_comm(const struct pnode *n, struct strbuf *s)
{
	struct task *t = pnode_task(n);
	if (!t)
		return -ESRCH;
	strbuf_printf(s, "%.15s\n", t->comm);
	return 0;
}

static long store_comm(const struct pnode *n, const char *text, size_t size)
{
	struct task *t = pnode_task(n);
	if (!t)
		return -ESRCH;
	if (t->tg != current->tg)
		return -EINVAL;
	size_t len = MIN(size, sizeof t->comm - 1);
	if (len && text[len - 1] == '\n')
		len--;
	memset(t->comm, 0, sizeof t->comm);
	memcpy(t->comm, text, len);
	return (long)size;
}

static int show_limits(const struct pnode *n, struct strbuf *s)
{
	static const struct {
		const char *name, *unit;
		int which;
	} rows[] = {
		{"Max cpu time", "seconds", 0},	     {"Max file size", "bytes", 1},
		{"Max data size", "bytes", 2},	     {"Max stack size", "bytes", 3},
		{"Max core file size", "bytes", 4},  {"Max resident set", "bytes", 5},
		{"Max processes", "processes", 6},   {"Max open files", "files", 7},
		{"Max locked memory", "bytes", 8},   {"Max address space", "bytes", 9},
		{"Max file locks", "locks", 10},     {"Max pending signals", "signals", 11},
		{"Max msgqueue size", "bytes", 12},  {"Max nice priority", "", 13},
		{"Max realtime priority", "", 14},   {"Max realtime timeout", "us", 15},
	};
	struct task *t = pnode_task(n);
	if (!t)
		return -ESRCH;
	strbuf_printf(s, "%-25s %-20s %-20s %-10s\n", "Limit", "Soft Limit", "Hard Limit", "Units");
	for (unsigned i = 0; i < ARRAY_COUNT(rows); i++) {
		const struct l_rlimit *l = &t->tg->rlim[rows[i].which];
		char soft[24] = "unlimited", hard[24] = "unlimited";
		if (l->cur != L_RLIM_INFINITY)
			snprintf(soft, sizeof soft, "%llu", (unsigned long long)l->cur);
		if (l->max != L_RLIM_INFINITY)
			snprintf(hard, sizeof hard, "%llu", (unsigned long long)l->max);
		strbuf_printf(s, "%-25s %-20s %-20s %-10s\n", rows[i].name, soft, hard, rows[i].unit);
	}
	return 0;
}

static int show_io(const struct pnode *n, struct strbuf *s)
{
	/* DIFF: bytes are not counted yet; the format is what tools parse. */
	strbuf_puts(s, "rchar: 0\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: 0\nwrite_bytes: 0\ncancelled_write_bytes: 0\n");
	return 0;
}

static int show_cgroup(const struct pnode *n, struct strbuf *s)
{
	strbuf_puts(s, "0::/\n");
	return 0;
}

static int show_zero(const struct pnode *n, struct strbuf *s)
{
	strbuf_puts(s, "0");
	return 0;
}

static int show_schedstat(const struct pnode *n, struct strbuf *s)
{
	struct task *t = pnode_task(n);
	strbuf_printf(s, "%llu 0 0\n", (unsigned long long)(t && t->host ? plat_thread_cpu_ns(t->host) : 0));
	return 0;
}

static int show_personality(const struct pnode *n, struct strbuf *s)
{
	struct task *t = pnode_task(n);
	strbuf_printf(s, "%08llx\n", (unsigned long long)(t ? t->personality : 0));
	return 0;
}

static int show_oom_adj(const struct pnode *n, struct strbuf *s)
{
	struct task *t = pnode_task(n);
	if (!t)
		return -ESRCH;
	strbuf_printf(s, "%d\n", t->tg->oom_score_adj);
	return 0;
}

static long store_oom_adj(const struct pnode *n, const char *text, size_t size)
{
	struct task *t = pnode_task(n);
	if (!t)
		return -ESRCH;
	char *end;
	long v = strtol(text, &end, 10);
	if (end == text || (*end && *end != '\n'))
		return -EINVAL;
	if (v < -1000 || v > 1000)
		return -EINVAL;
	if (!proc_may_access(t) || (v < t->tg->oom_score_adj && !capable(CAP_SYS_RESOURCE)))
		return -EACCES;
	t->tg->oom_score_adj = (int)v;
	return (long)size;
}

static int show_slack(const struct pnode *n, struct strbuf *s)
{
	struct task *t = pnode_task(n);
	if (!t)
		return -ESRCH;
	strbuf_printf(s, "%llu\n", (unsigned long long)t->timer_slack);
	return 0;
}

static long store_slack(const struct pnode *n, const char *text, size_t size)
{
	struct task *t = pnode_task(n);
	if (!t)
		return -ESRCH;
	char *end;
	unsigned long v = strtoul(text, &end, 10);
	if (end == text || (*end && *end != '\n'))
		return -EINVAL;
	t->timer_slack = v ? v : t->default_slack;
	return (long)size;
}

static int show_oom_score(const struct pnode *n, struct strbuf *s)
{
	strbuf_puts(s, "0\n");
	return 0;
}

static int show_id_map(const struct pnode *n, struct strbuf *s)
{
	strbuf_puts(s, "         0          0 4294967295\n");
	return 0;
}

static int show_setgroups(const struct pnode *n, struct strbuf *s)
{
	strbuf_puts(s, "allow\n");
	return 0;
}

/* --- links ------------------------------------------------------------------------------------------------------------ */
static int follow_exe(const struct pnode *n, struct path *out)
{
	struct task *t = pnode_task(n);
	if (!t || !t->mm || !t->mm->exe)
		return -ENOENT;
	*out = t->mm->exe->path;
	path_get(out);
	return 0;
}

static int follow_cwd(const struct pnode *n, struct path *out)
{
	struct task *t = pnode_task(n);
	if (!t || !t->fs)
		return -ENOENT;
	*out = t->fs->cwd;
	path_get(out);
	return 0;
}

static int follow_root(const struct pnode *n, struct path *out)
{
	struct task *t = pnode_task(n);
	if (!t || !t->fs)
		return -ENOENT;
	*out = t->fs->root;
	path_get(out);
	return 0;
}

/* --- fd, fdinfo --------------------------------------------------------------------------------------------------------- */
static struct file *node_file(const struct pnode *n)
{
	struct task *t = pnode_task(n);
	return t && t->files ? fdtable_file(t->files, (unsigned)n->number) : NULL;
}

static int follow_fd(const struct pnode *n, struct path *out)
{
	struct file *f = node_file(n);
	if (!f)
		return -ENOENT;
	*out = f->path;
	path_get(out);
	file_put(f);
	return 0;
}

static int show_fdinfo(const struct pnode *n, struct strbuf *s)
{
	struct file *f = node_file(n);
	struct task *t = pnode_task(n);
	if (!f || !t)
		return -ENOENT;
	bool cloexec = t->files->cloexec[n->number / 64] >> (n->number % 64) & 1;
	strbuf_printf(s, "pos:\t%lli\nflags:\t0%o\nmnt_id:\t%d\nino:\t%llu\n", f->seekable ? (long long)f->pos : 0,
		      (unsigned)f->flags | 0100000u | (cloexec ? O_CLOEXEC : 0), f->path.mnt ? f->path.mnt->id : 0,
		      (unsigned long long)f->inode->ino);
	if (f->ops && f->ops->fdinfo) {
		char *at = strbuf_room(s, 65536);
		int r = at ? f->ops->fdinfo(f, at, 65536) : 0;
		if (r > 0)
			s->size += MIN((size_t)r, (size_t)65535);
	}
	file_put(f);
	return 0;
}

static bool next_fd(const struct pnode *n, unsigned from, unsigned *number)
{
	struct task *t = pnode_task(n);
	if (!t || !t->files)
		return false;
	for (; from < t->files->cap; from++)
		if (t->files->slot[from]) {
			*number = from;
			return true;
		}
	return false;
}

static const struct pentry fd_entry = {.kind = P_MAGIC, .mode = 0700, .owner_only = true, .follow = follow_fd};
static const struct pentry fdinfo_entry = {.kind = P_FILE, .mode = 0444, .owner_only = true, .show = show_fdinfo};

static const struct pentry *find_in(const struct pnode *n, const char *name, struct pnode *child, const struct pentry *e)
{
	long fd = parse_number(name);
	struct task *t = pnode_task(n);
	if (fd < 0 || !t || !t->files || fd >= (long)t->files->cap || !t->files->slot[fd])
		return NULL;
	child->number = (int)fd;
	return e;
}

static const struct pentry *find_fd(const struct pnode *n, const char *name, struct pnode *child)
{
	return find_in(n, name, child, &fd_entry);
}

static const struct pentry *find_fdinfo(const struct pnode *n, const char *name, struct pnode *child)
{
	return find_in(n, name, child, &fdinfo_entry);
}

/* --- task --------------------------------------------------------------------------------------------------------------- */
static const struct pentry *find_task(const struct pnode *n, const char *name, struct pnode *child)
{
	long tid = parse_number(name);
	struct task *t = tid > 0 ? task_find((pid_t)tid) : NULL;
	if (!t || t->tg->pid != n->pid)
		return NULL;
	child->tid = (pid_t)tid;
	return &proc_tid_dir;
}

static bool next_task(const struct pnode *n, unsigned from, unsigned *number)
{
	struct tgroup *tg = tgroup_find(n->pid);
	struct task *t;
	unsigned best = 0;
	if (!tg)
		return false;
	list_for_each(t, &tg->tasks, tg_node)
		if ((unsigned)t->tid >= from && (!best || (unsigned)t->tid < best))
			best = (unsigned)t->tid;
	*number = best;
	return best != 0;
}

#define COMMON_ENTRIES                                                                             \
	{"auxv", P_FILE, 0400, true, show_auxv}, {"cgroup", P_FILE, 0444, false, show_cgroup},     \
	{"cmdline", P_FILE, 0444, false, show_cmdline},                                            \
	{"comm", P_FILE, 0644, false, show_comm, store_comm},                                      \
	{"cwd", P_MAGIC, 0777, true, .follow = follow_cwd},                                        \
	{"environ", P_FILE, 0400, true, show_environ},                                             \
	{"exe", P_MAGIC, 0777, true, .follow = follow_exe},                                        \
	{"fd", P_DIR, 0500, true, .find = find_fd, .next = next_fd},                               \
	{"fdinfo", P_DIR, 0555, true, .find = find_fdinfo, .next = next_fd},                       \
	{"gid_map", P_FILE, 0644, false, show_id_map}, {"io", P_FILE, 0400, true, show_io},        \
	{"limits", P_FILE, 0444, false, show_limits}, {"maps", P_FILE, 0444, true, show_maps, .ioctl = maps_ioctl},     \
	{"mountinfo", P_FILE, 0444, false, show_mountinfo},                                        \
	{"mounts", P_FILE, 0444, false, show_mounts},                                              \
	{"oom_adj", P_FILE, 0644, false, show_oom_score},                                          \
	{"oom_score", P_FILE, 0444, false, show_oom_score},                                        \
	{"oom_score_adj", P_FILE, 0644, false, show_oom_adj, store_oom_adj},                       \
	{"timerslack_ns", P_FILE, 0666, true, show_slack, store_slack},                            \
	{"personality", P_FILE, 0400, true, show_personality},                                     \
	{"root", P_MAGIC, 0777, true, .follow = follow_root},                                      \
	{"schedstat", P_FILE, 0444, false, show_schedstat},                                        \
	{"setgroups", P_FILE, 0644, false, show_setgroups},                                        \
	{"smaps", P_FILE, 0444, true, show_smaps},                                                 \
	{"smaps_rollup", P_FILE, 0444, true, show_smaps_rollup},                                   \
	{"stat", P_FILE, 0444, false, show_stat}, {"statm", P_FILE, 0444, false, show_statm},      \
	{"status", P_FILE, 0444, false, show_status}, {"uid_map", P_FILE, 0644, false, show_id_map}, \
	{"wchan", P_FILE, 0444, false, show_zero}

static const struct pentry tid_entries[] = {COMMON_ENTRIES, {0}};
static const struct pentry pid_entries[] = {
	COMMON_ENTRIES,
	{"mountstats", P_FILE, 0400, true, show_mountstats},
	{"task", P_DIR, 0555, false, .find = find_task, .next = next_task},
	{0},
};
const struct pentry proc_tid_dir = {.kind = P_DIR, .mode = 0555, .sub = tid_entries};
const struct pentry proc_pid_dir = {.kind = P_DIR, .mode = 0555, .sub = pid_entries};

/* --- the top: processes and self ------------------------------------------------------------------------------------------ */
static const struct pentry *find_pid(const struct pnode *n, const char *name, struct pnode *child)
{
	long pid = parse_number(name);
	if (pid <= 0)
		return NULL;
	struct tgroup *tg = tgroup_find((pid_t)pid);
	if (tg) {
		child->pid = tg->pid;
		return &proc_pid_dir;
	}
	/* Thread numbers work too, although they are not listed. */
	struct task *t = task_find((pid_t)pid);
	if (!t)
		return NULL;
	child->pid = t->tg->pid;
	child->tid = t->tid;
	return &proc_pid_dir;
}

static bool next_pid(const struct pnode *n, unsigned from, unsigned *number)
{
	struct tgroup *tg = tgroup_next((pid_t)from);
	if (!tg)
		return false;
	*number = (unsigned)tg->pid;
	return true;
}

const struct pentry proc_root = {
	.kind = P_DIR, .mode = 0555, .sub = proc_static, .find = find_pid, .next = next_pid};
