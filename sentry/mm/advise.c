/* madvise and mlock: what changes contents goes to the host, what is a hint only is checked and forgotten. */
#include "sentry/mm/vma.h"
#include "sentry/base/util.h"
#include "sentry/platform/platform.h"
#include "sentry/task/task.h"
#include "fs/vfs.h"
#include <errno.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

static bool advice_known(int advice)
{
	switch (advice) {
	case MADV_NORMAL:
	case MADV_RANDOM:
	case MADV_SEQUENTIAL:
	case MADV_WILLNEED:
	case MADV_DONTNEED:
	case MADV_FREE:
	case MADV_REMOVE:
	case MADV_DONTFORK:
	case MADV_DOFORK:
	case MADV_HUGEPAGE:
	case MADV_NOHUGEPAGE:
	case MADV_DONTDUMP:
	case MADV_DODUMP:
	case MADV_WIPEONFORK:
	case MADV_KEEPONFORK:
	case MADV_COLD:
	case MADV_PAGEOUT:
	case MADV_POPULATE_READ:
	case MADV_POPULATE_WRITE:
		return true;
	}
	return false;
}

/* Punch [start, end) out of the object behind V. */
static int advise_remove(struct plat_thread *t, struct vma *v, uint64_t start, uint64_t end)
{
	struct file *f;
	int r;

	if (v->flags & MAP_LOCKED)
		return -EINVAL;
	if (!v->file)
		return -EINVAL;
	if (!(v->flags & MAP_SHARED) || !v->file->can_write)
		return -EACCES;
	if (!v->file->ops->fallocate)
		return plat_madvise(t, start, end - start, MADV_REMOVE);
	f = file_get(v->file);
	r = f->ops->fallocate(f, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, v->off + (start - v->start), end - start);
	file_put(f);
	return r;
}

/* Set and clear flags of [start, end) within V. */
static int advise_flag(struct mm *mm, struct plat_thread *t, struct vma *v, uint64_t start, uint64_t end, int advice,
		       unsigned set, unsigned clear)
{
	struct vma_spares spares = {0};
	unsigned madv = (v->madv | set) & ~clear;
	int r;

	if (madv == v->madv)
		return 0;
	if (mm->map_count + 2 > MM_MAX_MAPS)
		return -ENOMEM;
	r = spares_fill(&spares, 2);
	if (r < 0)
		return r;
	r = plat_madvise(t, start, end - start, advice);
	if (r == 0) {
		vma_cut(mm, start, end, &spares);
		v = vma_lookup(mm, start);
		v->madv = madv;
		vma_merge(mm, v);
	}
	spares_free(&spares);
	return r;
}

static int advise_vma(struct mm *mm, struct plat_thread *t, struct vma *v, uint64_t start, uint64_t end, int advice)
{
	switch (advice) {
	case MADV_DONTNEED:
		return v->flags & MAP_LOCKED ? -EINVAL : plat_madvise(t, start, end - start, advice);
	case MADV_FREE:
		if (v->file || !(v->flags & MAP_PRIVATE))
			return -EINVAL;
		return plat_madvise(t, start, end - start, advice);
	case MADV_POPULATE_READ:
	case MADV_POPULATE_WRITE:
		return plat_madvise(t, start, end - start, advice);
	case MADV_REMOVE:
		return advise_remove(t, v, start, end);
	case MADV_DONTFORK:
		return advise_flag(mm, t, v, start, end, advice, VMA_DONTFORK, 0);
	case MADV_DOFORK:
		return advise_flag(mm, t, v, start, end, advice, 0, VMA_DONTFORK);
	case MADV_WIPEONFORK:
		if (v->file || (v->flags & MAP_SHARED))
			return -EINVAL;
		return advise_flag(mm, t, v, start, end, advice, VMA_WIPEONFORK, 0);
	case MADV_KEEPONFORK:
		return advise_flag(mm, t, v, start, end, advice, 0, VMA_WIPEONFORK);
	default:
		return 0;
	}
}

int do_madvise(struct mm *mm, struct plat_thread *t, uint64_t addr, uint64_t size, int advice)
{
	uint64_t end, at = addr;
	bool hole = false;
	struct vma *v;
	int r = 0;

	if (!advice_known(advice) || (addr & (GUEST_PAGE_SIZE - 1)))
		return -EINVAL;
	if (size && !PAGE_UP(size))
		return -EINVAL;
	end = addr + PAGE_UP(size);
	if (end < addr)
		return -EINVAL;
	mm_lock(mm);
	while (at < end) {
		uint64_t stop;

		v = mm_find(mm, at);
		if (!v || v->start >= end) {
			hole = true;
			break;
		}
		if (v->start > at) {
			hole = true;
			at = v->start;
		}
		stop = MIN(v->end, end);
		r = advise_vma(mm, t, v, at, stop, advice);
		if (r < 0)
			break;
		at = stop;
	}
	mm_unlock(mm);
	return r < 0 ? r : hole ? -ENOMEM : 0;
}

/* Pages are not pinned: the sandbox has no swap of its own; the count and its limit are what a program sees. */
static int mlock_locked(struct mm *mm, uint64_t start, uint64_t end, bool lock)
{
	struct vma_spares spares = {0};
	struct vma *v, *next;
	uint64_t at = start, fresh = 0;
	int r;

	for (v = mm_find(mm, start); at < end; v = vma_next(mm, v)) {
		if (!v || v->start > at)
			return -ENOMEM;
		if (!(v->flags & MAP_LOCKED))
			fresh += MIN(v->end, end) - at;
		at = MIN(v->end, end);
	}
	if (lock && limit_mlock(mm, fresh / GUEST_PAGE_SIZE) < 0)
		return -ENOMEM;
	if (mm->map_count + 2 > MM_MAX_MAPS)
		return -ENOMEM;
	r = spares_fill(&spares, 2);
	if (r < 0)
		return r;
	vma_cut(mm, start, end, &spares);
	for (v = mm_find(mm, start); v && v->start < end; v = next) {
		vma_stats(mm, v, -1);
		v->flags = lock ? v->flags | MAP_LOCKED : v->flags & ~MAP_LOCKED;
		vma_stats(mm, v, 1);
		next = vma_next(mm, vma_merge(mm, v));
	}
	v = mm_find(mm, end);
	if (v && v->start == end)
		vma_merge(mm, v);
	spares_free(&spares);
	return 0;
}

int do_mlock(struct mm *mm, uint64_t addr, uint64_t size, bool lock)
{
	uint64_t start = PAGE_DOWN(addr), end;
	int r;

	if (lock && !limit_current(RLIMIT_MEMLOCK) && !capable(CAP_IPC_LOCK))
		return -EPERM;
	size = PAGE_UP(size + (addr - start));
	end = start + size;
	if (end < start)
		return -EINVAL;
	if (end == start)
		return 0;
	mm_lock(mm);
	r = mlock_locked(mm, start, end, lock);
	mm_unlock(mm);
	return r;
}

int do_mlockall(struct mm *mm, bool lock_current, bool lock_future)
{
	struct vma *v, *next;

	if (lock_current && limit_mlock(mm, mm->total_pages - mm->locked_pages) < 0)
		return -ENOMEM;
	mm_lock(mm);
	mm->def_flags = lock_future ? MAP_LOCKED : 0;
	if (lock_current || !lock_future) {
		for (v = mm_first(mm); v; v = next) {
			vma_stats(mm, v, -1);
			v->flags = lock_current ? v->flags | MAP_LOCKED : v->flags & ~MAP_LOCKED;
			vma_stats(mm, v, 1);
			next = vma_next(mm, vma_merge(mm, v));
		}
	}
	mm_unlock(mm);
	return 0;
}
