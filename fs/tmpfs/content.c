/*
 * The bytes of a tmpfs file. Small files live in the heap (no host call, no descriptor); larger or mapped ones in a
 * memfd that the sentry maps. Holes are never touched: reading them through the map would make the host allocate
 * pages nobody is charged for, so a bitmap says which pages exist. Only the sentry changes a memfd's size, which is
 * why its own mapping cannot fault.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "fs/tmpfs/tmpfs.h"
#include "sentry/base/host.h"
#include "sentry/base/util.h"

#define HEAP_MAX 65536u
#define CHUNK_PAGES 32768u
#define MAP_WINDOW (1ull << 36) /* of one file; the rest goes through pread and pwrite */
#define RECOUNT_EVERY 256u
#define PAGE GUEST_PAGE_SIZE

static char bounce[65536];

/* --- charging --- */

void tmpfs_recount(struct tmpfs_sb *sb)
{
	struct tmpfs_inode *ti;

	list_for_each(ti, &sb->mapped, mapped_node) {
		struct stat st;

		if (host_fstat(ti->memfd, &st) < 0)
			continue;
		uint64_t pages = (uint64_t)st.st_blocks / (PAGE / 512);
		if (pages > ti->pages) {
			sb->used_pages += pages - ti->pages;
			tmpfs_pool.used_pages += pages - ti->pages;
			ti->pages = pages;
		}
	}
	sb->until_recount = RECOUNT_EVERY;
}

static int charge(struct tmpfs_inode *ti, uint64_t pages)
{
	struct tmpfs_sb *sb = TSB(ti->inode);

	if (!pages)
		return 0;
	if (sb->max_pages) {
		if (!list_empty(&sb->mapped) && sb->until_recount-- == 0)
			tmpfs_recount(sb);
		if (pages > sb->max_pages || sb->used_pages > sb->max_pages - pages)
			return -ENOSPC;
	}
	if (tmpfs_pool.max_pages && (pages > tmpfs_pool.max_pages || tmpfs_pool.used_pages > tmpfs_pool.max_pages - pages))
		return -ENOSPC;
	sb->used_pages += pages;
	tmpfs_pool.used_pages += pages;
	ti->pages += pages;
	return 0;
}

static void uncharge(struct tmpfs_inode *ti, uint64_t pages)
{
	pages = MIN(pages, ti->pages);
	ti->pages -= pages;
	TSB(ti->inode)->used_pages -= pages;
	tmpfs_pool.used_pages -= pages;
}

static bool page_present(const struct tmpfs_inode *ti, uint64_t page)
{
	uint64_t c = page / CHUNK_PAGES, b = page % CHUNK_PAGES;

	return c < ti->chunks && ti->chunk[c] && (ti->chunk[c][b / 64] >> (b % 64) & 1);
}

static int page_set(struct tmpfs_inode *ti, uint64_t page)
{
	uint64_t c = page / CHUNK_PAGES, b = page % CHUNK_PAGES;

	if (c >= ti->chunks) {
		size_t n = MAX(c + 1, ti->chunks * 2);
		uint64_t **p = realloc(ti->chunk, n * sizeof(*p));

		if (!p)
			return -ENOMEM;
		memset(p + ti->chunks, 0, (n - ti->chunks) * sizeof(*p));
		ti->chunk = p;
		ti->chunks = n;
	}
	if (!ti->chunk[c]) {
		ti->chunk[c] = calloc(1, CHUNK_PAGES / 8);
		if (!ti->chunk[c])
			return -ENOMEM;
	}
	ti->chunk[c][b / 64] |= 1ull << (b % 64);
	return 0;
}

/* Charge the pages of [off, off+size) that are holes: bytes from OFF that are covered, or -errno if none. */
static long charge_range(struct tmpfs_inode *ti, uint64_t off, uint64_t size)
{
	uint64_t page = off / PAGE, last = (off + size - 1) / PAGE;

	for (; page <= last; page++) {
		if (page_present(ti, page))
			continue;
		int r = charge(ti, 1);
		if (r == 0) {
			r = page_set(ti, page);
			if (r < 0)
				uncharge(ti, 1);
		}
		if (r < 0)
			return page * PAGE > off ? (long)(page * PAGE - off) : r;
	}
	return (long)size;
}

/* Forget whole pages in [first, end); returns nothing: their bytes are gone. */
static void drop_pages(struct tmpfs_inode *ti, uint64_t first, uint64_t end)
{
	for (uint64_t page = first; page < end;) {
		uint64_t c = page / CHUNK_PAGES, b = page % CHUNK_PAGES;

		if (c >= ti->chunks)
			break;
		if (!ti->chunk[c]) {
			page = (c + 1) * CHUNK_PAGES;
			continue;
		}
		if (b % 64 == 0 && !ti->chunk[c][b / 64]) {
			page += 64;
			continue;
		}
		if (ti->chunk[c][b / 64] >> (b % 64) & 1) {
			ti->chunk[c][b / 64] &= ~(1ull << (b % 64));
			uncharge(ti, 1);
		}
		page++;
	}
}

/* --- memfd --- */

/* Make the memfd at least SIZE long and map what the window allows. */
static int memfd_grow(struct tmpfs_inode *ti, uint64_t size)
{
	uint64_t want;
	int r;

	size = PAGE_UP(size);
	if (size <= ti->memfd_size)
		return 0;
	r = host_ftruncate(ti->memfd, (off_t)size);
	if (r < 0)
		return r == -EINVAL ? -EFBIG : r;
	ti->memfd_size = size;
	if (ti->map_size >= MIN(size, MAP_WINDOW))
		return 0;
	/* Address space, not memory: generous steps save remaps. Pages behind the end are never touched. */
	want = MAX(ti->map_size * 2, 1u << 20);
	while (want < size && want < MAP_WINDOW)
		want *= 2;
	void *p = ti->map ? host_mremap(ti->map, ti->map_size, want, MREMAP_MAYMOVE)
			  : host_mmap(NULL, want, PROT_READ | PROT_WRITE, MAP_SHARED, ti->memfd, 0);
	if (!host_is_err(p)) { /* otherwise pread and pwrite serve the rest */
		ti->map = p;
		ti->map_size = want;
	}
	return 0;
}

/* Small content stands in one piece: what is a hole there shows as pages of zeros only. */
static bool heap_page_present(const struct tmpfs_inode *ti, uint64_t page)
{
	uint64_t end = MIN((page + 1) * PAGE, (uint64_t)ti->heap_size);

	for (uint64_t n = page * PAGE; n < end; n++)
		if (ti->heap[n])
			return true;
	return false;
}

int tmpfs_to_memfd(struct tmpfs_inode *ti)
{
	uint64_t holes = 0;
	int fd, r;

	if (ti->memfd >= 0)
		return memfd_grow(ti, ti->inode->size);
	fd = host_memfd_create("ward", MFD_CLOEXEC);
	if (fd < 0)
		return fd == -EINVAL ? -ENOMEM : fd;
	ti->memfd = fd;
	r = memfd_grow(ti, MAX(ti->heap_size, ti->inode->size));
	for (uint64_t p = 0; r == 0 && p < PAGE_UP(ti->heap_size) / PAGE; p++) {
		size_t n = MIN((size_t)PAGE, ti->heap_size - (size_t)(p * PAGE));

		if (!ti->reserved && !heap_page_present(ti, p)) {
			holes++; /* skipped by the writer: as good as never written */
			continue;
		}
		r = page_set(ti, p); /* charged already while in the heap */
		if (r == 0 && host_pwrite(fd, ti->heap + p * PAGE, n, (off_t)(p * PAGE)) != (long)n)
			r = -ENOMEM;
	}
	if (r < 0) {
		if (ti->map)
			host_munmap(ti->map, ti->map_size);
		ti->map = NULL;
		ti->map_size = ti->memfd_size = 0;
		host_close(fd);
		ti->memfd = -1;
		for (size_t c = 0; c < ti->chunks; c++)
			free(ti->chunk[c]);
		free(ti->chunk);
		ti->chunk = NULL;
		ti->chunks = 0;
		return r;
	}
	uncharge(ti, holes);
	free(ti->heap);
	ti->heap = NULL;
	ti->heap_size = 0;
	return 0;
}

/* --- heap --- */

static int heap_grow(struct tmpfs_inode *ti, size_t size)
{
	size_t cap = ti->heap_size, old = PAGE_UP(ti->heap_size) / PAGE, now;
	int r;

	if (size <= cap)
		return 0;
	cap = cap ? cap * 2 : 64;
	while (cap < size)
		cap *= 2;
	if (cap > 4096)
		cap = MIN(PAGE_UP(cap), HEAP_MAX);
	now = PAGE_UP(cap) / PAGE;
	r = charge(ti, now - old);
	if (r == -ENOSPC && PAGE_UP(size) / PAGE < now) { /* no room to be generous */
		cap = PAGE_UP(size);
		now = cap / PAGE;
		r = charge(ti, now - old);
	}
	if (r < 0)
		return r;
	char *p = realloc(ti->heap, cap);
	if (!p) {
		uncharge(ti, now - old);
		return -ENOMEM;
	}
	memset(p + ti->heap_size, 0, cap - ti->heap_size);
	ti->heap = p;
	ti->heap_size = cap;
	return 0;
}

/* --- reading and writing --- */

/* Up to N bytes at POS that share one state (present or hole). */
static size_t run_length(const struct tmpfs_inode *ti, uint64_t pos, size_t n, bool *present)
{
	if (ti->mapped) { /* the guest may have made pages we do not know of */
		*present = pos < ti->memfd_size;
		return *present ? MIN(n, ti->memfd_size - pos) : n;
	}
	if (pos >= ti->memfd_size) {
		*present = false;
		return n;
	}
	n = MIN(n, ti->memfd_size - pos);
	uint64_t page = pos / PAGE, end = (pos + n + PAGE - 1) / PAGE, p = page + 1;

	*present = page_present(ti, page);
	while (p < end && page_present(ti, p) == *present)
		p++;
	return MIN(n, p * PAGE - pos);
}

long tmpfs_read(struct tmpfs_inode *ti, struct uio *u, uint64_t *pos)
{
	uint64_t size = ti->inode->size;
	size_t left, done = 0;

	if (*pos >= size)
		return 0;
	left = MIN(u->resid, size - *pos);
	while (left) {
		size_t n = left;
		bool present;
		long r;

		if (ti->memfd < 0) {
			present = *pos < ti->heap_size;
			if (present)
				n = MIN(n, ti->heap_size - *pos);
			r = present ? uio_put(u, ti->heap + *pos, n) : uio_zero(u, n);
		} else {
			n = run_length(ti, *pos, n, &present);
			if (!present) {
				r = uio_zero(u, n);
			} else if (*pos + n <= ti->map_size) {
				r = uio_put(u, ti->map + *pos, n);
			} else {
				n = MIN(n, sizeof(bounce));
				r = host_pread(ti->memfd, bounce, n, (off_t)*pos);
				if (r > 0)
					r = uio_put(u, bounce, (size_t)r);
			}
		}
		if (r <= 0)
			return done ? (long)done : r;
		*pos += (uint64_t)r;
		done += (size_t)r;
		left -= (size_t)r;
		if ((size_t)r < n)
			break;
	}
	return (long)done;
}

long tmpfs_write(struct tmpfs_inode *ti, struct uio *u, uint64_t *pos, size_t left)
{
	struct inode *i = ti->inode;
	size_t done = 0;

	while (left) {
		size_t n = left;
		long r = 0;

		if (ti->memfd < 0 && *pos + n > HEAP_MAX) {
			r = tmpfs_to_memfd(ti);
		}
		if (r == 0 && ti->memfd < 0) {
			r = heap_grow(ti, *pos + n);
			if (r == -ENOSPC && ti->heap_size > *pos) { /* what still fits */
				n = ti->heap_size - *pos;
				r = 0;
			}
			if (r == 0)
				r = uio_get(u, ti->heap + *pos, n);
		} else if (r == 0) {
			r = charge_range(ti, *pos, n);
			if (r > 0) {
				n = (size_t)r;
				r = memfd_grow(ti, *pos + n);
			}
			if (r == 0 && *pos + n <= ti->map_size) {
				r = uio_get(u, ti->map + *pos, n);
			} else if (r == 0) {
				n = MIN(n, sizeof(bounce));
				r = uio_get(u, bounce, n);
				if (r > 0)
					r = host_pwrite(ti->memfd, bounce, (size_t)r, (off_t)*pos);
			}
		}
		if (r <= 0)
			return done ? (long)done : r;
		*pos += (uint64_t)r;
		done += (size_t)r;
		left -= (size_t)r;
		if (*pos > i->size)
			i->size = *pos;
		if ((size_t)r < n)
			break;
	}
	return (long)done;
}

/* Zero [off, end) where pages exist. */
static void zero_range(struct tmpfs_inode *ti, uint64_t off, uint64_t end)
{
	if (ti->memfd < 0) {
		if (off < ti->heap_size)
			memset(ti->heap + off, 0, MIN(end, ti->heap_size) - off);
	} else if (off < end) {
		host_fallocate(ti->memfd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)off, (off_t)(end - off));
	}
}

int tmpfs_resize(struct tmpfs_inode *ti, uint64_t size)
{
	struct inode *i = ti->inode;
	uint64_t old = i->size;

	if (size > TMPFS_MAX_SIZE)
		return -EFBIG;
	if (size < old) {
		if (ti->memfd < 0) {
			if (!size) {
				uncharge(ti, PAGE_UP(ti->heap_size) / PAGE);
				free(ti->heap);
				ti->heap = NULL;
				ti->heap_size = 0;
			}
			zero_range(ti, size, old);
		} else {
			zero_range(ti, size, PAGE_UP(size));
			if (host_ftruncate(ti->memfd, (off_t)PAGE_UP(size)) == 0) {
				ti->memfd_size = PAGE_UP(size);
			}
			drop_pages(ti, PAGE_UP(size) / PAGE, PAGE_UP(old) / PAGE);
			/* Pages a mapping made are not in the bitmap: count them again. */
			if (ti->mapped) {
				struct stat st;

				if (host_fstat(ti->memfd, &st) == 0 && ti->pages > (uint64_t)st.st_blocks / 8)
					uncharge(ti, ti->pages - (uint64_t)st.st_blocks / 8);
			}
		}
	} else if (size > old && ti->mapped) {
		int r = memfd_grow(ti, size);

		if (r < 0)
			return r;
	}
	i->size = size;
	return 0;
}

int tmpfs_punch(struct tmpfs_inode *ti, uint64_t off, uint64_t size)
{
	uint64_t end = MIN(off + size, PAGE_UP(ti->inode->size));

	if (off >= end)
		return 0;
	zero_range(ti, off, end);
	if (ti->memfd >= 0)
		drop_pages(ti, PAGE_UP(off) / PAGE, end / PAGE);
	return 0;
}

int tmpfs_reserve(struct tmpfs_inode *ti, uint64_t off, uint64_t size)
{
	struct tmpfs_sb *sb = TSB(ti->inode);
	uint64_t room = sb->max_pages ? sb->max_pages - MIN(sb->max_pages, sb->used_pages) + ti->pages : 1u << 22;
	long r;

	if (off + size > TMPFS_MAX_SIZE)
		return -EFBIG;
	if (size / PAGE > room) /* at once, not after a million pages */
		return -ENOSPC;
	if (off + size > HEAP_MAX || ti->memfd >= 0) {
		r = tmpfs_to_memfd(ti);
		if (r == 0)
			r = charge_range(ti, off, size);
		if (r < 0)
			return (int)r;
		return (uint64_t)r < size ? -ENOSPC : memfd_grow(ti, off + size);
	}
	ti->reserved = true;
	return heap_grow(ti, off + size);
}

int64_t tmpfs_seek(struct tmpfs_inode *ti, uint64_t off, bool data)
{
	uint64_t size = ti->inode->size;

	if (off >= size)
		return -ENXIO;
	if (ti->memfd < 0) {
		uint64_t end = MIN((uint64_t)ti->heap_size, size);

		for (uint64_t pos = off; pos < end; pos = PAGE_DOWN(pos) + PAGE)
			if (heap_page_present(ti, pos / PAGE) == data)
				return (int64_t)pos;
		return data ? -ENXIO : (int64_t)MAX(off, end);
	}
	if (ti->mapped) /* DIFF: which pages a mapping filled is not known: one extent */
		return data ? (int64_t)off : (int64_t)size;
	for (uint64_t pos = off; pos < size; pos = PAGE_DOWN(pos) + PAGE) {
		uint64_t c = pos / PAGE / CHUNK_PAGES;

		if (page_present(ti, pos / PAGE) == data)
			return (int64_t)pos;
		if (data && (c >= ti->chunks || !ti->chunk[c])) {
			if (c >= ti->chunks)
				break;
			pos = (c + 1) * CHUNK_PAGES * PAGE - PAGE;
		}
	}
	return data ? -ENXIO : (int64_t)size;
}

void tmpfs_content_free(struct tmpfs_inode *ti)
{
	uncharge(ti, ti->pages);
	if (ti->mapped)
		list_del(&ti->mapped_node);
	if (ti->map)
		host_munmap(ti->map, ti->map_size);
	if (ti->memfd >= 0)
		host_close(ti->memfd);
	free(ti->heap);
	for (size_t c = 0; c < ti->chunks; c++)
		free(ti->chunk[c]);
	free(ti->chunk);
}
