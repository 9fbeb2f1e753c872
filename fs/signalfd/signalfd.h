/* signalfd: pending signals of the reader as a file. */
#ifndef WARD_FS_SIGNALFD_H
#define WARD_FS_SIGNALFD_H
#include "fs/vfs.h"
struct file *signalfd_new(uint64_t mask, int flags); /* NULL: no memory */
bool file_is_signalfd(const struct file *f);
void signalfd_set_mask(struct file *f, uint64_t mask);
#endif
