/* pipe, pipe2. */
#include "syscalls/table.h"
#include <errno.h>
#include <fcntl.h>
#include "fs/vfs.h"

int64_t sys_pipe2(uaddr_t fds, int flags)
{
	if (flags & ~(O_CLOEXEC | O_NONBLOCK | O_DIRECT))
		return -EINVAL;
	struct file *rd, *wr;
	int r = pipe_new(&rd, &wr, flags);
	if (r)
		return r;
	int fd[2];
	fd[0] = fd_install(rd, 0, flags & O_CLOEXEC);
	if (fd[0] < 0) {
		file_put(rd);
		file_put(wr);
		return fd[0];
	}
	fd[1] = fd_install(wr, 0, flags & O_CLOEXEC);
	if (fd[1] < 0) {
		file_put(wr);
		fd_close(fd[0]);
		return fd[1];
	}
	if (copy_out_obj(fds, fd)) {
		fd_close(fd[0]);
		fd_close(fd[1]);
		return -EFAULT;
	}
	return 0;
}

int64_t sys_pipe(uaddr_t fds)
{
	return sys_pipe2(fds, 0);
}
