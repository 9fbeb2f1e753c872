/* Sockets are not built yet: no family can be made, so every other call meets a descriptor that is no socket. */
#include "syscalls/table.h"
#include <errno.h>
#include "fs/vfs.h"

#define L_SOCK_TYPE_MASK 0xfu
#define L_SOCK_CLOEXEC 02000000u
#define L_SOCK_NONBLOCK 04000u
#define L_AF_MAX 46
#define L_SOCK_MAX 11

/* The order of __sock_create: flags, then the range of the family, then of the type, then whether it exists. */
static int64_t no_family(int family, int type)
{
	if ((unsigned)type & ~L_SOCK_TYPE_MASK & ~(L_SOCK_CLOEXEC | L_SOCK_NONBLOCK))
		return -EINVAL;
	if (family < 0 || family >= L_AF_MAX)
		return -EAFNOSUPPORT;
	if (((unsigned)type & L_SOCK_TYPE_MASK) >= L_SOCK_MAX)
		return -EINVAL;
	return -EAFNOSUPPORT;
}

int64_t sys_socket(int family, int type, int protocol)
{
	return no_family(family, type);
}

int64_t sys_socketpair(int family, int type, int protocol, uaddr_t fds)
{
	return no_family(family, type);
}

static int64_t no_socket(int fd)
{
	struct file *f = fd_get_nopath(fd);

	if (!f)
		return -EBADF;
	file_put(f);
	return -ENOTSOCK;
}

int64_t sys_connect(int fd, uaddr_t addr, int addrlen)
{
	return no_socket(fd);
}
int64_t sys_accept(int fd, uaddr_t addr, uaddr_t addrlen)
{
	return no_socket(fd);
}
int64_t sys_accept4(int fd, uaddr_t addr, uaddr_t addrlen, unsigned flags)
{
	return flags & ~(L_SOCK_CLOEXEC | L_SOCK_NONBLOCK) ? -EINVAL : no_socket(fd);
}
int64_t sys_sendto(int fd, uaddr_t buf, size_t len, unsigned flags, uaddr_t addr, int addrlen)
{
	return no_socket(fd);
}
int64_t sys_recvfrom(int fd, uaddr_t buf, size_t len, unsigned flags, uaddr_t addr, uaddr_t addrlen)
{
	return no_socket(fd);
}
int64_t sys_sendmsg(int fd, uaddr_t msg, unsigned flags)
{
	return no_socket(fd);
}
int64_t sys_recvmsg(int fd, uaddr_t msg, unsigned flags)
{
	return no_socket(fd);
}
int64_t sys_sendmmsg(int fd, uaddr_t msgs, unsigned count, unsigned flags)
{
	return no_socket(fd);
}
int64_t sys_recvmmsg(int fd, uaddr_t msgs, unsigned count, unsigned flags, uaddr_t timeout)
{
	return no_socket(fd);
}
int64_t sys_shutdown(int fd, int how)
{
	return no_socket(fd);
}
int64_t sys_bind(int fd, uaddr_t addr, int addrlen)
{
	return no_socket(fd);
}
int64_t sys_listen(int fd, int backlog)
{
	return no_socket(fd);
}
int64_t sys_getsockname(int fd, uaddr_t addr, uaddr_t addrlen)
{
	return no_socket(fd);
}
int64_t sys_getpeername(int fd, uaddr_t addr, uaddr_t addrlen)
{
	return no_socket(fd);
}
int64_t sys_setsockopt(int fd, int level, int optname, uaddr_t optval, int optlen)
{
	return no_socket(fd);
}
int64_t sys_getsockopt(int fd, int level, int optname, uaddr_t optval, uaddr_t optlen)
{
	return no_socket(fd);
}
