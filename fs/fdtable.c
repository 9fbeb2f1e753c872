/* Descriptor tables: numbers to open file descriptions. The lowest free number is found from a hint. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "fs/vfs.h"
#include "sentry/base/util.h"
#include "sentry/task/task.h"

#define FD_MAX (1u << 20)

static int fdtable_grow(struct fdtable *t, unsigned need)
{
	unsigned cap = t->cap ? t->cap : 64;

	while (cap < need)
		cap *= 2;
	if (cap == t->cap)
		return 0;
	struct file **slot = realloc(t->slot, cap * sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	t->slot = slot;
	uint64_t *bits = realloc(t->cloexec, cap / 8);
	if (!bits)
		return -ENOMEM;
	t->cloexec = bits;
	memset(slot + t->cap, 0, (cap - t->cap) * sizeof(*slot));
	memset((char *)bits + t->cap / 8, 0, (cap - t->cap) / 8);
	t->cap = cap;
	return 0;
}

struct fdtable *fdtable_new(void)
{
	struct fdtable *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->refs = 1;
	if (fdtable_grow(t, 64) < 0) {
		free(t->slot);
		free(t);
		return NULL;
	}
	return t;
}

struct fdtable *fdtable_dup(struct fdtable *old)
{
	struct fdtable *t = fdtable_new();

	if (!t || fdtable_grow(t, old->cap) < 0) {
		fdtable_put(t);
		return NULL;
	}
	for (unsigned fd = 0; fd < old->cap; fd++)
		if (old->slot[fd])
			t->slot[fd] = file_get(old->slot[fd]);
	memcpy(t->cloexec, old->cloexec, old->cap / 8);
	t->next_hint = old->next_hint;
	return t;
}

struct fdtable *fdtable_get(struct fdtable *t)
{
	t->refs++;
	return t;
}

/* Takes FD out of T and drops the reference, as close(2) does. */
static int slot_close(struct fdtable *t, unsigned fd)
{
	struct file *f = t->slot[fd];
	int r = 0;

	t->slot[fd] = NULL;
	t->cloexec[fd / 64] &= ~(1ull << (fd % 64));
	if (fd < t->next_hint)
		t->next_hint = fd;
	if (f->ops && f->ops->flush)
		r = f->ops->flush(f);
	if (f->inode && !list_empty(&f->inode->locks))
		lock_release_posix(f->inode, t);
	file_put(f);
	return r;
}

void fdtable_put(struct fdtable *t)
{
	if (!t || --t->refs)
		return;
	for (unsigned fd = 0; fd < t->cap; fd++)
		if (t->slot[fd])
			slot_close(t, fd);
	free(t->slot);
	free(t->cloexec);
	free(t);
}

void fdtable_close_on_exec(struct fdtable *t)
{
	for (unsigned w = 0; w < t->cap / 64; w++)
		while (t->cloexec[w]) {
			unsigned fd = w * 64 + (unsigned)__builtin_ctzll(t->cloexec[w]);

			if (t->slot[fd])
				slot_close(t, fd);
			t->cloexec[w] &= ~(1ull << (fd % 64));
		}
}

int fd_install(struct file *file, int min, bool cloexec)
{
	struct fdtable *t = current->files;
	uint64_t limit = MIN(current->tg->rlim[RLIMIT_NOFILE].cur, (uint64_t)FD_MAX);
	unsigned fd = (unsigned)min;

	if (fd < t->next_hint)
		fd = t->next_hint;
	while (fd < t->cap && t->slot[fd])
		fd++;
	if (fd >= limit)
		return -EMFILE;
	if (fd >= t->cap && fdtable_grow(t, fd + 1) < 0)
		return -ENOMEM;
	t->slot[fd] = file;
	if (cloexec)
		t->cloexec[fd / 64] |= 1ull << (fd % 64);
	else
		t->cloexec[fd / 64] &= ~(1ull << (fd % 64));
	if ((unsigned)min <= t->next_hint)
		t->next_hint = fd + 1;
	return (int)fd;
}

struct file *fdtable_file(struct fdtable *t, unsigned fd)
{
	return t && fd < t->cap && t->slot[fd] ? file_get(t->slot[fd]) : NULL;
}

struct file *fd_get(int fd)
{
	return fd < 0 ? NULL : fdtable_file(current->files, (unsigned)fd);
}

struct file *fd_get_nopath(int fd)
{
	struct fdtable *t = current->files;

	if (fd < 0 || (unsigned)fd >= t->cap || !t->slot[fd] || (t->slot[fd]->flags & O_PATH))
		return NULL;
	return file_get(t->slot[fd]);
}

int fd_close(int fd)
{
	struct fdtable *t = current->files;

	if (fd < 0 || (unsigned)fd >= t->cap || !t->slot[fd])
		return -EBADF;
	return slot_close(t, (unsigned)fd);
}

/* dup2, dup3: FILE (counted, taken over on success) at exactly FD, closing what was there. */
int fd_install_at(struct file *file, unsigned fd, bool cloexec)
{
	struct fdtable *t = current->files;

	if (fd >= MIN(current->tg->rlim[RLIMIT_NOFILE].cur, (uint64_t)FD_MAX))
		return -EBADF;
	if (fd >= t->cap && fdtable_grow(t, fd + 1) < 0)
		return -ENOMEM;
	if (t->slot[fd])
		slot_close(t, fd);
	t->slot[fd] = file;
	if (cloexec)
		t->cloexec[fd / 64] |= 1ull << (fd % 64);
	return (int)fd;
}
