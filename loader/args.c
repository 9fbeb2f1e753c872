/* Argument and environment strings: copied once, with Linux's limits, read a page at a time. */
#include "loader/loader.h"
#include "sentry/base/util.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int reserve(struct strv *v, size_t n)
{
	size_t cap = v->cap ? v->cap : 1024;
	char *p;

	while (cap - v->size < n)
		cap *= 2;
	if (cap == v->cap)
		return 0;
	p = realloc(v->data, cap);
	if (!p)
		return -ENOMEM;
	v->data = p;
	v->cap = cap;
	return 0;
}

int strv_add(struct strv *v, const char *s, size_t n)
{
	int r = reserve(v, n + 1);

	if (r < 0)
		return r;
	memcpy(v->data + v->size, s, n);
	v->data[v->size + n] = 0;
	v->size += n + 1;
	v->count++;
	return 0;
}

void strv_free(struct strv *v)
{
	free(v->data);
	*v = (struct strv){0};
}

size_t args_budget(uint64_t stack_limit)
{
	uint64_t n = stack_limit / 4;

	return MAX(MIN(n, 6ull << 20), 128ull << 10);
}

/* One page of guest memory, kept between strings: they usually lie side by side. */
struct page_reader {
	uint64_t page;
	bool valid;
	char data[GUEST_PAGE_SIZE];
};

/* The bytes from ADDR to the end of its page. NULL: not readable. */
static const char *peek(struct page_reader *r, uint64_t addr, size_t *n)
{
	uint64_t page = PAGE_DOWN(addr);

	if (!r->valid || r->page != page) {
		r->valid = copy_in_some(r->data, uaddr(page), GUEST_PAGE_SIZE) == (long)GUEST_PAGE_SIZE;
		r->page = page;
		if (!r->valid)
			return NULL;
	}
	*n = GUEST_PAGE_SIZE - (addr - page);
	return r->data + (addr - page);
}

static int read_pointer(struct page_reader *r, uint64_t addr, uint64_t *out)
{
	const char *p;
	size_t n;

	p = peek(r, addr, &n);
	if (p && n >= 8) {
		memcpy(out, p, 8);
		return 0;
	}
	return copy_in(out, uaddr(addr), 8);
}

static int read_string(struct page_reader *r, uint64_t addr, struct strv *v, size_t *budget)
{
	size_t done = 0, n, k;
	const char *p, *nul;

	do {
		p = peek(r, addr + done, &n);
		if (!p)
			return -EFAULT;
		nul = memchr(p, 0, n);
		k = nul ? (size_t)(nul - p) + 1 : n;
		if (done + k > MAX_ARG_STRLEN || k > *budget)
			return -E2BIG;
		if (reserve(v, k) < 0)
			return -ENOMEM;
		memcpy(v->data + v->size, p, k);
		v->size += k;
		*budget -= k;
		done += k;
	} while (!nul);
	v->count++;
	return 0;
}

int args_from_user(struct strv *v, uaddr_t array, size_t *budget)
{
	struct page_reader *r;
	uint64_t p;
	int ret = 0;

	if (uaddr_null(array))
		return 0;
	r = calloc(2, sizeof *r); /* one for the pointers, one for the strings */
	if (!r)
		return -ENOMEM;
	for (uint64_t i = 0; ret == 0; i++) {
		ret = read_pointer(&r[0], array.a + 8 * i, &p);
		if (ret < 0 || !p)
			break;
		if (*budget < 8) {
			ret = -E2BIG;
			break;
		}
		*budget -= 8;
		ret = read_string(&r[1], p, v, budget);
	}
	free(r);
	return ret;
}

int args_from_kernel(struct strv *v, char *const *array, size_t *budget)
{
	for (; *array; array++) {
		size_t n = strlen(*array);

		if (n >= MAX_ARG_STRLEN || *budget < n + 9)
			return -E2BIG;
		*budget -= n + 9;
		if (strv_add(v, *array, n) < 0)
			return -ENOMEM;
	}
	return 0;
}

int args_for_script(struct strv *v, const char *interp, const char *arg, const char *path)
{
	struct strv n = {0};
	size_t skip = v->count ? strlen(v->data) + 1 : 0;

	if (strv_add(&n, interp, strlen(interp)) < 0 || (arg && strv_add(&n, arg, strlen(arg)) < 0) ||
	    strv_add(&n, path, strlen(path)) < 0 || reserve(&n, v->size - skip) < 0) {
		strv_free(&n);
		return -ENOMEM;
	}
	if (v->size > skip)
		memcpy(n.data + n.size, v->data + skip, v->size - skip);
	n.size += v->size - skip;
	n.count += v->count ? v->count - 1 : 0;
	strv_free(v);
	*v = n;
	return 0;
}
