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
	unsigned madv;          /* VMA_DONTFORK, VMA_WIPEONFORK */
	/* Lookup structure is private to mm/vma.c. */
	struct vma *left, *right, *parent;
	unsigned prio;
};
#define VMA_DONTFORK 1u
#define VMA_WIPEONFORK 2u

struct mm {
	unsigned refs;
	struct list vmas;
	struct vma *root;
	unsigned map_count;
	uint64_t total_pages, locked_pages, data_pages;
	uint64_t brk_start, brk, start_code, end_code, start_data, end_data, start_stack;
	uint64_t arg_start, arg_end, env_start, env_end;
	uint64_t mmap_base;     /* top of the mmap area; searched downwards */
	struct file *exe;       /* counted */
	uint64_t auxv[64];      /* pairs, AT_NULL ended: /proc/PID/auxv */
	bool busy;              /* an order that changes the map is in flight: mm_lock */
	struct waitq lock_q;
	struct plat_as *as;
	unsigned users;         /* tasks that run in it */
};

/* New empty mm; refs 1. NULL when memory is short. */
struct mm *mm_new(void);
struct mm *mm_get(struct mm *mm);
void mm_put(struct mm *mm);
/* Exclusive change of the map; sleeps (not interruptible). */
void mm_lock(struct mm *mm);
void mm_unlock(struct mm *mm);
/* Copy of the table for fork (DONTFORK left out). */
struct mm *mm_dup(struct mm *mm);

struct vma *mm_find(struct mm *mm, uint64_t addr);      /* first vma with end > addr, or NULL */

/* All of these act on MM through thread T (stopped in a call and running in that address space), take mm_lock
 * themselves, and return >= 0 / the address or -errno. CURRENT's rlimits and the sandbox's memory limit apply. */
int64_t do_mmap(struct mm *mm, struct plat_thread *t, uint64_t addr, uint64_t size, int prot, int flags,
		struct file *file, uint64_t off);
int do_munmap(struct mm *mm, struct plat_thread *t, uint64_t addr, uint64_t size);
int do_mprotect(struct mm *mm, struct plat_thread *t, uint64_t addr, uint64_t size, int prot);
/* Map of SIZE bytes for internal use (stack, bss): fixed address, name shown in maps. */
int mm_map_anon(struct mm *mm, struct plat_thread *t, uint64_t addr, uint64_t size, int prot, int flags,
		const char *name);
/* Would PROT access to [addr, addr+size) be allowed by the table? (used where Linux answers EFAULT early) */
bool mm_access_ok(struct mm *mm, uint64_t addr, uint64_t size, int prot);

/* Accounting hook, called for every order that can add pages: 0 or -ENOMEM. */
int mm_account(struct mm *mm, int64_t pages);
#endif
