/* flock(2). */
#include "syscalls/table.h"
#include <errno.h>
#include <sys/file.h>
#include "fs/vfs.h"
#include "syscalls/pathargs.h"

int64_t sys_flock(int fd, int op)
{
	AUTO_FILE struct file *f = NULL;

	if ((op & ~LOCK_NB) != LOCK_SH && (op & ~LOCK_NB) != LOCK_EX && (op & ~LOCK_NB) != LOCK_UN)
		return -EINVAL;
	f = fd_get_nopath(fd);
	return f ? lock_flock(f, op) : -EBADF;
}
