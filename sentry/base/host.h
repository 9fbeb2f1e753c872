/*
 * Host calls of the running sentry. Every function returns >= 0 or -errno; host errno is seen in host.c
 * alone. Add the wrapper you need here, keep each a thin one-liner, and keep the set small: each new call is
 * one more entry in the sentry's own seccomp allow-list (sentry/platform/confine.c), at most 40.
 */
#ifndef WARD_BASE_HOST_H
#define WARD_BASE_HOST_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/stat.h>

struct iovec;
struct epoll_event;
struct pollfd;
struct statfs;

long host_read(int fd, void *buf, size_t size);
long host_write(int fd, const void *buf, size_t size);
long host_pread(int fd, void *buf, size_t size, off_t off);
long host_pwrite(int fd, const void *buf, size_t size, off_t off);
int host_close(int fd);
/* openat2 with RESOLVE_BENEATH|RESOLVE_NO_MAGICLINKS (plus RESOLVE_NO_SYMLINKS when NOFOLLOW). */
int host_openat_beneath(int dirfd, const char *path, int flags, unsigned mode, int nofollow);
int host_fstat(int fd, struct stat *st);
int host_fstatat(int dirfd, const char *path, struct stat *st, int flags);
long host_readlinkat(int dirfd, const char *path, char *buf, size_t size);
long host_getdents64(int fd, void *buf, size_t size);
int host_fstatfs(int fd, struct statfs *st);
long host_lseek(int fd, off_t off, int whence);
int host_memfd_create(const char *name, unsigned flags);
int host_ftruncate(int fd, off_t size);
int host_fallocate(int fd, int mode, off_t off, off_t size);
int host_fcntl(int fd, int cmd, long arg);
/* Returns the address or a negative errno cast to a pointer: test with host_is_err. */
void *host_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t off);
int host_munmap(void *addr, size_t size);
void *host_mremap(void *old, size_t old_size, size_t new_size, int flags);
int host_madvise(void *addr, size_t size, int advice);
static inline int host_is_err(const void *p)
{
	return (uintptr_t)p >= (uintptr_t)-4095;
}
/* Only the requests in sentry/platform/confine_gen.c pass the sentry's filter. */
int host_ioctl(int fd, unsigned long cmd, void *arg);
int host_poll(struct pollfd *fds, unsigned n, int timeout_ms);
long host_getrandom(void *buf, size_t size);
int host_kill(pid_t pid, int sig);
int host_tgkill(pid_t tgid, pid_t tid, int sig);
#endif
