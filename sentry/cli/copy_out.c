/*
 * --copy-out, the writing half: a small process between the sandbox's archive and the host's files. It is Landlocked
 * to the destinations' directories and has its own call filter before it reads the first byte, and it believes
 * nothing: names are single components, links may only point at things beneath them, total size and count are bounded.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "sentry/archive.h"
#include "sentry/base/log.h"
#include "sentry/base/util.h"
#include "sentry/config.h"
#include "sentry/platform/confine.h"

#define MAX_NODES 2000000u

/* One --copy-out: DIR is open; NAME is what the node becomes in it. INTO: DST is a directory that exists. */
struct root {
	int dir, into;
	const char *name, *file_name;
};
struct in {
	const struct config *c;
	int fd;
	struct root roots[CONFIG_MAX_LIST];
	const struct root *root;
	const char *label; /* source, for messages */
	int dirs[ARCHIVE_DEPTH + 1];
	unsigned depth;    /* open directories */
	uint64_t budget, nodes;
	int pid;           /* makes temporary names unlike those of another run */
	int failed;
	int file;          /* being written, or -1 */
	int file_dir;
	char file_name[256], temp_name[64];
	struct archive_frame head;
	uint32_t dir_mode[ARCHIVE_DEPTH + 1];
	char payload[ARCHIVE_DATA_MAX + 1];
};

static void complain(struct in *a, const char *what, const char *why)
{
	log_error("--copy-out %s: %s%s%s", a->label, what, *what ? ": " : "", why);
	a->failed = 1;
}

static int read_all(int fd, void *buf, size_t size)
{
	char *p = buf;

	while (size) {
		ssize_t n = read(fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		p += n;
		size -= (size_t)n;
	}
	return 0;
}

/* A single component that can name nothing but an entry of its directory. */
static bool name_ok(const char *s, size_t size)
{
	return size > 0 && size <= 255 && !memchr(s, '/', size) && !memchr(s, 0, size) &&
	       !(size == 1 && s[0] == '.') && !(size == 2 && s[0] == '.' && s[1] == '.');
}

/* Where the node of the current frame goes: its directory and name. False: refused. */
static bool place(struct in *a, bool dir, int *at, const char **name)
{
	if (++a->nodes > MAX_NODES) {
		complain(a, "", "too many files");
		return false;
	}
	if (a->depth) {
		if (!name_ok(a->payload, strlen(a->payload)))
			return false;
		*at = a->dirs[a->depth - 1];
		*name = a->payload;
		return true;
	}
	if (!a->root)
		return false;
	*at = !dir && a->root->into >= 0 ? a->root->into : a->root->dir;
	*name = !dir && a->root->into >= 0 ? a->root->file_name : a->root->name;
	return true;
}

static int open_in(int dir, const char *name, int flags, unsigned mode)
{
	struct open_how how = {
	    .flags = (unsigned)flags | O_CLOEXEC | O_NOFOLLOW,
	    .mode = flags & O_CREAT ? mode : 0,
	    .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, dir, name, &how, sizeof how);
}

static bool begin_file(struct in *a)
{
	const char *name;

	if (a->file >= 0 || !place(a, false, &a->file_dir, &name))
		return false;
	snprintf(a->file_name, sizeof a->file_name, "%.255s", name);
	snprintf(a->temp_name, sizeof a->temp_name, ".ward-%d-%llu.tmp", a->pid, (unsigned long long)a->nodes);
	a->file = open_in(a->file_dir, a->temp_name, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (a->file < 0) {
		complain(a, a->file_name, strerror(errno));
		return true;
	}
	fchmod(a->file, (a->head.mode & 0777) | 0600);
	struct timespec ts[2] = {{.tv_nsec = UTIME_OMIT}, {a->head.mtime_sec, a->head.mtime_nsec % NSEC_PER_SEC}};
	futimens(a->file, ts);
	return true;
}

static void drop_file(struct in *a)
{
	if (a->file < 0)
		return;
	close(a->file);
	unlinkat(a->file_dir, a->temp_name, 0);
	a->file = -1;
}

static void file_data(struct in *a, size_t size)
{
	const char *p = a->payload;

	if (a->file < 0)
		return;
	if (size > a->budget) {
		complain(a, a->file_name, "more than --disk allows: not copied");
		drop_file(a);
		return;
	}
	a->budget -= size;
	while (size) {
		ssize_t n = write(a->file, p, size);

		if (n <= 0) {
			complain(a, a->file_name, strerror(errno));
			drop_file(a);
			return;
		}
		p += n;
		size -= (size_t)n;
	}
}

static void end_file(struct in *a)
{
	if (a->file < 0)
		return;
	close(a->file);
	a->file = -1;
	/* Not by the library, which turns a call without flags into renameat. */
	if (!syscall(SYS_renameat2, a->file_dir, a->temp_name, a->file_dir, a->file_name, 0))
		return;
	complain(a, a->file_name, strerror(errno));
	unlinkat(a->file_dir, a->temp_name, 0);
}

static bool begin_dir(struct in *a)
{
	const char *name;
	int at, fd;

	if (a->depth > ARCHIVE_DEPTH - 1 || !place(a, true, &at, &name))
		return false;
	if (mkdirat(at, name, 0755) && errno != EEXIST)
		complain(a, name, strerror(errno));
	fd = open_in(at, name, O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0) {
		complain(a, name, errno == ELOOP || errno == ENOTDIR ? "exists and is not a directory" : strerror(errno));
		return false;
	}
	a->dir_mode[a->depth] = a->head.mode;
	a->dirs[a->depth++] = fd;
	return true;
}

static bool end_dir(struct in *a)
{
	if (!a->depth)
		return false;
	a->depth--;
	fchmod(a->dirs[a->depth], (a->dir_mode[a->depth] & 0777) | 0700);
	close(a->dirs[a->depth]);
	return true;
}

/*
 * A link may go up by leading "..", at most to the tree's top, and then only down. The directories we make are real,
 * so no sum of such links leaves the tree: who follows them later on the host stays in it.
 */
static bool link_ok(const struct in *a, const char *t)
{
	unsigned up = 0;
	bool down = false;

	if (*t == '/' || !*t || !a->depth)
		return false;
	while (*t) {
		size_t n = strcspn(t, "/");

		if (n == 2 && t[0] == '.' && t[1] == '.') {
			if (down || ++up >= a->depth)
				return false;
		} else if (n && !(n == 1 && t[0] == '.')) {
			down = true;
		}
		t += n;
		t += *t == '/';
	}
	return true;
}

static bool make_link(struct in *a, size_t size)
{
	size_t n = strlen(a->payload);
	const char *target = a->payload + n + 1, *name;
	int at;

	if (n + 2 > size || !place(a, false, &at, &name))
		return false;
	if (!link_ok(a, target)) {
		log_warn("--copy-out %s: symbolic link %s points out of the tree: left out", a->label, name);
		return true;
	}
	if (symlinkat(target, at, name) && errno == EEXIST) {
		unlinkat(at, name, 0);
		if (!symlinkat(target, at, name))
			return true;
		complain(a, name, strerror(errno));
	}
	return true;
}

/* One frame. 1: go on, 0: end of the stream, -1: nonsense. */
static int step(struct in *a)
{
	struct archive_frame *f = &a->head;
	bool ok = true;

	if (read_all(a->fd, f, sizeof *f) || f->magic != ARCHIVE_MAGIC || f->payload > ARCHIVE_DATA_MAX ||
	    read_all(a->fd, a->payload, f->payload))
		return -1;
	a->payload[f->payload] = 0;
	switch (f->kind) {
	case ARCHIVE_ROOT:
		if (a->depth || a->file >= 0 || f->size >= a->c->copy_out_count)
			return -1;
		a->root = &a->roots[f->size];
		a->label = a->c->copy_out[f->size].src;
		break;
	case ARCHIVE_FILE:
		ok = begin_file(a);
		break;
	case ARCHIVE_DATA:
		file_data(a, f->payload);
		break;
	case ARCHIVE_FILE_END:
		end_file(a);
		break;
	case ARCHIVE_DIR:
		ok = begin_dir(a);
		break;
	case ARCHIVE_DIR_END:
		ok = end_dir(a);
		break;
	case ARCHIVE_LINK:
		ok = make_link(a, f->payload);
		break;
	case ARCHIVE_ERROR:
		drop_file(a);
		complain(a, "", a->payload);
		break;
	case ARCHIVE_END:
		return 0;
	default:
		return -1;
	}
	return ok ? 1 : -1;
}

/* Opens the directories that will be written to, before the walls are up. */
static int prepare(struct in *a, int *dirs, unsigned *count, struct err *e)
{
	for (unsigned i = 0; i < a->c->copy_out_count; i++) {
		const struct config_copy *cp = &a->c->copy_out[i];
		struct root *r = &a->roots[i];
		char *dst = strdup(cp->dst), *slash;
		size_t n = dst ? strlen(dst) : 0;
		bool wants_dir = n > 1 && dst[n - 1] == '/';

		if (!dst)
			return err_set(e, WARD_EXIT_ERROR, "--copy-out: out of memory");
		while (n > 1 && dst[n - 1] == '/')
			dst[--n] = 0;
		r->into = open(dst, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (r->into < 0 && wants_dir && !mkdir(dst, 0755))
			r->into = open(dst, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		slash = strrchr(dst, '/');
		r->name = slash ? slash + 1 : dst;
		if (slash)
			*slash = 0;
		r->dir = open(!slash ? "." : *dst ? dst : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (r->dir < 0)
			return err_set(e, WARD_EXIT_ERROR, "--copy-out %s: cannot open the directory %s: %s: it must exist",
				       cp->dst, slash ? dst : ".", strerror(errno));
		slash = strrchr(cp->src, '/');
		r->file_name = slash && slash[1] ? slash + 1 : "out";
		if (!name_ok(r->name, strlen(r->name)) && r->into < 0)
			return err_set(e, WARD_EXIT_ERROR, "--copy-out %s: the destination has no usable name", cp->dst);
		dirs[(*count)++] = r->dir;
		if (r->into >= 0)
			dirs[(*count)++] = r->into;
	}
	return 0;
}

int archive_helper(const struct config *c, int fd)
{
	struct in *a = calloc(1, sizeof *a);
	static int dirs[2 * CONFIG_MAX_LIST];
	unsigned count = 0;
	struct err e = {0};
	int rc;

	prctl(PR_SET_NAME, "ward-copy-out");
	umask(022);
	if (!a)
		return WARD_EXIT_ERROR;
	a->c = c;
	a->fd = fd;
	a->file = -1;
	a->pid = getpid();
	a->budget = c->disk ? c->disk : UINT64_MAX;
	a->label = "";
	if (prepare(a, dirs, &count, &e) || confine_helper(dirs, count, &e)) {
		log_error("%s", e.text);
		return WARD_EXIT_ERROR;
	}
	while ((rc = step(a)) > 0)
		;
	drop_file(a);
	if (rc < 0)
		complain(a, "", "incomplete: the sandbox ended before everything was copied");
	return a->failed ? WARD_EXIT_ERROR : 0;
}
