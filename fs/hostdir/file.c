/*
 * Open files of hostdir. Bytes are read with pread, never through a mapping in the sentry: somebody on the host may
 * truncate the file, and that must not be the sentry's SIGBUS. A guest's own mapping gets the read-only descriptor.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fs/hostdir/hostdir.h"
#include "sentry/base/host.h"
#include "sentry/base/util.h"

static char bounce[65536];

/* priv of a file: the host descriptor + 1; 0 until the first use. */
static int host_fd(struct file *f)
{
	if (!f->priv) {
		int fd = hostdir_open_host(f->inode, O_RDONLY);

		if (fd < 0)
			return fd;
		f->priv = (void *)(intptr_t)(fd + 1);
	}
	return (int)(intptr_t)f->priv - 1;
}

static int hostdir_file_open(struct file *f)
{
	int fd;

	if (f->can_write)
		return -EROFS;
	fd = host_fd(f);
	return fd < 0 ? fd : 0;
}

static long hostdir_read(struct file *f, struct uio *u, uint64_t *pos)
{
	size_t done = 0;

	if (*pos > INT64_MAX)
		return 0;
	while (u->resid) {
		size_t n = MIN(u->resid, sizeof(bounce));
		int fd = host_fd(f);
		long r = fd;

		if (fd >= 0 && u->kernel && u->count == 1) {
			r = host_pread(fd, (void *)(uintptr_t)u->seg[0].base, u->resid, (off_t)*pos);
			if (r > 0) {
				uio_skip(u, (size_t)r);
				n = (size_t)r;
			}
		} else if (fd >= 0) {
			r = host_pread(fd, bounce, n, (off_t)*pos);
			if (r > 0) {
				bool short_read = (size_t)r < n;

				n = (size_t)r;
				r = uio_put(u, bounce, n);
				if (r > 0 && short_read)
					n = (size_t)r + 1; /* end of file: stop below */
			}
		}
		if (r <= 0)
			return done ? (long)done : r;
		*pos += (uint64_t)r;
		done += (size_t)r;
		if ((size_t)r < n)
			break;
	}
	return (long)done;
}

static int64_t hostdir_llseek(struct file *f, int64_t off, int whence)
{
	if (whence == SEEK_END) { /* the file may have grown */
		struct kstat st;

		f->inode->ops->getattr(f->inode, &st);
	}
	return llseek_size(f, off, whence, f->inode->size);
}

static int hostdir_mmap(struct file *f, int prot, int flags, uint64_t off, uint64_t size, int *hostfd, uint64_t *hostoff)
{
	int fd = host_fd(f);

	if (fd < 0)
		return fd;
	*hostfd = fd;
	*hostoff = off;
	return 0;
}

static void hostdir_release(struct file *f)
{
	if (f->priv)
		host_close((int)(intptr_t)f->priv - 1);
}

const struct file_ops hostdir_file_ops = {
	.read = hostdir_read, .llseek = hostdir_llseek, .mmap = hostdir_mmap, .release = hostdir_release,
};

/* --- synthetic text --- */

static long text_read(struct file *f, struct uio *u, uint64_t *pos)
{
	const char *text = HD(f->inode)->node->text;

	if (*pos >= f->inode->size)
		return 0;
	long r = uio_put(u, text + *pos, MIN(u->resid, f->inode->size - *pos));
	if (r > 0)
		*pos += (uint64_t)r;
	return r;
}

static int text_mmap(struct file *f, int prot, int flags, uint64_t off, uint64_t size, int *hostfd, uint64_t *hostoff)
{
	struct hd_node *n = HD(f->inode)->node;

	if (n->memfd < 0) {
		int fd = host_memfd_create("ward", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		size_t len = strlen(n->text);

		if (fd < 0)
			return -ENOMEM;
		if (host_pwrite(fd, n->text, len, 0) != (long)len) {
			host_close(fd);
			return -ENOMEM;
		}
		host_fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
		n->memfd = fd;
	}
	*hostfd = n->memfd;
	*hostoff = off;
	return 0;
}

const struct file_ops hostdir_text_ops = {.read = text_read, .mmap = text_mmap};

/* --- directories --- */

static int snap_host(struct file *f, struct dirsnap *s)
{
	struct hd_inode *h = HD(f->inode);
	int fd = hostdir_open_host(f->inode, O_RDONLY | O_DIRECTORY), r = 0;
	long n;

	if (fd < 0)
		return fd;
	while (r == 0 && (n = host_getdents64(fd, bounce, sizeof(bounce))) > 0) {
		for (long at = 0; r == 0 && at < n;) {
			struct dirent64 *d = (struct dirent64 *)(bounce + at);
			unsigned type = d->d_type;
			struct stat st;

			at += d->d_reclen;
			if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, "..") || hostdir_child(h->node, d->d_name))
				continue;
			if (type == DT_UNKNOWN && host_fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
				type = IFTODT(st.st_mode);
			r = dirsnap_add(s, d->d_name, hostdir_ino(f->inode->sb, h->dev, d->d_ino), type);
		}
	}
	host_close(fd);
	return r < 0 ? r : n < 0 ? (int)n : 0;
}

static int hostdir_iterate(struct file *f, struct dir_emit *e)
{
	struct hd_inode *h = HD(f->inode);

	if (!f->priv || f->pos == 0) {
		struct dirsnap *s = dirsnap_new();
		struct dentry *d = f->path.dentry;
		uint64_t up = d && d->parent->inode ? d->parent->inode->ino : f->inode->ino;
		int r = s ? dirsnap_add(s, ".", f->inode->ino, DT_DIR) : -ENOMEM;

		if (r == 0)
			r = dirsnap_add(s, "..", up, DT_DIR);
		for (struct hd_node *c = h->node ? h->node->child : NULL; r == 0 && c; c = c->next) {
			struct inode *i;

			if (hostdir_node_inode(f->inode->sb, c, &i) < 0)
				continue;
			r = dirsnap_add(s, c->name, i->ino, IFTODT(i->mode));
			inode_put(i);
		}
		if (r == 0 && h->rel)
			r = snap_host(f, s);
		if (r < 0) {
			dirsnap_free(s);
			return r;
		}
		dirsnap_free(f->priv);
		f->priv = s;
	}
	dirsnap_emit(f->priv, f, e);
	return 0;
}

const struct file_ops hostdir_dir_ops = {
	.read = no_dir_read, .iterate = hostdir_iterate, .llseek = dirsnap_llseek, .release = dirsnap_release,
};

int hostdir_open(struct inode *i, struct file *f)
{
	if (f->can_write)
		return -EROFS;
	if (S_ISREG(i->mode) && HD(i)->rel)
		return hostdir_file_open(f);
	if (!S_ISREG(i->mode) && !S_ISDIR(i->mode))
		return -ENXIO; /* devices, FIFOs and sockets of the host stay closed */
	return 0;
}
