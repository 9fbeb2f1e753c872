/*
 * A guest address space: the table of mappings (authoritative for /proc/self/maps, placement and limits) beside
 * the host process that holds the pages. Shared by tasks with CLONE_VM; counted.
 */
#ifndef WARD_MM_MM_H
#define WARD_MM_MM_H
#include <stdbool.h>
#include <stdint.h>
#include "sentry/base/list.h"
#include "sentry/wait.h"

struct file;
struct task;
struct plat_as;
struct plat_thread;

struct vma {
	struct list node;       /* in mm->vmas, ascending, never overlapping */
	uint64_t start, end;    /* page aligned, [start, end) */
	int prot;               /* PROT_* */
	int flags;              /* MAP_SHARED or MAP_PRIVATE, MAP_GROWSDOWN, MAP_NORESERVE, MAP_LOCKED ... */
	struct file *file;      /* counted; NULL = anonymous */
	uint64_t off;           /* byte offset in file of start */
	const char *name;       /* "[heap]", "[stack]", "[vdso]" or NULL */
	unsigned madv;          /* VMA_DONTFORK, VMA_WIPEONFORK, VMA_ACCOUNT */
	/* Lookup structure is private to mm/vma.c. */
	struct vma *left, *right, *parent;
	unsigned prio;
	uint64_t gap, max_gap;  /* free bytes below this vma; the largest of its subtree */
};
#define VMA_DONTFORK 1u
#define VMA_WIPEONFORK 2u
#define VMA_ACCOUNT 4u          /* its pages are charged to the sandbox */
#define MM_MAX_MAPS 65530

struct mm {
	unsigned refs;
	struct list vmas;
	struct vma *root;
	unsigned map_count;
	uint64_t total_pages, locked_pages, data_pages, charged_pages;
	int def_flags;          /* MAP_LOCKED after mlockall(MCL_FUTURE) */
	uint64_t brk_start, brk, start_code, end_code, start_data, end_data, start_stack;
	uint64_t arg_start, arg_end, env_start, env_end;
	uint64_t mmap_base;     /* top of the mmap area; searched downwards */
	struct file *exe;       /* counted; set by mm_set_exe, which also holds off writers (ETXTBSY) */
	uint64_t auxv[64];      /* pairs, AT_NULL ended: /proc/PID/auxv */
	struct mutex lock;      /* an order that changes the map is in flight: mm_lock */
	struct plat_as *as;
	unsigned users;         /* tasks that run in it */
	uint64_t scan;          /* number of the last walk over all address spaces that saw it */
};

/* New empty mm; refs 1. NULL when memory is short. */
struct mm *mm_new(void);
struct mm *mm_get(struct mm *mm);
void mm_put(struct mm *mm);
/* Exclusive change of the map; sleeps (not interruptible). */
void mm_lock(struct mm *mm);
void mm_unlock(struct mm *mm);
/* Copy of the table for fork (DONTFORK left out), charged to the sandbox; NULL: no memory. The caller holds mm_lock
 * from before plat_fork until after mm_dup, so that table and pages agree; sets as and users of the copy. */
struct mm *mm_dup(struct mm *mm);
/* FILE (reference taken by the mm) becomes mm->exe: 0, or -ETXTBSY while somebody has it open for writing. */
int mm_set_exe(struct mm *mm, struct file *file);

static inline struct vma *vma_next(const struct mm *mm, const struct vma *v)
{
	return v->node.next == &mm->vmas ? NULL : container_of(v->node.next, struct vma, node);
}
static inline struct vma *vma_prev(const struct mm *mm, const struct vma *v)
{
	return v->node.prev == &mm->vmas ? NULL : container_of(v->node.prev, struct vma, node);
}
static inline struct vma *mm_first(const struct mm *mm)
{
	return list_empty(&mm->vmas) ? NULL : container_of(mm->vmas.next, struct vma, node);
}
static inline uint64_t vma_pages(const struct vma *v)
{
	return (v->end - v->start) >> 12;
}
struct vma *mm_find(struct mm *mm, uint64_t addr);      /* first vma with end > addr, or NULL */

/* All of these act on MM through thread T (stopped in a call and running in that address space), take mm_lock
 * themselves, and return >= 0 / the address or -errno. CURRENT's rlimits and the sandbox's memory limit apply. */
int64_t do_mmap(struct mm *mm, struct plat_thread *t, uint64_t addr, uint64_t size, int prot, int flags,
		struct file *file, uint64_t off);
int do_munmap(struct mm *mm, struct plat_thread *t, uint64_t addr, uint64_t size);
int do_mprotect(struct mm *mm, struct plat_thread *t, uint64_t addr, uint64_t size, int prot);
int64_t do_mremap(struct mm *mm, struct plat_thread *t, uint64_t old, uint64_t old_size, uint64_t new_size, int flags,
		  uint64_t new_addr);
/* The new break, or the old one when it cannot be moved (never an error, as Linux). */
int64_t do_brk(struct mm *mm, struct plat_thread *t, uint64_t brk);
int do_madvise(struct mm *mm, struct plat_thread *t, uint64_t addr, uint64_t size, int advice);
int do_mlock(struct mm *mm, uint64_t addr, uint64_t size, bool lock);
int do_mlockall(struct mm *mm, bool lock_current, bool lock_future);
/* Map of SIZE bytes for internal use (stack, bss): fixed address, name shown in maps. */
int mm_map_anon(struct mm *mm, struct plat_thread *t, uint64_t addr, uint64_t size, int prot, int flags,
		const char *name);
/* Would PROT access to [addr, addr+size) be allowed by the table? (used where Linux answers EFAULT early) */
bool mm_access_ok(struct mm *mm, uint64_t addr, uint64_t size, int prot);
/* How many of the SIZE bytes at ADDR the table lets PROT (PROT_READ or PROT_WRITE) reach. */
uint64_t mm_access_span(struct mm *mm, uint64_t addr, uint64_t size, int prot);
/* A free place for SIZE bytes (page multiple) at a multiple of ALIGN, below mmap_base if possible; 0 = none. */
uint64_t mm_find_gap(struct mm *mm, uint64_t size, uint64_t align);
/* Object behind MAP_SHARED|MAP_ANONYMOUS: shared by fork, identity for futexes, "/dev/zero (deleted)" in maps. */
struct file *shmem_file(uint64_t size);

/* Accounting hook, called for every order that can add pages: 0 or -ENOMEM. Negative PAGES give back. */
int mm_account(struct mm *mm, int64_t pages);
#endif
