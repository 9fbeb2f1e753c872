/*
 * The gofer file system: inodes are descriptors that the helper opened. Dentries are not cached, since the host changes
 * the directory too; equal objects are found again by device and inode number while they live.
 * DIFF: hard links cannot be made; owners cannot be changed; set-id bits are dropped. The helper answers at once, so
 * no handler sleeps here.
 */
#include "fs/gofer/gofer.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "fs/vfs.h"
#include "sentry/base/host.h"
#include "sentry/base/util.h"

#define MAX_INODES 16384 /* each holds a host descriptor */

struct gofer_sb {
	int sock;
	uint32_t host_uid, uid, gid;
	struct list inodes;
	unsigned count;
};
struct gofer_inode {
	struct list node;
	struct inode *inode; /* back pointer */
	int fd;
	bool writable;
	uint64_t dev, ino;
	char *target;        /* of a symbolic link */
};
static const struct inode_ops gofer_inode_ops;
static const struct file_ops gofer_file_ops, gofer_dir_ops;
static char bounce[65536];

static struct gofer_sb *SB(const struct inode *i)
{
	return i->sb->priv;
}
static struct gofer_inode *GI(const struct inode *i)
{
	return i->priv;
}

static struct ktime ktime_of(struct timespec t)
{
	return (struct ktime){t.tv_sec, (uint32_t)t.tv_nsec};
}

static void fill(struct inode *i, const struct stat *st)
{
	const struct gofer_sb *s = SB(i);

	i->ino = st->st_ino;
	i->mode = st->st_mode & ~06000u;
	i->uid = st->st_uid == s->host_uid ? s->uid : st->st_uid;
	i->gid = st->st_uid == s->host_uid ? s->gid : st->st_gid;
	i->nlink = (uint32_t)st->st_nlink;
	i->size = (uint64_t)st->st_size;
	i->atime = ktime_of(st->st_atim);
	i->mtime = ktime_of(st->st_mtim);
	i->ctime = ktime_of(st->st_ctim);
}

/* Takes FD over. The living inode of the same object, or a new one. */
static int inode_for(struct superblock *sb, int fd, const struct gofer_answer *a, struct inode **out)
{
	struct gofer_sb *s = sb->priv;
	struct gofer_inode *g;
	struct inode *i;

	list_for_each(g, &s->inodes, node)
		if (g->ino == a->st.st_ino && g->dev == a->st.st_dev) {
			host_close(fd);
			fill(g->inode, &a->st);
			*out = inode_get(g->inode);
			return 0;
		}
	g = s->count < MAX_INODES ? calloc(1, sizeof *g) : NULL;
	i = g ? inode_new(sb, a->st.st_mode) : NULL;
	if (!i || (S_ISLNK(a->st.st_mode) && !(g->target = strndup(a->text, sizeof a->text)))) {
		int rc = s->count < MAX_INODES ? -ENOMEM : -ENFILE;

		if (i)
			inode_put(i);
		free(g);
		host_close(fd);
		return rc;
	}
	*g = (struct gofer_inode){.inode = i, .fd = fd, .dev = a->st.st_dev, .ino = a->st.st_ino, .target = g->target};
	g->writable = (host_fcntl(fd, F_GETFL, 0) & O_ACCMODE) == O_RDWR;
	i->priv = g;
	i->ops = &gofer_inode_ops;
	i->fops = S_ISDIR(a->st.st_mode) ? &gofer_dir_ops : &gofer_file_ops;
	list_add(&s->inodes, &g->node);
	s->count++;
	fill(i, &a->st);
	*out = i;
	return 0;
}

/* One round trip. OUT NULL: no object is expected. */
static int ask(struct inode *dir, struct inode *dir2, struct gofer_request *r, struct inode **out)
{
	static struct gofer_answer a;
	int fds[2] = {GI(dir)->fd, dir2 ? GI(dir2)->fd : -1}, fd;
	int rc = gofer_send(SB(dir)->sock, r, sizeof *r, fds, dir2 ? 2 : 1);

	if (!rc)
		rc = gofer_recv(SB(dir)->sock, &a, sizeof a, &fd, 1);
	if (rc)
		return -EIO;
	a.text[sizeof a.text - 1] = 0;
	rc = a.error > 0 || a.error < -4095 ? -EIO : a.error;
	if (!rc && out)
		return fd < 0 ? -EIO : inode_for(dir->sb, fd, &a, out);
	if (fd >= 0)
		host_close(fd);
	return rc;
}

static int named(struct inode *dir, enum gofer_op op, const char *name, uint32_t mode, const char *text, struct inode **out)
{
	static struct gofer_request r;

	if (strlen(name) >= sizeof r.name || (text && strlen(text) >= sizeof r.text))
		return -ENAMETOOLONG;
	memset(&r, 0, sizeof r);
	r.op = op;
	r.mode = mode;
	strcpy(r.name, name);
	if (text)
		strcpy(r.text, text);
	return ask(dir, NULL, &r, out);
}

static int gofer_lookup(struct inode *dir, const char *name, struct inode **out)
{
	return named(dir, GOFER_LOOKUP, name, 0, NULL, out);
}
static int gofer_create(struct inode *dir, const char *name, uint32_t mode, struct inode **out)
{
	return S_ISREG(mode) ? named(dir, GOFER_CREATE, name, mode, NULL, out) : -EPERM;
}
static int gofer_mkdir(struct inode *dir, const char *name, uint32_t mode, struct inode **out)
{
	return named(dir, GOFER_MKDIR, name, mode, NULL, out);
}
static int gofer_symlink(struct inode *dir, const char *name, const char *target, struct inode **out)
{
	return named(dir, GOFER_SYMLINK, name, 0, target, out);
}
static int gofer_unlink(struct inode *dir, const char *name, struct inode *victim)
{
	int rc = named(dir, GOFER_UNLINK, name, 0, NULL, NULL);

	if (!rc && victim->nlink)
		victim->nlink--;
	return rc;
}
static int gofer_rmdir(struct inode *dir, const char *name, struct inode *victim)
{
	int rc = named(dir, GOFER_RMDIR, name, 0, NULL, NULL);

	if (!rc)
		victim->nlink = 0;
	return rc;
}

static int gofer_rename(struct inode *odir, const char *oname, struct inode *what, struct inode *ndir, const char *nname,
			struct inode *target, unsigned flags)
{
	static struct gofer_request r;

	if (strlen(oname) >= sizeof r.name || strlen(nname) >= 256)
		return -ENAMETOOLONG;
	memset(&r, 0, sizeof r);
	r.op = GOFER_RENAME;
	r.flags = flags;
	strcpy(r.name, oname);
	strcpy(r.text, nname);
	return ask(odir, ndir, &r, NULL);
}

static long gofer_readlink(struct inode *i, char *buf, size_t size)
{
	const char *t = GI(i)->target;
	size_t n = t ? MIN(strlen(t), size) : 0;

	if (!t)
		return -EINVAL;
	memcpy(buf, t, n);
	return (long)n;
}

static int gofer_getattr(struct inode *i, struct kstat *k)
{
	struct stat st;

	if (!host_fstat(GI(i)->fd, &st))
		fill(i, &st);
	inode_getattr_generic(i, k);
	return 0;
}

static int gofer_setattr(struct inode *i, const struct iattr *a)
{
	static struct gofer_request r;
	struct stat st;
	int rc = 0;

	if (((a->valid & ATTR_UID) && a->uid != i->uid) || ((a->valid & ATTR_GID) && a->gid != i->gid))
		return -EPERM;
	if (a->valid & ATTR_SIZE) {
		rc = GI(i)->writable ? host_ftruncate(GI(i)->fd, (off_t)a->size) : -EACCES;
		if (rc)
			return rc;
	}
	if (!(a->valid & (ATTR_MODE | ATTR_ATIME | ATTR_MTIME)) || S_ISLNK(i->mode))
		goto out;
	memset(&r, 0, sizeof r);
	r.op = GOFER_SETATTR;
	r.flags = a->valid & (ATTR_MODE | ATTR_ATIME | ATTR_MTIME);
	r.mode = a->mode;
	r.atime = (struct timespec){a->atime.sec, a->atime.nsec};
	r.mtime = (struct timespec){a->mtime.sec, a->mtime.nsec};
	rc = ask(i, NULL, &r, NULL);
out:
	if (!host_fstat(GI(i)->fd, &st))
		fill(i, &st);
	return rc;
}

static int gofer_open(struct inode *i, struct file *f)
{
	if (!S_ISREG(i->mode) && !S_ISDIR(i->mode))
		return -ENXIO;
	if (f->can_write && !GI(i)->writable)
		return -EACCES;
	f->ops = i->fops;
	return 0;
}

static void gofer_evict(struct inode *i)
{
	struct gofer_inode *g = GI(i);

	if (!g)
		return;
	SB(i)->count--;
	list_del(&g->node);
	host_close(g->fd);
	free(g->target);
	free(g);
	i->priv = NULL;
}

static const struct inode_ops gofer_inode_ops = {
	.lookup = gofer_lookup, .create = gofer_create, .mkdir = gofer_mkdir, .symlink = gofer_symlink,
	.unlink = gofer_unlink, .rmdir = gofer_rmdir, .rename = gofer_rename, .readlink = gofer_readlink,
	.getattr = gofer_getattr, .setattr = gofer_setattr, .open = gofer_open, .evict = gofer_evict,
};

/* --- open files ------------------------------------------------------------------------------------------------- */
static long gofer_read(struct file *f, struct uio *u, uint64_t *pos)
{
	long done = 0;

	while (u->resid) {
		long n = host_pread(GI(f->inode)->fd, bounce, MIN(u->resid, sizeof bounce), (off_t)*pos);
		long m = n > 0 ? uio_put(u, bounce, (size_t)n) : n;

		if (m <= 0)
			return done ? done : m;
		done += m;
		*pos += (uint64_t)m;
		if (m < n)
			break;
	}
	return done;
}

static long gofer_write(struct file *f, struct uio *u, uint64_t *pos)
{
	int fd = GI(f->inode)->fd;
	struct stat st;
	long done = 0;

	/* O_APPEND: the host may have made the file longer. */
	if ((f->flags & O_APPEND) && !host_fstat(fd, &st))
		*pos = (uint64_t)st.st_size;
	while (u->resid) {
		long n = uio_get(u, bounce, MIN(u->resid, sizeof bounce));
		long m = n > 0 ? host_pwrite(fd, bounce, (size_t)n, (off_t)*pos) : n;

		if (m <= 0) {
			done = done ? done : m;
			break;
		}
		done += m;
		*pos += (uint64_t)m;
		if (m < n)
			break;
	}
	if (!host_fstat(fd, &st))
		fill(f->inode, &st);
	return done;
}

static int gofer_mmap(struct file *f, int prot, int flags, uint64_t off, uint64_t size, int *hostfd, uint64_t *hostoff)
{
	*hostfd = GI(f->inode)->fd;
	*hostoff = off;
	return 0;
}

static int gofer_fallocate(struct file *f, int mode, uint64_t off, uint64_t size)
{
	struct stat st;
	int fd = GI(f->inode)->fd, rc = host_fallocate(fd, mode, (off_t)off, (off_t)size);

	if (!rc && !host_fstat(fd, &st))
		fill(f->inode, &st);
	return rc;
}

static int64_t gofer_llseek(struct file *f, int64_t off, int whence)
{
	struct stat st;

	if (whence == SEEK_END && !host_fstat(GI(f->inode)->fd, &st))
		fill(f->inode, &st);
	return llseek_size(f, off, whence, f->inode->size);
}

static const struct file_ops gofer_file_ops = {
	.read = gofer_read, .write = gofer_write, .mmap = gofer_mmap, .fallocate = gofer_fallocate, .llseek = gofer_llseek,
};

/* --- directories ------------------------------------------------------------------------------------------------- */
static int snapshot(struct file *f, struct dirsnap *s)
{
	int fd = GI(f->inode)->fd, rc = 0;
	long n = host_lseek(fd, 0, SEEK_SET);

	while (!rc && n >= 0 && (n = host_getdents64(fd, bounce, sizeof bounce)) > 0)
		for (long at = 0; !rc && at < n;) {
			struct dirent64 *d = (struct dirent64 *)(bounce + at);

			at += d->d_reclen;
			rc = dirsnap_add(s, d->d_name, d->d_ino, d->d_type);
		}
	return rc ? rc : n < 0 ? (int)n : 0;
}

static int gofer_iterate(struct file *f, struct dir_emit *e)
{
	if (!f->priv || f->pos == 0) {
		struct dirsnap *s = dirsnap_new();
		int rc = s ? snapshot(f, s) : -ENOMEM;

		if (rc) {
			dirsnap_free(s);
			return rc;
		}
		dirsnap_free(f->priv);
		f->priv = s;
	}
	dirsnap_emit(f->priv, f, e);
	return 0;
}

static const struct file_ops gofer_dir_ops = {.read = no_dir_read, .iterate = gofer_iterate, .release = dirsnap_release};

/* --- superblock ---------------------------------------------------------------------------------------------------- */
static int gofer_statfs(struct superblock *sb, struct kstatfs *k)
{
	memset(k, 0, sizeof *k);
	k->type = 0x01021997; /* V9FS_MAGIC: what a file server's directory looks like */
	k->bsize = 4096;
	k->namelen = 255;
	return 0;
}

static void gofer_destroy(struct superblock *sb)
{
	struct gofer_sb *s = sb->priv;

	host_close(s->sock);
	free(s);
}

static const struct super_ops gofer_super_ops = {.statfs = gofer_statfs, .destroy = gofer_destroy};

struct superblock *gofer_new(int sock, int root, uint32_t uid, uint32_t gid, int *error)
{
	struct gofer_sb *s = calloc(1, sizeof *s);
	struct superblock *sb = s ? super_new("9p", &gofer_super_ops) : NULL;
	struct gofer_answer a = {0};
	struct inode *i;

	*error = -ENOMEM;
	if (!sb) {
		free(s);
		return NULL;
	}
	*s = (struct gofer_sb){.sock = sock, .host_uid = geteuid(), .uid = uid, .gid = gid};
	list_init(&s->inodes);
	sb->priv = s;
	*error = host_fstat(root, &a.st);
	if (!*error)
		*error = inode_for(sb, root, &a, &i);
	if (!*error) {
		sb->root = dentry_root(sb, i);
		if (sb->root) {
			sb->root->nocache = true;
			return sb;
		}
		*error = -ENOMEM;
	}
	super_put(sb);
	return NULL;
}
