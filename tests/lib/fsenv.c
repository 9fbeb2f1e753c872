#include "tests/lib/fsenv.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct cred fsenv_cred = {.refs = 1000, .cap_effective = CAP_FULL_SET, .cap_permitted = CAP_FULL_SET};
struct tgroup fsenv_tg = {.pid = 1};
static struct task fsenv_task = {.tid = 1, .tg = &fsenv_tg, .cred = &fsenv_cred};
struct task *current;
int fsenv_signals;

int64_t fsenv_call(int64_t (*fn)(), const uint64_t a[6])
{
	return fn(a[0], a[1], a[2], a[3], a[4], a[5]);
}

void fsenv_start(struct superblock *sb)
{
	current = NULL;
	vfs_init();
	for (int k = 0; k < L_RLIM_NLIMITS; k++)
		fsenv_tg.rlim[k] = (struct l_rlimit){L_RLIM_INFINITY, L_RLIM_INFINITY};
	fsenv_tg.rlim[7] = (struct l_rlimit){1024, 1024};
	list_init(&fsenv_tg.tasks);
	mount_add(sb, NULL, 0, "test");
	super_put(sb);
	fsenv_task.files = fdtable_new();
	fsenv_task.fs = fs_context_new(&vfs_root, &vfs_root);
	current = &fsenv_task;
}

void fsenv_stop(void)
{
	fdtable_put(fsenv_task.files);
	fs_context_put(fsenv_task.fs);
	current = NULL;
	struct mount *m = vfs_root.mnt;
	path_put(&vfs_root);
	mount_put(m);
}

/* Guest memory is ours. */
int copy_in(void *dst, uaddr_t src, size_t size)
{
	memcpy(dst, (void *)src.a, size);
	return 0;
}
int copy_out(uaddr_t dst, const void *src, size_t size)
{
	memcpy((void *)dst.a, src, size);
	return 0;
}
int clear_out(uaddr_t dst, size_t size)
{
	memset((void *)dst.a, 0, size);
	return 0;
}
long copy_in_some(void *dst, uaddr_t src, size_t size)
{
	memcpy(dst, (void *)src.a, size);
	return (long)size;
}
long copy_out_some(uaddr_t dst, const void *src, size_t size)
{
	memcpy((void *)dst.a, src, size);
	return (long)size;
}
long copy_in_str(char *dst, uaddr_t src, size_t cap)
{
	size_t n = strnlen((char *)src.a, cap);

	if (n == cap)
		return -ENAMETOOLONG;
	memcpy(dst, (char *)src.a, n + 1);
	return (long)n;
}
int copy_in_path(char **out, uaddr_t src, bool empty_ok)
{
	const char *s = (char *)src.a;

	if (strlen(s) > 4095)
		return -ENAMETOOLONG;
	if (!*s && !empty_ok)
		return -ENOENT;
	*out = strdup(s);
	return 0;
}

/* What the file layer asks of the parts that are not here. */
bool cred_has(const struct cred *c, int cap)
{
	return c->cap_effective >> cap & 1;
}
bool capable(int cap)
{
	return cred_has(current->cred, cap);
}
bool cred_in_group(const struct cred *c, gid_t gid)
{
	return c->fsgid == gid;
}
struct cred *cred_get(struct cred *c)
{
	c->refs++;
	return c;
}
struct cred *cred_dup(const struct cred *c)
{
	struct cred *n = malloc(sizeof(*n));

	*n = *c;
	n->refs = 1;
	return n;
}
void cred_put(struct cred *c)
{
	if (c && !--c->refs)
		free(c);
}
int signal_send_task(struct task *t, int signo, const struct l_siginfo *info)
{
	fsenv_signals++;
	return 0;
}
struct tgroup *tgroup_next(pid_t from)
{
	return NULL;
}
int wait_on(struct waitq *q, uint64_t deadline)
{
	return -ERESTARTSYS;
}
void waitq_wake(struct waitq *q, uint32_t events)
{
}
int fifo_open(struct inode *i, struct file *f)
{
	return -ENXIO;
}
int chrdev_open(struct inode *i, struct file *f)
{
	return -ENXIO;
}
int64_t pipe_fcntl(struct file *f, int cmd, uint64_t arg)
{
	return -EBADF;
}
void epoll_file_gone(struct file *f)
{
}
struct superblock *proc_new(void)
{
	return NULL;
}
struct superblock *sysfs_new(void)
{
	return NULL;
}

static uint64_t clock_ns(clockid_t c)
{
	struct timespec t;

	clock_gettime(c, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}
uint64_t now_mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}
uint64_t now_real_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}
