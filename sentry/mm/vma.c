/*
 * The table of mappings: an ordered list for walking, and a treap over the same nodes for lookup. Each node knows
 * the free space below it and the largest such space in its subtree, so that placement takes logarithmic time
 * however many holes a hostile guest makes. Nothing here talks to the platform, and nothing here can fail: vmas
 * that a change may need are allocated before the order goes out (struct vma_spares).
 */
#include "sentry/mm/vma.h"
#include "sentry/base/util.h"
#include "fs/vfs.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct vma *vma_new(void)
{
	static uint64_t seed = 0x9e3779b97f4a7c15ull;
	struct vma *v = calloc(1, sizeof *v);

	if (!v)
		return NULL;
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	v->prio = (unsigned)(seed >> 32);
	list_init(&v->node);
	return v;
}

void vma_free(struct vma *v)
{
	if (!v)
		return;
	if (v->file)
		file_put(v->file);
	free(v);
}

/* --- treap ------------------------------------------------------------------------------------------------- */

static void update(struct vma *v)
{
	v->max_gap = v->gap;
	if (v->left)
		v->max_gap = MAX(v->max_gap, v->left->max_gap);
	if (v->right)
		v->max_gap = MAX(v->max_gap, v->right->max_gap);
}

static void propagate(struct vma *v)
{
	for (; v; v = v->parent)
		update(v);
}

static uint64_t guard_start(const struct vma *v)
{
	if (!(v->flags & MAP_GROWSDOWN))
		return v->start;
	return v->start > STACK_GUARD ? v->start - STACK_GUARD : 0;
}

static void refresh_gap(struct mm *mm, struct vma *v)
{
	struct vma *prev;
	uint64_t low, start;

	if (!v)
		return;
	prev = vma_prev(mm, v);
	low = prev ? prev->end : 0;
	start = guard_start(v);
	v->gap = start > low ? start - low : 0;
	propagate(v);
}

static void replace_child(struct mm *mm, struct vma *parent, struct vma *old, struct vma *new)
{
	if (!parent)
		mm->root = new;
	else if (parent->left == old)
		parent->left = new;
	else
		parent->right = new;
	if (new)
		new->parent = parent;
}

/* Bring child C of P into P's place. */
static void rotate_up(struct mm *mm, struct vma *c)
{
	struct vma *p = c->parent;

	replace_child(mm, p->parent, p, c);
	if (p->left == c) {
		p->left = c->right;
		if (p->left)
			p->left->parent = p;
		c->right = p;
	} else {
		p->right = c->left;
		if (p->right)
			p->right->parent = p;
		c->left = p;
	}
	p->parent = c;
	update(p);
	update(c);
}

void vma_insert(struct mm *mm, struct vma *v)
{
	struct vma *p = NULL, *n = mm->root, *before = NULL;

	while (n) {
		p = n;
		if (v->start < n->start) {
			before = n;
			n = n->left;
		} else {
			n = n->right;
		}
	}
	v->left = v->right = NULL;
	v->parent = p;
	if (!p)
		mm->root = v;
	else if (before == p)
		p->left = v;
	else
		p->right = v;
	list_add_tail(before ? &before->node : &mm->vmas, &v->node);
	mm->map_count++;
	refresh_gap(mm, v);
	while (v->parent && v->prio > v->parent->prio)
		rotate_up(mm, v);
	refresh_gap(mm, before);
}

void vma_remove(struct mm *mm, struct vma *v)
{
	struct vma *next = vma_next(mm, v), *p;

	while (v->left || v->right) {
		if (!v->right || (v->left && v->left->prio > v->right->prio))
			rotate_up(mm, v->left);
		else
			rotate_up(mm, v->right);
	}
	p = v->parent;
	replace_child(mm, p, v, NULL);
	v->parent = NULL;
	list_del(&v->node);
	mm->map_count--;
	propagate(p);
	refresh_gap(mm, next);
}

void vma_resize(struct mm *mm, struct vma *v, uint64_t start, uint64_t end)
{
	v->start = start;
	v->end = end;
	refresh_gap(mm, v);
	refresh_gap(mm, vma_next(mm, v));
}

struct vma *mm_find(struct mm *mm, uint64_t addr)
{
	struct vma *n = mm->root, *best = NULL;

	while (n) {
		if (n->end > addr) {
			best = n;
			n = n->left;
		} else {
			n = n->right;
		}
	}
	return best;
}

bool vma_overlaps(struct mm *mm, uint64_t start, uint64_t end)
{
	struct vma *v = mm_find(mm, start);

	return v && v->start < end;
}

/* The highest vma of the subtree N (whose max_gap is large enough) with SIZE bytes free below it. */
static struct vma *last_with_gap(struct vma *n, uint64_t size)
{
	for (;;) {
		if (n->right && n->right->max_gap >= size)
			n = n->right;
		else if (n->gap >= size)
			return n;
		else
			n = n->left;
	}
}

/* The highest vma below V with SIZE bytes free below it. */
static struct vma *prev_with_gap(struct vma *v, uint64_t size)
{
	for (;;) {
		if (v->left && v->left->max_gap >= size)
			return last_with_gap(v->left, size);
		while (v->parent && v->parent->left == v)
			v = v->parent;
		v = v->parent;
		if (!v || v->gap >= size)
			return v;
	}
}

uint64_t vma_gap(struct mm *mm, uint64_t size, uint64_t low, uint64_t high)
{
	struct vma *v, *last;
	uint64_t bottom;

	if (!size || high < low || high - low < size)
		return 0;
	v = mm_find(mm, high);
	/* The space right below HIGH: above every vma, or below the first one that ends beyond HIGH. */
	if (!v) {
		last = list_empty(&mm->vmas) ? NULL : container_of(mm->vmas.prev, struct vma, node);
		bottom = MAX(low, last ? last->end : 0);
		if (high >= bottom && high - bottom >= size)
			return high - size;
		v = last;
		if (v && v->gap < size)
			v = prev_with_gap(v, size);
	}
	for (; v; v = prev_with_gap(v, size)) {
		struct vma *prev = vma_prev(mm, v);
		uint64_t top = MIN(high, guard_start(v));

		bottom = MAX(low, prev ? prev->end : 0);
		if (top >= bottom && top - bottom >= size)
			return top - size;
		if (v->start <= low)
			break;
	}
	return 0;
}

/* --- changes ----------------------------------------------------------------------------------------------- */

void vma_stats(struct mm *mm, const struct vma *v, int sign)
{
	uint64_t n = vma_pages(v) * (uint64_t)(int64_t)sign;

	mm->total_pages += n;
	if (vma_is_data(v->prot, v->flags))
		mm->data_pages += n;
	if (v->flags & MAP_LOCKED)
		mm->locked_pages += n;
}

struct vma *vma_split(struct mm *mm, struct vma *v, uint64_t addr, struct vma *spare)
{
	uint64_t end = v->end;

	spare->start = addr;
	spare->end = end;
	spare->prot = v->prot;
	spare->flags = v->flags;
	spare->name = v->name;
	spare->madv = v->madv;
	spare->off = v->off + (addr - v->start);
	spare->file = v->file ? file_get(v->file) : NULL;
	vma_resize(mm, v, v->start, addr);
	vma_insert(mm, spare);
	return spare;
}

static bool same_name(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool can_merge(const struct vma *a, const struct vma *b)
{
	return a->end == b->start && a->prot == b->prot && a->flags == b->flags && a->file == b->file &&
	       a->madv == b->madv && same_name(a->name, b->name) &&
	       (!a->file || a->off + (a->end - a->start) == b->off);
}

struct vma *vma_merge(struct mm *mm, struct vma *v)
{
	struct vma *n = vma_next(mm, v), *p = vma_prev(mm, v);
	uint64_t end;

	if (n && can_merge(v, n)) {
		end = n->end;
		vma_remove(mm, n);
		vma_free(n);
		vma_resize(mm, v, v->start, end);
	}
	if (p && can_merge(p, v)) {
		end = v->end;
		vma_remove(mm, v);
		vma_free(v);
		vma_resize(mm, p, p->start, end);
		v = p;
	}
	return v;
}

int spares_fill(struct vma_spares *s, unsigned count)
{
	s->count = 0;
	while (s->count < count) {
		struct vma *v = vma_new();

		if (!v) {
			spares_free(s);
			return -ENOMEM;
		}
		s->v[s->count++] = v;
	}
	return 0;
}

struct vma *spares_take(struct vma_spares *s)
{
	return s->v[--s->count];
}

void spares_free(struct vma_spares *s)
{
	while (s->count)
		vma_free(s->v[--s->count]);
}

void vma_cut(struct mm *mm, uint64_t start, uint64_t end, struct vma_spares *s)
{
	struct vma *v = vma_lookup(mm, start);

	if (v && v->start < start)
		vma_split(mm, v, start, spares_take(s));
	v = vma_lookup(mm, end);
	if (v && v->start < end)
		vma_split(mm, v, end, spares_take(s));
}

void vma_clear(struct mm *mm, uint64_t start, uint64_t end, struct vma_spares *s)
{
	struct vma *v, *next;

	vma_cut(mm, start, end, s);
	for (v = mm_find(mm, start); v && v->start < end; v = next) {
		next = vma_next(mm, v);
		vma_stats(mm, v, -1);
		if (v->madv & VMA_ACCOUNT)
			mm_account(mm, -(int64_t)vma_pages(v));
		vma_remove(mm, v);
		vma_free(v);
	}
}

int vma_clear_delta(struct mm *mm, uint64_t start, uint64_t end)
{
	struct vma *v = mm_find(mm, start);
	int delta = 0;

	if (v && v->start < start && v->end > end)
		return 1;
	for (; v && v->start < end; v = vma_next(mm, v))
		if (v->start >= start && v->end <= end)
			delta--;
	return delta;
}
