/* Inside sentry/mm: the table of mappings. Nothing here talks to the platform. */
#ifndef WARD_MM_VMA_H
#define WARD_MM_VMA_H
#include "sentry/mm/mm.h"

/* Linux's stack_guard_gap: nothing is placed this close below a MAP_GROWSDOWN mapping. */
#define STACK_GUARD (256ull * 4096)

struct vma *vma_new(void);
/* Frees V, which is in no table, and puts its file. */
void vma_free(struct vma *v);
void vma_insert(struct mm *mm, struct vma *v);
/* Out of the table; V stays the caller's. */
void vma_remove(struct mm *mm, struct vma *v);
/* Change the bounds of V inside the table; neighbours must not be passed. */
void vma_resize(struct mm *mm, struct vma *v, uint64_t start, uint64_t end);
/* Statistics of the mm for V as it stands now: SIGN +1 or -1. */
void vma_stats(struct mm *mm, const struct vma *v, int sign);
/* Cut V at ADDR (start < ADDR < end); SPARE becomes the upper half, which is returned. */
struct vma *vma_split(struct mm *mm, struct vma *v, uint64_t addr, struct vma *spare);
/* Join V with equal neighbours; returns the vma that covers V now. */
struct vma *vma_merge(struct mm *mm, struct vma *v);
/* Highest free [a, a+size) within [low, high); 0 = none. */
uint64_t vma_gap(struct mm *mm, uint64_t size, uint64_t low, uint64_t high);
bool vma_overlaps(struct mm *mm, uint64_t start, uint64_t end);
static inline struct vma *vma_lookup(struct mm *mm, uint64_t addr)
{
	struct vma *v = mm_find(mm, addr);

	return v && v->start <= addr ? v : NULL;
}

/* Vmas allocated before an order, so that the change of the table after it cannot fail. */
struct vma_spares {
	struct vma *v[4];
	unsigned count;
};
int spares_fill(struct vma_spares *s, unsigned count);
struct vma *spares_take(struct vma_spares *s);
void spares_free(struct vma_spares *s);
/* Make START and END boundaries of the vmas they fall into: at most two spares. */
void vma_cut(struct mm *mm, uint64_t start, uint64_t end, struct vma_spares *s);
/* Take [start, end) out of the table, statistics and charge given back. At most two spares. */
void vma_clear(struct mm *mm, uint64_t start, uint64_t end, struct vma_spares *s);
/* How many vmas more there are after clearing [start, end): -n .. +1. */
int vma_clear_delta(struct mm *mm, uint64_t start, uint64_t end);

/* limit.c: RLIMIT_AS and RLIMIT_DATA for PAGES more; DATA: they are private and writable. */
bool limit_may_expand(struct mm *mm, uint64_t pages, bool data);
bool limit_data_exceeded(struct mm *mm, uint64_t pages);
/* RLIMIT_MEMLOCK: -EAGAIN beyond. */
int limit_mlock(struct mm *mm, uint64_t pages);
uint64_t limit_current(int which);
static inline bool vma_is_data(int prot, int flags)
{
	return (prot & 2 /* PROT_WRITE */) && !(flags & 0x101 /* MAP_SHARED|MAP_GROWSDOWN */);
}
/* munmap of a checked range by a caller that holds mm_lock. */
int mm_unmap_locked(struct mm *mm, struct plat_thread *t, uint64_t addr, uint64_t size);
/* May PROT be set on a mapping of FILE with FLAGS? 0 or -EACCES. */
int vma_may_protect(const struct file *file, int flags, int prot);
#endif
