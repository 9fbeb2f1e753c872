/*
 * Superblocks and inodes: life, ownership of new inodes, attributes and permission as Linux's generic_permission.
 * An inode whose last reference goes is evicted from a list, not by recursion: a tree as deep as the guest likes to
 * make it falls apart one inode at a time.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include "fs/vfs.h"
#include "sentry/base/util.h"
#include "sentry/loop.h"
#include "sentry/task/task.h"

static unsigned next_dev = 20;
static struct inode *evict_list;
static bool evicting;

struct ktime ktime_now(void)
{
	uint64_t ns = now_real_ns();

	return (struct ktime){(int64_t)(ns / NSEC_PER_SEC), (uint32_t)(ns % NSEC_PER_SEC)};
}

struct superblock *super_new(const char *fstype, const struct super_ops *ops)
{
	struct superblock *sb = calloc(1, sizeof(*sb));

	if (!sb)
		return NULL;
	unsigned minor = next_dev++;
	sb->refs = 1;
	sb->dev = (minor & 0xff) | ((uint64_t)(minor & ~0xffu) << 12);
	sb->fstype = fstype;
	sb->ops = ops;
	return sb;
}

struct superblock *super_get(struct superblock *sb)
{
	sb->refs++;
	return sb;
}

void super_put(struct superblock *sb)
{
	if (!sb || --sb->refs)
		return;
	if (sb->ops && sb->ops->destroy)
		sb->ops->destroy(sb);
	free(sb);
}

void super_activate(struct superblock *sb)
{
	sb->active++;
}

/* The root dentry's inode holds a reference on the superblock: without this cut the cycle would never end. */
void super_deactivate(struct superblock *sb)
{
	if (--sb->active)
		return;
	super_get(sb);
	dentry_prune_super(sb);
	struct dentry *root = sb->root;
	sb->root = NULL;
	dentry_put(root);
	super_put(sb);
}

/* An inode without operations of its own (anonymous ones): callers ask for members, never for the table. */
static const struct inode_ops no_ops;

struct inode *inode_new(struct superblock *sb, uint32_t mode)
{
	struct inode *i = calloc(1, sizeof(*i));

	if (!i)
		return NULL;
	i->refs = 1;
	i->sb = super_get(sb);
	i->ino = ++sb->next_ino;
	i->mode = mode;
	i->nlink = 1;
	i->ops = &no_ops;
	i->atime = i->mtime = i->ctime = i->btime = ktime_now();
	list_init(&i->locks);
	waitq_init(&i->lock_q);
	list_init(&i->watches);
	return i;
}

struct inode *inode_get(struct inode *i)
{
	i->refs++;
	return i;
}

void inode_put(struct inode *i)
{
	if (!i || --i->refs)
		return;
	i->evict_next = evict_list;
	evict_list = i;
	if (evicting)
		return;
	evicting = true;
	while ((i = evict_list)) {
		struct superblock *sb = i->sb;

		evict_list = i->evict_next;
		lock_inode_gone(i);
		if (i->ops && i->ops->evict)
			i->ops->evict(i);
		free(i);
		super_put(sb);
	}
	evicting = false;
}

void inode_getattr_generic(struct inode *i, struct kstat *st)
{
	*st = (struct kstat){
		.ino = i->ino, .size = i->size,
		.blocks = i->host_blocks ? i->host_blocks : S_ISLNK(i->mode) ? 0 : PAGE_UP(i->size) / 512,
		.mode = i->mode, .nlink = i->nlink, .uid = i->uid, .gid = i->gid, .blksize = 4096,
		.dev = i->sb->dev, .rdev = i->rdev,
		.atime = i->atime, .mtime = i->mtime, .ctime = i->ctime, .btime = i->btime,
	};
}

/* fs/namei.c generic_permission: the class that applies decides alone; capabilities come after it. */
int inode_permission_generic(struct inode *i, int mask)
{
	const struct cred *c = current ? current->cred : NULL;
	uint32_t mode = i->mode;

	if (!c)
		return 0;
	if (c->fsuid == i->uid)
		mode >>= 6;
	else if (cred_in_group(c, i->gid))
		mode >>= 3;
	if (!(mask & ~mode & 7))
		return 0;
	if (S_ISDIR(i->mode)) {
		if (!(mask & MAY_WRITE) && cred_has(c, CAP_DAC_READ_SEARCH))
			return 0;
		return cred_has(c, CAP_DAC_OVERRIDE) ? 0 : -EACCES;
	}
	if (mask == MAY_READ && cred_has(c, CAP_DAC_READ_SEARCH))
		return 0;
	if ((!(mask & MAY_EXEC) || (i->mode & 0111)) && cred_has(c, CAP_DAC_OVERRIDE))
		return 0;
	return -EACCES;
}

int inode_permission(struct inode *i, int mask)
{
	if ((mask & MAY_WRITE) && i->sb->readonly && (S_ISREG(i->mode) || S_ISDIR(i->mode) || S_ISLNK(i->mode)))
		return -EROFS;
	if ((mask & MAY_WRITE) && (i->fsflags & INODE_IMMUTABLE))
		return -EPERM;
	if (i->ops && i->ops->permission)
		return i->ops->permission(i, mask);
	return inode_permission_generic(i, mask);
}

bool inode_owner_or_capable(const struct inode *i)
{
	return !current || current->cred->fsuid == i->uid || capable(CAP_FOWNER);
}

void inode_init_owner(struct inode *i, const struct inode *dir, uint32_t mode)
{
	const struct cred *c = current ? current->cred : NULL;

	i->uid = c ? c->fsuid : 0;
	i->gid = c ? c->fsgid : 0;
	if (dir && (dir->mode & S_ISGID)) {
		i->gid = dir->gid;
		if (S_ISDIR(mode))
			mode |= S_ISGID;
		else if ((mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && c &&
			 !cred_in_group(c, i->gid) && !cred_has(c, CAP_FSETID))
			mode &= ~S_ISGID;
	}
	i->mode = mode;
}

void inode_apply_attr(struct inode *i, const struct iattr *a)
{
	if (a->valid & ATTR_UID)
		i->uid = a->uid;
	if (a->valid & ATTR_GID)
		i->gid = a->gid;
	if (a->valid & ATTR_MODE)
		i->mode = (i->mode & S_IFMT) | (a->mode & 07777);
	if (a->valid & ATTR_ATIME)
		i->atime = a->atime;
	if (a->valid & ATTR_MTIME)
		i->mtime = a->mtime;
	i->ctime = (a->valid & ATTR_CTIME) ? a->ctime : ktime_now();
}

/* setattr_should_drop_suidgid of Linux 6.2: set-group-ID without group execution stays only for a member. */
uint32_t inode_privs_to_drop(const struct inode *i)
{
	uint32_t drop = i->mode & S_ISUID;

	if ((i->mode & S_ISGID) &&
	    ((i->mode & S_IXGRP) ||
	     (current && !cred_in_group(current->cred, i->gid) && !cred_has(current->cred, CAP_FSETID))))
		drop |= S_ISGID;
	return drop;
}

int inode_deny_write(struct inode *i)
{
	if (i->write_count > 0)
		return -ETXTBSY;
	i->write_count--;
	return 0;
}

void inode_allow_write(struct inode *i)
{
	if (i->write_count < 0)
		i->write_count++;
}
