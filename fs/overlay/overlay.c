/*
 * overlay: a writable upper layer (tmpfs) over a read-only lower one. An overlay inode stands for one or both; names
 * removed from the lower layer leave a whiteout (a 0:0 device, as in Linux) above, and a directory made in place of
 * a removed one is opaque. DIFF: the opaque mark is a field of the upper inode, not an extended attribute.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "fs/overlay/overlay.h"

static const struct inode_ops ovl_ops;

bool ovl_whiteout(const struct inode *u)
{
	return S_ISCHR(u->mode) && !u->rdev;
}

uint64_t ovl_ino(const struct inode *u, const struct inode *l)
{
	return u ? (u->over_ino ? u->over_ino : u->ino + UPPER_INO) : l->ino;
}

void ovl_sync(struct inode *i)
{
	const struct inode *r = ovl_real(i);

	i->mode = r->mode;
	i->uid = r->uid;
	i->gid = r->gid;
	i->nlink = r->nlink;
	i->size = r->size;
	i->rdev = r->rdev;
	i->fsflags = r->fsflags;
	i->atime = r->atime;
	i->mtime = r->mtime;
	i->ctime = r->ctime;
	i->btime = r->btime;
}

/* Takes over UPPER and LOWER (one may be NULL). PARENT NULL for the root and for O_TMPFILE. */
static struct inode *ovl_new(struct superblock *sb, struct inode *upper, struct inode *lower, struct inode *parent,
			     const char *name)
{
	struct inode *i = inode_new(sb, 0);
	struct ovl_inode *oi = i ? calloc(1, sizeof(*oi)) : NULL;

	if (!oi || (name && !upper && !(oi->name = strdup(name)))) {
		free(oi);
		inode_put(i);
		inode_put(upper);
		inode_put(lower);
		return NULL;
	}
	oi->upper = upper;
	oi->lower = lower;
	if (parent && !upper)
		oi->parent = inode_get(parent);
	i->priv = oi;
	i->ops = &ovl_ops;
	i->ino = ovl_ino(upper, lower);
	if (upper)
		upper->over = i;
	ovl_sync(i);
	if (S_ISREG(i->mode))
		i->fops = &ovl_file_ops;
	else if (S_ISDIR(i->mode))
		i->fops = &ovl_dir_ops;
	return i;
}

static void ovl_evict(struct inode *i)
{
	struct ovl_inode *oi = OI(i);

	if (!oi)
		return;
	if (oi->upper && oi->upper->over == i)
		oi->upper->over = NULL;
	inode_put(oi->upper);
	inode_put(oi->lower);
	inode_put(oi->parent);
	free(oi->name);
	free(oi);
}

/* The upper entry NAME of DIR, whiteouts included; counted or NULL. */
static struct inode *upper_entry(struct inode *dir, const char *name)
{
	struct inode *u = OI(dir)->upper, *e = NULL;

	return u && u->ops->lookup(u, name, &e) == 0 ? e : NULL;
}

static bool lower_has(struct inode *dir, const char *name)
{
	struct inode *l = OI(dir)->lower, *e = NULL;

	if (!l || l->ops->lookup(l, name, &e) < 0)
		return false;
	inode_put(e);
	return true;
}

static int ovl_lookup(struct inode *dir, const char *name, struct inode **out)
{
	struct inode *u = upper_entry(dir, name), *l = NULL, *ld = OI(dir)->lower;

	if (u && ovl_whiteout(u)) {
		inode_put(u);
		return -ENOENT;
	}
	if (u && u->over) { /* another name of it, or the same one, is in use */
		*out = inode_get(u->over);
		inode_put(u);
		return 0;
	}
	if (ld && (!u || (S_ISDIR(u->mode) && !u->over_opaque))) {
		int r = ld->ops->lookup(ld, name, &l);

		if (r < 0 && r != -ENOENT && !u)
			return r;
		if (r < 0)
			l = NULL;
		if (l && u && !S_ISDIR(l->mode)) {
			inode_put(l);
			l = NULL;
		}
	}
	if (!u && !l)
		return -ENOENT;
	*out = ovl_new(dir->sb, u, l, dir, name);
	return *out ? 0 : -ENOMEM;
}

static int add_whiteout(struct inode *dir, const char *name)
{
	struct inode *u = OI(dir)->upper, *w = NULL;
	int r = u->ops->mknod(u, name, S_IFCHR, 0, &w);

	inode_put(w);
	return r;
}

/* Before something is made as NAME in DIR: DIR in the upper layer and no whiteout in the way. *HAD: there was one. */
static int prepare_name(struct inode *dir, const char *name, bool *had)
{
	int r = ovl_copy_up(dir, UINT64_MAX);
	struct inode *w = r == 0 ? upper_entry(dir, name) : NULL;

	*had = w && ovl_whiteout(w);
	if (*had)
		r = OI(dir)->upper->ops->unlink(OI(dir)->upper, name, w);
	inode_put(w);
	return r;
}

static int finish_name(struct inode *dir, const char *name, bool had, int r, struct inode *u, struct inode **out)
{
	if (r < 0 && had)
		add_whiteout(dir, name);
	if (r == 0) {
		if (S_ISDIR(u->mode))
			u->over_opaque = true; /* whatever the lower layer has under this name is another directory */
		*out = ovl_new(dir->sb, u, NULL, NULL, NULL);
		if (!*out)
			r = -ENOMEM;
	}
	ovl_sync(dir);
	return r;
}

static int ovl_create(struct inode *dir, const char *name, uint32_t mode, struct inode **out)
{
	struct inode *u = NULL, *ud;
	bool had;
	int r = prepare_name(dir, name, &had);

	if (r < 0)
		return r;
	ud = OI(dir)->upper;
	r = S_ISDIR(mode) ? ud->ops->mkdir(ud, name, mode, &u) : ud->ops->create(ud, name, mode, &u);
	return finish_name(dir, name, had, r, u, out);
}

static int ovl_symlink(struct inode *dir, const char *name, const char *target, struct inode **out)
{
	struct inode *u = NULL;
	bool had;
	int r = prepare_name(dir, name, &had);

	if (r < 0)
		return r;
	r = OI(dir)->upper->ops->symlink(OI(dir)->upper, name, target, &u);
	return finish_name(dir, name, had, r, u, out);
}

static int ovl_mknod(struct inode *dir, const char *name, uint32_t mode, uint64_t rdev, struct inode **out)
{
	struct inode *u = NULL;
	bool had;
	int r;

	if (S_ISCHR(mode) && !rdev) /* would be a whiteout */
		return -EPERM;
	r = prepare_name(dir, name, &had);
	if (r < 0)
		return r;
	r = OI(dir)->upper->ops->mknod(OI(dir)->upper, name, mode, rdev, &u);
	return finish_name(dir, name, had, r, u, out);
}

static int ovl_tmpfile(struct inode *dir, uint32_t mode, struct inode **out)
{
	struct inode *u = NULL;
	int r = ovl_copy_up(dir, UINT64_MAX);

	if (r == 0)
		r = OI(dir)->upper->ops->tmpfile(OI(dir)->upper, mode, &u);
	if (r == 0 && !(*out = ovl_new(dir->sb, u, NULL, NULL, NULL)))
		r = -ENOMEM;
	return r;
}

static int ovl_link(struct inode *dir, const char *name, struct inode *target)
{
	bool had;
	int r = ovl_copy_up(target, UINT64_MAX);

	if (r == 0)
		r = prepare_name(dir, name, &had);
	if (r < 0)
		return r;
	r = OI(dir)->upper->ops->link(OI(dir)->upper, name, OI(target)->upper);
	if (r < 0 && had)
		add_whiteout(dir, name);
	ovl_sync(target);
	ovl_sync(dir);
	return r;
}

static int ovl_unlink(struct inode *dir, const char *name, struct inode *victim)
{
	struct inode *v = OI(victim)->upper;
	int r = ovl_copy_up(dir, UINT64_MAX);

	if (r == 0 && v)
		r = OI(dir)->upper->ops->unlink(OI(dir)->upper, name, v);
	if (r == 0 && lower_has(dir, name))
		r = add_whiteout(dir, name);
	if (r < 0)
		return r;
	if (v) {
		ovl_sync(victim);
	} else {
		OI(victim)->gone = true;
		victim->nlink = 0;
	}
	ovl_sync(dir);
	return 0;
}

struct first_name {
	struct dir_emit e;
	char name[256];
};

static bool take_first(struct dir_emit *e, const char *name, size_t size, uint64_t ino, unsigned type, uint64_t next)
{
	struct first_name *x = (struct first_name *)e;

	if (x->name[0])
		return false;
	if (strcmp(name, ".") && strcmp(name, ".."))
		memcpy(x->name, name, size + 1);
	return true;
}

/* An empty merged directory may hold whiteouts above: sweep them, so that the upper one is empty too. */
static int sweep(struct inode *dir)
{
	struct inode *u = OI(dir)->upper;
	unsigned count = 0;
	struct file *f;
	int r = ovl_list(dir, NULL, &count);

	if (r == 0 && count)
		r = -ENOTEMPTY;
	if (r < 0 || !u)
		return r;
	r = file_open_real(u, O_RDONLY | O_DIRECTORY, &f);
	if (r < 0)
		return r;
	for (;;) {
		struct inode *w = NULL;
		struct first_name o = {.e = {.emit = take_first}};

		f->pos = 0;
		f->ops->iterate(f, &o.e);
		if (!o.name[0] || u->ops->lookup(u, o.name, &w) < 0)
			break;
		r = u->ops->unlink(u, o.name, w);
		inode_put(w);
		if (r < 0)
			break;
	}
	file_put(f);
	return r;
}

static int ovl_rmdir(struct inode *dir, const char *name, struct inode *victim)
{
	int r = sweep(victim);

	if (r == 0)
		r = ovl_copy_up(dir, UINT64_MAX);
	if (r == 0 && OI(victim)->upper)
		r = OI(dir)->upper->ops->rmdir(OI(dir)->upper, name, OI(victim)->upper);
	if (r == 0 && lower_has(dir, name))
		r = add_whiteout(dir, name);
	if (r < 0)
		return r;
	OI(victim)->gone = true;
	victim->nlink = 0;
	ovl_sync(dir);
	return 0;
}

static int ovl_rename(struct inode *odir, const char *oname, struct inode *what, struct inode *ndir,
		      const char *nname, struct inode *target, unsigned flags)
{
	bool is_dir = S_ISDIR(what->mode), exchange = flags & RENAME_EXCHANGE;
	int r;

	/* As Linux without redirect_dir: a directory with a lower part does not move; mv copies it. */
	if (is_dir && OI(what)->lower)
		return -EXDEV;
	if (exchange && S_ISDIR(target->mode) && OI(target)->lower)
		return -EXDEV;
	r = ovl_copy_up(what, UINT64_MAX);
	if (r == 0)
		r = ovl_copy_up(odir, UINT64_MAX);
	if (r == 0)
		r = ovl_copy_up(ndir, UINT64_MAX);
	if (r == 0 && exchange)
		r = ovl_copy_up(target, UINT64_MAX);
	if (r == 0 && !exchange && target && S_ISDIR(target->mode))
		r = sweep(target);
	if (r < 0)
		return r;
	/* NOREPLACE was checked against the merged view; a whiteout may stand there above and is replaced. */
	struct inode *uo = OI(odir)->upper, *un = OI(ndir)->upper;
	bool lower_old = lower_has(odir, oname);
	r = uo->ops->rename(uo, oname, OI(what)->upper, un, nname, target ? OI(target)->upper : NULL,
			    flags & RENAME_EXCHANGE);
	if (r < 0)
		return r;
	if (is_dir)
		OI(what)->upper->over_opaque = true;
	if (exchange) {
		if (S_ISDIR(target->mode))
			OI(target)->upper->over_opaque = true;
	} else {
		if (lower_old)
			r = add_whiteout(odir, oname);
		if (target && OI(target)->upper)
			ovl_sync(target);
		else if (target)
			OI(target)->gone = true, target->nlink = 0;
	}
	ovl_sync(what);
	ovl_sync(odir);
	ovl_sync(ndir);
	return r;
}

static long ovl_readlink(struct inode *i, char *buf, size_t size)
{
	struct inode *r = ovl_real(i);

	return r->ops->readlink(r, buf, size);
}

static int ovl_getattr(struct inode *i, struct kstat *st)
{
	struct inode *real = ovl_real(i);
	int r = 0;

	if (real->ops->getattr)
		r = real->ops->getattr(real, st);
	else
		inode_getattr_generic(real, st);
	st->ino = i->ino;
	st->dev = i->sb->dev;
	if (OI(i)->gone)
		st->nlink = 0;
	return r;
}

static int ovl_setflags(struct inode *i, uint32_t flags)
{
	int r = ovl_copy_up(i, UINT64_MAX);

	if (r == 0)
		r = OI(i)->upper->ops->setflags ? OI(i)->upper->ops->setflags(OI(i)->upper, flags) : -ENOTTY;
	if (r == 0)
		ovl_sync(i);
	return r;
}

static int ovl_setattr(struct inode *i, const struct iattr *a)
{
	int r = ovl_copy_up(i, a->valid & ATTR_SIZE ? a->size : UINT64_MAX);

	if (r == 0)
		r = OI(i)->upper->ops->setattr(OI(i)->upper, a);
	ovl_sync(i);
	return r;
}

static long ovl_getxattr(struct inode *i, const char *name, void *buf, size_t size)
{
	struct inode *r = ovl_real(i);

	return r->ops->getxattr ? r->ops->getxattr(r, name, buf, size) : -ENODATA;
}

static long ovl_listxattr(struct inode *i, char *buf, size_t size)
{
	struct inode *r = ovl_real(i);

	return r->ops->listxattr ? r->ops->listxattr(r, buf, size) : 0;
}

static int ovl_setxattr(struct inode *i, const char *name, const void *buf, size_t size, int flags)
{
	int r = ovl_copy_up(i, UINT64_MAX);

	return r < 0 ? r : OI(i)->upper->ops->setxattr(OI(i)->upper, name, buf, size, flags);
}

static int ovl_removexattr(struct inode *i, const char *name)
{
	if (ovl_getxattr(i, name, NULL, 0) < 0)
		return -ENODATA;
	return OI(i)->upper->ops->removexattr(OI(i)->upper, name);
}

static const struct inode_ops ovl_ops = {
	.lookup = ovl_lookup, .create = ovl_create, .mkdir = ovl_create, .symlink = ovl_symlink, .mknod = ovl_mknod,
	.link = ovl_link, .unlink = ovl_unlink, .rmdir = ovl_rmdir, .rename = ovl_rename, .readlink = ovl_readlink,
	.getattr = ovl_getattr, .setattr = ovl_setattr, .setflags = ovl_setflags, .open = ovl_open, .getxattr = ovl_getxattr,
	.setxattr = ovl_setxattr, .listxattr = ovl_listxattr, .removexattr = ovl_removexattr,
	.tmpfile = ovl_tmpfile, .evict = ovl_evict,
};

static int ovl_statfs(struct superblock *sb, struct kstatfs *st)
{
	struct ovl_sb *os = sb->priv;
	int r = os->upper->ops->statfs(os->upper, st);

	st->type = 0x794c7630; /* OVERLAYFS_SUPER_MAGIC */
	return r;
}

static void ovl_destroy(struct superblock *sb)
{
	struct ovl_sb *os = sb->priv;

	super_deactivate(os->lower);
	super_deactivate(os->upper);
	super_put(os->lower);
	super_put(os->upper);
	free(os);
}

static const struct super_ops ovl_super_ops = {.statfs = ovl_statfs, .destroy = ovl_destroy};

struct superblock *overlay_new(struct superblock *lower, struct superblock *upper)
{
	struct superblock *sb = super_new("overlay", &ovl_super_ops);
	struct ovl_sb *os = sb ? calloc(1, sizeof(*os)) : NULL;
	struct inode *root, *u = upper->root->inode, *l = lower->root->inode;

	if (!os) {
		sb ? (sb->ops = NULL, super_put(sb)) : (void)0;
		super_put(lower);
		super_put(upper);
		return NULL;
	}
	os->lower = lower;
	os->upper = upper;
	super_activate(lower);
	super_activate(upper);
	sb->priv = os;
	u->over_ino = l->ino;
	root = ovl_new(sb, inode_get(u), inode_get(l), NULL, NULL);
	if (root)
		sb->root = dentry_root(sb, root);
	if (!sb->root) {
		super_put(sb);
		return NULL;
	}
	return sb;
}
