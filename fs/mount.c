/*
 * Mounts: a tree of superblocks (or subtrees, for binds) hung on dentries. The walk asks mount_cross() at each step;
 * a mount is found through the list on its mountpoint. One mount namespace: ward has a single view per sandbox.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include "fs/vfs.h"
#include "sentry/base/log.h"

#define MOUNT_MAX 1000u
#define SETTABLE (MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_NOATIME | MS_NODIRATIME | MS_RELATIME)

struct list mount_list = LIST_INIT(mount_list);
struct path vfs_root;
static int next_id = 21;
static unsigned mount_total;

struct mount *mount_get(struct mount *m)
{
	m->refs++;
	return m;
}

void mount_put(struct mount *m)
{
	while (m && --m->refs == 0) {
		struct mount *parent = m->parent;

		list_del(&m->node);
		list_del(&m->on_dentry);
		dentry_put(m->mountpoint);
		dentry_put(m->root);
		super_deactivate(m->sb);
		super_put(m->sb);
		free(m->source);
		free(m);
		mount_total--;
		m = parent;
	}
}

void path_get(const struct path *p)
{
	if (p->mnt)
		mount_get(p->mnt);
	if (p->dentry)
		dentry_get(p->dentry);
}

void path_put(struct path *p)
{
	struct mount *m = p->mnt;
	struct dentry *d = p->dentry;

	p->mnt = NULL;
	p->dentry = NULL;
	if (d)
		dentry_put(d);
	if (m)
		mount_put(m);
}

static struct mount *mount_at(const struct mount *parent, const struct dentry *d)
{
	struct mount *m;

	list_for_each(m, &d->mounts, on_dentry)
		if (m->parent == parent)
			return m;
	return NULL;
}

void mount_cross(struct path *p)
{
	struct mount *m;

	while (p->dentry && !list_empty(&p->dentry->mounts) && (m = mount_at(p->mnt, p->dentry))) {
		struct path next = {mount_get(m), dentry_get(m->root)};

		path_put(p);
		*p = next;
	}
}

/* ROOT within SB; AT NULL for the sandbox's root. The list owns the first reference. */
static struct mount *mount_new(struct superblock *sb, struct dentry *root, const struct path *at, unsigned flags,
			       const char *source)
{
	struct mount *m = mount_total < MOUNT_MAX ? calloc(1, sizeof(*m)) : NULL;

	if (!m)
		return NULL;
	m->source = strdup(source ? source : "none");
	if (!m->source) {
		free(m);
		return NULL;
	}
	m->refs = 1;
	m->id = next_id++;
	m->sb = super_get(sb);
	super_activate(sb);
	m->root = dentry_get(root);
	m->flags = flags & SETTABLE;
	list_init(&m->on_dentry);
	if (at) {
		m->parent = mount_get(at->mnt);
		m->mountpoint = dentry_get(at->dentry);
		list_add(&at->dentry->mounts, &m->on_dentry);
	}
	list_add_tail(&mount_list, &m->node);
	mount_total++;
	return m;
}

int mount_add(struct superblock *sb, const struct path *at, unsigned flags, const char *source)
{
	struct path p = {0};
	struct mount *m;

	if (at) {
		p = *at;
		path_get(&p);
		mount_cross(&p);
		if (!p.dentry->inode || p.dentry->dead) {
			path_put(&p);
			return -ENOENT;
		}
		if (S_ISDIR(p.dentry->inode->mode) != S_ISDIR(sb->root->inode->mode)) {
			path_put(&p);
			return -ENOTDIR;
		}
	}
	m = mount_new(sb, sb->root, at ? &p : NULL, flags, source);
	path_put(&p);
	if (!m)
		return -ENOMEM;
	if (!at) {
		path_put(&vfs_root);
		vfs_root.mnt = mount_get(m);
		vfs_root.dentry = dentry_get(m->root);
	}
	return 0;
}

static bool mount_has_children(const struct mount *m)
{
	struct mount *c;

	list_for_each(c, &mount_list, node)
		if (c->parent == m)
			return true;
	return false;
}

/* Out of the tree: no path leads here any more; what is open stays usable until it is put. */
static void mount_detach(struct mount *m)
{
	list_del(&m->node);
	list_del(&m->on_dentry);
	mount_put(m);
}

int mount_remove(const struct path *at, int umount_flags)
{
	struct mount *m = at->mnt, *c;
	bool again = true;

	if (!m || at->dentry != m->root)
		return -EINVAL;
	if (m == vfs_root.mnt)
		return -EBUSY;
	if (!(umount_flags & MNT_DETACH)) {
		/* The list and AT itself hold one each; any other reference is a user. */
		if (mount_has_children(m) || m->refs > 2)
			return -EBUSY;
		mount_detach(m);
		return 0;
	}
	while (again) { /* lazily: the whole subtree, leaves first */
		again = false;
		list_for_each(c, &mount_list, node) {
			struct mount *up = c->parent;

			while (up && up != m)
				up = up->parent;
			if (up && !mount_has_children(c)) {
				mount_detach(c);
				again = true;
				break;
			}
		}
	}
	mount_detach(m);
	return 0;
}

int mount_bind(const struct path *from, const struct path *at, unsigned flags, bool recursive)
{
	struct path p = *at;
	struct mount *m;

	if (!from->mnt || !at->mnt || from->dentry->dead || at->dentry->dead)
		return -EINVAL;
	if (S_ISDIR(from->dentry->inode->mode) != S_ISDIR(at->dentry->inode->mode))
		return -ENOTDIR;
	path_get(&p);
	mount_cross(&p);
	m = mount_new(from->mnt->sb, from->dentry, &p, (flags & SETTABLE) | from->mnt->flags, from->mnt->source);
	path_put(&p);
	if (!m)
		return -ENOMEM;
	if (!recursive)
		return 0;
	/* Copies of the mounts below FROM, each on the same dentry of its copied parent (one level per round). */
	struct list *end = mount_list.prev;
	struct mount *c;

	list_for_each(c, &mount_list, node) {
		struct dentry *d = c->mountpoint;

		if (c->parent == from->mnt && c != m && d) {
			while (d != from->dentry && d != d->parent)
				d = d->parent;
			if (d == from->dentry) {
				struct path q = {m, c->mountpoint};

				if (!mount_new(c->sb, c->root, &q, c->flags, c->source))
					return -ENOMEM;
			}
		}
		if (&c->node == end)
			break;
	}
	return 0;
}

int mount_remount(const struct path *at, unsigned flags)
{
	if (!at->mnt || at->dentry != at->mnt->root)
		return -EINVAL;
	at->mnt->flags = flags & SETTABLE;
	return 0;
}

/* pivot_root(2): NEW_ROOT (a mount's root) becomes "/", the old root is seen at PUT_OLD below it. */
int mount_pivot(const struct path *new_root, const struct path *put_old)
{
	struct mount *n = new_root->mnt, *old = vfs_root.mnt;

	if (!n || new_root->dentry != n->root || n == old || put_old->mnt != n)
		return -EINVAL;
	if (!S_ISDIR(put_old->dentry->inode->mode))
		return -ENOTDIR;
	struct mount *np = n->parent;
	struct dentry *nd = n->mountpoint;

	list_del(&n->on_dentry);
	n->parent = NULL;
	n->mountpoint = NULL;
	old->parent = mount_get(n);
	old->mountpoint = dentry_get(put_old->dentry);
	list_add(&put_old->dentry->mounts, &old->on_dentry);
	mount_put(np);
	dentry_put(nd);
	struct path root = {mount_get(n), dentry_get(n->root)};
	path_put(&vfs_root);
	vfs_root = root;
	return 0;
}
