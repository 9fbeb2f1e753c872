/*
 * The dentry cache: names found (or found absent) once are found again by hash. A dentry in use is counted; one that
 * nobody uses stays on an LRU list of bounded length, still holding its parent and inode.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "fs/vfs.h"
#include "sentry/base/log.h"

#define BUCKETS 16384u
#define LRU_MAX 16384u
static struct list buckets[BUCKETS]; /* a zero head is an empty list: pages stay untouched until used */
static struct list lru = LIST_INIT(lru);
static unsigned lru_count;

static uint32_t hash_name(const struct dentry *parent, const char *name, size_t *size)
{
	uint64_t h = (uintptr_t)parent * 0x9e3779b97f4a7c15ull;
	const char *p = name;

	for (; *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3ull;
	*size = (size_t)(p - name);
	return (uint32_t)(h ^ (h >> 32));
}

static struct list *bucket(uint32_t hash)
{
	struct list *b = &buckets[hash % BUCKETS];

	if (!b->next)
		list_init(b);
	return b;
}

static struct dentry *dentry_new(struct dentry *parent, const char *name, size_t size)
{
	struct dentry *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->name = malloc(size + 1);
	if (!d->name) {
		free(d);
		return NULL;
	}
	memcpy(d->name, name, size);
	d->name[size] = 0;
	d->name_size = (uint16_t)size;
	d->refs = 1;
	list_init(&d->children);
	list_init(&d->sibling);
	list_init(&d->lru);
	list_init(&d->hash);
	list_init(&d->mounts);
	d->parent = d;
	if (parent) {
		d->parent = dentry_get(parent);
		d->sb = parent->sb;
		d->nocache = parent->nocache;
		list_add(&parent->children, &d->sibling);
	}
	return d;
}

struct dentry *dentry_root(struct superblock *sb, struct inode *root)
{
	struct dentry *d = root ? dentry_new(NULL, "/", 1) : NULL;

	if (!d) {
		inode_put(root);
		return NULL;
	}
	d->sb = sb;
	d->inode = root;
	return d;
}

struct dentry *dentry_anon(struct inode *inode, const char *name)
{
	struct dentry *d = dentry_new(NULL, name, strlen(name));

	if (!d)
		return NULL;
	d->sb = inode->sb;
	d->inode = inode_get(inode);
	return d;
}

struct dentry *dentry_get(struct dentry *d)
{
	if (d->refs++ == 0) {
		list_del(&d->lru);
		lru_count--;
	}
	return d;
}

/* Frees D (no references); returns the parent whose reference D held, or NULL. */
static struct dentry *dentry_free(struct dentry *d)
{
	struct dentry *parent = d->parent == d ? NULL : d->parent;

	list_del(&d->hash);
	list_del(&d->sibling);
	inode_put(d->inode);
	free(d->name);
	free(d);
	return parent;
}

void dentry_put(struct dentry *d)
{
	while (d && --d->refs == 0) {
		if (!list_empty(&d->hash) && !d->nocache) {
			list_add(&lru, &d->lru);
			if (lru_count++ < LRU_MAX)
				return;
			d = list_entry(lru.prev, struct dentry, lru);
			list_del(&d->lru);
			lru_count--;
		}
		d = dentry_free(d);
	}
}

void dentry_prune_super(struct superblock *sb)
{
	bool again = true;

	while (again) {
		struct list *p = lru.next;

		again = false;
		while (p != &lru) {
			struct dentry *d = list_entry(p, struct dentry, lru), *parent;

			p = p->next;
			if (d->sb != sb)
				continue;
			list_del(&d->lru);
			lru_count--;
			list_del(&d->hash);
			parent = dentry_free(d);
			dentry_put(parent); /* goes to the front of the list: seen in the next round */
			again = true;
		}
	}
}

static struct dentry *cache_find(struct dentry *parent, const char *name, size_t size, uint32_t hash)
{
	struct list *b = bucket(hash);
	struct dentry *d;

	list_for_each(d, b, hash)
		if (d->name_hash == hash && d->parent == parent && d->name_size == size && !memcmp(d->name, name, size))
			return d;
	return NULL;
}

int dentry_lookup(struct dentry *parent, const char *name, struct dentry **out)
{
	size_t size;
	uint32_t hash = hash_name(parent, name, &size);
	struct dentry *d;
	struct inode *inode = NULL;
	int r;

	if (size > 255)
		return -ENAMETOOLONG;
	d = cache_find(parent, name, size, hash);
	if (d && (!parent->nocache || !list_empty(&d->mounts))) {
		*out = dentry_get(d);
		return 0;
	}
	if (!parent->inode || !parent->inode->ops->lookup)
		return -ENOTDIR;
	if (parent->dead)
		return -ENOENT;
	r = parent->inode->ops->lookup(parent->inode, name, &inode);
	if (r < 0 && r != -ENOENT)
		return r;
	if (r < 0)
		inode = NULL;
	d = cache_find(parent, name, size, hash);
	if (d && d->inode == inode && (inode || !parent->nocache)) { /* a living dentry keeps its identity */
		inode_put(inode);
		*out = dentry_get(d);
		return 0;
	}
	if (d)
		list_del(&d->hash);
	d = dentry_new(parent, name, size);
	if (!d) {
		inode_put(inode);
		return -ENOMEM;
	}
	d->inode = inode;
	d->name_hash = hash;
	list_add(bucket(hash), &d->hash);
	*out = d;
	return 0;
}

void dentry_instantiate(struct dentry *d, struct inode *inode)
{
	BUG_ON(d->inode);
	d->inode = inode;
}

void dentry_drop(struct dentry *d)
{
	d->dead = true;
	list_del(&d->hash);
}

static void rehash(struct dentry *d, struct dentry *parent, char *name)
{
	struct dentry *old = d->parent;
	size_t size;

	list_del(&d->hash);
	list_del(&d->sibling);
	d->parent = dentry_get(parent);
	list_add(&parent->children, &d->sibling);
	if (name != d->name)
		free(d->name);
	d->name = name;
	d->name_hash = hash_name(parent, name, &size);
	d->name_size = (uint16_t)size;
	list_add(bucket(d->name_hash), &d->hash);
	dentry_put(old);
}

int dentry_move(struct dentry *d, struct dentry *ndir, const char *nname)
{
	char *name = strdup(nname);
	size_t size;
	struct dentry *stale;

	if (!name)
		return -ENOMEM;
	stale = cache_find(ndir, nname, strlen(nname), hash_name(ndir, nname, &size));
	if (stale && stale != d) {
		if (stale->refs == 0) {
			list_del(&stale->lru);
			lru_count--;
			list_del(&stale->hash);
			dentry_put(dentry_free(stale));
		} else {
			list_del(&stale->hash);
		}
	}
	rehash(d, ndir, name);
	return 0;
}

int dentry_exchange(struct dentry *a, struct dentry *b)
{
	struct dentry *pa = dentry_get(a->parent), *pb = dentry_get(b->parent);
	char *na = a->name, *nb = b->name;

	a->name = b->name = NULL;
	rehash(a, pb, nb);
	rehash(b, pa, na);
	dentry_put(pa);
	dentry_put(pb);
	return 0;
}

void dentry_init(void)
{
	lru_count = 0;
}
