/* The only file that makes host calls for the running kernel part. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sentry/base/host.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RET(x)                                                                                     \
	do {                                                                                       \
		long r_ = (long)(x);                                                               \
		return r_ < 0 ? -errno : r_;                                                       \
	} while (0)

long host_read(int fd, void *buf, size_t size)
{
	RET(read(fd, buf, size));
}
long host_write(int fd, const void *buf, size_t size)
{
	RET(write(fd, buf, size));
}
long host_pread(int fd, void *buf, size_t size, off_t off)
{
	RET(pread(fd, buf, size, off));
}
long host_pwrite(int fd, const void *buf, size_t size, off_t off)
{
	RET(pwrite(fd, buf, size, off));
}
int host_close(int fd)
{
	RET(close(fd));
}
int host_openat_beneath(int dirfd, const char *path, int flags, unsigned mode, int nofollow)
{
	struct open_how how = {
	    .flags = (unsigned)flags | O_CLOEXEC,
	    .mode = mode,
	    .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | (nofollow ? RESOLVE_NO_SYMLINKS : 0),
	};
	RET(syscall(SYS_openat2, dirfd, path, &how, sizeof how));
}
int host_fstat(int fd, struct stat *st)
{
	RET(fstat(fd, st));
}
int host_fstatat(int dirfd, const char *path, struct stat *st, int flags)
{
	RET(fstatat(dirfd, path, st, flags));
}
long host_readlinkat(int dirfd, const char *path, char *buf, size_t size)
{
	RET(readlinkat(dirfd, path, buf, size));
}
long host_getdents64(int fd, void *buf, size_t size)
{
	RET(syscall(SYS_getdents64, fd, buf, size));
}
int host_fstatfs(int fd, struct statfs *st)
{
	RET(fstatfs(fd, st));
}
long host_lseek(int fd, off_t off, int whence)
{
	RET(lseek(fd, off, whence));
}
int host_memfd_create(const char *name, unsigned flags)
{
	RET(memfd_create(name, flags));
}
int host_ftruncate(int fd, off_t size)
{
	RET(ftruncate(fd, size));
}
int host_fallocate(int fd, int mode, off_t off, off_t size)
{
	RET(fallocate(fd, mode, off, size));
}
int host_fcntl(int fd, int cmd, long arg)
{
	RET(fcntl(fd, cmd, arg));
}
static void *map_result(void *p)
{
	return p == MAP_FAILED ? (void *)(intptr_t)-errno : p;
}
void *host_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t off)
{
	return map_result(mmap(addr, size, prot, flags, fd, off));
}
int host_munmap(void *addr, size_t size)
{
	RET(munmap(addr, size));
}
void *host_mremap(void *old, size_t old_size, size_t new_size, int flags)
{
	return map_result(mremap(old, old_size, new_size, flags));
}
int host_madvise(void *addr, size_t size, int advice)
{
	RET(madvise(addr, size, advice));
}
int host_ioctl(int fd, unsigned long cmd, void *arg)
{
	RET(ioctl(fd, cmd, arg));
}
int host_poll(struct pollfd *fds, unsigned n, int timeout_ms)
{
	RET(poll(fds, n, timeout_ms));
}
long host_getrandom(void *buf, size_t size)
{
	RET(getrandom(buf, size, 0));
}
int host_kill(pid_t pid, int sig)
{
	RET(kill(pid, sig));
}
int host_tgkill(pid_t tgid, pid_t tid, int sig)
{
	RET(syscall(SYS_tgkill, tgid, tid, sig));
}
