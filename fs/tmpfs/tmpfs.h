/* Private to tmpfs: content.c (bytes of a file), dir.c (names), tmpfs.c (inodes, superblock), file.c (open files). */
#ifndef WARD_FS_TMPFS_H
#define WARD_FS_TMPFS_H
#include "fs/vfs.h"

#define TMPFS_MAX_SIZE (1ull << 42)     /* of one file: bounds the page map */

struct tmpfs_sb {
	uint64_t max_pages, used_pages; /* max 0 = no limit */
	uint64_t max_inodes, used_inodes; /* further links of an inode count as inodes, as on Linux */
	uint64_t max_meta, used_meta;   /* bytes of link targets and extended attributes; max 0 = no limit */
	struct list mapped;             /* files a guest may write without us: counted again now and then */
	unsigned until_recount;
};
/* The sandbox's sum over all superblocks, so that a guest gains nothing by mounting more of them. */
struct tmpfs_pool {
	uint64_t max_pages, used_pages, max_inodes, used_inodes, max_meta, used_meta;
};
extern struct tmpfs_pool tmpfs_pool;
struct tmpfs_dent {
	struct tmpfs_dent *next;        /* hash chain */
	struct inode *inode;            /* counted */
	uint64_t pos;                   /* getdents offset, never reused */
	uint32_t hash;
	uint8_t name_size;
	char name[];
};
struct tmpfs_slot {
	uint64_t pos;
	struct tmpfs_dent *d;           /* NULL: removed */
};
struct tmpfs_dir {
	struct tmpfs_dent **bucket;
	size_t buckets, count;
	struct tmpfs_slot *slot;        /* ascending pos */
	size_t slots, cap;
	uint64_t next_pos;
	uint64_t parent_ino;            /* what ".." shows */
};
struct tmpfs_xattr {
	struct tmpfs_xattr *next;
	size_t size;
	char *name;                     /* owned, with the value behind its NUL */
};
struct tmpfs_inode {
	struct inode *inode;            /* back pointer */
	/* Regular files: heap bytes [0, heap_size) or a memfd; beyond either, zeros up to inode->size. */
	char *heap;
	size_t heap_size;
	bool reserved;                  /* fallocate was used: pages of zeros in the heap stay charged */
	int memfd;                      /* -1: heap */
	char *map;                      /* memfd [0, map_size) in the sentry; may be NULL */
	uint64_t map_size, memfd_size;
	uint64_t **chunk;               /* bitmap of pages charged, 32768 a chunk */
	size_t chunks;
	uint64_t pages;                 /* charged to the superblock */
	bool mapped;
	unsigned seals;
	struct list mapped_node;
	char *target;                   /* symlinks */
	struct tmpfs_dir *dir;
	struct tmpfs_xattr *xattr;
};

static inline struct tmpfs_inode *TI(const struct inode *i)
{
	return i->priv;
}
static inline struct tmpfs_sb *TSB(const struct inode *i)
{
	return i->sb->priv;
}
extern const struct file_ops tmpfs_file_ops, tmpfs_dir_ops;
extern const struct inode_ops tmpfs_inode_ops;
struct inode *tmpfs_inode_new(struct superblock *sb, const struct inode *dir, uint32_t mode);

/* content.c */
long tmpfs_read(struct tmpfs_inode *ti, struct uio *u, uint64_t *pos);
long tmpfs_write(struct tmpfs_inode *ti, struct uio *u, uint64_t *pos, size_t n);
int tmpfs_resize(struct tmpfs_inode *ti, uint64_t size);
int tmpfs_punch(struct tmpfs_inode *ti, uint64_t off, uint64_t size);
int tmpfs_reserve(struct tmpfs_inode *ti, uint64_t off, uint64_t size);
int tmpfs_to_memfd(struct tmpfs_inode *ti);
int64_t tmpfs_seek(struct tmpfs_inode *ti, uint64_t off, bool data);
void tmpfs_content_free(struct tmpfs_inode *ti);
void tmpfs_recount(struct tmpfs_sb *sb);

/* dir.c */
struct tmpfs_dent *tmpfs_dir_find(const struct tmpfs_dir *d, const char *name);
int tmpfs_dir_add(struct tmpfs_dir *d, const char *name, struct inode *inode); /* takes a reference */
void tmpfs_dir_del(struct tmpfs_dir *d, struct tmpfs_dent *e);                 /* puts it */
size_t tmpfs_dir_from(const struct tmpfs_dir *d, uint64_t pos);                /* first slot with pos >= POS */
void tmpfs_dir_free(struct tmpfs_dir *d);
#endif
