/* The table of mappings and the calls on it, over a platform that only counts its orders. */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/mman.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "sentry/kernel.h"
#include "sentry/fiber.h"
#include "sentry/mm/vma.h"
#include "sentry/platform/platform.h"
#include "sentry/task/task.h"
#include "fs/vfs.h"

#define PG 4096ull
#define RW (PROT_READ | PROT_WRITE)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)

static struct tgroup tg;
static struct cred cred;
static struct task me = {.tg = &tg, .cred = &cred};
struct task *current = &me;
static int fail_order;
static int64_t charged, charge_limit = INT64_MAX;

int plat_mmap(struct plat_thread *t, uint64_t a, uint64_t n, int prot, int flags, int fd, uint64_t off)
{
	return fail_order;
}
int plat_munmap(struct plat_thread *t, uint64_t a, uint64_t n)
{
	return fail_order;
}
int plat_mprotect(struct plat_thread *t, uint64_t a, uint64_t n, int prot)
{
	return fail_order;
}
int plat_mremap(struct plat_thread *t, uint64_t old, uint64_t on, uint64_t nn, int flags, uint64_t new)
{
	return fail_order;
}
int plat_madvise(struct plat_thread *t, uint64_t a, uint64_t n, int advice)
{
	return fail_order;
}
int kernel_charge_pages(int64_t n)
{
	if (n > 0 && charged + n > charge_limit)
		return -ENOMEM;
	charged += n;
	return 0;
}
bool capable(int cap)
{
	return false;
}
struct file *file_get(struct file *f)
{
	f->refs++;
	return f;
}
void file_put(struct file *f)
{
	if (--f->refs == 0) {
		if (f->ops && f->ops->release)
			f->ops->release(f);
		free(f->inode);
		free(f);
	}
}
struct inode *anon_inode(uint32_t mode)
{
	return calloc(1, sizeof(struct inode));
}
struct file *file_anon(struct inode *i, const char *name, int flags, const struct file_ops *ops, void *priv)
{
	struct file *f = calloc(1, sizeof *f);

	*f = (struct file){.refs = 1, .inode = i, .ops = ops, .priv = priv, .can_read = true, .can_write = true};
	return f;
}
int64_t no_llseek(struct file *f, int64_t o, int w)
{
	return -ESPIPE;
}
int inode_deny_write(struct inode *i)
{
	return 0;
}
void inode_allow_write(struct inode *i)
{
}
struct fiber *fiber_self(void)
{
	return NULL;
}
void fiber_block(void)
{
	abort();
}
void fiber_wake(struct fiber *f)
{
}
void waitq_add(struct waitq *q, struct waiter *w)
{
}
void waitq_del(struct waiter *w)
{
}
void waitq_wake_one(struct waitq *q, uint32_t ev)
{
}
void ward_panic(const char *fmt, ...)
{
	abort();
}

static struct mm *setup(void)
{
	for (int i = 0; i < L_RLIM_NLIMITS; i++)
		tg.rlim[i].cur = L_RLIM_INFINITY;
	fail_order = 0;
	return mm_new();
}

/* Order, gaps, counters and treap links agree. */
static void check(struct mm *mm)
{
	uint64_t pages = 0, charge = 0, low = 0;
	unsigned n = 0;
	struct vma *v;

	list_for_each(v, &mm->vmas, node) {
		uint64_t start = v->flags & MAP_GROWSDOWN ? v->start - STACK_GUARD : v->start, max = v->gap;

		cr_assert(v->start < v->end && v->start >= low);
		cr_assert_eq(v->gap, start > low ? start - low : 0);
		if (v->left)
			max = v->left->max_gap > max ? v->left->max_gap : max;
		if (v->right)
			max = v->right->max_gap > max ? v->right->max_gap : max;
		cr_assert_eq(v->max_gap, max);
		cr_assert_eq(mm_find(mm, v->start), v);
		cr_assert(v->parent ? v->parent->left == v || v->parent->right == v : mm->root == v);
		pages += vma_pages(v);
		if (v->madv & VMA_ACCOUNT)
			charge += vma_pages(v);
		low = v->end;
		n++;
	}
	cr_assert_eq(n, mm->map_count);
	cr_assert_eq(pages, mm->total_pages);
	cr_assert_eq(charge, mm->charged_pages);
}

static uint64_t map(struct mm *mm, uint64_t at, uint64_t n, int prot)
{
	int64_t r = do_mmap(mm, NULL, at, n * PG, prot, ANON | (at ? MAP_FIXED : 0), NULL, 0);

	cr_assert_gt(r, 0, "mmap: %ld", (long)r);
	check(mm);
	return (uint64_t)r;
}

Test(vma, neighbours_merge_and_split)
{
	struct mm *mm = setup();
	uint64_t a = map(mm, 0x100000, 4, RW);

	map(mm, a + 4 * PG, 4, RW);
	cr_assert_eq(mm->map_count, 1);
	map(mm, a + 8 * PG, 1, PROT_READ);
	cr_assert_eq(mm->map_count, 2);
	cr_assert_eq(do_mprotect(mm, NULL, a + 2 * PG, PG, PROT_READ), 0);
	check(mm);
	cr_assert_eq(mm->map_count, 4);
	cr_assert_eq(do_mprotect(mm, NULL, a + 2 * PG, PG, RW), 0);
	check(mm);
	cr_assert_eq(mm->map_count, 2);
	cr_assert_eq(do_munmap(mm, NULL, a + PG, 2 * PG), 0);
	check(mm);
	cr_assert_eq(mm->map_count, 3);
	mm_put(mm);
	cr_assert_eq(charged, 0);
}

Test(vma, placement_is_top_down_and_keeps_the_stack_guard)
{
	struct mm *mm = setup();
	uint64_t a = map(mm, 0, 1, RW), b = map(mm, 0, 2, PROT_READ), c;

	cr_assert_eq(a, mm->mmap_base - PG);
	cr_assert_eq(b, a - 2 * PG);
	cr_assert_eq(do_munmap(mm, NULL, a, PG), 0);
	c = map(mm, 0, 1, RW);
	cr_assert_eq(c, a);
	/* A growing stack below: nothing within its guard. */
	cr_assert_eq(mm_map_anon(mm, NULL, b - 400 * PG, 8 * PG, RW, MAP_PRIVATE | MAP_GROWSDOWN, "[stack]"), 0);
	check(mm);
	c = map(mm, 0, 500, PROT_NONE);
	cr_assert_eq(c, b - 400 * PG - STACK_GUARD - 500 * PG);
	mm_put(mm);
}

Test(vma, hints_and_fixed)
{
	struct mm *mm = setup();

	cr_assert_eq(do_mmap(mm, NULL, 0x7654321, PG, RW, ANON, NULL, 0), 0x7654000);
	cr_assert_neq(do_mmap(mm, NULL, 0x7654321, PG, RW, ANON, NULL, 0), 0x7654000);
	cr_assert_eq(do_mmap(mm, NULL, 0x7654000, PG, RW, ANON | MAP_FIXED_NOREPLACE, NULL, 0), -EEXIST);
	cr_assert_eq(do_mmap(mm, NULL, 0x7654001, PG, RW, ANON | MAP_FIXED, NULL, 0), -EINVAL);
	cr_assert_eq(do_mmap(mm, NULL, 0, PG, RW, ANON | MAP_FIXED, NULL, 0), -EPERM);
	cr_assert_eq(do_mmap(mm, NULL, GUEST_TASK_SIZE - PG, 2 * PG, RW, ANON | MAP_FIXED, NULL, 0), -ENOMEM);
	cr_assert_eq(do_mmap(mm, NULL, 0, 0, RW, ANON, NULL, 0), -EINVAL);
	cr_assert_eq(do_mmap(mm, NULL, 0, ~0ull, RW, ANON, NULL, 0), -ENOMEM);
	cr_assert_eq(do_mmap(mm, NULL, 0, PG, RW, MAP_ANONYMOUS, NULL, 0), -EINVAL);
	cr_assert_eq(do_mmap(mm, NULL, 0, PG, RW, ANON, NULL, 17), -EINVAL);
	check(mm);
	mm_put(mm);
}

Test(vma, a_failed_order_changes_nothing)
{
	struct mm *mm = setup();
	uint64_t a = map(mm, 0x100000, 8, RW);
	int64_t before = charged;

	fail_order = -ENOMEM;
	cr_assert_eq(do_mmap(mm, NULL, a + PG, PG, PROT_READ, ANON | MAP_FIXED, NULL, 0), -ENOMEM);
	cr_assert_eq(do_munmap(mm, NULL, a + PG, PG), -ENOMEM);
	cr_assert_eq(do_mprotect(mm, NULL, a + PG, PG, PROT_READ), -ENOMEM);
	cr_assert_eq(do_mremap(mm, NULL, a, 8 * PG, 16 * PG, MREMAP_MAYMOVE, 0), -ENOMEM);
	cr_assert_eq(mm->map_count, 1);
	cr_assert_eq(charged, before);
	check(mm);
	mm_put(mm);
}

Test(vma, limits)
{
	struct mm *mm = setup();

	charge_limit = 10;
	map(mm, 0x100000, 8, RW);
	cr_assert_eq(do_mmap(mm, NULL, 0, 3 * PG, RW, ANON | MAP_NORESERVE, NULL, 0), -ENOMEM);
	map(mm, 0x200000, 100, PROT_READ);
	cr_assert_eq(do_mprotect(mm, NULL, 0x200000, 3 * PG, RW), -ENOMEM);
	cr_assert_eq(do_mprotect(mm, NULL, 0x200000, 2 * PG, RW), 0);
	check(mm);
	charge_limit = INT64_MAX;
	tg.rlim[RLIMIT_AS].cur = 110 * PG;
	cr_assert_eq(do_mmap(mm, NULL, 0, 3 * PG, RW, ANON, NULL, 0), -ENOMEM);
	tg.rlim[RLIMIT_AS].cur = L_RLIM_INFINITY;
	tg.rlim[RLIMIT_DATA].cur = 11 * PG;
	cr_assert_eq(do_mmap(mm, NULL, 0, 2 * PG, RW, ANON, NULL, 0), -ENOMEM);
	cr_assert_gt(do_mmap(mm, NULL, 0, 2 * PG, PROT_READ, ANON, NULL, 0), 0);
	mm_put(mm);
	cr_assert_eq(charged, 0);
}

Test(vma, mprotect_stops_at_a_hole)
{
	struct mm *mm = setup();

	map(mm, 0x100000, 2, RW);
	map(mm, 0x104000, 2, RW);
	cr_assert_eq(do_mprotect(mm, NULL, 0x100000, 6 * PG, PROT_READ), -ENOMEM);
	cr_assert_eq(mm_find(mm, 0x100000)->prot, PROT_READ);
	cr_assert_eq(mm_find(mm, 0x104000)->prot, RW);
	cr_assert_eq(do_mprotect(mm, NULL, 0x100000, PG, 0x1000), -EINVAL);
	mm_put(mm);
}

Test(vma, mremap)
{
	struct mm *mm = setup();
	int64_t r;

	map(mm, 0x100000, 4, RW);
	cr_assert_eq(do_mremap(mm, NULL, 0x100000, 4 * PG, 2 * PG, 0, 0), 0x100000);
	check(mm);
	cr_assert_eq(do_mremap(mm, NULL, 0x100000, 2 * PG, 6 * PG, 0, 0), 0x100000);
	check(mm);
	map(mm, 0x106000, 1, PROT_READ);
	cr_assert_eq(do_mremap(mm, NULL, 0x100000, 6 * PG, 8 * PG, 0, 0), -ENOMEM);
	r = do_mremap(mm, NULL, 0x100000, 6 * PG, 8 * PG, MREMAP_MAYMOVE, 0);
	cr_assert_gt(r, 0);
	check(mm);
	cr_assert(!vma_overlaps(mm, 0x100000, 0x106000));
	cr_assert_eq(charged, 8);
	cr_assert_eq(do_mremap(mm, NULL, r, 8 * PG, 8 * PG, MREMAP_MAYMOVE | MREMAP_FIXED, 0x200000), 0x200000);
	check(mm);
	cr_assert_eq(do_mremap(mm, NULL, 0x200000, 8 * PG, 8 * PG, MREMAP_MAYMOVE | MREMAP_FIXED, 0x201000), -EINVAL);
	cr_assert_eq(do_mremap(mm, NULL, 0x300000, PG, 2 * PG, MREMAP_MAYMOVE, 0), -EFAULT);
	cr_assert_eq(do_mremap(mm, NULL, 0x200000, 0, PG, MREMAP_MAYMOVE, 0), -EINVAL);
	mm_put(mm);
	cr_assert_eq(charged, 0);
}

Test(vma, brk)
{
	struct mm *mm = setup();

	mm->brk = mm->brk_start = 0x500000;
	cr_assert_eq(do_brk(mm, NULL, 0), 0x500000);
	cr_assert_eq(do_brk(mm, NULL, 0x500123), 0x500123);
	check(mm);
	cr_assert_str_eq(mm_find(mm, 0x500000)->name, "[heap]");
	cr_assert_eq(do_brk(mm, NULL, 0x600000), 0x600000);
	cr_assert_eq(mm->map_count, 1);
	map(mm, 0x700000, 1, RW);
	cr_assert_eq(do_brk(mm, NULL, 0x700000), 0x600000);
	cr_assert_eq(do_brk(mm, NULL, 0x500000), 0x500000);
	check(mm);
	cr_assert_eq(mm->map_count, 1);
	mm_put(mm);
}

Test(vma, shared_anonymous_is_one_object_and_one_charge)
{
	struct mm *mm = setup(), *child;
	int64_t r = do_mmap(mm, NULL, 0, 4 * PG, RW, MAP_SHARED | MAP_ANONYMOUS, NULL, 0);

	cr_assert_gt(r, 0);
	cr_assert_eq(charged, 4);
	child = mm_dup(mm);
	check(child);
	cr_assert_eq(charged, 4);
	cr_assert_eq(mm_find(child, r)->file, mm_find(mm, r)->file);
	mm_put(mm);
	cr_assert_eq(charged, 4);
	mm_put(child);
	cr_assert_eq(charged, 0);
}

Test(vma, fork_leaves_out_dontfork)
{
	struct mm *mm = setup(), *child;

	map(mm, 0x100000, 4, RW);
	cr_assert_eq(do_madvise(mm, NULL, 0x101000, PG, MADV_DONTFORK), 0);
	check(mm);
	cr_assert_eq(mm->map_count, 3);
	child = mm_dup(mm);
	check(child);
	cr_assert_eq(child->total_pages, 3);
	cr_assert_eq(charged, 7);
	cr_assert_eq(do_madvise(mm, NULL, 0x101000, PG, MADV_DOFORK), 0);
	cr_assert_eq(mm->map_count, 1);
	cr_assert_eq(do_madvise(mm, NULL, 0x100000, 8 * PG, MADV_DONTNEED), -ENOMEM);
	cr_assert_eq(do_madvise(mm, NULL, 0x100000, PG, 4711), -EINVAL);
	mm_put(mm);
	mm_put(child);
}

Test(vma, access_follows_the_table)
{
	struct mm *mm = setup();

	map(mm, 0x100000, 2, RW);
	map(mm, 0x102000, 1, PROT_READ);
	map(mm, 0x103000, 1, PROT_NONE);
	cr_assert(mm_access_ok(mm, 0x100ff8, 0x1008, PROT_WRITE));
	cr_assert(!mm_access_ok(mm, 0x101ff8, 9, PROT_WRITE));
	cr_assert_eq(mm_access_span(mm, 0x101000, 0x10000, PROT_READ), 0x2000);
	cr_assert_eq(mm_access_span(mm, GUEST_TASK_SIZE, 1, PROT_READ), 0);
	mm_put(mm);
}

/* Many random changes against a plain array of pages. */
Test(vma, random_against_a_model)
{
	enum { N = 256 };
	static char model[N]; /* 0 unmapped, else prot + 1 */
	struct mm *mm = setup();
	uint64_t base = 0x1000000;

	srand(1);
	for (int i = 0; i < 20000; i++) {
		unsigned p = rand() % N, n = 1 + rand() % 16, prot = rand() % 4;
		int want = 0, got;

		n = p + n > N ? N - p : n;
		switch (rand() % 3) {
		case 0:
			cr_assert_gt(do_mmap(mm, NULL, base + p * PG, n * PG, prot, ANON | MAP_FIXED, NULL, 0), 0);
			for (unsigned k = p; k < p + n; k++)
				model[k] = prot + 1;
			break;
		case 1:
			cr_assert_eq(do_munmap(mm, NULL, base + p * PG, n * PG), 0);
			for (unsigned k = p; k < p + n; k++)
				model[k] = 0;
			break;
		case 2:
			for (unsigned k = p; k < p + n && !want; k++) {
				if (!model[k])
					want = -ENOMEM;
				else
					model[k] = prot + 1;
			}
			got = do_mprotect(mm, NULL, base + p * PG, n * PG, prot);
			cr_assert_eq(got, want);
		}
		if (i % 50 == 0) {
			check(mm);
			for (unsigned k = 0; k < N; k++) {
				struct vma *v = vma_lookup(mm, base + k * PG);

				cr_assert_eq(v ? v->prot + 1 : 0, model[k]);
			}
			uint64_t gap = vma_gap(mm, n * PG, base, base + N * PG);
			int last = -1;

			for (int k = N - (int)n; k >= 0 && last < 0; k--) {
				unsigned f = 0;

				while (f < n && !model[k + f])
					f++;
				if (f == n)
					last = k;
			}
			cr_assert_eq(gap, last < 0 ? 0 : base + (unsigned)last * PG);
		}
	}
	mm_put(mm);
	cr_assert_eq(charged, 0);
}
