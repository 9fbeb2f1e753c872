/* inotify instances; the hooks for the core are declared in fs/vfs.h. */
#ifndef WARD_FS_INOTIFY_H
#define WARD_FS_INOTIFY_H
#include "fs/vfs.h"
struct file *inotify_new(int flags); /* FLAGS: O_NONBLOCK. NULL: no memory */
bool file_is_inotify(const struct file *f);
int inotify_add(struct file *f, struct inode *inode, uint32_t mask); /* wd or -errno */
int inotify_remove(struct file *f, int wd);
#endif
