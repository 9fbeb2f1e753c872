/*
 * Changes of the tree: create, link, unlink, rename and attributes, with the checks Linux makes in fs/namei.c and
 * fs/attr.c (search and write permission of the directory, sticky bit, read-only mounts), then the file system's op.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include "fs/fown.h"
#include "fs/vfs.h"
#include "sentry/task/task.h"

#define MAX_LINKS 65000u

static bool path_readonly(const struct path *p)
{
	return (p->mnt && (p->mnt->flags & MS_RDONLY)) || p->dentry->sb->readonly;
}

/* May something be added to DIR? */
static int may_add(const struct path *dir)
{
	struct inode *i = dir->dentry->inode;

	if (!i || !S_ISDIR(i->mode))
		return -ENOTDIR;
	if (dir->dentry->dead)
		return -ENOENT;
	if (path_readonly(dir))
		return -EROFS;
	return inode_permission(i, MAY_WRITE | MAY_EXEC);
}

/* may_delete: D may leave DIR. IS_DIR: the call removes directories (1), others (0), either (-1). */
static int may_delete(const struct path *dir, struct dentry *d, int is_dir)
{
	struct inode *i = dir->dentry->inode, *v = d->inode;
	int r;

	if (path_readonly(dir))
		return -EROFS;
	r = inode_permission(i, MAY_WRITE | MAY_EXEC);
	if (r < 0)
		return r;
	if ((i->fsflags & INODE_APPEND) || (v->fsflags & (INODE_APPEND | INODE_IMMUTABLE)))
		return -EPERM;
	if ((i->mode & S_ISVTX) && current && current->cred->fsuid != v->uid && current->cred->fsuid != i->uid &&
	    !capable(CAP_FOWNER))
		return -EPERM;
	if (is_dir == 1 && !S_ISDIR(v->mode))
		return -ENOTDIR;
	if (is_dir == 0 && S_ISDIR(v->mode))
		return -EISDIR;
	if (S_ISDIR(v->mode) && d == d->parent)
		return -EBUSY;
	if (!list_empty(&d->mounts))
		return -EBUSY;
	return 0;
}

/* The negative dentry NAME in DIR, ready for creation: 0, -EEXIST first as Linux does. */
static int prepare_new(const struct path *dir, const char *name, struct dentry **out)
{
	int r = dentry_lookup(dir->dentry, name, out);

	if (r < 0)
		return r;
	r = (*out)->inode ? -EEXIST : may_add(dir);
	if (r < 0)
		dentry_put(*out);
	return r;
}

int vfs_create(const struct path *dir, const char *name, uint32_t mode, struct dentry **out)
{
	struct inode *i = NULL, *di = dir->dentry->inode;
	struct dentry *d;
	int r = prepare_new(dir, name, &d);

	if (r < 0)
		return r;
	/* Linux's procfs fails the lookup of a missing name itself, so that creating there is ENOENT, not EACCES. */
	if (di->ops->create)
		r = di->ops->create(di, name, mode, &i);
	else
		r = !strcmp(di->sb->fstype, "proc") ? -ENOENT : -EACCES;
	if (r < 0) {
		dentry_put(d);
		return r;
	}
	dentry_instantiate(d, i);
	notify_name(di, name, IN_CREATE, false);
	if (out)
		*out = d;
	else
		dentry_put(d);
	return 0;
}

int vfs_mkdir(const struct path *dir, const char *name, uint32_t mode)
{
	struct inode *i = NULL, *di = dir->dentry->inode;
	struct dentry *d;
	int r = prepare_new(dir, name, &d);

	if (r < 0)
		return r;
	r = di->ops->mkdir ? di->ops->mkdir(di, name, S_IFDIR | (mode & 01777), &i) : -EPERM;
	if (r == 0) {
		dentry_instantiate(d, i);
		notify_name(di, name, IN_CREATE, true);
	}
	dentry_put(d);
	return r;
}

int vfs_symlink(const struct path *dir, const char *name, const char *target)
{
	struct inode *i = NULL, *di = dir->dentry->inode;
	struct dentry *d;
	int r = prepare_new(dir, name, &d);

	if (r < 0)
		return r;
	r = di->ops->symlink ? di->ops->symlink(di, name, target, &i) : -EPERM;
	if (r == 0) {
		dentry_instantiate(d, i);
		notify_name(di, name, IN_CREATE, false);
	}
	dentry_put(d);
	return r;
}

int vfs_mknod(const struct path *dir, const char *name, uint32_t mode, uint64_t rdev)
{
	struct inode *i = NULL, *di = dir->dentry->inode;
	struct dentry *d;
	int r;

	if (S_ISREG(mode))
		return vfs_create(dir, name, mode, NULL);
	r = prepare_new(dir, name, &d);
	if (r < 0)
		return r;
	if ((S_ISCHR(mode) || S_ISBLK(mode)) && !(S_ISCHR(mode) && !rdev) && !(!current || capable(CAP_MKNOD)))
		r = -EPERM;
	else
		r = di->ops->mknod ? di->ops->mknod(di, name, mode, rdev, &i) : -EPERM;
	if (r == 0) {
		dentry_instantiate(d, i);
		notify_name(di, name, IN_CREATE, false);
	}
	dentry_put(d);
	return r;
}

static int remove_common(const struct path *dir, const char *name, bool is_dir)
{
	struct inode *di = dir->dentry->inode;
	struct dentry *d;
	int r;

	if (!di || !S_ISDIR(di->mode))
		return -ENOTDIR;
	r = dentry_lookup(dir->dentry, name, &d);
	if (r < 0)
		return r;
	if (!d->inode)
		r = path_readonly(dir) ? -EROFS : -ENOENT;
	else
		r = may_delete(dir, d, is_dir);
	if (r == 0) {
		int (*op)(struct inode *, const char *, struct inode *) = is_dir ? di->ops->rmdir : di->ops->unlink;

		r = op ? op(di, name, d->inode) : -EPERM;
	}
	if (r == 0) {
		if (!is_dir && inotify_watches)
			inotify_event(d->inode, IN_ATTRIB, 0, NULL); /* its link count */
		if (is_dir || !d->inode->nlink)
			inotify_inode_gone(d->inode);
		notify_name(di, name, IN_DELETE, is_dir);
		dentry_drop(d);
	}
	dentry_put(d);
	return r;
}

int vfs_unlink(const struct path *dir, const char *name)
{
	return remove_common(dir, name, false);
}

int vfs_rmdir(const struct path *dir, const char *name)
{
	return remove_common(dir, name, true);
}

int vfs_link(const struct path *old, const struct path *dir, const char *name)
{
	struct inode *di = dir->dentry->inode, *i = old->dentry->inode;
	struct dentry *d;
	int r = prepare_new(dir, name, &d);

	if (r < 0)
		return r;
	if (old->mnt != dir->mnt || i->sb != di->sb)
		r = -EXDEV;
	else if (S_ISDIR(i->mode) || !di->ops->link || (i->fsflags & (INODE_APPEND | INODE_IMMUTABLE)))
		r = -EPERM;
	else if (i->nlink >= MAX_LINKS)
		r = -EMLINK;
	else
		r = di->ops->link(di, name, i);
	if (r == 0) {
		dentry_instantiate(d, inode_get(i));
		notify_name(di, name, IN_CREATE, false);
	}
	dentry_put(d);
	return r;
}

/* Is A the same as or above B? */
static bool is_ancestor(const struct dentry *a, const struct dentry *b)
{
	for (;; b = b->parent) {
		if (a == b)
			return true;
		if (b == b->parent)
			return false;
	}
}

static int rename_checked(const struct path *odir, struct dentry *od, const struct path *ndir, struct dentry *nd,
			  unsigned flags)
{
	struct inode *oi = od->inode, *ni = nd->inode, *odi = odir->dentry->inode, *ndi = ndir->dentry->inode;
	bool exchange = flags & RENAME_EXCHANGE;
	int r;

	if (!oi)
		return -ENOENT;
	if ((flags & RENAME_NOREPLACE) && ni)
		return -EEXIST;
	if (exchange && !ni)
		return -ENOENT;
	if (is_ancestor(od, ndir->dentry))
		return -EINVAL;
	if (ni && is_ancestor(nd, odir->dentry))
		return exchange ? -EINVAL : -ENOTEMPTY;
	if (oi == ni)
		return 0;
	r = may_delete(odir, od, -1);
	if (r < 0)
		return r;
	if (!ni)
		r = may_add(ndir);
	else
		r = may_delete(ndir, nd, exchange ? -1 : S_ISDIR(oi->mode) ? 1 : 0);
	if (r < 0)
		return r;
	if (odi != ndi) { /* ".." of a moved directory changes */
		if (S_ISDIR(oi->mode) && (r = inode_permission(oi, MAY_WRITE)) < 0)
			return r;
		if (exchange && S_ISDIR(ni->mode) && (r = inode_permission(ni, MAY_WRITE)) < 0)
			return r;
	}
	if (!odi->ops->rename)
		return -EPERM;
	r = odi->ops->rename(odi, od->name, oi, ndi, nd->name, ni, flags);
	if (r < 0)
		return r;
	inotify_moved(odi, od->name, ndi, nd->name, oi);
	if (exchange) {
		inotify_moved(ndi, nd->name, odi, od->name, ni);
		return dentry_exchange(od, nd);
	}
	char name[256];
	strcpy(name, nd->name);
	if (ni) {
		if (S_ISDIR(ni->mode) || !ni->nlink)
			inotify_inode_gone(ni);
		dentry_drop(nd);
	}
	if (dentry_move(od, ndir->dentry, name) < 0)
		dentry_drop(od); /* short of memory: looked up afresh next time */
	return 0;
}

int vfs_rename(const struct path *odir, const char *oname, const struct path *ndir, const char *nname, unsigned flags)
{
	struct dentry *od, *nd;
	int r;

	if (odir->mnt != ndir->mnt || odir->dentry->sb != ndir->dentry->sb)
		return -EXDEV;
	if (path_readonly(odir))
		return -EROFS;
	r = dentry_lookup(odir->dentry, oname, &od);
	if (r < 0)
		return r;
	r = dentry_lookup(ndir->dentry, nname, &nd);
	if (r == 0) {
		r = rename_checked(odir, od, ndir, nd, flags);
		dentry_put(nd);
	}
	dentry_put(od);
	return r;
}

int vfs_getattr(const struct path *p, struct kstat *st)
{
	struct inode *i = p->dentry->inode;

	if (!i)
		return -ENOENT;
	if (i->ops && i->ops->getattr)
		return i->ops->getattr(i, st);
	inode_getattr_generic(i, st);
	return 0;
}

/* setattr_prepare of Linux, in its order. */
static int attr_allowed(struct inode *i, struct iattr *a)
{
	const struct cred *c = current ? current->cred : NULL;

	if (!c)
		return 0;
	if ((a->valid & ATTR_UID) && !cred_has(c, CAP_CHOWN) && !(c->fsuid == i->uid && a->uid == i->uid))
		return -EPERM;
	if ((a->valid & ATTR_GID) && !cred_has(c, CAP_CHOWN) &&
	    !(c->fsuid == i->uid && (a->gid == i->gid || cred_in_group(c, a->gid))))
		return -EPERM;
	if ((a->valid & ATTR_MODE) && !(a->valid & ATTR_KILL_PRIV)) {
		if (!inode_owner_or_capable(i))
			return -EPERM;
		uint32_t gid = a->valid & ATTR_GID ? a->gid : i->gid;
		if (!cred_in_group(c, gid) && !cred_has(c, CAP_FSETID))
			a->mode &= ~S_ISGID;
	}
	if ((a->valid & ATTR_TOUCH) && !inode_owner_or_capable(i))
		return inode_permission(i, MAY_WRITE) < 0 ? -EACCES : 0;
	if ((a->valid & (ATTR_ATIME | ATTR_MTIME)) && !(a->valid & ATTR_TOUCH) && !inode_owner_or_capable(i))
		return -EPERM;
	return 0;
}

int vfs_setattr(const struct path *p, struct iattr *a)
{
	struct inode *i = p->dentry->inode;
	int r;

	if (!i)
		return -ENOENT;
	if (path_readonly(p))
		return -EROFS;
	if (i->fsflags & (INODE_IMMUTABLE | INODE_APPEND) && !(a->valid & ATTR_FORCE)) { /* may_setattr */
		bool touch = a->valid & ATTR_TOUCH;

		if ((a->valid & (ATTR_MODE | ATTR_UID | ATTR_GID)) || (!touch && (a->valid & (ATTR_ATIME | ATTR_MTIME))) ||
		    (touch && (i->fsflags & INODE_IMMUTABLE)))
			return -EPERM;
	}
	if ((a->valid & ATTR_KILL_PRIV) && !S_ISDIR(i->mode) && !(a->valid & ATTR_MODE)) {
		uint32_t drop = inode_privs_to_drop(i);

		if (drop && (!(a->valid & ATTR_SIZE) || !current || !capable(CAP_FSETID))) {
			a->mode = i->mode & 07777 & ~drop;
			a->valid |= ATTR_MODE;
		}
	}
	if (!(a->valid & ATTR_FORCE)) {
		r = attr_allowed(i, a);
		if (r < 0)
			return r;
	}
	if (!i->ops->setattr)
		return -EPERM;
	if (a->valid & ATTR_SIZE)
		if (a->size > INT64_MAX)
			return -EFBIG;
	r = i->ops->setattr(i, a);
	if (r == 0 && inotify_watches)
		inotify_dentry_event(p->dentry, i, a->valid & ATTR_SIZE ? IN_MODIFY : IN_ATTRIB);
	return r;
}

int vfs_truncate(const struct path *p, uint64_t size)
{
	struct inode *i = p->dentry->inode;
	struct iattr a = {.valid = ATTR_SIZE | ATTR_FORCE | ATTR_KILL_PRIV, .size = size};
	int r;

	if (S_ISDIR(i->mode))
		return -EISDIR;
	if (!S_ISREG(i->mode))
		return -EINVAL;
	r = path_readonly(p) ? -EROFS : inode_permission(i, MAY_WRITE);
	if (r < 0)
		return r;
	if (i->fsflags & INODE_APPEND)
		return -EPERM;
	if (i->write_count < 0)
		return -ETXTBSY;
	r = i->leases ? lease_break(i, O_WRONLY) : 0;
	if (r < 0)
		return r;
	if (current && current->tg && size > current->tg->rlim[RLIMIT_FSIZE].cur && size > i->size) {
		signal_send_task(current, SIGXFSZ, NULL);
		return -EFBIG;
	}
	return vfs_setattr(p, &a);
}
