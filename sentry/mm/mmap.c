/*
 * mmap, munmap, mprotect: checks in Linux's order, then one order to the platform, then the change of the table.
 * All under mm_lock. The vmas the change may need are allocated first, so when the order fails the table is as it
 * was, and when it succeeds the table cannot fail.
 */
#include "sentry/mm/vma.h"
#include "sentry/base/util.h"
#include "sentry/platform/platform.h"
#include "sentry/task/task.h"
#include "fs/vfs.h"
#include <errno.h>
#include <linux/mman.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>

/* Flags that stay with a vma; all others act once or mean nothing here. */
#define VMA_FLAGS (MAP_SHARED | MAP_PRIVATE | MAP_GROWSDOWN | MAP_NORESERVE | MAP_LOCKED)
#define LEGACY_MAP_MASK                                                                                       \
	(MAP_SHARED | MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_DENYWRITE | MAP_EXECUTABLE | MAP_GROWSDOWN |  \
	 MAP_LOCKED | MAP_NORESERVE | MAP_POPULATE | MAP_NONBLOCK | MAP_STACK | MAP_HUGETLB | MAP_32BIT)

int vma_may_protect(const struct file *file, int flags, int prot)
{
	if (!file)
		return 0;
	if ((prot & PROT_WRITE) && (flags & MAP_SHARED) && !file->can_write)
		return -EACCES;
	if ((prot & PROT_WRITE) && (flags & MAP_SHARED) && file->ops->fcntl) {
		/* DIFF: F_SEAL_FUTURE_WRITE keeps an older shared mapping from becoming writable again, too. */
		int64_t seals = file->ops->fcntl((struct file *)file, F_GET_SEALS, 0);

		if (seals > 0 && (seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)))
			return -EACCES;
	}
	if ((prot & PROT_EXEC) && file->path.mnt && (file->path.mnt->flags & MS_NOEXEC))
		return -EACCES;
	return 0;
}

static int64_t place(struct mm *mm, uint64_t addr, uint64_t size, int flags)
{
	uint64_t a;

	if (size > GUEST_TASK_SIZE)
		return -ENOMEM;
	if (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) {
		if (addr > GUEST_TASK_SIZE - size)
			return -ENOMEM;
		if (addr & (GUEST_PAGE_SIZE - 1))
			return -EINVAL;
		if (addr < GUEST_ADDR_MIN)
			return -EPERM;
		if ((flags & MAP_FIXED_NOREPLACE) && vma_overlaps(mm, addr, addr + size))
			return -EEXIST;
		return (int64_t)addr;
	}
	if (flags & MAP_32BIT) {
		a = vma_gap(mm, size, 0x40000000, 0x80000000);
		return a ? (int64_t)a : -ENOMEM;
	}
	if (addr) {
		struct vma *next;

		/* Linux rounds a hint down to its page, and one below mmap_min_addr up to that. */
		addr = MAX(PAGE_DOWN(addr), GUEST_ADDR_MIN);
		if (addr <= GUEST_TASK_SIZE - size && !vma_overlaps(mm, addr, addr + size)) {
			next = mm_find(mm, addr);
			if (!next || !(next->flags & MAP_GROWSDOWN) || next->start - (addr + size) >= STACK_GUARD)
				return (int64_t)addr;
		}
	}
	a = mm_find_gap(mm, size, GUEST_PAGE_SIZE);
	return a ? (int64_t)a : -ENOMEM;
}

/* Linux's checks of a file mapping, in its order. */
static int check_file(struct file *file, int prot, int flags)
{
	int type = flags & MAP_TYPE;

	if (type == MAP_SHARED_VALIDATE && (flags & ~LEGACY_MAP_MASK & ~MAP_SHARED_VALIDATE & ~MAP_FIXED_NOREPLACE))
		return -EOPNOTSUPP;
	if (type == MAP_SHARED || type == MAP_SHARED_VALIDATE) {
		if ((prot & PROT_WRITE) && !file->can_write)
			return -EACCES;
		if (file->can_write && (file->inode->fsflags & INODE_APPEND))
			return -EACCES;
	} else if (type != MAP_PRIVATE) {
		return -EINVAL;
	}
	if (!file->can_read)
		return -EACCES;
	if ((prot & PROT_EXEC) && file->path.mnt && (file->path.mnt->flags & MS_NOEXEC))
		return -EPERM;
	if (!file->ops || !file->ops->mmap)
		return -ENODEV;
	if (flags & MAP_GROWSDOWN)
		return -EINVAL;
	return 0;
}

static int64_t map_locked(struct mm *mm, struct plat_thread *t, uint64_t addr, uint64_t size, int prot, int flags,
			  struct file *file, uint64_t off, const char *name, bool charge)
{
	struct vma_spares spares = {0};
	struct file *object = NULL; /* counted: what the vma will refer to */
	bool shared = (flags & MAP_TYPE) != MAP_PRIVATE;
	uint64_t pages, host_off = 0;
	int host_fd = -1, r, delta;
	int64_t at;
	struct vma *v;

	if (size == 0)
		return -EINVAL;
	size = PAGE_UP(size);
	if (!size)
		return -ENOMEM;
	if (off + size < off)
		return -EOVERFLOW;
	if (mm->map_count > MM_MAX_MAPS)
		return -ENOMEM;
	at = place(mm, addr, size, flags);
	if (at < 0)
		return at;
	addr = (uint64_t)at;
	pages = size / GUEST_PAGE_SIZE;
	flags |= mm->def_flags;
	if (flags & MAP_LOCKED) {
		if (!limit_current(8 /* RLIMIT_MEMLOCK */) && !capable(CAP_IPC_LOCK))
			return -EPERM;
		r = limit_mlock(mm, pages);
		if (r < 0)
			return r;
	}
	if (file) {
		if (off + size > (uint64_t)INT64_MAX)
			return -EOVERFLOW;
		r = check_file(file, prot, flags);
		if (r < 0)
			return r;
	} else {
		int type = flags & MAP_TYPE;

		if (type == MAP_SHARED ? (flags & MAP_GROWSDOWN) != 0 : type != MAP_PRIVATE)
			return -EINVAL;
		if (flags & MAP_HUGETLB)
			return -ENOMEM; /* as a machine with no huge pages reserved */
	}
	if (!limit_may_expand(mm, pages, vma_is_data(prot, shared ? MAP_SHARED : flags)))
		return -ENOMEM;
	delta = vma_clear_delta(mm, addr, addr + size);
	if ((int)mm->map_count + delta + 1 > MM_MAX_MAPS + 1)
		return -ENOMEM;

	if (file) {
		r = file->ops->mmap(file, prot, flags, off, size, &host_fd, &host_off);
		if (r < 0)
			return r;
		object = file_get(file);
	}
	if (shared && host_fd < 0) {
		bool may_write = !object || object->can_write;

		/* Anonymous (or /dev/zero): pages shared with future children, identified by an object. */
		if (object)
			file_put(object);
		object = shmem_file(size);
		if (!object)
			return -ENOMEM;
		object->can_write = may_write; /* for a later mprotect */
		off = 0;
	}
	r = spares_fill(&spares, 3);
	if (r < 0)
		goto out;
	charge = charge && !shared && (prot & PROT_WRITE);
	if (charge) {
		r = mm_account(mm, (int64_t)pages);
		if (r < 0)
			goto out;
	}
	r = plat_mmap(t, addr, size, prot & (PROT_READ | PROT_WRITE | PROT_EXEC),
		      (shared ? MAP_SHARED : MAP_PRIVATE) |
			      (flags & (MAP_NORESERVE | MAP_POPULATE)) |
			      (host_fd < 0 ? MAP_ANONYMOUS : 0),
		      host_fd, host_fd < 0 ? 0 : host_off);
	if (r < 0) {
		if (charge)
			mm_account(mm, -(int64_t)pages);
		goto out;
	}
	vma_clear(mm, addr, addr + size, &spares);
	v = spares_take(&spares);
	v->start = addr;
	v->end = addr + size;
	v->prot = prot & (PROT_READ | PROT_WRITE | PROT_EXEC);
	v->flags = (flags & VMA_FLAGS & ~MAP_TYPE) | (shared ? MAP_SHARED : MAP_PRIVATE);
	v->file = object;
	object = NULL;
	v->off = v->file ? off : 0;
	v->name = name;
	v->madv = charge ? VMA_ACCOUNT : 0;
	vma_insert(mm, v);
	vma_stats(mm, v, 1);
	vma_merge(mm, v);
	r = 0;
out:
	spares_free(&spares);
	if (object)
		file_put(object);
	return r < 0 ? r : (int64_t)addr;
}

int64_t do_mmap(struct mm *mm, struct plat_thread *t, uint64_t addr, uint64_t size, int prot, int flags,
		struct file *file, uint64_t off)
{
	int64_t r;

	if (off & (GUEST_PAGE_SIZE - 1))
		return -EINVAL;
	mm_lock(mm);
	r = map_locked(mm, t, addr, size, prot, flags, file, off, NULL, true);
	mm_unlock(mm);
	return r;
}

int mm_map_anon(struct mm *mm, struct plat_thread *t, uint64_t addr, uint64_t size, int prot, int flags,
		const char *name)
{
	int64_t r;

	mm_lock(mm);
	r = map_locked(mm, t, addr, size, prot, flags | MAP_FIXED | MAP_ANONYMOUS, NULL, 0, name,
		       !(flags & MAP_GROWSDOWN));
	mm_unlock(mm);
	return r < 0 ? (int)r : 0;
}

int mm_unmap_locked(struct mm *mm, struct plat_thread *t, uint64_t addr, uint64_t size)
{
	struct vma_spares spares = {0};
	int r;

	if (!vma_overlaps(mm, addr, addr + size))
		return 0;
	if ((int)mm->map_count + vma_clear_delta(mm, addr, addr + size) > MM_MAX_MAPS)
		return -ENOMEM;
	r = spares_fill(&spares, 2);
	if (r < 0)
		return r;
	r = plat_munmap(t, addr, size);
	if (r == 0)
		vma_clear(mm, addr, addr + size, &spares);
	spares_free(&spares);
	return r;
}

int do_munmap(struct mm *mm, struct plat_thread *t, uint64_t addr, uint64_t size)
{
	int r;

	if ((addr & (GUEST_PAGE_SIZE - 1)) || addr > GUEST_TASK_SIZE || size > GUEST_TASK_SIZE - addr)
		return -EINVAL;
	size = PAGE_UP(size);
	if (!size)
		return -EINVAL;
	mm_lock(mm);
	r = mm_unmap_locked(mm, t, addr, size);
	mm_unlock(mm);
	return r;
}

/*
 * The part of [start, *end) that may get PROT: up to the first hole or forbidding vma, where Linux stops too.
 * Returns the error that ends it, 0 if nothing does. *CHARGE: pages that become chargeable; *SAME: nothing to do.
 */
static int protect_prefix(struct mm *mm, uint64_t start, uint64_t *end, int prot, uint64_t *charge, uint64_t *data,
			  bool *same)
{
	uint64_t at = start;
	struct vma *v;
	int r = 0;

	*charge = *data = 0;
	*same = true;
	for (v = mm_find(mm, start); at < *end; v = vma_next(mm, v)) {
		uint64_t stop, pages;

		if (!v || v->start > at) {
			r = -ENOMEM;
			break;
		}
		r = vma_may_protect(v->file, v->flags, prot);
		if (r < 0)
			break;
		stop = MIN(v->end, *end);
		pages = (stop - at) / GUEST_PAGE_SIZE;
		if (v->prot != prot)
			*same = false;
		if ((prot & PROT_WRITE) && !(v->flags & (MAP_SHARED | MAP_GROWSDOWN))) {
			if (!(v->madv & VMA_ACCOUNT))
				*charge += pages;
			if (!(v->prot & PROT_WRITE))
				*data += pages;
		}
		at = stop;
	}
	*end = at;
	return r;
}

int do_mprotect(struct mm *mm, struct plat_thread *t, uint64_t addr, uint64_t size, int prot)
{
	int grows = prot & (PROT_GROWSDOWN | PROT_GROWSUP), error, r;
	struct vma_spares spares = {0};
	uint64_t end, charge, data;
	struct vma *v, *next;
	bool same;

	prot &= ~(PROT_GROWSDOWN | PROT_GROWSUP);
	if (grows == (PROT_GROWSDOWN | PROT_GROWSUP))
		return -EINVAL;
	if (addr & (GUEST_PAGE_SIZE - 1))
		return -EINVAL;
	if (!size)
		return 0;
	size = PAGE_UP(size);
	end = addr + size;
	if (end <= addr)
		return -ENOMEM;
	if (prot & ~(PROT_READ | PROT_WRITE | PROT_EXEC | 8 /* PROT_SEM */))
		return -EINVAL;
	prot &= PROT_READ | PROT_WRITE | PROT_EXEC;
	if (addr >= GUEST_TASK_SIZE)
		return -ENOMEM;
	end = MIN(end, GUEST_TASK_SIZE + GUEST_PAGE_SIZE); /* beyond is a hole anyway */
	mm_lock(mm);
	if (grows) {
		v = mm_find(mm, addr);
		if (!v || v->start >= end) {
			error = -ENOMEM;
			goto out;
		}
		if (grows == PROT_GROWSUP || !(v->flags & MAP_GROWSDOWN)) {
			error = -EINVAL;
			goto out;
		}
		addr = v->start;
	}
	error = protect_prefix(mm, addr, &end, prot, &charge, &data, &same);
	if (end == addr || same)
		goto out;
	if (mm->map_count + 2 > MM_MAX_MAPS || (data && limit_data_exceeded(mm, data))) {
		error = -ENOMEM;
		goto out;
	}
	r = spares_fill(&spares, 2);
	if (r == 0)
		r = mm_account(mm, (int64_t)charge);
	if (r < 0) {
		error = r;
		goto out;
	}
	r = plat_mprotect(t, addr, end - addr, prot);
	if (r < 0) {
		mm_account(mm, -(int64_t)charge);
		error = r;
		goto out;
	}
	vma_cut(mm, addr, end, &spares);
	for (v = mm_find(mm, addr); v && v->start < end; v = next) {
		vma_stats(mm, v, -1);
		v->prot = prot;
		if ((prot & PROT_WRITE) && !(v->flags & (MAP_SHARED | MAP_GROWSDOWN)))
			v->madv |= VMA_ACCOUNT;
		vma_stats(mm, v, 1);
		next = vma_next(mm, vma_merge(mm, v));
	}
	v = mm_find(mm, end);
	if (v && v->start == end)
		vma_merge(mm, v);
out:
	spares_free(&spares);
	mm_unlock(mm);
	return error;
}
