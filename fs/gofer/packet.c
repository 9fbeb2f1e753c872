/* Packets between gofer file system and helper. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include "fs/gofer/gofer.h"

#define MAX_FDS 2

int gofer_send(int sock, const void *msg, size_t size, const int *fds, unsigned fd_count)
{
	char cbuf[CMSG_SPACE(MAX_FDS * sizeof(int))] __attribute__((aligned(8))) = {0};
	struct iovec iov = {(void *)msg, size};
	struct msghdr h = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n;

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

int gofer_recv(int sock, void *msg, size_t size, int *fds, unsigned fd_max)
{
	char cbuf[CMSG_SPACE(MAX_FDS * sizeof(int))] __attribute__((aligned(8)));
	struct iovec iov = {msg, size};
	struct msghdr h = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = cbuf, .msg_controllen = sizeof cbuf};
	unsigned have = 0;
	ssize_t n;

	for (unsigned i = 0; i < fd_max; i++)
		fds[i] = -1;
	do
		n = recvmsg(sock, &h, MSG_CMSG_CLOEXEC);
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
	if (n == (ssize_t)size)
		return 0;
	for (unsigned i = 0; i < have; i++)
		close(fds[i]);
	return n == 0 ? -EPIPE : -EBADMSG;
}
