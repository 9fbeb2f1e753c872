/* Memory calls: thin over sentry/mm. */
#include "syscalls/table.h"
#include "sentry/base/util.h"
#include "sentry/mm/mm.h"
#include "sentry/platform/platform.h"
#include "sentry/task/task.h"
#include "fs/vfs.h"
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>

int64_t sys_mmap(uint64_t addr, size_t length, int prot, int flags, int fd, unsigned long offset)
{
	struct file *file = NULL;
	int64_t r;

	if (offset & (GUEST_PAGE_SIZE - 1))
		return -EINVAL;
	if (!(flags & MAP_ANONYMOUS)) {
		file = fd_get_nopath(fd);
		if (!file)
			return -EBADF;
		if (flags & MAP_HUGETLB) {
			file_put(file);
			return -EINVAL;
		}
	}
	r = do_mmap(current->mm, current->host, addr, length, prot, flags, file, file ? offset : 0);
	if (file)
		file_put(file);
	return r;
}

int64_t sys_munmap(uint64_t addr, size_t length)
{
	return do_munmap(current->mm, current->host, addr, length);
}

int64_t sys_mprotect(uint64_t addr, size_t length, int prot)
{
	return do_mprotect(current->mm, current->host, addr, length, prot);
}

int64_t sys_brk(uint64_t addr)
{
	return do_brk(current->mm, current->host, addr);
}

int64_t sys_mremap(uint64_t old_addr, size_t old_size, size_t new_size, unsigned long flags, uint64_t new_addr)
{
	return do_mremap(current->mm, current->host, old_addr, old_size, new_size, flags > INT32_MAX ? -1 : (int)flags,
			 new_addr);
}

int64_t sys_madvise(uint64_t addr, size_t length, int advice)
{
	return do_madvise(current->mm, current->host, addr, length, advice);
}

/* Deprecated and emulated by a new mapping, as in Linux. */
int64_t sys_remap_file_pages(uint64_t addr, size_t length, unsigned long prot, unsigned long pgoff, unsigned long flags)
{
	uint64_t start = PAGE_DOWN(addr), size = PAGE_DOWN(length), at;
	struct file *file;
	struct vma *v;
	int64_t r;
	int bits;

	if (prot || start + size <= start || pgoff + (size >> 12) < pgoff)
		return -EINVAL;
	v = mm_find(current->mm, start);
	if (!v || v->start > start || !(v->flags & MAP_SHARED) || !v->file || !v->file->ops || !v->file->ops->mmap)
		return -EINVAL;
	/* The range may span several mappings of the same file and rights. */
	file = v->file;
	bits = v->prot;
	for (at = v->end; at < start + size; at = v->end) {
		v = vma_next(current->mm, v);
		if (!v || v->start != at || v->file != file || v->prot != bits)
			return -EINVAL;
	}
	file_get(file);
	r = do_mmap(current->mm, current->host, start, size, bits,
		    MAP_SHARED | MAP_FIXED | MAP_POPULATE | (int)(flags & MAP_NONBLOCK), file, pgoff << 12);
	file_put(file);
	return r < 0 ? r : 0;
}

int64_t sys_msync(uint64_t addr, size_t length, int flags)
{
	uint64_t end, at = addr;
	bool hole = false;
	struct vma *v;

	if (flags & ~(MS_ASYNC | MS_INVALIDATE | MS_SYNC))
		return -EINVAL;
	if (addr & (GUEST_PAGE_SIZE - 1))
		return -EINVAL;
	if ((flags & MS_ASYNC) && (flags & MS_SYNC))
		return -EINVAL;
	end = addr + PAGE_UP(length);
	if (end < addr || (length && !PAGE_UP(length)))
		return -ENOMEM;
	/* A shared mapping is the file's own memory: nothing is ever behind, only the errors are left to find. */
	for (v = mm_find(current->mm, addr); at < end; v = vma_next(current->mm, v)) {
		if (!v || v->start > at)
			hole = true;
		if (!v || v->start >= end)
			break;
		if ((flags & MS_INVALIDATE) && (v->flags & MAP_LOCKED))
			return -EBUSY;
		at = v->end;
	}
	return hole ? -ENOMEM : 0;
}

int64_t sys_mincore(uint64_t addr, size_t length, uaddr_t vec)
{
	uint64_t pages = PAGE_UP(length) / GUEST_PAGE_SIZE, at = addr, end;
	unsigned char buf[1024];
	struct vma *v;

	if (addr & (GUEST_PAGE_SIZE - 1))
		return -EINVAL;
	if (addr > GUEST_TASK_SIZE || length > GUEST_TASK_SIZE - addr)
		return -ENOMEM;
	end = addr + pages * GUEST_PAGE_SIZE;
	for (v = mm_find(current->mm, addr); at < end; v = vma_next(current->mm, v)) {
		if (!v || v->start > at)
			return -ENOMEM;
		at = v->end;
	}
	for (size_t i = 0; i < sizeof buf; i++)
		buf[i] = 1;
	for (uint64_t done = 0; done < pages;) {
		size_t n = MIN(pages - done, sizeof buf);

		if (copy_out(uaddr_add(vec, done), buf, n) < 0)
			return -EFAULT;
		done += n;
	}
	return 0;
}

int64_t sys_mlock(uint64_t addr, size_t length)
{
	return do_mlock(current->mm, addr, length, true);
}

int64_t sys_mlock2(uint64_t addr, size_t length, unsigned flags)
{
	if (flags & ~1u /* MLOCK_ONFAULT */)
		return -EINVAL;
	return do_mlock(current->mm, addr, length, true);
}

int64_t sys_munlock(uint64_t addr, size_t length)
{
	return do_mlock(current->mm, addr, length, false);
}

int64_t sys_mlockall(int flags)
{
	if (!flags || (flags & ~(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT)) || flags == MCL_ONFAULT)
		return -EINVAL;
	if (!capable(CAP_IPC_LOCK) && !current->tg->rlim[RLIMIT_MEMLOCK].cur)
		return -EPERM;
	return do_mlockall(current->mm, flags & MCL_CURRENT, flags & MCL_FUTURE);
}

int64_t sys_munlockall(void)
{
	return do_mlockall(current->mm, false, false);
}
