/*
 * System V shared memory. A segment is a memfd of tmpfs; every shmat makes a file over it, as Linux does, whose vmas
 * are the attachments: they are counted when asked for, and the file's release tells when the last has gone.
 * DIFF: the times and the last pid of attachments that end with a process are stored when its last one goes.
 */
#include "sentry/ipc/ipc.h"
#include "sentry/base/util.h"
#include "sentry/mm/mm.h"
#include "sentry/platform/platform.h"
#include "sentry/task/task.h"
#include "fs/vfs.h"
#include "syscalls/table.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/shm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define SHM_MAX (ULONG_MAX - (1ul << 24))
#define SHM_ALL SHM_MAX
#define SHM_MODE_DEST 01000u
#define SHM_MODE_LOCKED 02000u
#ifndef SHM_STAT_ANY
#define SHM_STAT_ANY 15
#endif

struct shm {
	struct ipc_object o;
	struct file *mem;       /* counted: the bytes */
	uint64_t size;
	int64_t atime, dtime, ctime;
	pid_t cpid, lpid;
	unsigned files;         /* attach files alive */
};

static void shm_free(struct ipc_object *o)
{
	struct shm *s = container_of(o, struct shm, o);

	if (s->mem)
		file_put(s->mem);
	free(s);
}
struct ipc_table shm_table = {.max = 4096, .high = -1, .free = shm_free};

static int attach_mmap(struct file *f, int prot, int flags, uint64_t off, uint64_t size, int *fd, uint64_t *host_off)
{
	struct shm *s = f->priv;

	return s->mem->ops->mmap(s->mem, prot, flags, off, size, fd, host_off);
}

static void attach_release(struct file *f)
{
	struct shm *s = f->priv;

	s->dtime = ipc_seconds();
	if (current)
		s->lpid = current->tg->pid;
	if (--s->files == 0 && (s->o.mode & SHM_MODE_DEST))
		ipc_remove(&shm_table, &s->o);
	ipc_put(&shm_table, &s->o);
}

static const struct file_ops attach_ops = {
	.llseek = no_llseek,
	.mmap = attach_mmap,
	.release = attach_release,
};

static struct shm *vma_shm(const struct vma *v)
{
	return v->file && v->file->ops == &attach_ops ? v->file->priv : NULL;
}

/* Attachments of S: the vmas of every address space, each looked at once though tasks share it. */
static unsigned long shm_nattch(const struct shm *s)
{
	static uint64_t scan;
	unsigned long n = 0;

	if (!s->files)
		return 0;
	scan++;
	for (struct tgroup *tg = tgroup_next(1); tg; tg = tgroup_next(tg->pid + 1)) {
		struct task *t;

		list_for_each(t, &tg->tasks, tg_node) {
			struct mm *mm = t->mm;

			if (!mm || mm->scan == scan)
				continue;
			mm->scan = scan;
			for (struct vma *v = mm_first(mm); v; v = vma_next(mm, v))
				n += vma_shm(v) == s;
		}
	}
	return n;
}

static struct ipc_object *shm_make(const struct ipc_get *g, int *error)
{
	struct shm *s;
	char name[16];

	if (g->size < 1 || g->size > SHM_MAX) {
		*error = -EINVAL;
		return NULL;
	}
	if (PAGE_UP(g->size) < g->size) {
		*error = -ENOSPC;
		return NULL;
	}
	if (g->flags & SHM_HUGETLB)
		return NULL; /* ENOMEM, as a machine with no huge pages reserved */
	s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	snprintf(name, sizeof name, "SYSV%08x", (unsigned)g->key);
	*error = tmpfs_memfd_new(name, O_RDWR, 0, &s->mem);
	if (*error == 0) {
		struct iattr a = {.valid = ATTR_SIZE | ATTR_FORCE, .size = PAGE_UP(g->size)};

		/* The seals keep nobody out: no descriptor of it exists in the sandbox. */
		*error = vfs_setattr(&s->mem->path, &a);
	}
	if (*error < 0) {
		if (*error == -EINVAL || *error == -EFBIG || *error == -ENOSPC)
			*error = -ENOMEM;
		shm_free(&s->o);
		return NULL;
	}
	s->o.refs = 1;
	s->size = g->size;
	s->ctime = ipc_seconds();
	s->cpid = current->tg->pid;
	return &s->o;
}

static int shm_check(const struct ipc_object *o, const struct ipc_get *g)
{
	return container_of(o, struct shm, o)->size < g->size ? -EINVAL : 0;
}

int64_t sys_shmget(int key, size_t size, int flags)
{
	struct ipc_get g = {.key = key, .flags = flags, .size = size, .make = shm_make, .check = shm_check};

	return ipc_get(&shm_table, &g);
}

/* Address and flags as shmat asks for them: 0 or -EINVAL. */
static int attach_place(uint64_t *addr, int flags, int *map)
{
	*map = MAP_SHARED;
	if (!*addr)
		return flags & SHM_REMAP ? -EINVAL : 0;
	if (*addr & (GUEST_PAGE_SIZE - 1)) {
		if (!(flags & SHM_RND))
			return -EINVAL;
		*addr = PAGE_DOWN(*addr);
		if (!*addr && (flags & SHM_REMAP))
			return -EINVAL;
	}
	*map |= flags & SHM_REMAP ? MAP_FIXED : MAP_FIXED_NOREPLACE;
	return 0;
}

int64_t sys_shmat(int id, uint64_t addr, int flags)
{
	int prot = PROT_READ, map, want = S_IRUGO;
	struct ipc_object *o;
	struct file *f;
	struct shm *s;
	char name[32];
	int64_t r;

	if (id < 0)
		return -EINVAL;
	r = attach_place(&addr, flags, &map);
	if (r < 0)
		return r;
	if (!(flags & SHM_RDONLY)) {
		prot |= PROT_WRITE;
		want |= S_IWUGO;
	}
	if (flags & SHM_EXEC) {
		prot |= PROT_EXEC;
		want |= S_IXUGO;
	}
	o = ipc_find(&shm_table, id);
	if (!o)
		return -EINVAL;
	if (!ipc_allowed(o, want))
		return -EACCES;
	s = container_of(o, struct shm, o);
	snprintf(name, sizeof name, "/SYSV%08x (deleted)", (unsigned)o->key);
	f = file_anon(inode_get(s->mem->inode), name, flags & SHM_RDONLY ? O_RDONLY : O_RDWR, &attach_ops, s);
	if (!f)
		return -ENOMEM;
	o->refs++;
	s->files++;
	r = do_mmap(current->mm, current->host, addr, PAGE_UP(s->size), prot, map, f, 0);
	if (r >= 0) {
		s->atime = ipc_seconds();
		s->lpid = current->tg->pid;
	}
	file_put(f);
	return r == -EEXIST ? -EINVAL : r;
}

int64_t sys_shmdt(uint64_t addr)
{
	struct mm *mm = current->mm;
	const struct file *file = NULL;
	uint64_t at = addr, size = 0;
	struct vma *v;

	if (addr & (GUEST_PAGE_SIZE - 1))
		return -EINVAL;
	/* The pieces of one attachment, which mprotect or munmap may have split; looked up again after each. */
	while ((v = mm_find(mm, at))) {
		struct shm *s = vma_shm(v);
		uint64_t start = v->start, end = v->end;

		if (file && end - addr > size)
			break;
		if (s && start - addr == v->off && (!file || v->file == file)) {
			int r;

			if (!file) {
				file = v->file; /* compared only */
				size = PAGE_UP(s->size);
			}
			r = do_munmap(mm, current->host, start, end - start);
			if (r < 0)
				return r;
		}
		at = end;
	}
	return file ? 0 : -EINVAL;
}

static int64_t shm_stat(struct ipc_object *o, int cmd, uaddr_t buf)
{
	struct shm *s = container_of(o, struct shm, o);
	struct shmid64_ds ds = {0};

	if (cmd != SHM_STAT_ANY && !ipc_allowed(o, S_IRUGO))
		return -EACCES;
	ipc_fill(&ds.shm_perm, o);
	ds.shm_segsz = s->size;
	ds.shm_atime = s->atime;
	ds.shm_dtime = s->dtime;
	ds.shm_ctime = s->ctime;
	ds.shm_cpid = s->cpid;
	ds.shm_lpid = s->lpid;
	ds.shm_nattch = shm_nattch(s);
	if (copy_out_obj(buf, ds) < 0)
		return -EFAULT;
	return cmd == IPC_STAT ? 0 : o->id;
}

static int64_t shm_lock(struct ipc_object *o, bool lock)
{
	uid_t me = current->cred->euid;

	if (!capable(CAP_IPC_LOCK)) {
		if (me != o->uid && me != o->cuid)
			return -EPERM;
		if (lock && !current->tg->rlim[RLIMIT_MEMLOCK].cur)
			return -EPERM;
	}
	o->mode = lock ? o->mode | SHM_MODE_LOCKED : o->mode & ~SHM_MODE_LOCKED;
	return 0;
}

static int64_t shm_info(int cmd, uaddr_t buf)
{
	int high = MAX(shm_table.high, 0);

	if (cmd == IPC_INFO) {
		struct shminfo64 i = {.shmmax = SHM_MAX, .shmmin = 1, .shmmni = shm_table.max,
				      .shmseg = shm_table.max, .shmall = SHM_ALL};

		return copy_out_obj(buf, i) < 0 ? -EFAULT : high;
	}
	struct shm_info i = {.used_ids = (int)shm_table.count};

	for (int n = 0; n <= shm_table.high; n++)
		if (shm_table.slot[n])
			i.shm_tot += PAGE_UP(container_of(shm_table.slot[n], struct shm, o)->size) >> 12;
	i.shm_rss = i.shm_tot;
	return copy_out_obj(buf, i) < 0 ? -EFAULT : high;
}

int64_t sys_shmctl(int id, int cmd, uaddr_t buf)
{
	struct shmid64_ds ds;
	struct ipc_object *o;

	if (cmd < 0 || id < 0)
		return -EINVAL;
	switch (cmd) {
	case IPC_INFO:
	case SHM_INFO:
		return shm_info(cmd, buf);
	case SHM_STAT:
	case SHM_STAT_ANY:
		o = ipc_at(&shm_table, id);
		return o ? shm_stat(o, cmd, buf) : -EINVAL;
	case IPC_STAT:
		o = ipc_find(&shm_table, id);
		return o ? shm_stat(o, cmd, buf) : -EINVAL;
	case SHM_LOCK:
	case SHM_UNLOCK:
		o = ipc_find(&shm_table, id);
		return o ? shm_lock(o, cmd == SHM_LOCK) : -EINVAL;
	case IPC_SET:
		if (copy_in_obj(ds, buf) < 0)
			return -EFAULT;
		break;
	case IPC_RMID:
		break;
	default:
		return -EINVAL;
	}
	o = ipc_find(&shm_table, id);
	if (!o)
		return -EINVAL;
	if (!ipc_owner(o))
		return -EPERM;
	if (cmd == IPC_SET) {
		int r = ipc_set(o, &ds.shm_perm);

		if (r == 0)
			container_of(o, struct shm, o)->ctime = ipc_seconds();
		return r;
	}
	if (container_of(o, struct shm, o)->files) {
		o->mode |= SHM_MODE_DEST;
		o->key = IPC_PRIVATE; /* found by its id alone until the last detach */
	} else {
		ipc_remove(&shm_table, o);
	}
	return 0;
}

int shm_show(struct strbuf *b)
{
	strbuf_puts(b, "       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  cgid      "
		       "atime      dtime      ctime                   rss                  swap\n");
	for (int n = 0; n <= shm_table.high; n++) {
		struct ipc_object *o = shm_table.slot[n];
		struct shm *s = o ? container_of(o, struct shm, o) : NULL;

		if (s)
			strbuf_printf(b,
				      "%10d %10d  %4o %21lu %5u %5u  %5lu %5u %5u %5u %5u %10llu %10llu %10llu %21lu %21lu\n",
				      o->key, o->id, o->mode, (unsigned long)s->size, (unsigned)s->cpid,
				      (unsigned)s->lpid, shm_nattch(s), o->uid, o->gid, o->cuid, o->cgid,
				      (unsigned long long)s->atime, (unsigned long long)s->dtime,
				      (unsigned long long)s->ctime, (unsigned long)PAGE_UP(s->size), 0ul);
	}
	return 0;
}
