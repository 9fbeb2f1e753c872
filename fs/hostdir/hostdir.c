/*
 * hostdir: chosen parts of the host's files, read-only. An inode is a path below a root descriptor, found again by
 * device and number; attributes are the host's, at most a second old. Only regular files and directories are ever
 * opened (a device or FIFO could block the sentry or act on the host); the rest is only looked at.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include "fs/hostdir/hostdir.h"
#include "sentry/base/host.h"
#include "sentry/base/util.h"
#include "sentry/loop.h"

#define BUCKETS 4096u
#define FRESH_NS 1000000000ull
#define SYNTHETIC_INO (1ull << 41)

static struct list buckets[BUCKETS];

static struct list *bucket(uint64_t dev, uint64_t ino)
{
	struct list *b = &buckets[(ino * 0x9e3779b97f4a7c15ull ^ dev) >> 16 & (BUCKETS - 1)];

	if (!b->next)
		list_init(b);
	return b;
}

uint64_t hostdir_ino(struct superblock *sb, uint64_t dev, uint64_t ino)
{
	struct hd_sb *hs = sb->priv;
	unsigned k = 0;

	while (k < hs->devs && hs->dev[k] != dev)
		k++;
	if (k == hs->devs && hs->devs < ARRAY_COUNT(hs->dev))
		hs->dev[hs->devs++] = dev;
	return ino ^ (uint64_t)k << 48;
}

static struct ktime kt(struct timespec t)
{
	return (struct ktime){t.tv_sec, (uint32_t)t.tv_nsec};
}

static uint64_t encode_dev(dev_t d)
{
	return d; /* glibc's dev_t is what stat(2) returns for the small numbers in use */
}

void hostdir_fill(struct inode *i, const struct stat *st)
{
	struct hd_inode *h = HD(i);

	h->dev = st->st_dev;
	h->ino = st->st_ino;
	h->fresh_ns = now_mono_ns();
	i->ino = hostdir_ino(i->sb, st->st_dev, st->st_ino);
	i->mode = st->st_mode;
	i->uid = st->st_uid;
	i->gid = st->st_gid;
	i->nlink = (uint32_t)st->st_nlink;
	i->size = (uint64_t)st->st_size;
	i->host_blocks = (uint64_t)st->st_blocks;
	i->rdev = encode_dev(st->st_rdev);
	i->atime = kt(st->st_atim);
	i->mtime = kt(st->st_mtim);
	i->ctime = kt(st->st_ctim);
	i->btime = i->ctime;
	i->fops = S_ISREG(i->mode) ? &hostdir_file_ops : S_ISDIR(i->mode) ? &hostdir_dir_ops : NULL;
}

static struct inode *inode_make(struct superblock *sb, struct hd_node *n, int rootfd, const char *rel)
{
	struct inode *i = inode_new(sb, 0);
	struct hd_inode *h = i ? calloc(1, sizeof(*h)) : NULL;

	if (!h || (rel && !(h->rel = strdup(rel)))) {
		free(h);
		inode_put(i);
		return NULL;
	}
	list_init(&h->hash);
	h->inode = i;
	h->node = n;
	h->rootfd = rootfd;
	i->priv = h;
	i->ops = &hostdir_ops;
	return i;
}

int hostdir_node_inode(struct superblock *sb, struct hd_node *n, struct inode **out)
{
	struct inode *i;

	if (n->inode) {
		*out = inode_get(n->inode);
		return 0;
	}
	i = inode_make(sb, n, n->rootfd, n->rel);
	if (!i)
		return -ENOMEM;
	if (n->rel) {
		struct stat st;
		int r = *n->rel ? host_fstatat(n->rootfd, n->rel, &st, AT_SYMLINK_NOFOLLOW)
				: host_fstat(n->rootfd, &st);

		if (r < 0) {
			inode_put(i);
			return r;
		}
		hostdir_fill(i, &st);
	} else if (n->target) {
		i->mode = S_IFLNK | 0777;
		i->size = strlen(n->target);
	} else if (n->text) {
		i->mode = S_IFREG | 0644;
		i->size = strlen(n->text);
		i->fops = &hostdir_text_ops;
	} else {
		i->mode = S_IFDIR | 0755;
		i->nlink = 2;
		i->fops = &hostdir_dir_ops;
	}
	n->inode = i;
	*out = i;
	return 0;
}

static void hostdir_evict(struct inode *i)
{
	struct hd_inode *h = HD(i);

	if (!h)
		return;
	list_del(&h->hash);
	if (h->node && h->node->inode == i)
		h->node->inode = NULL;
	free(h->rel);
	free(h);
}

static int hostdir_lookup(struct inode *dir, const char *name, struct inode **out)
{
	struct hd_inode *h = HD(dir), *c;
	struct hd_node *n = hostdir_child(h->node, name);
	char path[PATH_MAX];
	struct stat st;
	struct list *b;
	int r;

	if (n)
		return hostdir_node_inode(dir->sb, n, out);
	if (!h->rel)
		return -ENOENT;
	if (snprintf(path, sizeof(path), "%s%s%s", h->rel, *h->rel ? "/" : "", name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	r = host_fstatat(h->rootfd, path, &st, AT_SYMLINK_NOFOLLOW);
	if (r < 0)
		return r == -ENOTDIR ? -ENOENT : r;
	b = bucket(st.st_dev, st.st_ino);
	list_for_each(c, b, hash) {
		/* Equal numbers and root: the same file under another name, unless it is a directory seen twice. */
		if (c->dev == st.st_dev && c->ino == st.st_ino && c->rootfd == h->rootfd &&
		    (!S_ISDIR(st.st_mode) || !strcmp(c->rel, path))) {
			*out = inode_get(c->inode);
			return 0;
		}
	}
	struct inode *i = inode_make(dir->sb, NULL, h->rootfd, path);
	if (!i)
		return -ENOMEM;
	hostdir_fill(i, &st);
	list_add(b, &HD(i)->hash);
	*out = i;
	return 0;
}

int hostdir_open_host(struct inode *i, int flags)
{
	struct hd_inode *h = HD(i);
	struct stat st;
	int fd = host_openat_beneath(h->rootfd, *h->rel ? h->rel : ".", flags | O_NONBLOCK | O_NOCTTY, 0, 1), r;

	if (fd < 0)
		return fd == -EMFILE ? -ENFILE : fd == -ELOOP || fd == -ENOENT ? -ESTALE : fd;
	r = host_fstat(fd, &st);
	if (r == 0 && ((st.st_mode ^ i->mode) & S_IFMT))
		r = -ESTALE; /* replaced by something else since it was looked up */
	if (r < 0) {
		host_close(fd);
		return r;
	}
	/* Replaced by a newer file of its kind (an editor's rename): go on with what is there now. */
	if (st.st_dev != h->dev || st.st_ino != h->ino)
		list_del(&h->hash);
	hostdir_fill(i, &st);
	return fd;
}

static long hostdir_readlink(struct inode *i, char *buf, size_t size)
{
	struct hd_inode *h = HD(i);

	if (h->rel)
		return host_readlinkat(h->rootfd, h->rel, buf, size);
	size = MIN(size, strlen(h->node->target));
	memcpy(buf, h->node->target, size);
	return (long)size;
}

static int hostdir_getattr(struct inode *i, struct kstat *st)
{
	struct hd_inode *h = HD(i);
	struct stat hst;

	if (h->rel && now_mono_ns() - h->fresh_ns > FRESH_NS) {
		int r = *h->rel ? host_fstatat(h->rootfd, h->rel, &hst, AT_SYMLINK_NOFOLLOW) : host_fstat(h->rootfd, &hst);

		if (r == 0 && hst.st_ino == h->ino && hst.st_dev == h->dev)
			hostdir_fill(i, &hst);
	}
	inode_getattr_generic(i, st);
	return 0;
}

static int hostdir_setattr(struct inode *i, const struct iattr *a)
{
	return -EROFS;
}

const struct inode_ops hostdir_ops = {
	.lookup = hostdir_lookup, .open = hostdir_open, .readlink = hostdir_readlink, .getattr = hostdir_getattr,
	.setattr = hostdir_setattr, .evict = hostdir_evict,
};

static int hostdir_statfs(struct superblock *sb, struct kstatfs *out)
{
	struct hd_sb *hs = sb->priv;
	struct statfs st = {0};

	if (hs->root->rootfd >= 0)
		host_fstatfs(hs->root->rootfd, &st);
	*out = (struct kstatfs){.type = st.f_type ? (uint64_t)st.f_type : 0x794c7630, .bsize = 4096,
				.blocks = st.f_blocks, .bfree = st.f_bfree, .bavail = st.f_bavail,
				.files = st.f_files, .ffree = st.f_ffree, .namelen = 255};
	return 0;
}

static void hostdir_destroy(struct superblock *sb)
{
	struct hd_sb *hs = sb->priv;

	hostdir_view_free(hs->root);
	free(hs);
}

static const struct super_ops hostdir_super_ops = {.statfs = hostdir_statfs, .destroy = hostdir_destroy};

struct superblock *hostdir_new(const struct hostdir_entry *e, unsigned count, int *error)
{
	struct hd_sb *hs = calloc(1, sizeof(*hs));
	struct superblock *sb = NULL;
	struct inode *root;

	*error = hs ? hostdir_view_build(e, count, &hs->root) : -ENOMEM;
	if (*error < 0) {
		free(hs);
		return NULL;
	}
	sb = super_new("hostdir", &hostdir_super_ops);
	if (!sb) {
		hostdir_view_free(hs->root);
		free(hs);
		*error = -ENOMEM;
		return NULL;
	}
	sb->priv = hs;
	sb->readonly = true;
	sb->next_ino = SYNTHETIC_INO;
	*error = hostdir_node_inode(sb, hs->root, &root);
	if (*error == 0) {
		sb->root = dentry_root(sb, root);
		if (!sb->root)
			*error = -ENOMEM;
	}
	if (*error < 0) {
		super_put(sb);
		return NULL;
	}
	return sb;
}
