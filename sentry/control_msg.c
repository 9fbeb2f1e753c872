/* Packets of the control channel, used by monitor and sentry alike. */
#include "sentry/control.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

int control_send(int fd, const struct control_msg *m, const void *text, size_t size, const int *fds, unsigned fd_count)
{
	char cbuf[CMSG_SPACE(CONTROL_FDS * sizeof(int))];
	struct iovec iov[2] = {{(void *)m, sizeof *m}, {(void *)text, size}};
	struct msghdr h = {.msg_iov = iov, .msg_iovlen = 2};
	ssize_t n;

	if (size > CONTROL_MAX || fd_count > CONTROL_FDS)
		return -E2BIG;
	if (fd_count) {
		struct cmsghdr *cm;

		memset(cbuf, 0, sizeof cbuf);
		h.msg_control = cbuf;
		h.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
		cm = CMSG_FIRSTHDR(&h);
		cm->cmsg_level = SOL_SOCKET;
		cm->cmsg_type = SCM_RIGHTS;
		cm->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
		memcpy(CMSG_DATA(cm), fds, fd_count * sizeof(int));
	}
	do
		n = sendmsg(fd, &h, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

long control_recv(int fd, struct control_msg *m, void *text, size_t size, int *fds, unsigned *fd_count, int flags)
{
	char cbuf[CMSG_SPACE(8 * sizeof(int))] __attribute__((aligned(8)));
	struct iovec iov[2] = {{m, sizeof *m}, {text, size}};
	struct msghdr h = {.msg_iov = iov, .msg_iovlen = 2, .msg_control = cbuf, .msg_controllen = sizeof cbuf};
	unsigned want = fd_count ? *fd_count : 0, have = 0;
	ssize_t n;

	do
		n = recvmsg(fd, &h, flags | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (fd_count)
		*fd_count = 0;
	if (n < 0)
		return -errno;
	for (struct cmsghdr *cm = CMSG_FIRSTHDR(&h); cm; cm = CMSG_NXTHDR(&h, cm)) {
		if (cm->cmsg_level != SOL_SOCKET || cm->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < (cm->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
			int got;

			memcpy(&got, CMSG_DATA(cm) + i * sizeof(int), sizeof got);
			if (have < want)
				fds[have++] = got;
			else
				close(got);
		}
	}
	if (fd_count)
		*fd_count = have;
	if (n == 0)
		return -EPIPE;
	if (n < (ssize_t)sizeof *m || (h.msg_flags & MSG_TRUNC)) {
		for (unsigned i = 0; i < have; i++)
			close(fds[i]);
		if (fd_count)
			*fd_count = 0;
		return -EBADMSG;
	}
	return n - (long)sizeof *m;
}
