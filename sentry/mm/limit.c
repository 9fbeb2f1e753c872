/*
 * Limits on memory: the sandbox's (--memory, counted by kernel.c over all processes) and the process's rlimits.
 * Charged are private pages that are or were writable, as Linux's VM_ACCOUNT, MAP_NORESERVE or not (a guest must
 * not opt out), and shared anonymous objects once each.
 * DIFF: the main stack is mapped whole but not charged: only what it touches would count on Linux.
 */
#include "sentry/mm/vma.h"
#include "sentry/kernel.h"
#include "sentry/task/task.h"
#include <errno.h>
#include <sys/resource.h>

int mm_account(struct mm *mm, int64_t pages)
{
	int r;

	if (!pages)
		return 0;
	r = kernel_charge_pages(pages);
	if (r < 0)
		return r;
	if (mm)
		mm->charged_pages += (uint64_t)pages;
	return 0;
}

uint64_t limit_current(int which)
{
	return current && current->tg ? current->tg->rlim[which].cur : L_RLIM_INFINITY;
}

static bool beyond(uint64_t pages, int which)
{
	uint64_t lim = limit_current(which);

	return lim != L_RLIM_INFINITY && pages > lim >> 12;
}

bool limit_data_exceeded(struct mm *mm, uint64_t pages)
{
	return beyond(mm->data_pages + pages, RLIMIT_DATA);
}

bool limit_may_expand(struct mm *mm, uint64_t pages, bool data)
{
	if (beyond(mm->total_pages + pages, RLIMIT_AS))
		return false;
	return !data || !limit_data_exceeded(mm, pages);
}

int limit_mlock(struct mm *mm, uint64_t pages)
{
	if (beyond(mm->locked_pages + pages, RLIMIT_MEMLOCK) && !capable(CAP_IPC_LOCK))
		return -EAGAIN;
	return 0;
}
