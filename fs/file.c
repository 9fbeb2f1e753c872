/*
 * Open file descriptions: counted, with generic seeking, limits and kernel-side input and output. The last reference
 * releases what the open took: the file system's state, the writer count, locks, the path.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fs/fown.h"
#include "fs/vfs.h"
#include "sentry/base/util.h"
#include "sentry/task/task.h"

static struct superblock *anon_sb;

struct file *file_get(struct file *f)
{
	f->refs++;
	return f;
}

void file_put(struct file *f)
{
	if (!f || --f->refs)
		return;
	if (!list_empty(&f->epitems))
		epoll_file_gone(f);
	if (f->can_read || f->can_write)
		notify_file(f, f->can_write ? IN_CLOSE_WRITE : IN_CLOSE_NOWRITE);
	if (f->fasync)
		fown_drop(f);
	if (f->inode->leases)
		lease_drop(f);
	if (f->has_locks)
		lock_release_file(f);
	if (f->ops && f->ops->release)
		f->ops->release(f);
	if (f->counted_writer)
		f->inode->write_count--;
	if (f->counted_reader)
		f->inode->read_count--;
	inode_put(f->inode);
	path_put(&f->path);
	cred_put(f->cred);
	free(f);
}

struct file *file_alloc(const struct path *p, struct inode *inode, int flags)
{
	struct file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->refs = 1;
	if (p) {
		f->path = *p;
		path_get(&f->path);
	}
	f->inode = inode_get(inode);
	f->flags = flags & ~(O_CLOEXEC | O_CREAT | O_EXCL | O_TRUNC);
	if (!(flags & O_PATH)) {
		int acc = flags & O_ACCMODE;

		f->can_read = acc == O_RDONLY || acc == O_RDWR;
		f->can_write = acc == O_WRONLY || acc == O_RDWR;
	}
	f->seekable = S_ISREG(inode->mode) || S_ISDIR(inode->mode);
	list_init(&f->epitems);
	if (current && current->cred)
		f->cred = cred_get(current->cred);
	return f;
}

struct inode *anon_inode(uint32_t mode)
{
	struct inode *i;

	if (!anon_sb)
		anon_sb = super_new("anon_inodefs", NULL);
	i = anon_sb ? inode_new(anon_sb, mode) : NULL;
	if (i)
		inode_init_owner(i, NULL, mode);
	return i;
}

struct file *file_anon(struct inode *inode, const char *name, int flags, const struct file_ops *ops, void *priv)
{
	struct dentry *d = inode ? dentry_anon(inode, name) : NULL;
	struct path p = {NULL, d};
	struct file *f = d ? file_alloc(&p, inode, flags) : NULL;

	path_put(&p);
	inode_put(inode);
	if (!f)
		return NULL;
	f->ops = ops;
	f->priv = priv;
	f->seekable = ops->llseek && ops->llseek != no_llseek;
	return f;
}

long no_dir_read(struct file *f, struct uio *u, uint64_t *pos)
{
	return -EISDIR;
}

int64_t no_llseek(struct file *f, int64_t off, int whence)
{
	return -ESPIPE;
}

int64_t llseek_size(struct file *f, int64_t off, int whence, uint64_t size)
{
	int64_t pos;

	switch (whence) {
	case SEEK_SET:
		pos = off;
		break;
	case SEEK_CUR:
		if (__builtin_add_overflow((int64_t)f->pos, off, &pos))
			return -EOVERFLOW;
		break;
	case SEEK_END:
		if (__builtin_add_overflow((int64_t)size, off, &pos))
			return -EOVERFLOW;
		break;
	case SEEK_DATA:
	case SEEK_HOLE:
		if (off < 0 || (uint64_t)off >= size)
			return -ENXIO;
		pos = whence == SEEK_DATA ? off : (int64_t)size;
		break;
	default:
		return -EINVAL;
	}
	if (pos < 0)
		return -EINVAL;
	f->pos = (uint64_t)pos;
	return pos;
}

int file_write_limit(uint64_t pos, uint64_t max, size_t *count)
{
	uint64_t limit = current && current->tg ? current->tg->rlim[RLIMIT_FSIZE].cur : L_RLIM_INFINITY;

	if (!*count)
		return 0;
	if (limit != L_RLIM_INFINITY) {
		if (pos >= limit) {
			signal_send_task(current, SIGXFSZ, NULL);
			return -EFBIG;
		}
		*count = MIN(*count, limit - pos);
	}
	if (pos >= max)
		return -EFBIG;
	*count = MIN(*count, max - pos);
	return 0;
}

int file_remove_privs(struct file *f)
{
	struct inode *i = f->inode;
	uint32_t drop = inode_privs_to_drop(i);

	if (!drop || !S_ISREG(i->mode) || !current || capable(CAP_FSETID))
		return 0;
	struct iattr a = {.valid = ATTR_MODE | ATTR_FORCE, .mode = i->mode & 07777 & ~drop};
	return f->path.dentry ? vfs_setattr(&f->path, &a) : i->ops->setattr(i, &a);
}

/* relatime: only when the access time is not newer than a change, or a day old. */
void file_accessed(struct file *f)
{
	struct inode *i = f->inode;

	if ((f->flags & O_NOATIME) || (f->path.mnt && (f->path.mnt->flags & (MS_NOATIME | MS_RDONLY))) ||
	    i->sb->readonly)
		return;
	if (i->atime.sec > i->mtime.sec && i->atime.sec > i->ctime.sec && ktime_now().sec - i->atime.sec < 86400)
		return;
	i->atime = ktime_now();
}

long file_read_kernel(struct file *f, void *buf, size_t size, uint64_t pos)
{
	size_t done = 0;

	if (!f->ops || !f->ops->read)
		return -EINVAL;
	while (done < size) {
		struct uio u;

		uio_init_kernel(&u, (char *)buf + done, size - done);
		long n = f->ops->read(f, &u, &pos);
		uio_fini(&u);
		if (n < 0)
			return done ? (long)done : n;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (long)done;
}

long file_write_kernel(struct file *f, const void *buf, size_t size, uint64_t pos)
{
	size_t done = 0;

	if (!f->ops || !f->ops->write)
		return -EINVAL;
	while (done < size) {
		struct uio u;

		uio_init_kernel(&u, (char *)(uintptr_t)buf + done, size - done);
		long n = f->ops->write(f, &u, &pos);
		uio_fini(&u);
		if (n <= 0)
			return done ? (long)done : n;
		done += (size_t)n;
	}
	return (long)done;
}

int vfs_init(void)
{
	dentry_init();
	if (!anon_sb)
		anon_sb = super_new("anon_inodefs", NULL);
	return anon_sb ? 0 : -ENOMEM;
}
