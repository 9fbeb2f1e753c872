/* wait4 and waitid over do_wait. */
#include "syscalls/table.h"
#include "sentry/task/task.h"
#include "sentry/task/wait.h"
#include "sentry/base/util.h"
#include <limits.h>
#include <sys/wait.h>

/* The process a pidfd names: borrowed, or NULL if FD is none (fs/pidfd). *NONBLOCK: its O_NONBLOCK. */
__attribute__((weak)) struct tgroup *pidfd_tgroup(int fd, bool *nonblock);

#define WAIT_COMMON (WNOHANG | (int)0x20000000 | (int)0x40000000 | (int)0x80000000) /* __WNOTHREAD, __WALL, __WCLONE */

int64_t sys_wait4(pid_t pid, uaddr_t status, int options, uaddr_t rusage)
{
	struct wait_result r;
	enum wait_type type = WAIT_PID;
	int64_t ret;

	if (options & ~(WAIT_COMMON | WUNTRACED | WCONTINUED))
		return -EINVAL;
	if (pid == INT_MIN)
		return -ESRCH;
	if (pid == -1) {
		type = WAIT_ALL;
	} else if (pid <= 0) {
		type = WAIT_PGRP;
		pid = pid ? -pid : current->tg->pgrp->pgid;
	}
	ret = do_wait(type, pid, options | WEXITED, &r);
	if (ret <= 0)
		return ret;
	if (!uaddr_null(status) && copy_out_obj(status, r.status))
		return -EFAULT;
	if (!uaddr_null(rusage) && copy_out_obj(rusage, r.ru))
		return -EFAULT;
	return ret;
}

int64_t sys_waitid(int idtype, pid_t id, uaddr_t infop, int options, uaddr_t rusage)
{
	struct wait_result r;
	struct l_siginfo info;
	enum wait_type type;
	bool nonblock = false;
	int64_t ret;

	if (options & ~(WAIT_COMMON | WNOWAIT | WEXITED | WSTOPPED | WCONTINUED))
		return -EINVAL;
	if (!(options & (WEXITED | WSTOPPED | WCONTINUED)))
		return -EINVAL;
	switch (idtype) {
	case P_ALL:
		type = WAIT_ALL;
		break;
	case P_PID:
		type = WAIT_PID;
		if (id <= 0)
			return -EINVAL;
		break;
	case P_PGID:
		type = WAIT_PGRP;
		if (id < 0)
			return -EINVAL;
		if (!id)
			id = current->tg->pgrp->pgid;
		break;
	case P_PIDFD: {
		struct tgroup *tg;

		if (id < 0)
			return -EINVAL;
		tg = pidfd_tgroup ? pidfd_tgroup(id, &nonblock) : NULL;
		if (!tg)
			return -EBADF;
		type = WAIT_PID;
		id = tg->pid;
		break;
	}
	default:
		return -EINVAL;
	}
	memset(&info, 0, sizeof info);
	ret = do_wait(type, id, options | (nonblock ? WNOHANG : 0), &r);
	if (ret == 0 && nonblock && !(options & WNOHANG))
		return -EAGAIN;
	if (ret < 0)
		return ret;
	if (ret > 0) {
		info.signo = SIGCHLD;
		info.code = r.code;
		info.chld.pid = r.pid;
		info.chld.uid = r.uid;
		info.chld.status = r.info_status;
		if (!uaddr_null(rusage) && copy_out_obj(rusage, r.ru))
			return -EFAULT;
	}
	/* The kernel writes the fields, not the whole 128 bytes. */
	return uaddr_null(infop) ? 0 : copy_out(infop, &info, 32) ? -EFAULT : 0;
}
