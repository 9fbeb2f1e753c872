/* One message with descriptors over an AF_UNIX socket (SCM_RIGHTS): control channel and file helper. */
#ifndef WARD_BASE_SCM_H
#define WARD_BASE_SCM_H
#include <sys/types.h>

struct iovec;
#define SCM_FDS 8 /* descriptors in one message, at most */

/* 0 or -errno; -E2BIG when FD_COUNT passes SCM_FDS. The descriptors stay the caller's. */
int scm_send(int sock, const struct iovec *iov, unsigned iov_count, const int *fds, unsigned fd_count);
/* Bytes received (0: the peer is gone) or -errno. Up to FD_MAX descriptors go to FDS, close-on-exec and the caller's
 * from now on, their number to *FD_COUNT; surplus ones are closed. *MSG_FLAGS: MSG_TRUNC and its kin. */
long scm_recv(int sock, const struct iovec *iov, unsigned iov_count, int flags, int *fds, unsigned fd_max,
	      unsigned *fd_count, int *msg_flags);
void scm_close(int *fds, unsigned fd_count);
#endif
