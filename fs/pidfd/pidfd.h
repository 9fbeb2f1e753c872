/* pidfd: a process as a file; readable once it is a zombie. */
#ifndef WARD_FS_PIDFD_H
#define WARD_FS_PIDFD_H
#include "fs/vfs.h"
struct tgroup;
/* FLAGS: O_NONBLOCK. *OUT refs 1. 0 or -ENOMEM. */
int pidfd_new_file(struct tgroup *tg, int flags, struct file **out);
/* The process descriptor FD names: borrowed, NULL when FD is no pidfd. *NONBLOCK (may be NULL): its O_NONBLOCK. */
struct tgroup *pidfd_tgroup(int fd, bool *nonblock);
struct tgroup *file_pidfd(const struct file *f); /* borrowed or NULL */
#endif
