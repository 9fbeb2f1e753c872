/* Packets between gofer file system and helper. */
#include <errno.h>
#include <sys/uio.h>
#include "fs/gofer/gofer.h"
#include "sentry/base/scm.h"

int gofer_send(int sock, const void *msg, size_t size, const int *fds, unsigned fd_count)
{
	struct iovec iov = {(void *)msg, size};

	return scm_send(sock, &iov, 1, fds, fd_count);
}

int gofer_recv(int sock, void *msg, size_t size, int *fds, unsigned fd_max)
{
	struct iovec iov = {msg, size};
	unsigned have;
	int flags;
	long n;

	for (unsigned i = 0; i < fd_max; i++)
		fds[i] = -1;
	n = scm_recv(sock, &iov, 1, 0, fds, fd_max, &have, &flags);
	if (n < 0)
		return (int)n;
	if (n == (long)size)
		return 0;
	scm_close(fds, have);
	return n == 0 ? -EPIPE : -EBADMSG;
}
