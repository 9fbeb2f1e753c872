/* The address space object: life, lock, copy for fork, and what the table says about an access. */
#include "sentry/mm/vma.h"
#include "sentry/base/log.h"
#include "sentry/base/util.h"
#include "sentry/fiber.h"
#include "sentry/platform/platform.h"
#include "fs/vfs.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct mm *mm_new(void)
{
	struct mm *mm = calloc(1, sizeof *mm);

	if (!mm)
		return NULL;
	mm->refs = 1;
	list_init(&mm->vmas);
	mutex_init(&mm->lock);
	mm->mmap_base = GUEST_TASK_SIZE - (256ull << 20);
	return mm;
}

struct mm *mm_get(struct mm *mm)
{
	mm->refs++;
	return mm;
}

/* A running program keeps its file from being opened for writing: write_count counts down per such mm. */
static void drop_exe(struct mm *mm)
{
	if (!mm->exe)
		return;
	inode_allow_write(mm->exe->inode);
	file_put(mm->exe);
	mm->exe = NULL;
}

int mm_set_exe(struct mm *mm, struct file *file)
{
	int r = inode_deny_write(file->inode);

	if (r < 0)
		return r;
	file_get(file);
	drop_exe(mm);
	mm->exe = file;
	return 0;
}

void mm_put(struct mm *mm)
{
	struct vma *v, *tmp;

	if (!mm || --mm->refs)
		return;
	list_for_each_safe(v, tmp, &mm->vmas, node) {
		list_del(&v->node);
		vma_free(v);
	}
	mm_account(mm, -(int64_t)mm->charged_pages);
	drop_exe(mm);
	free(mm);
}

void mm_lock(struct mm *mm)
{
	mutex_lock(&mm->lock);
}

void mm_unlock(struct mm *mm)
{
	mutex_unlock(&mm->lock);
}

struct mm *mm_dup(struct mm *mm)
{
	struct mm *n = mm_new();
	uint64_t charge = 0;
	struct vma *v, *c;

	if (!n)
		return NULL;
	n->brk_start = mm->brk_start;
	n->brk = mm->brk;
	n->start_code = mm->start_code;
	n->end_code = mm->end_code;
	n->start_data = mm->start_data;
	n->end_data = mm->end_data;
	n->start_stack = mm->start_stack;
	n->arg_start = mm->arg_start;
	n->arg_end = mm->arg_end;
	n->env_start = mm->env_start;
	n->env_end = mm->env_end;
	n->mmap_base = mm->mmap_base;
	memcpy(n->auxv, mm->auxv, sizeof n->auxv);
	list_for_each(v, &mm->vmas, node) {
		if (v->madv & VMA_DONTFORK)
			continue;
		c = vma_new();
		if (!c)
			goto fail;
		c->start = v->start;
		c->end = v->end;
		c->prot = v->prot;
		c->flags = v->flags & ~MAP_LOCKED; /* locks are not inherited */
		c->off = v->off;
		c->name = v->name;
		c->madv = v->madv;
		c->file = v->file ? file_get(v->file) : NULL;
		vma_insert(n, c);
		vma_stats(n, c, 1);
		if (c->madv & VMA_ACCOUNT)
			charge += vma_pages(c);
	}
	if (mm_account(n, (int64_t)charge) < 0)
		goto fail;
	if (mm->exe) {
		inode_deny_write(mm->exe->inode); /* cannot fail: a file that runs has no writer */
		n->exe = file_get(mm->exe);
	}
	return n;
fail:
	mm_put(n);
	return NULL;
}

uint64_t mm_access_span(struct mm *mm, uint64_t addr, uint64_t size, int prot)
{
	uint64_t done = 0;
	struct vma *v;

	if (addr >= GUEST_TASK_SIZE)
		return 0;
	size = MIN(size, GUEST_TASK_SIZE - addr);
	for (v = mm_find(mm, addr); v && done < size; v = vma_next(mm, v)) {
		if (v->start > addr + done)
			break;
		/* On x86-64 a page that may be written or executed can be read. */
		if (prot & PROT_WRITE ? !(v->prot & PROT_WRITE) : !v->prot)
			break;
		done = MIN(size, v->end - addr);
	}
	return done;
}

bool mm_access_ok(struct mm *mm, uint64_t addr, uint64_t size, int prot)
{
	return size == 0 || mm_access_span(mm, addr, size, prot) == size;
}

uint64_t mm_find_gap(struct mm *mm, uint64_t size, uint64_t align)
{
	uint64_t pad = align > GUEST_PAGE_SIZE ? align - GUEST_PAGE_SIZE : 0, want, a;

	if (add_overflows(size, pad, &want))
		return 0;
	a = vma_gap(mm, want, GUEST_ADDR_MIN, mm->mmap_base);
	if (!a)
		a = vma_gap(mm, want, GUEST_ADDR_MIN, GUEST_TASK_SIZE);
	return a && pad ? ALIGN_UP(a, align) : a;
}
