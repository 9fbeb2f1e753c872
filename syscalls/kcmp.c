/* kcmp: do two processes share an object? The order among different objects is stable, but tells no address. */
#include "syscalls/table.h"
#include <errno.h>
#include <linux/kcmp.h>
#include "fs/proc/proc.h"
#include "fs/vfs.h"
#include "sentry/base/host.h"
#include "sentry/task/task.h"

static int compare(const void *a, const void *b)
{
	static uint64_t cookie[2];
	uint64_t x = (uintptr_t)a, y = (uintptr_t)b;

	if (!cookie[1]) {
		host_getrandom(cookie, sizeof(cookie));
		cookie[1] |= 1; /* odd: the product is a permutation */
	}
	x = (x ^ cookie[0]) * cookie[1];
	y = (y ^ cookie[0]) * cookie[1];
	return x == y ? 0 : x < y ? 1 : 2;
}

static int64_t compare_files(const struct task *a, unsigned long fd1, const struct task *b, unsigned long fd2)
{
	struct file *f = a->files ? fdtable_file(a->files, (unsigned)fd1) : NULL;
	struct file *g = b->files ? fdtable_file(b->files, (unsigned)fd2) : NULL;
	int64_t r = f && g ? compare(f, g) : -EBADF;

	file_put(f);
	file_put(g);
	return r;
}

int64_t sys_kcmp(pid_t pid1, pid_t pid2, int type, unsigned long idx1, unsigned long idx2)
{
	struct task *a = task_find(pid1), *b = task_find(pid2);

	if (!a || !b)
		return -ESRCH;
	if (!proc_may_access(a) || !proc_may_access(b))
		return -EPERM;
	switch (type) {
	case KCMP_FILE:
		return compare_files(a, idx1, b, idx2);
	case KCMP_VM:
		return compare(a->mm, b->mm);
	case KCMP_FILES:
		return compare(a->files, b->files);
	case KCMP_FS:
		return compare(a->fs, b->fs);
	case KCMP_SIGHAND:
		return compare(a->tg->sighand, b->tg->sighand);
	case KCMP_IO: /* nobody has an I/O context or an undo list yet: all the same NULL */
	case KCMP_SYSVSEM:
		return 0;
	case KCMP_EPOLL_TFD:
		return -EOPNOTSUPP;
	}
	return -EINVAL;
}
