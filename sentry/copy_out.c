/* --copy-out, the sentry's half: walks the sandbox's tree after the guests are gone and streams it as an archive. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "fs/vfs.h"
#include "sentry/archive.h"
#include "sentry/base/host.h"
#include "sentry/boot.h"
#include "sentry/config.h"

struct out {
	int fd;
	bool broken; /* the helper is gone */
	char buf[ARCHIVE_DATA_MAX];
};

static void put(struct out *o, const void *data, size_t size)
{
	const char *p = data;

	while (size && !o->broken) {
		long n = host_write(o->fd, p, size);

		if (n == -EINTR)
			continue;
		if (n <= 0) {
			o->broken = true;
			return;
		}
		p += n;
		size -= (size_t)n;
	}
}

static void frame(struct out *o, enum archive_kind kind, const struct kstat *st, uint64_t size, const void *payload,
		  size_t payload_size)
{
	struct archive_frame f = {.magic = ARCHIVE_MAGIC, .kind = kind, .payload = (uint32_t)payload_size, .size = size};

	if (st) {
		f.mode = st->mode & 0777;
		f.mtime_sec = st->mtime.sec;
		f.mtime_nsec = st->mtime.nsec;
	}
	put(o, &f, sizeof f);
	put(o, payload, payload_size);
}

static void error(struct out *o, const char *name, int rc)
{
	char text[512];
	int n = snprintf(text, sizeof text, "%.300s: %s", *name ? name : "source", strerror(rc < 0 ? -rc : rc));

	frame(o, ARCHIVE_ERROR, NULL, 0, text, (size_t)n + 1);
}

static void send_file(struct out *o, const struct path *p, const struct kstat *st, const char *name)
{
	struct file *f;
	uint64_t pos = 0;
	int rc = file_open_path(p, O_RDONLY, &f);
	long n = 0;

	if (rc) {
		error(o, name, rc);
		return;
	}
	frame(o, ARCHIVE_FILE, st, st->size, name, strlen(name));
	while (!o->broken && (n = file_read_kernel(f, o->buf, sizeof o->buf, pos)) > 0) {
		frame(o, ARCHIVE_DATA, NULL, 0, o->buf, (size_t)n);
		pos += (uint64_t)n;
	}
	file_put(f);
	if (n < 0)
		error(o, name, (int)n);
	else
		frame(o, ARCHIVE_FILE_END, NULL, 0, NULL, 0);
}

static void send_link(struct out *o, const struct path *p, const char *name)
{
	char text[256 + 4096 + 2];
	size_t at = strlen(name) + 1;
	struct inode *i = p->dentry->inode;
	long n = i->ops->readlink ? i->ops->readlink(i, text + at, 4096) : -EINVAL;

	if (n < 0) {
		error(o, name, (int)n);
		return;
	}
	memcpy(text, name, at);
	text[at + (size_t)n] = 0;
	frame(o, ARCHIVE_LINK, NULL, 0, text, at + (size_t)n + 1);
}

/* Names of one directory, read before any of them is opened: the walk holds one list per level, not a cursor. */
struct names {
	struct dir_emit emit;
	char *text;
	size_t size, cap;
	uint64_t pos;
	bool failed;
};

static bool collect(struct dir_emit *d, const char *name, size_t size, uint64_t ino, unsigned type, uint64_t next_pos)
{
	struct names *n = (struct names *)d;

	n->pos = next_pos;
	if ((size == 1 && name[0] == '.') || (size == 2 && name[0] == '.' && name[1] == '.'))
		return true;
	if (n->size + size + 1 > n->cap) {
		size_t cap = n->cap ? n->cap * 2 : 4096;
		char *text = cap > (64u << 20) ? NULL : realloc(n->text, cap);

		if (!text) {
			n->failed = true;
			return false;
		}
		n->text = text;
		n->cap = cap;
	}
	memcpy(n->text + n->size, name, size);
	n->text[n->size + size] = 0;
	n->size += size + 1;
	return true;
}

static void send_node(struct out *o, const struct path *p, const char *name, unsigned depth);

static void send_dir(struct out *o, const struct path *p, const struct kstat *st, const char *name, unsigned depth)
{
	struct names list = {.emit = {collect}};
	struct file *f;
	int rc = depth >= ARCHIVE_DEPTH ? -ELOOP : file_open_path(p, O_RDONLY | O_DIRECTORY, &f);

	if (rc) {
		error(o, name, rc);
		return;
	}
	frame(o, ARCHIVE_DIR, st, 0, name, strlen(name));
	for (;;) {
		size_t before = list.size;
		uint64_t pos = f->pos;

		rc = f->ops->iterate ? f->ops->iterate(f, &list.emit) : -ENOTDIR;
		if (rc < 0 || list.failed || (list.size == before && f->pos == pos))
			break;
	}
	file_put(f);
	if (rc < 0 || list.failed)
		error(o, name, list.failed ? ENOMEM : rc);
	for (size_t at = 0; at < list.size && !o->broken; at += strlen(list.text + at) + 1) {
		struct path child;

		rc = path_lookup_from(p, list.text + at, 0, &child);
		if (rc) {
			error(o, list.text + at, rc);
			continue;
		}
		send_node(o, &child, list.text + at, depth + 1);
		path_put(&child);
	}
	free(list.text);
	frame(o, ARCHIVE_DIR_END, NULL, 0, NULL, 0);
}

static void send_node(struct out *o, const struct path *p, const char *name, unsigned depth)
{
	struct kstat st;
	int rc = vfs_getattr(p, &st);

	if (rc)
		error(o, name, rc);
	else if (S_ISREG(st.mode))
		send_file(o, p, &st, name);
	else if (S_ISDIR(st.mode))
		send_dir(o, p, &st, name, depth);
	else if (S_ISLNK(st.mode))
		send_link(o, p, name);
	else if (!depth)
		error(o, name, -EOPNOTSUPP);
	/* Devices, pipes and sockets in a tree have no content to copy and are left out. */
}

void boot_copy_out(const struct config *c, int fd)
{
	struct out *o = calloc(1, sizeof *o);

	if (!o)
		return;
	o->fd = fd;
	for (unsigned i = 0; c && i < c->copy_out_count; i++) {
		struct path p;
		int rc = path_lookup_from(&vfs_root, c->copy_out[i].src, LOOKUP_FOLLOW, &p);

		frame(o, ARCHIVE_ROOT, NULL, i, NULL, 0);
		if (rc) {
			error(o, "", rc);
			continue;
		}
		send_node(o, &p, "", 0);
		path_put(&p);
	}
	frame(o, ARCHIVE_END, NULL, 0, NULL, 0);
	free(o);
}
