/*
 * Guest memory through one small API. A guest address is a struct, so it cannot be dereferenced. Every function
 * acts on the current task's address space; data is copied once into kernel memory and never read again.
 */
#ifndef WARD_MM_UACCESS_H
#define WARD_MM_UACCESS_H
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct {
	uint64_t a;
} uaddr_t;

static inline uaddr_t uaddr(uint64_t a)
{
	return (uaddr_t){a};
}
static inline bool uaddr_null(uaddr_t u)
{
	return u.a == 0;
}
static inline uaddr_t uaddr_add(uaddr_t u, uint64_t n)
{
	return (uaddr_t){u.a + n};
}

/* All or nothing: 0 or -EFAULT. */
int copy_in(void *dst, uaddr_t src, size_t size);
int copy_out(uaddr_t dst, const void *src, size_t size);
int clear_out(uaddr_t dst, size_t size);
/* NUL-terminated string of at most CAP bytes with its NUL. Length without NUL, -EFAULT, or -ENAMETOOLONG. */
long copy_in_str(char *dst, uaddr_t src, size_t cap);
/* A path name: allocated copy in *OUT (free()). 0, -EFAULT, -ENAMETOOLONG (> 4095 bytes), -ENOENT if empty and
 * !EMPTY_OK. */
int copy_in_path(char **out, uaddr_t src, bool empty_ok);
/* Partial copies: bytes done, or -EFAULT when none. */
long copy_in_some(void *dst, uaddr_t src, size_t size);
long copy_out_some(uaddr_t dst, const void *src, size_t size);

/* --- scatter/gather: where the bytes of a read or write live. ----------------------------------------------- */
#define UIO_MAXIOV 1024
#define MAX_RW_COUNT 0x7ffff000ul
struct uio_seg {
	uint64_t base;
	uint64_t size;
};
struct uio {
	struct uio_seg *seg; /* segments left; the first may be partly used */
	unsigned count;
	bool kernel;         /* base is a kernel pointer */
	bool nowait;         /* IOCB_NOWAIT: RWF_NOWAIT */
	size_t resid;        /* bytes left in all segments, <= MAX_RW_COUNT */
	struct uio_seg one;  /* storage for the single-buffer forms */
	struct uio_seg *heap; /* freed by uio_fini */
};
void uio_init_user(struct uio *u, uaddr_t buf, size_t size);   /* SIZE is clamped to MAX_RW_COUNT */
void uio_init_kernel(struct uio *u, void *buf, size_t size);
/* Imports an iovec array as Linux's import_iovec: -EINVAL (count, negative total), -EFAULT. */
int uio_init_iov(struct uio *u, uaddr_t iov, unsigned long count);
void uio_fini(struct uio *u);
/* Move N (<= resid) bytes and advance. Bytes moved, or -EFAULT when none could be. */
long uio_put(struct uio *u, const void *src, size_t n); /* kernel -> destination: for read */
long uio_get(struct uio *u, void *dst, size_t n);       /* source -> kernel: for write */
long uio_zero(struct uio *u, size_t n);                 /* zero bytes -> destination */
void uio_skip(struct uio *u, size_t n);

#define U64(x) ((uint64_t)(x))
/* Typed conveniences: struct out/in by value of its size. */
#define copy_out_obj(dst, obj) copy_out((dst), &(obj), sizeof(obj))
#define copy_in_obj(obj, src) copy_in(&(obj), (src), sizeof(obj))
#endif
