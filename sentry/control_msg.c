/* Packets of the control channel, used by monitor and sentry alike. */
#include "sentry/control.h"
#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include "sentry/base/scm.h"

int control_send(int fd, const struct control_msg *m, const void *text, size_t size, const int *fds, unsigned fd_count)
{
	struct iovec iov[2] = {{(void *)m, sizeof *m}, {(void *)text, size}};

	if (size > CONTROL_MAX || fd_count > CONTROL_FDS)
		return -E2BIG;
	return scm_send(fd, iov, 2, fds, fd_count);
}

long control_recv(int fd, struct control_msg *m, void *text, size_t size, int *fds, unsigned *fd_count, int flags)
{
	struct iovec iov[2] = {{m, sizeof *m}, {text, size}};
	unsigned have;
	int got;
	long n = scm_recv(fd, iov, 2, flags, fds, fd_count ? *fd_count : 0, &have, &got);

	if (fd_count)
		*fd_count = n < 0 ? 0 : have;
	if (n < 0)
		return n;
	if (n == 0)
		return -EPIPE;
	if (n < (long)sizeof *m || (got & MSG_TRUNC)) {
		scm_close(fds, have);
		if (fd_count)
			*fd_count = 0;
		return -EBADMSG;
	}
	return n - (long)sizeof *m;
}
