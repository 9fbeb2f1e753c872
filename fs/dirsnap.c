/*
 * A directory as it was when it was opened (or rewound): one packed block of names. Offsets are entry numbers, so a
 * reader can stop and go on, and seek, while the directory changes below. "." and ".." are the caller's to add.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "fs/vfs.h"

struct entry {
	uint64_t ino;
	uint32_t name, hash, next; /* offset of the name; chain: index + 1 */
	uint8_t type;
};
struct dirsnap {
	struct entry *e;
	size_t count, cap;
	char *names;
	size_t used, size;
	uint32_t *bucket;
	size_t buckets;
};

struct dirsnap *dirsnap_new(void)
{
	return calloc(1, sizeof(struct dirsnap));
}

void dirsnap_free(struct dirsnap *s)
{
	if (!s)
		return;
	free(s->e);
	free(s->names);
	free(s->bucket);
	free(s);
}

static uint32_t hash(const char *s)
{
	uint32_t h = 2166136261u;

	while (*s)
		h = (h ^ (unsigned char)*s++) * 16777619u;
	return h;
}

static int grow(struct dirsnap *s)
{
	size_t cap = s->cap ? s->cap * 2 : 32;
	struct entry *e = realloc(s->e, cap * sizeof(*e));

	if (!e)
		return -ENOMEM;
	s->e = e;
	uint32_t *b = calloc(cap, sizeof(*b));
	if (!b)
		return -ENOMEM;
	s->cap = cap;
	free(s->bucket);
	s->bucket = b;
	s->buckets = cap;
	for (size_t i = 0; i < s->count; i++) {
		e[i].next = b[e[i].hash % cap];
		b[e[i].hash % cap] = (uint32_t)i + 1;
	}
	return 0;
}

int dirsnap_add(struct dirsnap *s, const char *name, uint64_t ino, unsigned type)
{
	size_t n = strlen(name) + 1;

	if (s->count == s->cap && grow(s) < 0)
		return -ENOMEM;
	if (s->used + n > s->size) {
		size_t size = s->size ? s->size * 2 : 1024;
		char *p = size < UINT32_MAX ? realloc(s->names, size) : NULL;

		if (!p)
			return -ENOMEM;
		s->names = p;
		s->size = size;
	}
	memcpy(s->names + s->used, name, n);
	struct entry *e = &s->e[s->count];
	*e = (struct entry){.ino = ino, .name = (uint32_t)s->used, .hash = hash(name), .type = (uint8_t)type};
	e->next = s->bucket[e->hash % s->buckets];
	s->bucket[e->hash % s->buckets] = (uint32_t)++s->count;
	s->used += n;
	return 0;
}

bool dirsnap_has(const struct dirsnap *s, const char *name)
{
	uint32_t h = hash(name);

	if (!s->buckets)
		return false;
	for (uint32_t i = s->bucket[h % s->buckets]; i; i = s->e[i - 1].next)
		if (s->e[i - 1].hash == h && !strcmp(s->names + s->e[i - 1].name, name))
			return true;
	return false;
}

void dirsnap_emit(const struct dirsnap *s, struct file *f, struct dir_emit *d)
{
	while (f->pos < s->count) {
		const struct entry *e = &s->e[f->pos];
		const char *name = s->names + e->name;

		if (!d->emit(d, name, strlen(name), e->ino, e->type, f->pos + 1))
			return;
		f->pos++;
	}
}

/* The file operations that every file system with snapshots shares; f->priv is the snapshot. */
void dirsnap_release(struct file *f)
{
	dirsnap_free(f->priv);
}
int64_t dirsnap_llseek(struct file *f, int64_t off, int whence)
{
	return llseek_size(f, off, whence, INT32_MAX);
}
