/* Small things every file uses: array size, min/max, alignment, checked arithmetic. */
#ifndef WARD_BASE_UTIL_H
#define WARD_BASE_UTIL_H
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <sys/types.h>

#define ARRAY_COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define ALIGN_DOWN(x, a) ((x) & ~((__typeof__(x))(a) - 1))
#define ALIGN_UP(x, a) ALIGN_DOWN((x) + ((__typeof__(x))(a) - 1), a)
#define GUEST_PAGE_SIZE 4096ul
#define PAGE_DOWN(x) ALIGN_DOWN((uint64_t)(x), GUEST_PAGE_SIZE)
#define PAGE_UP(x) ALIGN_UP((uint64_t)(x), GUEST_PAGE_SIZE)
#define NSEC_PER_SEC 1000000000ll
#define UNUSED(x) ((void)(x))

static inline bool add_overflows(uint64_t a, uint64_t b, uint64_t *sum)
{
	return __builtin_add_overflow(a, b, sum);
}
#endif
