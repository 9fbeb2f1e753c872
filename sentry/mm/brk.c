/* The program break. Never an error: the caller learns from the break it gets back, as on Linux. */
#include "sentry/mm/vma.h"
#include "sentry/base/util.h"
#include "sentry/platform/platform.h"
#include "sentry/task/task.h"
#include <sys/mman.h>
#include <sys/resource.h>

int64_t do_brk(struct mm *mm, struct plat_thread *t, uint64_t brk)
{
	uint64_t old_end, new_end, lim = limit_current(RLIMIT_DATA), old;
	struct vma *next;

	if (brk < mm->brk_start || brk > GUEST_TASK_SIZE - GUEST_PAGE_SIZE)
		return (int64_t)mm->brk;
	if (lim != L_RLIM_INFINITY && (brk - mm->brk_start) + (mm->end_data - mm->start_data) > lim)
		return (int64_t)mm->brk;
	mm_lock(mm);
	old = mm->brk;
	old_end = PAGE_UP(old);
	new_end = PAGE_UP(brk);
	if (new_end == old_end) {
		mm->brk = brk;
		goto out;
	}
	if (new_end < old_end) {
		if (mm_unmap_locked(mm, t, new_end, old_end - new_end) == 0)
			mm->brk = brk;
		goto out;
	}
	/* A page stays free above the break, and the stack's guard gap. */
	next = mm_find(mm, old_end);
	if (next && new_end + GUEST_PAGE_SIZE + (next->flags & MAP_GROWSDOWN ? STACK_GUARD : 0) > next->start)
		goto out;
	mm_unlock(mm);
	/* Placed without replacing: another thread may have taken the place meanwhile. */
	if (mm_map_anon(mm, t, old_end, new_end - old_end, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_FIXED_NOREPLACE, "[heap]") == 0 &&
	    mm->brk == old)
		mm->brk = brk;
	return (int64_t)mm->brk;
out:
	mm_unlock(mm);
	return (int64_t)mm->brk;
}
