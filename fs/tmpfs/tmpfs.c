/*
 * tmpfs: a file system in the sentry's memory with limits on bytes and inodes. The names hold the inodes: a name is
 * one reference and one link. Also the upper layer of the overlay and the store of memfds.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include "fs/tmpfs/tmpfs.h"
#include "sentry/base/util.h"

#define XATTR_TOTAL_MAX 65536u

struct tmpfs_pool tmpfs_pool;

void tmpfs_set_pool(uint64_t max_bytes)
{
	tmpfs_pool.max_pages = max_bytes / GUEST_PAGE_SIZE;
	tmpfs_pool.max_inodes = max_bytes ? MAX(tmpfs_pool.max_pages / 2, 4096) + 4096 : 0;
	tmpfs_pool.max_meta = tmpfs_pool.max_inodes * 512;
}

static bool inodes_full(const struct tmpfs_sb *ts)
{
	return (ts->max_inodes && ts->used_inodes >= ts->max_inodes) ||
	       (tmpfs_pool.max_inodes && tmpfs_pool.used_inodes >= tmpfs_pool.max_inodes);
}

static void inodes_add(struct tmpfs_sb *ts, int n)
{
	ts->used_inodes += (uint64_t)n;
	tmpfs_pool.used_inodes += (uint64_t)n;
}

struct inode *tmpfs_inode_new(struct superblock *sb, const struct inode *dir, uint32_t mode)
{
	struct tmpfs_sb *ts = sb->priv;
	struct tmpfs_inode *ti;
	struct inode *i;

	if (inodes_full(ts))
		return NULL;
	ti = calloc(1, sizeof(*ti));
	i = ti ? inode_new(sb, mode) : NULL;
	if (i && S_ISDIR(mode) && !(ti->dir = calloc(1, sizeof(*ti->dir)))) {
		inode_put(i);
		i = NULL;
	}
	if (!i) {
		free(ti);
		return NULL;
	}
	ti->memfd = -1;
	ti->inode = i;
	list_init(&ti->mapped_node);
	i->priv = ti;
	i->ops = &tmpfs_inode_ops;
	inode_init_owner(i, dir, mode);
	i->nlink = S_ISDIR(mode) ? 2 : 1;
	if (S_ISREG(mode))
		i->fops = &tmpfs_file_ops;
	else if (S_ISDIR(mode))
		i->fops = &tmpfs_dir_ops;
	inodes_add(ts, 1);
	return i;
}

static int meta_charge(struct tmpfs_sb *ts, size_t size)
{
	if (ts->max_meta && (size > ts->max_meta || ts->used_meta > ts->max_meta - size))
		return -ENOSPC;
	if (tmpfs_pool.max_meta && (size > tmpfs_pool.max_meta || tmpfs_pool.used_meta > tmpfs_pool.max_meta - size))
		return -ENOSPC;
	ts->used_meta += size;
	tmpfs_pool.used_meta += size;
	return 0;
}

static void meta_uncharge(struct tmpfs_sb *ts, size_t size)
{
	ts->used_meta -= size;
	tmpfs_pool.used_meta -= size;
}

static size_t xattr_cost(const struct tmpfs_xattr *x)
{
	return sizeof(*x) + strlen(x->name) + x->size;
}

/* I, which is no directory, has lost a name: the names beyond the first were counted as inodes. */
static void link_dropped(struct inode *i)
{
	i->nlink--;
	if (i->nlink)
		inodes_add(TSB(i), -1);
}

static void tmpfs_evict(struct inode *i)
{
	struct tmpfs_inode *ti = TI(i);

	if (!ti)
		return;
	if (ti->target)
		meta_uncharge(TSB(i), strlen(ti->target));
	while (ti->xattr) {
		struct tmpfs_xattr *x = ti->xattr;

		ti->xattr = x->next;
		meta_uncharge(TSB(i), xattr_cost(x));
		free(x->name);
		free(x);
	}
	tmpfs_content_free(ti);
	tmpfs_dir_free(ti->dir);
	free(ti->target);
	free(ti);
	inodes_add(TSB(i), -1);
}

static void dir_changed(struct inode *dir, int entries)
{
	dir->mtime = dir->ctime = ktime_now();
	dir->size += (uint64_t)(int64_t)(entries * 20);
}

static int tmpfs_lookup(struct inode *dir, const char *name, struct inode **out)
{
	struct tmpfs_dent *e = tmpfs_dir_find(TI(dir)->dir, name);

	if (!e)
		return -ENOENT;
	*out = inode_get(e->inode);
	return 0;
}

/* A new inode under NAME. I's reference is the caller's, given out on success. */
static int add_new(struct inode *dir, const char *name, struct inode *i, struct inode **out)
{
	int r = tmpfs_dir_add(TI(dir)->dir, name, i);

	if (r < 0) {
		inode_put(i);
		return r;
	}
	if (S_ISDIR(i->mode)) {
		dir->nlink++;
		TI(i)->dir->parent_ino = dir->ino;
	}
	dir_changed(dir, 1);
	*out = i;
	return 0;
}

static int tmpfs_mknod(struct inode *dir, const char *name, uint32_t mode, uint64_t rdev, struct inode **out)
{
	struct inode *i = tmpfs_inode_new(dir->sb, dir, mode);

	if (!i)
		return -ENOSPC;
	i->rdev = rdev;
	return add_new(dir, name, i, out);
}

static int tmpfs_create(struct inode *dir, const char *name, uint32_t mode, struct inode **out)
{
	return tmpfs_mknod(dir, name, mode, 0, out);
}

static int tmpfs_symlink(struct inode *dir, const char *name, const char *target, struct inode **out)
{
	struct inode *i = tmpfs_inode_new(dir->sb, dir, S_IFLNK | 0777);

	if (!i)
		return -ENOSPC;
	if (meta_charge(TSB(i), strlen(target)) < 0) {
		inode_put(i);
		return -ENOSPC;
	}
	TI(i)->target = strdup(target);
	if (!TI(i)->target) {
		meta_uncharge(TSB(i), strlen(target));
		inode_put(i);
		return -ENOMEM;
	}
	i->size = strlen(target);
	return add_new(dir, name, i, out);
}

static int tmpfs_tmpfile(struct inode *dir, uint32_t mode, struct inode **out)
{
	struct inode *i = tmpfs_inode_new(dir->sb, dir, mode);

	if (!i)
		return -ENOSPC;
	i->nlink = 0;
	*out = i;
	return 0;
}

static int tmpfs_link(struct inode *dir, const char *name, struct inode *target)
{
	struct tmpfs_sb *ts = TSB(dir);
	int r;

	if (target->nlink && inodes_full(ts))
		return -ENOSPC;
	r = tmpfs_dir_add(TI(dir)->dir, name, target);
	if (r < 0)
		return r;
	if (target->nlink)
		inodes_add(ts, 1);
	target->nlink++;
	target->ctime = ktime_now();
	dir_changed(dir, 1);
	return 0;
}

static int tmpfs_unlink(struct inode *dir, const char *name, struct inode *victim)
{
	struct tmpfs_dent *e = tmpfs_dir_find(TI(dir)->dir, name);

	if (!e)
		return -ENOENT;
	link_dropped(e->inode);
	e->inode->ctime = ktime_now();
	tmpfs_dir_del(TI(dir)->dir, e);
	dir_changed(dir, -1);
	return 0;
}

static int tmpfs_rmdir(struct inode *dir, const char *name, struct inode *victim)
{
	struct tmpfs_dent *e = tmpfs_dir_find(TI(dir)->dir, name);

	if (!e)
		return -ENOENT;
	if (!S_ISDIR(e->inode->mode))
		return -ENOTDIR;
	if (TI(e->inode)->dir->count)
		return -ENOTEMPTY;
	e->inode->nlink = 0;
	tmpfs_dir_del(TI(dir)->dir, e);
	dir->nlink--;
	dir_changed(dir, -1);
	return 0;
}

static int tmpfs_rename(struct inode *odir, const char *oname, struct inode *what, struct inode *ndir,
			const char *nname, struct inode *target, unsigned flags)
{
	struct tmpfs_dent *oe = tmpfs_dir_find(TI(odir)->dir, oname), *ne = tmpfs_dir_find(TI(ndir)->dir, nname);
	int r;

	if (!oe)
		return -ENOENT;
	if (flags & ~(RENAME_NOREPLACE | RENAME_EXCHANGE))
		return -EINVAL;
	if (flags & RENAME_EXCHANGE) {
		if (!ne)
			return -ENOENT;
		struct inode *a = oe->inode, *b = ne->inode;

		oe->inode = b;
		ne->inode = a;
		if (S_ISDIR(a->mode) != S_ISDIR(b->mode)) {
			int d = S_ISDIR(a->mode) ? 1 : -1;

			ndir->nlink += (uint32_t)d;
			odir->nlink -= (uint32_t)d;
		}
		if (S_ISDIR(a->mode))
			TI(a)->dir->parent_ino = ndir->ino;
		if (S_ISDIR(b->mode))
			TI(b)->dir->parent_ino = odir->ino;
		a->ctime = b->ctime = ktime_now();
		dir_changed(odir, 0);
		dir_changed(ndir, 0);
		return 0;
	}
	if (ne && (flags & RENAME_NOREPLACE))
		return -EEXIST;
	bool is_dir = S_ISDIR(oe->inode->mode);
	if (ne && S_ISDIR(ne->inode->mode) && TI(ne->inode)->dir->count)
		return -ENOTEMPTY;
	if (!ne) {
		r = tmpfs_dir_add(TI(ndir)->dir, nname, oe->inode);
		if (r < 0)
			return r;
		oe = tmpfs_dir_find(TI(odir)->dir, oname);
		dir_changed(ndir, 1);
		if (is_dir)
			ndir->nlink++;
	} else {
		struct inode *old = ne->inode;

		ne->inode = inode_get(oe->inode);
		if (S_ISDIR(old->mode))
			old->nlink = 0;
		else
			link_dropped(old);
		if (is_dir && !S_ISDIR(old->mode))
			ndir->nlink++;
		else if (!is_dir && S_ISDIR(old->mode))
			ndir->nlink--;
		old->ctime = ktime_now();
		inode_put(old);
		dir_changed(ndir, 0);
	}
	if (is_dir) {
		odir->nlink--;
		TI(oe->inode)->dir->parent_ino = ndir->ino;
	}
	oe->inode->ctime = ktime_now();
	tmpfs_dir_del(TI(odir)->dir, oe);
	dir_changed(odir, -1);
	return 0;
}

static long tmpfs_readlink(struct inode *i, char *buf, size_t size)
{
	size_t n = MIN(size, i->size);

	if (!TI(i)->target)
		return -EINVAL;
	memcpy(buf, TI(i)->target, n);
	return (long)n;
}

static int tmpfs_getattr(struct inode *i, struct kstat *st)
{
	inode_getattr_generic(i, st);
	st->blocks = S_ISREG(i->mode) ? TI(i)->pages * (GUEST_PAGE_SIZE / 512) : 0;
	return 0;
}

/* immutable, append-only, nodump, noatime (SHMEM_FL_USER_MODIFIABLE) */
static int tmpfs_setflags(struct inode *i, uint32_t flags)
{
	if (flags & ~0xf0u)
		return -EOPNOTSUPP;
	i->fsflags = flags;
	i->ctime = ktime_now();
	return 0;
}

static int tmpfs_setattr(struct inode *i, const struct iattr *a)
{
	if (a->valid & ATTR_SIZE) {
		int r;

		if (!S_ISREG(i->mode))
			return S_ISDIR(i->mode) ? -EISDIR : -EINVAL;
		if (a->size < i->size && (TI(i)->seals & F_SEAL_SHRINK))
			return -EPERM;
		if (a->size > i->size && (TI(i)->seals & F_SEAL_GROW))
			return -EPERM;
		r = tmpfs_resize(TI(i), a->size);
		if (r < 0)
			return r;
		i->mtime = ktime_now();
	}
	inode_apply_attr(i, a);
	return 0;
}

/* --- extended attributes: short lists --- */

static struct tmpfs_xattr **xattr_find(struct inode *i, const char *name)
{
	struct tmpfs_xattr **p = &TI(i)->xattr;

	while (*p && strcmp((*p)->name, name))
		p = &(*p)->next;
	return p;
}

static long tmpfs_getxattr(struct inode *i, const char *name, void *buf, size_t size)
{
	struct tmpfs_xattr *x = *xattr_find(i, name);

	if (!x)
		return -ENODATA;
	if (size) {
		if (x->size > size)
			return -ERANGE;
		memcpy(buf, x->name + strlen(x->name) + 1, x->size);
	}
	return (long)x->size;
}

static int tmpfs_removexattr(struct inode *i, const char *name)
{
	struct tmpfs_xattr **p = xattr_find(i, name), *x = *p;

	if (!x)
		return -ENODATA;
	*p = x->next;
	meta_uncharge(TSB(i), xattr_cost(x));
	free(x->name);
	free(x);
	i->ctime = ktime_now();
	return 0;
}

static int tmpfs_setxattr(struct inode *i, const char *name, const void *buf, size_t size, int flags)
{
	struct tmpfs_xattr **p = xattr_find(i, name), *x;
	size_t total = size, n = strlen(name) + 1;

	if (*p && (flags & XATTR_CREATE))
		return -EEXIST;
	if (!*p && (flags & XATTR_REPLACE))
		return -ENODATA;
	for (x = TI(i)->xattr; x; x = x->next)
		total += x->size + strlen(x->name) + sizeof(*x);
	if (total > XATTR_TOTAL_MAX)
		return -ENOSPC;
	if (meta_charge(TSB(i), sizeof(*x) + n - 1 + size) < 0)
		return -ENOSPC;
	x = calloc(1, sizeof(*x));
	if (!x || !(x->name = malloc(n + size))) {
		free(x);
		meta_uncharge(TSB(i), sizeof(*x) + n - 1 + size);
		return -ENOMEM;
	}
	memcpy(x->name, name, n);
	memcpy(x->name + n, buf, size);
	x->size = size;
	if (*p)
		tmpfs_removexattr(i, name);
	x->next = TI(i)->xattr;
	TI(i)->xattr = x;
	i->ctime = ktime_now();
	return 0;
}

static long tmpfs_listxattr(struct inode *i, char *buf, size_t size)
{
	size_t used = 0;

	for (struct tmpfs_xattr *x = TI(i)->xattr; x; x = x->next) {
		size_t n = strlen(x->name) + 1;

		if (size) {
			if (used + n > size)
				return -ERANGE;
			memcpy(buf + used, x->name, n);
		}
		used += n;
	}
	return (long)used;
}

const struct inode_ops tmpfs_inode_ops = {
	.lookup = tmpfs_lookup, .create = tmpfs_create, .mkdir = tmpfs_create, .symlink = tmpfs_symlink,
	.mknod = tmpfs_mknod, .link = tmpfs_link, .unlink = tmpfs_unlink, .rmdir = tmpfs_rmdir,
	.rename = tmpfs_rename, .readlink = tmpfs_readlink, .getattr = tmpfs_getattr, .setattr = tmpfs_setattr,
	.setflags = tmpfs_setflags,
	.getxattr = tmpfs_getxattr, .setxattr = tmpfs_setxattr, .listxattr = tmpfs_listxattr,
	.removexattr = tmpfs_removexattr, .tmpfile = tmpfs_tmpfile, .evict = tmpfs_evict,
};

static int tmpfs_statfs(struct superblock *sb, struct kstatfs *st)
{
	struct tmpfs_sb *ts = sb->priv;

	tmpfs_recount(ts);
	*st = (struct kstatfs){.type = TMPFS_MAGIC, .bsize = GUEST_PAGE_SIZE, .namelen = NAME_MAX};
	if (ts->max_pages) {
		st->blocks = ts->max_pages;
		st->bfree = st->bavail = ts->max_pages - MIN(ts->max_pages, ts->used_pages);
	}
	if (ts->max_inodes) {
		st->files = ts->max_inodes;
		st->ffree = ts->max_inodes - ts->used_inodes;
	}
	return 0;
}

static void tmpfs_destroy(struct superblock *sb)
{
	free(sb->priv);
}

static const struct super_ops tmpfs_super_ops = {.statfs = tmpfs_statfs, .destroy = tmpfs_destroy};

struct superblock *tmpfs_new(uint64_t max_bytes, uint64_t max_inodes)
{
	struct superblock *sb = super_new("tmpfs", &tmpfs_super_ops);
	struct tmpfs_sb *ts = sb ? calloc(1, sizeof(*ts)) : NULL;
	struct inode *root;

	if (!ts) {
		super_put(sb);
		return NULL;
	}
	ts->max_pages = max_bytes ? MAX(max_bytes / GUEST_PAGE_SIZE, 1) : 0;
	/* Inodes live in the supervisor's memory: without a limit of their own they follow the one of bytes. */
	ts->max_inodes = max_inodes || !ts->max_pages ? max_inodes : MAX(ts->max_pages / 2, 4096);
	ts->max_meta = ts->max_inodes * 512;
	list_init(&ts->mapped);
	sb->priv = ts;
	root = tmpfs_inode_new(sb, NULL, S_IFDIR | 0755);
	if (root) {
		root->uid = root->gid = 0;
		TI(root)->dir->parent_ino = root->ino;
		sb->root = dentry_root(sb, root);
	}
	if (!sb->root) {
		super_put(sb);
		return NULL;
	}
	return sb;
}
