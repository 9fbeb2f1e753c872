#include "sentry/base/scm.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

int scm_send(int sock, const struct iovec *iov, unsigned iov_count, const int *fds, unsigned fd_count)
{
	char cbuf[CMSG_SPACE(SCM_FDS * sizeof(int))] __attribute__((aligned(8))) = {0};
	struct msghdr h = {.msg_iov = (struct iovec *)iov, .msg_iovlen = iov_count};
	ssize_t n;

	if (fd_count > SCM_FDS)
		return -E2BIG;
	if (fd_count) {
		struct cmsghdr *cm;

		h.msg_control = cbuf;
		h.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
		cm = CMSG_FIRSTHDR(&h);
		cm->cmsg_level = SOL_SOCKET;
		cm->cmsg_type = SCM_RIGHTS;
		cm->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
		memcpy(CMSG_DATA(cm), fds, fd_count * sizeof(int));
	}
	do
		n = sendmsg(sock, &h, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

long scm_recv(int sock, const struct iovec *iov, unsigned iov_count, int flags, int *fds, unsigned fd_max,
	      unsigned *fd_count, int *msg_flags)
{
	char cbuf[CMSG_SPACE(SCM_FDS * sizeof(int))] __attribute__((aligned(8)));
	struct msghdr h = {.msg_iov = (struct iovec *)iov, .msg_iovlen = iov_count, .msg_control = cbuf,
			   .msg_controllen = sizeof cbuf};
	unsigned have = 0;
	ssize_t n;

	*fd_count = 0;
	do
		n = recvmsg(sock, &h, flags | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	for (struct cmsghdr *cm = CMSG_FIRSTHDR(&h); cm; cm = CMSG_NXTHDR(&h, cm)) {
		if (cm->cmsg_level != SOL_SOCKET || cm->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < (cm->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
			int got;

			memcpy(&got, CMSG_DATA(cm) + i * sizeof(int), sizeof got);
			if (have < fd_max)
				fds[have++] = got;
			else
				close(got);
		}
	}
	*fd_count = have;
	*msg_flags = h.msg_flags;
	return n;
}

void scm_close(int *fds, unsigned fd_count)
{
	for (unsigned i = 0; i < fd_count; i++)
		close(fds[i]);
}
