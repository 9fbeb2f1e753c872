/*
 * Copy-up: before something of the lower layer is changed it gets a twin in the upper one, with content, attributes
 * and number. The content goes into a nameless file first, so a copy that fails for lack of space leaves no trace.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "fs/overlay/overlay.h"
#include "sentry/base/util.h"

#define PIECE 65536u

static int copy_content(struct inode *from, struct inode *to, uint64_t max)
{
	struct file *in = NULL, *out = NULL;
	char *buf = malloc(PIECE);
	uint64_t pos = 0;
	int r = buf ? file_open_real(from, O_RDONLY, &in) : -ENOMEM;

	if (r == 0)
		r = file_open_real(to, O_WRONLY, &out);
	while (r == 0 && pos < max) {
		long n = file_read_kernel(in, buf, MIN(PIECE, max - pos), pos);

		if (n <= 0) {
			r = (int)n;
			break;
		}
		struct uio u;
		uint64_t at = pos;
		uio_init_kernel(&u, buf, (size_t)n);
		long w = out->ops->write(out, &u, &at);
		uio_fini(&u);
		if (w != n)
			r = w < 0 ? (int)w : -ENOSPC;
		pos += (uint64_t)n;
	}
	file_put(in);
	file_put(out);
	free(buf);
	return r;
}

static int copy_one(struct inode *i, uint64_t max)
{
	struct ovl_inode *oi = OI(i);
	struct inode *dir = OI(oi->parent)->upper, *l = oi->lower, *u = NULL;
	struct ktime mtime = dir->mtime, ctime = dir->ctime;
	struct kstat st = {0};
	char *target;
	long n;
	int r;

	if (l->ops->getattr)
		r = l->ops->getattr(l, &st);
	else
		inode_getattr_generic(l, &st), r = 0;
	if (r < 0)
		return r;
	switch (st.mode & S_IFMT) {
	case S_IFREG:
		r = dir->ops->tmpfile(dir, st.mode, &u);
		if (r == 0)
			r = copy_content(l, u, max);
		if (r == 0 && !oi->gone)
			r = dir->ops->link(dir, oi->name, u);
		break;
	case S_IFDIR:
		r = dir->ops->mkdir(dir, oi->name, st.mode, &u);
		break;
	case S_IFLNK:
		target = malloc(PATH_MAX);
		n = target ? l->ops->readlink(l, target, PATH_MAX - 1) : -ENOMEM;
		r = n < 0 ? (int)n : 0;
		if (n >= 0) {
			target[n] = 0;
			r = dir->ops->symlink(dir, oi->name, target, &u);
		}
		free(target);
		break;
	default:
		r = dir->ops->mknod(dir, oi->name, st.mode, st.rdev, &u);
	}
	dir->mtime = mtime;
	dir->ctime = ctime;
	if (r < 0) {
		inode_put(u);
		return r;
	}
	u->mode = st.mode;
	u->uid = st.uid;
	u->gid = st.gid;
	u->atime = st.atime;
	u->mtime = st.mtime;
	u->ctime = ktime_now();
	u->over_ino = i->ino;
	u->over = i;
	oi->upper = u;
	if (!S_ISDIR(st.mode)) { /* open files of the lower one hold it themselves */
		inode_put(oi->lower);
		oi->lower = NULL;
	}
	ovl_sync(i);
	return 0;
}

int ovl_copy_up(struct inode *i, uint64_t max)
{
	while (!OI(i)->upper) {
		struct inode *top = i;
		int r;

		while (!OI(OI(top)->parent)->upper)
			top = OI(top)->parent;
		r = copy_one(top, top == i ? max : UINT64_MAX);
		if (r < 0)
			return r;
	}
	return 0;
}
