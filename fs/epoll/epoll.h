/* epoll instances; see epoll.c. */
#ifndef WARD_FS_EPOLL_H
#define WARD_FS_EPOLL_H
#include <sys/epoll.h>
#include "fs/vfs.h"
struct file *epoll_new(void); /* NULL: no memory */
bool file_is_epoll(const struct file *f);
/* epoll_ctl without the copying: 0 or -errno. */
int epoll_change(struct file *epf, int op, struct file *target, int fd, const struct epoll_event *ev);
/* Sleep up to DEADLINE (0: forever; IMMEDIATE: not at all) and copy up to MAX events to OUT: their number. */
int64_t epoll_collect(struct file *epf, uaddr_t out, int max, uint64_t deadline, bool immediate);
#endif
