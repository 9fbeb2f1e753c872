/* mremap: resize in place, move, or duplicate; checks in the order of Linux's mm/mremap.c. */
#include "sentry/mm/vma.h"
#include "sentry/base/util.h"
#include "sentry/platform/platform.h"
#include "fs/vfs.h"
#include <errno.h>
#include <sys/mman.h>

/* What must hold to let V's [old, old+old_size) become NEW_SIZE; *CHARGE pages are charged by the caller. */
static int check_resize(struct mm *mm, struct vma *v, uint64_t old, uint64_t old_size, uint64_t new_size, int flags,
			uint64_t *charge)
{
	uint64_t grow = new_size > old_size ? (new_size - old_size) / GUEST_PAGE_SIZE : 0;

	*charge = 0;
	if (!old_size && !(v->flags & MAP_SHARED))
		return -EINVAL;
	if ((flags & MREMAP_DONTUNMAP) && v->file && !(v->flags & MAP_PRIVATE))
		return -EINVAL;
	if (old_size > v->end - old)
		return -EFAULT;
	if (flags & MREMAP_DONTUNMAP)
		grow = old_size / GUEST_PAGE_SIZE;
	if (!grow)
		return 0;
	if (v->file && v->off + (old - v->start) + new_size < v->off)
		return -EINVAL;
	if (v->flags & MAP_LOCKED) {
		int r = limit_mlock(mm, grow);

		if (r < 0)
			return r;
	}
	if (!limit_may_expand(mm, grow, vma_is_data(v->prot, v->flags)))
		return -ENOMEM;
	if (v->madv & VMA_ACCOUNT)
		*charge = grow;
	return 0;
}

/* Move (or with OLD_SIZE 0 or DONTUNMAP copy) to a free or given place. */
static int64_t move_to(struct mm *mm, struct plat_thread *t, struct vma *v, uint64_t old, uint64_t old_size,
		       uint64_t new_size, int flags, uint64_t to)
{
	bool keep = !old_size || (flags & MREMAP_DONTUNMAP);
	struct vma_spares spares = {0};
	struct vma *n;
	int r;

	if (mm->map_count >= MM_MAX_MAPS - 3)
		return -ENOMEM;
	r = spares_fill(&spares, 3);
	if (r < 0)
		return r;
	n = spares_take(&spares);
	n->start = to;
	n->end = to + new_size;
	n->prot = v->prot;
	n->flags = v->flags;
	n->name = v->name;
	n->madv = v->madv;
	n->file = v->file ? file_get(v->file) : NULL;
	n->off = v->file ? v->off + (old - v->start) : 0;
	r = plat_mremap(t, old, old_size, new_size, MREMAP_MAYMOVE | MREMAP_FIXED | (flags & MREMAP_DONTUNMAP), to);
	if (r < 0) {
		vma_free(n);
		goto out;
	}
	if (!keep) {
		vma_cut(mm, old, old + old_size, &spares);
		/* The charge of the moved pages goes with them: the caller charged only the growth. */
		vma_lookup(mm, old)->madv &= ~VMA_ACCOUNT;
		vma_clear(mm, old, old + old_size, &spares);
	}
	vma_insert(mm, n);
	vma_stats(mm, n, 1);
	vma_merge(mm, n);
	r = 0;
out:
	spares_free(&spares);
	return r < 0 ? r : (int64_t)to;
}

static int64_t resize_locked(struct mm *mm, struct plat_thread *t, uint64_t old, uint64_t old_size, uint64_t new_size,
			     int flags, uint64_t to)
{
	bool fixed = flags & MREMAP_FIXED;
	struct vma *v = vma_lookup(mm, old);
	uint64_t charge;
	int64_t r;

	if (!v)
		return -EFAULT;
	if (fixed || (flags & MREMAP_DONTUNMAP)) {
		if ((to & (GUEST_PAGE_SIZE - 1)) && fixed)
			return -EINVAL;
		if (new_size > GUEST_TASK_SIZE || (fixed && to > GUEST_TASK_SIZE - new_size))
			return -EINVAL;
		if (fixed && to < GUEST_ADDR_MIN)
			return -EPERM;
		if (fixed && old + old_size > to && to + new_size > old)
			return -EINVAL;
		if (mm->map_count + 2 >= MM_MAX_MAPS - 3)
			return -ENOMEM;
		if (fixed) {
			r = mm_unmap_locked(mm, t, to, new_size);
			if (r < 0)
				return r;
		}
		if (old_size > new_size) {
			r = mm_unmap_locked(mm, t, old + new_size, old_size - new_size);
			if (r < 0)
				return r;
			old_size = new_size;
		}
	} else if (old_size >= new_size && old_size) {
		if (old_size > new_size) {
			r = mm_unmap_locked(mm, t, old + new_size, old_size - new_size);
			if (r < 0)
				return r;
		}
		return (int64_t)old;
	}
	v = vma_lookup(mm, old);
	if (!v)
		return -EFAULT;
	r = check_resize(mm, v, old, old_size, new_size, flags, &charge);
	if (r < 0)
		return r;
	r = mm_account(mm, (int64_t)charge);
	if (r < 0)
		return r;
	if (!fixed && !(flags & MREMAP_DONTUNMAP) && old_size && old + old_size == v->end &&
	    new_size <= GUEST_TASK_SIZE - old && !vma_overlaps(mm, v->end, old + new_size)) {
		r = plat_mremap(t, old, old_size, new_size, 0, old);
		if (r == 0) {
			vma_stats(mm, v, -1);
			vma_resize(mm, v, v->start, old + new_size);
			vma_stats(mm, v, 1);
			vma_merge(mm, v);
			return (int64_t)old;
		}
		if (r != -ENOMEM)
			goto undo;
	}
	r = -ENOMEM;
	if (!(flags & MREMAP_MAYMOVE))
		goto undo;
	if (!fixed) {
		/* DONTUNMAP takes the address as a hint, as mmap would. */
		if (!(flags & MREMAP_DONTUNMAP) || !to || (to & (GUEST_PAGE_SIZE - 1)) || to < GUEST_ADDR_MIN ||
		    to > GUEST_TASK_SIZE - new_size || vma_overlaps(mm, to, to + new_size))
			to = mm_find_gap(mm, new_size, GUEST_PAGE_SIZE);
		if (!to)
			goto undo;
	}
	r = move_to(mm, t, v, old, old_size, new_size, flags, to);
	if (r >= 0)
		return r;
undo:
	mm_account(mm, -(int64_t)charge);
	return r;
}

int64_t do_mremap(struct mm *mm, struct plat_thread *t, uint64_t old, uint64_t old_size, uint64_t new_size, int flags,
		  uint64_t new_addr)
{
	int64_t r;

	if (flags & ~(MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP))
		return -EINVAL;
	if ((flags & MREMAP_FIXED) && !(flags & MREMAP_MAYMOVE))
		return -EINVAL;
	if ((flags & MREMAP_DONTUNMAP) && (!(flags & MREMAP_MAYMOVE) || old_size != new_size))
		return -EINVAL;
	if (old & (GUEST_PAGE_SIZE - 1))
		return -EINVAL;
	if (old_size > GUEST_TASK_SIZE || old > GUEST_TASK_SIZE)
		return -EFAULT;
	old_size = PAGE_UP(old_size);
	new_size = PAGE_UP(new_size);
	if (!new_size)
		return -EINVAL;
	if (new_size > GUEST_TASK_SIZE)
		return flags & MREMAP_FIXED ? -EINVAL : -ENOMEM;
	mm_lock(mm);
	r = resize_locked(mm, t, old, old_size, new_size, flags, new_addr);
	mm_unlock(mm);
	return r;
}
