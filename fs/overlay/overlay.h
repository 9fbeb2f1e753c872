/* Private to the overlay: overlay.c (inodes and names), copyup.c, file.c (open files). */
#ifndef WARD_FS_OVERLAY_H
#define WARD_FS_OVERLAY_H
#include "fs/vfs.h"

#define UPPER_INO (1ull << 40) /* added to the numbers of the upper layer, so that they meet none of the lower's */

struct ovl_sb {
	struct superblock *lower, *upper; /* counted */
};
struct ovl_inode {
	struct inode *upper, *lower;    /* counted; a non-directory has lower only while it has no upper */
	struct inode *parent;           /* counted: where a copy goes */
	char *name;                     /* under which name */
	bool gone;                      /* unlinked before it was copied: the copy gets no name */
};
static inline struct ovl_inode *OI(const struct inode *i)
{
	return i->priv;
}
static inline struct inode *ovl_real(const struct inode *i)
{
	return OI(i)->upper ? OI(i)->upper : OI(i)->lower;
}
extern const struct file_ops ovl_file_ops, ovl_dir_ops;

void ovl_sync(struct inode *i);               /* attributes from the real inode */
bool ovl_whiteout(const struct inode *upper);
uint64_t ovl_ino(const struct inode *upper, const struct inode *lower);
/* Make sure I is in the upper layer, with its parents. At most MAX bytes of content (a truncation follows). */
int ovl_copy_up(struct inode *i, uint64_t max);
int ovl_open(struct inode *i, struct file *f);
/* Merged listing of directory I; "." and ".." left out. ENTRIES may be NULL to only count up to one. */
int ovl_list(struct inode *i, struct dirsnap *s, unsigned *count);
#endif
