/*
 * Names of a tmpfs directory: a hash for lookups and an array in order of creation for getdents, whose offsets stay
 * valid for as long as the directory lives. Removed entries leave holes that are squeezed out when they are half.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "fs/tmpfs/tmpfs.h"

static uint32_t hash_name(const char *s)
{
	uint64_t h = 0xcbf29ce484222325ull;

	while (*s)
		h = (h ^ (unsigned char)*s++) * 0x100000001b3ull;
	return (uint32_t)(h ^ h >> 32);
}

struct tmpfs_dent *tmpfs_dir_find(const struct tmpfs_dir *d, const char *name)
{
	uint32_t h = hash_name(name);

	if (!d->buckets)
		return NULL;
	for (struct tmpfs_dent *e = d->bucket[h & (d->buckets - 1)]; e; e = e->next)
		if (e->hash == h && !strcmp(e->name, name))
			return e;
	return NULL;
}

size_t tmpfs_dir_from(const struct tmpfs_dir *d, uint64_t pos)
{
	size_t lo = 0, hi = d->slots;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (d->slot[mid].pos < pos)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int reserve(struct tmpfs_dir *d)
{
	if (d->slots == d->cap) {
		size_t cap = d->cap ? d->cap * 2 : 8;
		struct tmpfs_slot *s = realloc(d->slot, cap * sizeof(*s));

		if (!s)
			return -ENOMEM;
		d->slot = s;
		d->cap = cap;
	}
	if (d->count >= d->buckets) {
		size_t n = d->buckets ? d->buckets * 2 : 8;
		struct tmpfs_dent **b = calloc(n, sizeof(*b));

		if (!b)
			return -ENOMEM;
		for (size_t i = 0; i < d->slots; i++) {
			struct tmpfs_dent *e = d->slot[i].d;

			if (!e)
				continue;
			e->next = b[e->hash & (n - 1)];
			b[e->hash & (n - 1)] = e;
		}
		free(d->bucket);
		d->bucket = b;
		d->buckets = n;
	}
	return 0;
}

int tmpfs_dir_add(struct tmpfs_dir *d, const char *name, struct inode *inode)
{
	size_t n = strlen(name);
	struct tmpfs_dent *e = reserve(d) < 0 ? NULL : malloc(sizeof(*e) + n + 1);

	if (!e)
		return -ENOMEM;
	memcpy(e->name, name, n + 1);
	e->name_size = (uint8_t)n;
	e->hash = hash_name(name);
	e->inode = inode_get(inode);
	if (d->next_pos < 2) /* 0 and 1 are "." and ".." */
		d->next_pos = 2;
	e->pos = d->next_pos++;
	e->next = d->bucket[e->hash & (d->buckets - 1)];
	d->bucket[e->hash & (d->buckets - 1)] = e;
	d->slot[d->slots++] = (struct tmpfs_slot){e->pos, e};
	d->count++;
	return 0;
}

void tmpfs_dir_del(struct tmpfs_dir *d, struct tmpfs_dent *e)
{
	struct tmpfs_dent **pp = &d->bucket[e->hash & (d->buckets - 1)];

	while (*pp != e)
		pp = &(*pp)->next;
	*pp = e->next;
	d->slot[tmpfs_dir_from(d, e->pos)].d = NULL;
	d->count--;
	if (d->slots > 16 && d->count < d->slots / 2) {
		size_t n = 0;

		for (size_t i = 0; i < d->slots; i++)
			if (d->slot[i].d)
				d->slot[n++] = d->slot[i];
		d->slots = n;
	}
	inode_put(e->inode);
	free(e);
}

void tmpfs_dir_free(struct tmpfs_dir *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->slots; i++)
		if (d->slot[i].d) {
			inode_put(d->slot[i].d->inode);
			free(d->slot[i].d);
		}
	free(d->slot);
	free(d->bucket);
	free(d);
}
