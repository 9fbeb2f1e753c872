/* pidfd_open, pidfd_send_signal, pidfd_getfd. */
#include "syscalls/table.h"
#include <errno.h>
#include <fcntl.h>
#include "fs/pidfd/pidfd.h"
#include "fs/proc/proc.h"
#include "sentry/task/task.h"

int64_t sys_pidfd_open(pid_t pid, int flags)
{
	if (flags & ~O_NONBLOCK || pid <= 0)
		return -EINVAL;
	struct tgroup *tg = tgroup_find(pid);
	if (!tg)
		return task_find(pid) ? -ENOENT : -ESRCH;
	struct file *f;
	int r = pidfd_new_file(tg, flags, &f);
	if (r)
		return r;
	int fd = fd_install(f, 0, true);
	if (fd < 0)
		file_put(f);
	return fd;
}

/* The process of a pidfd, or of an open /proc/PID directory: 0, -EBADF, -ESRCH. *OUT is borrowed. */
static int signal_target(int fd, struct tgroup **out)
{
	struct file *f = fd_get_nopath(fd);
	pid_t pid;
	int r = 0;

	if (!f)
		return -EBADF;
	*out = file_pidfd(f);
	if (!*out && proc_file_pid(f, &pid)) {
		*out = tgroup_find(pid);
		r = -ESRCH;
	} else {
		r = -EBADF;
	}
	file_put(f);
	return *out ? 0 : r;
}

int64_t sys_pidfd_send_signal(int pidfd, int sig, uaddr_t uinfo, unsigned flags)
{
	if (flags)
		return -EINVAL;
	struct l_siginfo info = {.signo = sig, .code = L_SI_USER,
				 .rt = {.pid = current->tg->pid, .uid = current->cred->uid}};
	struct tgroup *tg;
	int r = signal_target(pidfd, &tg);
	if (r < 0)
		return r;
	if (!uaddr_null(uinfo)) {
		tgroup_get(tg);
		r = copy_in_obj(info, uinfo);
		tgroup_put(tg);
		if (r)
			return r;
		if (info.signo != sig)
			return -EINVAL;
		/* Only to oneself may a signal pretend to come from the kernel or kill(2). */
		if (tg != current->tg && (info.code >= 0 || info.code == L_SI_TKILL))
			return -EPERM;
		r = signal_target(pidfd, &tg); /* the copy may have slept */
		if (r < 0)
			return r;
	}
	if (sig < 0 || sig > L_NSIG)
		return -EINVAL;
	if (tgroup_find(tg->pid) != tg)
		return -ESRCH;
	if (!signal_permitted(tg, sig))
		return -EPERM;
	return sig ? signal_send_group(tg, sig, &info) : 0;
}

int64_t sys_pidfd_getfd(int pidfd, int targetfd, unsigned flags)
{
	if (flags)
		return -EINVAL;
	struct tgroup *tg = pidfd_tgroup(pidfd, NULL);
	if (!tg)
		return -EBADF;
	struct task *t = tg->leader;
	if (tgroup_find(tg->pid) != tg || !t || !t->files)
		return -ESRCH;
	if (!proc_may_access(t))
		return -EPERM;
	struct file *f = fdtable_file(t->files, (unsigned)targetfd);
	if (!f)
		return -EBADF;
	int fd = fd_install(f, 0, true);
	if (fd < 0)
		file_put(f);
	return fd;
}
