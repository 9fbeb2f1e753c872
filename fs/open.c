/*
 * open(2): from flags to an open file description. O_CREAT walks to the last component itself, so that it may create
 * through a dangling link; everything else is a lookup and file_open_path.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include "fs/fown.h"
#include "fs/walk.h"
#include "sentry/task/task.h"

int file_open_special(struct inode *i, struct file *f)
{
	f->seekable = false;
	if (S_ISFIFO(i->mode))
		return fifo_open(i, f);
	if (S_ISCHR(i->mode))
		return chrdev_open(i, f);
	return -ENXIO;
}

static int acc_mask(int flags)
{
	static const int mask[] = {MAY_READ, MAY_WRITE, MAY_READ | MAY_WRITE, MAY_READ | MAY_WRITE};
	int m = mask[flags & O_ACCMODE];

	return flags & O_TRUNC ? m | MAY_WRITE : m;
}

/* may_open: type, mount and permission rules for FLAGS at P. */
static int may_open(const struct path *p, int flags)
{
	struct inode *i = p->dentry->inode;
	int mask = acc_mask(flags), r;
	unsigned mflags = p->mnt ? p->mnt->flags : 0;

	switch (i->mode & S_IFMT) {
	case S_IFLNK:
		return -ELOOP;
	case S_IFDIR:
		if (mask & MAY_WRITE)
			return -EISDIR;
		break;
	case S_IFBLK:
	case S_IFCHR:
		if (mflags & MS_NODEV)
			return -EACCES;
		break;
	}
	r = inode_permission(i, mask);
	if (r < 0)
		return r;
	if ((i->fsflags & INODE_APPEND) && (((flags & O_ACCMODE) != O_RDONLY && !(flags & O_APPEND)) || (flags & O_TRUNC)))
		return -EPERM;
	if ((flags & O_NOATIME) && !inode_owner_or_capable(i))
		return -EPERM;
	if ((mask & MAY_WRITE) && (mflags & MS_RDONLY) && S_ISREG(i->mode))
		return -EROFS;
	return 0;
}

/* Everything after the permission check; F is new and complete but for its operations. */
static int do_open(struct file *f, int flags)
{
	struct inode *i = f->inode;
	int r;

	if (S_ISREG(i->mode) && (acc_mask(flags) & MAY_WRITE)) {
		if (i->write_count < 0)
			return -ETXTBSY;
		i->write_count++;
		f->counted_writer = true;
	} else if (S_ISREG(i->mode)) {
		i->read_count++;
		f->counted_reader = true;
	}
	if (i->leases) {
		r = lease_break(i, flags);
		if (r < 0)
			return r;
	}
	f->ops = i->fops;
	if (i->ops->open)
		r = i->ops->open(i, f);
	else if (S_ISFIFO(i->mode) || S_ISSOCK(i->mode) || (!f->ops && (S_ISCHR(i->mode) || S_ISBLK(i->mode))))
		r = file_open_special(i, f);
	else
		r = f->ops ? 0 : -ENXIO;
	if (r < 0)
		f->ops = NULL; /* nothing to release */
	return r;
}

static int open_checked(const struct path *p, int flags, bool created, struct file **out)
{
	struct inode *i = p->dentry->inode;
	struct file *f;
	int r = 0;

	if (!i)
		return -ENOENT;
	if ((flags & O_DIRECTORY) && !S_ISDIR(i->mode))
		return -ENOTDIR;
	if (!S_ISREG(i->mode))
		flags &= ~O_TRUNC;
	if (!(flags & O_PATH) && !created)
		r = may_open(p, flags);
	if (r < 0)
		return r;
	f = file_alloc(p, i, flags);
	if (!f)
		return -ENOMEM;
	if (!(flags & O_PATH)) {
		r = do_open(f, flags);
		f->flags &= ~O_NOCTTY; /* for a terminal's open alone */
		if (r == 0 && (flags & O_TRUNC) && !created) {
			struct iattr a = {.valid = ATTR_SIZE | ATTR_FORCE | ATTR_KILL_PRIV};

			r = vfs_setattr(p, &a);
		}
	}
	if (r < 0) {
		file_put(f);
		return r;
	}
	if (!(flags & O_PATH))
		notify_file(f, IN_OPEN);
	*out = f;
	return 0;
}

int file_open_path(const struct path *p, int flags, struct file **out)
{
	return open_checked(p, flags, false, out);
}

/* For execve: what is asked of the file is to be a regular one that may be executed, not that it may be read. */
int file_open_exec(const struct path *p, struct file **out)
{
	struct inode *i = p->dentry->inode;
	int r;

	if (!i)
		return -ENOENT;
	if (S_ISLNK(i->mode))
		return -ELOOP;
	if (!S_ISREG(i->mode) || (p->mnt && (p->mnt->flags & MS_NOEXEC)))
		return -EACCES;
	r = inode_permission(i, MAY_EXEC);
	return r < 0 ? r : open_checked(p, O_RDONLY, true, out);
}

/* For stacked file systems: the real file behind INODE, without path or permission check. */
int file_open_real(struct inode *i, int flags, struct file **out)
{
	struct file *f = file_alloc(NULL, i, flags);
	int r;

	if (!f)
		return -ENOMEM;
	r = do_open(f, flags);
	if (r < 0) {
		file_put(f);
		return r;
	}
	*out = f;
	return 0;
}

static int open_tmpfile(int dirfd, const char *name, int flags, uint32_t mode, unsigned lf, struct file **out)
{
	struct path dir, p;
	struct inode *i = NULL;
	int r = path_lookup(dirfd, name, lf | LOOKUP_DIRECTORY, &dir);

	if (r < 0)
		return r;
	struct inode *d = dir.dentry->inode;
	r = dir.mnt && (dir.mnt->flags & MS_RDONLY) ? -EROFS : inode_permission(d, MAY_WRITE | MAY_EXEC);
	if (r == 0)
		r = d->ops->tmpfile ? d->ops->tmpfile(d, S_IFREG | (mode & 07777 & ~current->fs->umask), &i) : -EOPNOTSUPP;
	if (r == 0) {
		char text[32];

		snprintf(text, sizeof(text), "/#%llu", (unsigned long long)i->ino);
		p = (struct path){dir.mnt, dentry_anon(i, text)};
		r = -ENOMEM;
		if (p.dentry) {
			p.dentry->dead = true;
			mount_get(p.mnt);
			r = open_checked(&p, flags & ~(O_DIRECTORY | O_EXCL), true, out);
			path_put(&p);
		}
		inode_put(i);
	}
	path_put(&dir);
	return r;
}

/* One round of O_CREAT at w->path / w->last. 0: *FOUND is counted; 1: a link, walk on. */
static int create_last(struct walk *w, int flags, uint32_t mode, struct path *found, bool *created)
{
	struct dentry *d;
	int r;

	if (w->last_type != LAST_NORM) {
		r = walk_dots(w);
		if (r < 0)
			return r;
		goto here;
	}
	if (w->trailing)
		return -EISDIR;
	r = dentry_lookup(w->path.dentry, w->last, &d);
	if (r < 0)
		return r;
	if (!d->inode) {
		struct dentry *made;

		r = vfs_create(&w->path, w->last, S_IFREG | (mode & 07777 & ~(current ? current->fs->umask : 0)), &made);
		dentry_put(d);
		if (r < 0)
			return r;
		*created = true;
		*found = (struct path){mount_get(w->path.mnt), made};
		return 0;
	}
	if ((flags & O_EXCL) && S_ISLNK(d->inode->mode)) {
		dentry_put(d);
		return -EEXIST;
	}
	r = walk_step(w, d, !(flags & (O_NOFOLLOW | O_EXCL)));
	if (r)
		return r;
here:
	/* A magic link may have led anywhere. */
	if (flags & O_EXCL)
		return -EEXIST;
	if (w->path.dentry->inode && S_ISDIR(w->path.dentry->inode->mode))
		return -EISDIR;
	*found = w->path;
	path_get(found);
	return 0;
}

static int open_creat(int dirfd, const char *name, int flags, uint32_t mode, unsigned lf, struct file **out)
{
	struct walk w;
	struct path p = {0};
	bool created = false;
	int r = walk_begin(&w, dirfd, NULL, name, lf);

	if (r == 0)
		do {
			r = walk_parent(&w);
			if (r == 0)
				r = create_last(&w, flags, mode, &p, &created);
		} while (r > 0);
	walk_end(&w);
	if (r < 0)
		return r;
	r = open_checked(&p, flags, created, out);
	path_put(&p);
	return r;
}

int file_open(int dirfd, const char *name, int flags, uint32_t mode, unsigned lookup_flags, struct file **out)
{
	unsigned lf = lookup_flags;
	struct path p;
	int r;

	if (flags & O_PATH)
		flags &= O_DIRECTORY | O_NOFOLLOW | O_PATH | O_CLOEXEC;
	if (!(flags & O_NOFOLLOW))
		lf |= LOOKUP_FOLLOW;
	if ((flags & O_TMPFILE) == O_TMPFILE) {
		if ((flags & O_CREAT) || (flags & O_ACCMODE) == O_RDONLY)
			return -EINVAL;
		return open_tmpfile(dirfd, name, flags, mode, lf, out);
	}
	if (flags & O_CREAT) {
		if (flags & O_DIRECTORY)
			return -EINVAL;
		return open_creat(dirfd, name, flags, mode, lf, out);
	}
	if (flags & O_DIRECTORY)
		lf |= LOOKUP_DIRECTORY;
	r = path_lookup(dirfd, name, lf, &p);
	if (r < 0)
		return r;
	r = open_checked(&p, flags, false, out);
	path_put(&p);
	return r;
}
