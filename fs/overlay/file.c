/*
 * Open files of the overlay forward to a file of the layer that has the content. A file opened for reading from the
 * lower layer follows a copy-up that happens later, as Linux does since 4.19; the old one is kept for its mappings.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "fs/overlay/overlay.h"

struct ovl_file {
	struct file *real, *old;
};

int ovl_open(struct inode *i, struct file *f)
{
	struct ovl_file *of;
	int r = 0;

	if (S_ISDIR(i->mode))
		return 0;
	if (!S_ISREG(i->mode))
		return file_open_special(i, f);
	if (f->can_write || (f->flags & O_ACCMODE) == O_ACCMODE)
		r = ovl_copy_up(i, UINT64_MAX);
	if (r < 0)
		return r;
	of = calloc(1, sizeof(*of));
	if (!of)
		return -ENOMEM;
	r = file_open_real(ovl_real(i), f->flags & ~(O_DIRECTORY | O_NOFOLLOW), &of->real);
	if (r < 0) {
		free(of);
		return r;
	}
	f->priv = of;
	return 0;
}

static struct file *real_file(struct file *f, int *error)
{
	struct ovl_file *of = f->priv;

	if (of->real->inode != ovl_real(f->inode)) {
		struct file *now;

		*error = file_open_real(ovl_real(f->inode), f->flags & ~(O_DIRECTORY | O_NOFOLLOW), &now);
		if (*error < 0)
			return NULL;
		file_put(of->old);
		of->old = of->real;
		of->real = now;
	}
	of->real->flags = f->flags;
	return of->real;
}

static long ovl_read(struct file *f, struct uio *u, uint64_t *pos)
{
	int r = 0;
	struct file *real = real_file(f, &r);

	return real ? real->ops->read(real, u, pos) : r;
}

static long ovl_write(struct file *f, struct uio *u, uint64_t *pos)
{
	int r = 0;
	struct file *real = real_file(f, &r);
	struct inode *i = f->inode;
	long n;

	if (!real)
		return r;
	if (!real->ops->write)
		return -EINVAL;
	n = real->ops->write(real, u, pos);
	i->size = real->inode->size;
	i->mode = real->inode->mode;
	i->mtime = real->inode->mtime;
	i->ctime = real->inode->ctime;
	return n;
}

static int64_t ovl_llseek(struct file *f, int64_t off, int whence)
{
	int r = 0;
	struct file *real = real_file(f, &r);
	int64_t n;

	if (!real)
		return r;
	real->pos = f->pos;
	n = real->ops->llseek ? real->ops->llseek(real, off, whence) : llseek_size(real, off, whence, real->inode->size);
	f->pos = real->pos;
	return n;
}

static int ovl_mmap(struct file *f, int prot, int flags, uint64_t off, uint64_t size, int *hostfd, uint64_t *hostoff)
{
	int r = 0;
	struct file *real = real_file(f, &r);

	if (!real)
		return r;
	return real->ops->mmap ? real->ops->mmap(real, prot, flags, off, size, hostfd, hostoff) : -ENODEV;
}

static int ovl_fallocate(struct file *f, int mode, uint64_t off, uint64_t size)
{
	int r = 0;
	struct file *real = real_file(f, &r);

	if (!real)
		return r;
	r = real->ops->fallocate ? real->ops->fallocate(real, mode, off, size) : -EOPNOTSUPP;
	ovl_sync(f->inode);
	return r;
}

static void ovl_release(struct file *f)
{
	struct ovl_file *of = f->priv;

	file_put(of->real);
	file_put(of->old);
	free(of);
}

const struct file_ops ovl_file_ops = {
	.read = ovl_read, .write = ovl_write, .llseek = ovl_llseek, .mmap = ovl_mmap, .fallocate = ovl_fallocate,
	.release = ovl_release,
};

/* --- merged listings --- */

struct merge {
	struct dir_emit e;
	struct dirsnap *s, *hide; /* hide: whiteouts, and everything above when S is NULL */
	struct inode *upper;      /* the layer being read, or NULL for the lower one */
	unsigned count;
	int error;
};

static bool merge_emit(struct dir_emit *e, const char *name, size_t size, uint64_t ino, unsigned type, uint64_t next)
{
	struct merge *m = (struct merge *)e;

	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return true;
	if (m->upper) {
		struct inode *u = NULL;

		if (m->upper->ops->lookup(m->upper, name, &u) < 0)
			return true;
		bool white = ovl_whiteout(u);
		ino = ovl_ino(u, NULL);
		inode_put(u);
		m->error = dirsnap_add(m->hide, name, 0, 0);
		if (white || m->error < 0)
			return m->error == 0;
	} else if (dirsnap_has(m->hide, name)) {
		return true;
	}
	m->count++;
	if (!m->s)
		return false; /* one is enough to know that it is not empty */
	m->error = dirsnap_add(m->s, name, ino, type);
	return m->error == 0;
}

int ovl_list(struct inode *i, struct dirsnap *s, unsigned *count)
{
	struct merge m = {.e = {.emit = merge_emit}, .s = s, .hide = dirsnap_new()};
	struct inode *layer[2] = {OI(i)->upper, OI(i)->lower};
	int r = m.hide ? 0 : -ENOMEM;

	for (int k = 0; r == 0 && k < 2; k++) {
		struct file *f;

		if (!layer[k])
			continue;
		r = file_open_real(layer[k], O_RDONLY | O_DIRECTORY, &f);
		if (r < 0)
			break;
		m.upper = k == 0 ? layer[0] : NULL;
		r = f->ops->iterate(f, &m.e);
		if (m.error < 0)
			r = m.error;
		file_put(f);
	}
	dirsnap_free(m.hide);
	if (count)
		*count = m.count;
	return r;
}

static int ovl_iterate(struct file *f, struct dir_emit *e)
{
	if (!f->priv || f->pos == 0) {
		struct dentry *d = f->path.dentry;
		struct dirsnap *s = dirsnap_new();
		int r = s ? dirsnap_add(s, ".", f->inode->ino, DT_DIR) : -ENOMEM;

		if (r == 0)
			r = dirsnap_add(s, "..", d && d->parent->inode ? d->parent->inode->ino : f->inode->ino, DT_DIR);
		if (r == 0)
			r = ovl_list(f->inode, s, NULL);
		if (r < 0) {
			dirsnap_free(s);
			return r;
		}
		dirsnap_free(f->priv);
		f->priv = s;
	}
	dirsnap_emit(f->priv, f, e);
	return 0;
}

const struct file_ops ovl_dir_ops = {
	.read = no_dir_read, .iterate = ovl_iterate, .llseek = dirsnap_llseek, .release = dirsnap_release,
};
