/* execve and execveat. */
#include "syscalls/table.h"
#include "loader/loader.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

static int64_t exec_at(int dirfd, uaddr_t path, uaddr_t argv, uaddr_t envp, int flags)
{
	char *name;
	int r;

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	r = copy_in_path(&name, path, flags & AT_EMPTY_PATH);
	if (r < 0)
		return r;
	r = do_execve_file(dirfd, name, argv, envp, flags);
	free(name);
	return r;
}

int64_t sys_execve(uaddr_t path, uaddr_t argv, uaddr_t envp)
{
	return exec_at(AT_FDCWD, path, argv, envp, 0);
}

int64_t sys_execveat(int dirfd, uaddr_t path, uaddr_t argv, uaddr_t envp, int flags)
{
	return exec_at(dirfd, path, argv, envp, flags);
}
