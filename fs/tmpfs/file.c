/* Open files and directories of tmpfs. Everything works on f->inode, so the overlay can open an upper inode as is. */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fs/tmpfs/tmpfs.h"
#include "sentry/base/util.h"
#include "sentry/mm/mm.h"
#include "sentry/task/task.h"

static long tmpfs_file_read(struct file *f, struct uio *u, uint64_t *pos)
{
	file_accessed(f);
	return tmpfs_read(TI(f->inode), u, pos);
}

static long tmpfs_file_write(struct file *f, struct uio *u, uint64_t *pos)
{
	struct inode *i = f->inode;
	struct tmpfs_inode *ti = TI(i);
	size_t n = u->resid;
	long r;

	if (!n)
		return 0;
	if (f->flags & O_APPEND)
		*pos = i->size;
	if (ti->seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))
		return -EPERM;
	if (ti->seals & F_SEAL_GROW) {
		if (*pos >= i->size)
			return -EPERM;
		n = MIN(n, i->size - *pos);
	}
	r = file_write_limit(*pos, TMPFS_MAX_SIZE, &n);
	if (r < 0)
		return r;
	r = file_remove_privs(f);
	if (r < 0)
		return r;
	r = tmpfs_write(ti, u, pos, n);
	if (r > 0)
		i->mtime = i->ctime = ktime_now();
	return r;
}

static int64_t tmpfs_llseek(struct file *f, int64_t off, int whence)
{
	if (whence == SEEK_DATA || whence == SEEK_HOLE) {
		int64_t r = off < 0 ? -ENXIO : tmpfs_seek(TI(f->inode), (uint64_t)off, whence == SEEK_DATA);

		if (r >= 0)
			f->pos = (uint64_t)r;
		return r;
	}
	return llseek_size(f, off, whence, f->inode->size);
}

static int tmpfs_mmap(struct file *f, int prot, int flags, uint64_t off, uint64_t size, int *hostfd, uint64_t *hostoff)
{
	struct tmpfs_inode *ti = TI(f->inode);
	int r;

	if ((flags & MAP_SHARED) && (prot & PROT_WRITE) && (ti->seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)))
		return -EPERM;
	r = tmpfs_to_memfd(ti);
	if (r < 0)
		return r == -ENOSPC || r == -EMFILE ? -ENOMEM : r;
	if (!ti->mapped) {
		ti->mapped = true;
		list_add(&TSB(f->inode)->mapped, &ti->mapped_node);
	}
	*hostfd = ti->memfd;
	*hostoff = off;
	return 0;
}

static int tmpfs_fallocate(struct file *f, int mode, uint64_t off, uint64_t size)
{
	struct inode *i = f->inode;
	struct tmpfs_inode *ti = TI(i);
	uint64_t end = off + size;
	int r;

	if (mode & ~(FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE))
		return -EOPNOTSUPP;
	if (mode & FALLOC_FL_PUNCH_HOLE) {
		if (!(mode & FALLOC_FL_KEEP_SIZE))
			return -EOPNOTSUPP;
		if (ti->seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))
			return -EPERM;
		r = tmpfs_punch(ti, off, size);
	} else {
		if (end > i->size && (ti->seals & F_SEAL_GROW))
			return -EPERM;
		r = tmpfs_reserve(ti, off, size);
		if (r == 0 && !(mode & FALLOC_FL_KEEP_SIZE) && end > i->size)
			i->size = end;
	}
	if (r == 0)
		i->mtime = i->ctime = ktime_now();
	return r;
}

/* Does any process have I mapped so that it could write to it? Asked for when it is sealed, so all are looked at. */
static bool mapped_writable(const struct inode *i)
{
	struct tgroup *tg;

	for (pid_t from = 0; (tg = tgroup_next(from)); from = tg->pid + 1) {
		struct task *t;

		/* Threads share the mm of one that still has it; a leader may be gone already. */
		list_for_each(t, &tg->tasks, tg_node)
			if (t->mm)
				break;
		if (&t->tg_node == &tg->tasks)
			continue;
		for (struct vma *v = mm_first(t->mm); v; v = vma_next(t->mm, v))
			if (v->file && v->file->inode == i && (v->flags & MAP_SHARED) && v->file->can_write)
				return true;
	}
	return false;
}

static int64_t tmpfs_fcntl(struct file *f, unsigned cmd, uint64_t arg)
{
	struct tmpfs_inode *ti = TI(f->inode);

	switch (cmd) {
	case F_GET_SEALS:
		return ti->seals;
	case F_ADD_SEALS:
		if (!f->can_write)
			return -EPERM;
		if (arg & ~(uint64_t)(F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))
			return -EINVAL;
		if (ti->seals & F_SEAL_SEAL)
			return -EPERM;
		if ((arg & F_SEAL_WRITE) && !(ti->seals & F_SEAL_WRITE) && mapped_writable(f->inode))
			return -EBUSY;
		ti->seals |= (unsigned)arg;
		return 0;
	}
	return -EINVAL;
}

const struct file_ops tmpfs_file_ops = {
	.read = tmpfs_file_read, .write = tmpfs_file_write, .llseek = tmpfs_llseek, .mmap = tmpfs_mmap,
	.fallocate = tmpfs_fallocate, .fcntl = tmpfs_fcntl,
};

static int tmpfs_iterate(struct file *f, struct dir_emit *e)
{
	struct tmpfs_dir *d = TI(f->inode)->dir;

	file_accessed(f);
	if (f->pos == 0) {
		if (!e->emit(e, ".", 1, f->inode->ino, S_IFDIR >> 12, 1))
			return 0;
		f->pos = 1;
	}
	if (f->pos == 1) {
		if (!e->emit(e, "..", 2, d->parent_ino, S_IFDIR >> 12, 2))
			return 0;
		f->pos = 2;
	}
	for (size_t s = tmpfs_dir_from(d, f->pos); s < d->slots; s++) {
		struct tmpfs_dent *t = d->slot[s].d;

		if (t && !e->emit(e, t->name, t->name_size, t->inode->ino, (t->inode->mode & S_IFMT) >> 12, t->pos + 1))
			return 0;
		f->pos = d->slot[s].pos + 1;
	}
	return 0;
}

static int64_t dir_llseek(struct file *f, int64_t off, int whence)
{
	return llseek_size(f, off, whence, TI(f->inode)->dir->next_pos);
}

const struct file_ops tmpfs_dir_ops = {.read = no_dir_read, .iterate = tmpfs_iterate, .llseek = dir_llseek};

/* memfd_create(2): files of an unlimited tmpfs of their own that no mount shows. */
int tmpfs_memfd_new(const char *name, int open_flags, unsigned seals, struct file **out)
{
	static struct superblock *sb;
	char text[300];
	struct inode *i;

	if (!sb)
		sb = tmpfs_new(0, 0);
	i = sb ? tmpfs_inode_new(sb, NULL, S_IFREG | 0777) : NULL;
	if (!i)
		return -ENOMEM;
	i->nlink = 0;
	TI(i)->seals = seals;
	snprintf(text, sizeof(text), "/memfd:%s", name);
	*out = file_anon(i, text, open_flags, &tmpfs_file_ops, NULL);
	if (!*out)
		return -ENOMEM;
	(*out)->path.dentry->dead = true; /* " (deleted)", as Linux shows it */
	(*out)->counted_writer = true;
	i->write_count++;
	return 0;
}
