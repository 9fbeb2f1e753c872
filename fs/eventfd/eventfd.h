/* eventfd: a 64-bit counter as a file. */
#ifndef WARD_FS_EVENTFD_H
#define WARD_FS_EVENTFD_H
#include "fs/vfs.h"
/* FLAGS: EFD_SEMAPHORE | EFD_NONBLOCK (checked by the caller). NULL: no memory. */
struct file *eventfd_new(unsigned count, int flags);
#endif
