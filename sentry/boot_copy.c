/* --copy-in: host files and directories into the writable layer, before the walls are up. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fs/vfs.h"
#include "sentry/base/util.h"
#include "sentry/boot.h"
#include "sentry/config.h"

#define COPY_DEPTH 64

struct copy {
	const struct config *c;
	const char *opt_src; /* for messages */
	struct err *e;
	char buf[65536];
};

static int fail(struct copy *k, const char *name, int error)
{
	return err_set(k->e, WARD_EXIT_ERROR, "--copy-in %s: %s: %s", k->opt_src, name, strerror(abs(error)));
}

/* Files belong to the user of the sandbox; mode and time are kept. */
static void set_attributes(struct copy *k, const struct path *p, const struct stat *st)
{
	struct iattr a = {
	    .valid = ATTR_UID | ATTR_GID | ATTR_MODE | ATTR_MTIME | ATTR_ATIME,
	    .uid = k->c->uid,
	    .gid = k->c->gid,
	    .mode = st->st_mode & 0777,
	    .mtime = {st->st_mtim.tv_sec, (uint32_t)st->st_mtim.tv_nsec},
	    .atime = {st->st_mtim.tv_sec, (uint32_t)st->st_mtim.tv_nsec},
	};

	vfs_setattr(p, &a);
}

static int copy_content(struct copy *k, const struct path *p, int fd, const char *name)
{
	struct file *f;
	uint64_t pos = 0;
	int rc = file_open_path(p, O_WRONLY | O_TRUNC, &f);
	ssize_t n;

	if (rc)
		return fail(k, name, rc);
	while ((n = read(fd, k->buf, sizeof k->buf)) > 0) {
		for (ssize_t done = 0; done < n;) {
			long w = file_write_kernel(f, k->buf + done, (size_t)(n - done), pos);

			if (w <= 0) {
				file_put(f);
				return fail(k, name, w ? (int)w : ENOSPC);
			}
			done += w;
			pos += (uint64_t)w;
		}
	}
	file_put(f);
	return n < 0 ? fail(k, name, errno) : 0;
}

static int copy_node(struct copy *k, int dirfd, const char *name, const struct path *dir, const char *as, unsigned depth);

static int copy_children(struct copy *k, int fd, const struct path *to, unsigned depth)
{
	DIR *d = fdopendir(fd);
	struct dirent *de;
	int rc = 0;

	if (!d) {
		close(fd);
		return fail(k, ".", errno);
	}
	while (!rc && (de = readdir(d)))
		if (strcmp(de->d_name, ".") && strcmp(de->d_name, ".."))
			rc = copy_node(k, dirfd(d), de->d_name, to, de->d_name, depth + 1);
	closedir(d);
	return rc;
}

/* Copies NAME of DIRFD to AS in the sandbox's DIR. Sockets, devices and pipes are left out. */
static int copy_node(struct copy *k, int dirfd, const char *name, const struct path *dir, const char *as, unsigned depth)
{
	struct path p = {0};
	struct dentry *de = NULL;
	struct stat st;
	int fd, rc;

	if (depth > COPY_DEPTH)
		return fail(k, name, ELOOP);
	if (fstatat(dirfd, name, &st, depth ? AT_SYMLINK_NOFOLLOW : 0))
		return fail(k, name, errno);
	if (S_ISLNK(st.st_mode)) {
		char target[4096];
		ssize_t n = readlinkat(dirfd, name, target, sizeof target - 1);

		if (n <= 0)
			return fail(k, name, errno);
		target[n] = 0;
		rc = vfs_symlink(dir, as, target);
		return rc ? fail(k, name, rc) : 0;
	}
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return 0;
	fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (depth ? O_NOFOLLOW : 0));
	if (fd < 0)
		return fail(k, name, errno);
	if (S_ISDIR(st.st_mode))
		rc = vfs_mkdir(dir, as, 0755);
	else
		rc = vfs_create(dir, as, S_IFREG | 0644, &de);
	if (de)
		dentry_put(de);
	if (rc == -EEXIST)
		rc = 0;
	if (!rc)
		rc = path_lookup_from(dir, as, 0, &p);
	if (rc) {
		close(fd);
		return fail(k, name, rc);
	}
	if (S_ISDIR(st.st_mode)) {
		rc = copy_children(k, fd, &p, depth);
	} else {
		rc = copy_content(k, &p, fd, name);
		close(fd);
	}
	if (!rc)
		set_attributes(k, &p, &st);
	path_put(&p);
	return rc;
}

static int copy_one(struct copy *k, const struct config_copy *one)
{
	char *dst = strdup(one->dst), *last;
	size_t n = dst ? strlen(dst) : 0;
	struct path dir;
	const char *as;
	int rc;

	if (!dst)
		return fail(k, one->dst, ENOMEM);
	/* "DIR/" as destination means: into it, under the source's own name. */
	if (n > 1 && dst[n - 1] == '/') {
		const char *slash = strrchr(one->src, '/');

		as = slash && slash[1] ? slash + 1 : one->src;
		dst[n - 1] = 0;
		last = dst;
		rc = boot_mkdirs(dst, 0755);
	} else {
		last = strrchr(dst, '/');
		as = one->dst + (last - dst) + 1;
		*last = 0;
		rc = boot_mkdirs(dst, 0755);
	}
	if (!rc)
		rc = *dst ? path_lookup_from(&vfs_root, dst, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &dir)
			  : (path_get(&vfs_root), dir = vfs_root, 0);
	if (!rc) {
		rc = copy_node(k, AT_FDCWD, one->src, &dir, *as ? as : ".", 0);
		path_put(&dir);
	} else {
		rc = fail(k, one->dst, rc);
	}
	free(dst);
	return rc;
}

int boot_copy_in(const struct config *c, struct err *e)
{
	struct copy *k = calloc(1, sizeof *k);
	int rc = 0;

	if (!k)
		return err_set(e, WARD_EXIT_ERROR, "--copy-in: out of memory");
	k->c = c;
	k->e = e;
	for (unsigned i = 0; !rc && i < c->copy_in_count; i++) {
		k->opt_src = c->copy_in[i].src;
		rc = copy_one(k, &c->copy_in[i]);
	}
	free(k);
	return rc;
}
