/* Private to hostdir: view.c (what is visible), hostdir.c (inodes), file.c (open files and directories). */
#ifndef WARD_FS_HOSTDIR_H
#define WARD_FS_HOSTDIR_H
#include "fs/vfs.h"

/* A guest path that the view names, or a parent of one. */
struct hd_node {
	char *name;
	struct hd_node *parent, *child, *next;
	int rootfd;             /* -1: synthetic */
	char *rel;              /* path below rootfd; "" = rootfd itself */
	char *text, *target;    /* synthetic file or link */
	int memfd;              /* TEXT once mapped; -1 */
	struct inode *inode;    /* while it lives; not counted */
};
struct hd_inode {
	struct inode *inode;    /* back pointer */
	struct hd_node *node;   /* NULL below a visible directory */
	int rootfd;
	char *rel;              /* owned; NULL: synthetic */
	uint64_t dev, ino;      /* the host's */
	uint64_t fresh_ns;      /* attributes are as of then */
	struct list hash;
};
struct hd_sb {
	struct hd_node *root;
	uint64_t dev[16];       /* host devices seen: tell equal inode numbers apart */
	unsigned devs;
};
static inline struct hd_inode *HD(const struct inode *i)
{
	return i->priv;
}
extern const struct inode_ops hostdir_ops;
extern const struct file_ops hostdir_file_ops, hostdir_text_ops, hostdir_dir_ops;

struct stat;
int hostdir_open(struct inode *i, struct file *f);
struct hd_node *hostdir_child(const struct hd_node *n, const char *name);
int hostdir_node_inode(struct superblock *sb, struct hd_node *n, struct inode **out);
void hostdir_fill(struct inode *i, const struct stat *st);
uint64_t hostdir_ino(struct superblock *sb, uint64_t dev, uint64_t ino);
int hostdir_open_host(struct inode *i, int flags); /* host descriptor or -errno */
void hostdir_view_free(struct hd_node *n);
int hostdir_view_build(const struct hostdir_entry *e, unsigned count, struct hd_node **out);
#endif
