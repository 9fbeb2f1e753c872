/* Scatter/gather and guest memory over a platform whose guest is an array. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "sentry/mm/mm.h"
#include "sentry/mm/uaccess.h"
#include "sentry/platform/platform.h"
#include "sentry/task/task.h"

#define BASE 0x100000ull
static char guest[4 * 4096];
static struct mm the_mm;
static struct task me = {.host = (void *)1, .mm = &the_mm};
struct task *current = &me;

uint64_t mm_access_span(struct mm *mm, uint64_t a, uint64_t n, int prot)
{
	uint64_t end = prot & PROT_WRITE ? BASE + 3 * 4096 : BASE + sizeof guest; /* the last page is read-only */

	return a < BASE || a >= end ? 0 : n < end - a ? n : end - a;
}
long plat_read_mem(struct plat_thread *t, void *dst, uint64_t src, size_t n)
{
	memcpy(dst, guest + (src - BASE), n);
	return (long)n;
}
long plat_write_mem(struct plat_thread *t, uint64_t dst, const void *src, size_t n)
{
	n = n > 5000 ? 5000 : n; /* platforms may be short */
	memcpy(guest + (dst - BASE), src, n);
	return (long)n;
}
bool plat_window_in(struct plat_thread *t, void *dst, uint64_t src, size_t n)
{
	return false;
}
bool plat_window_out(struct plat_thread *t, uint64_t dst, const void *src, size_t n)
{
	return false;
}
long plat_window_str(struct plat_thread *t, char *dst, uint64_t src, size_t cap)
{
	return -1;
}

Test(uaccess, all_or_nothing_and_partial)
{
	char buf[8192];

	cr_assert_eq(copy_in(buf, uaddr(BASE), 8192), 0);
	cr_assert_eq(copy_in(buf, uaddr(BASE + 3 * 4096), 8192), -EFAULT);
	cr_assert_eq(copy_in_some(buf, uaddr(BASE + 3 * 4096), 8192), 4096);
	cr_assert_eq(copy_out(uaddr(BASE + 3 * 4096), buf, 1), -EFAULT);
	cr_assert_eq(copy_out(uaddr(BASE + 2 * 4096), buf, 4097), -EFAULT);
	cr_assert_eq(copy_out_some(uaddr(BASE + 2 * 4096), buf, 4097), 4096);
	cr_assert_eq(copy_in(buf, uaddr(0), 1), -EFAULT);
	cr_assert_eq(copy_in(buf, uaddr(~0ull - 3), 8), -EFAULT);
	cr_assert_eq(copy_in(buf, uaddr(GUEST_TASK_SIZE), 1), -EFAULT);
	cr_assert_eq(copy_in(buf, uaddr(0), 0), 0);
}

Test(uaccess, strings)
{
	char buf[4096], *path;

	memset(guest, 'a', sizeof guest);
	strcpy(guest + 4094, "end");
	cr_assert_eq(copy_in_str(buf, uaddr(BASE + 4000), sizeof buf), 97);
	cr_assert_eq(copy_in_str(buf, uaddr(BASE + 4000), 97), -ENAMETOOLONG);
	cr_assert_eq(copy_in_str(buf, uaddr(BASE + sizeof guest - 5), sizeof buf), -EFAULT);
	cr_assert_eq(copy_in_path(&path, uaddr(BASE + 4094), false), 0);
	cr_assert_str_eq(path, "end");
	free(path);
	guest[0] = 0;
	cr_assert_eq(copy_in_path(&path, uaddr(BASE), false), -ENOENT);
	cr_assert_eq(copy_in_path(&path, uaddr(BASE + 8192), false), -ENAMETOOLONG);
}

Test(uio, segments)
{
	struct uio_seg iov[4] = {{BASE + 100, 3}, {0, 0}, {BASE + 200, 4}, {BASE + 300, 100}};
	char out[8] = {0};
	struct uio u;

	memcpy(guest, iov, sizeof iov);
	cr_assert_eq(uio_init_iov(&u, uaddr(BASE), 4), 0);
	cr_assert_eq(u.resid, 107);
	cr_assert_eq(uio_put(&u, "abcdefg", 7), 7);
	cr_assert_eq(memcmp(guest + 100, "abc", 3), 0);
	cr_assert_eq(memcmp(guest + 200, "defg", 4), 0);
	cr_assert_eq(u.resid, 100);
	uio_skip(&u, 98);
	cr_assert_eq(uio_put(&u, "xyz", 3), 2);
	cr_assert_eq(u.resid, 0);
	cr_assert_eq(uio_put(&u, "xyz", 3), 0);
	uio_fini(&u);
	cr_assert_eq(uio_init_iov(&u, uaddr(BASE), 4), 0);
	cr_assert_eq(uio_get(&u, out, 5), 5);
	cr_assert_str_eq(out, "abcde");
	uio_fini(&u);
}

Test(uio, import_errors)
{
	struct uio_seg iov[2] = {{BASE, 1}, {BASE, (uint64_t)-1}};
	struct uio u;

	memcpy(guest, iov, sizeof iov);
	cr_assert_eq(uio_init_iov(&u, uaddr(BASE), 2), -EINVAL);
	cr_assert_eq(uio_init_iov(&u, uaddr(BASE), 1025), -EINVAL);
	cr_assert_eq(uio_init_iov(&u, uaddr(4096), 2), -EFAULT);
	cr_assert_eq(uio_init_iov(&u, uaddr(0), 0), 0);
	cr_assert_eq(u.resid, 0);
	uio_fini(&u);
	iov[1] = (struct uio_seg){~0ull << 20, 5};
	memcpy(guest, iov, sizeof iov);
	cr_assert_eq(uio_init_iov(&u, uaddr(BASE), 2), -EFAULT);
	iov[0].size = iov[1].size = 0x70000000;
	iov[1].base = BASE;
	memcpy(guest, iov, sizeof iov);
	cr_assert_eq(uio_init_iov(&u, uaddr(BASE), 2), 0);
	cr_assert_eq(u.resid, MAX_RW_COUNT);
	uio_fini(&u);
}

Test(uio, faults_report_what_was_done)
{
	static char big[4 * 4096];
	struct uio u;

	uio_init_user(&u, uaddr(BASE), sizeof big);
	cr_assert_eq(uio_put(&u, big, sizeof big), 3 * 4096);
	cr_assert_eq(uio_put(&u, big, 1), -EFAULT);
	uio_init_user(&u, uaddr(BASE + 4096), sizeof big);
	cr_assert_eq(uio_zero(&u, sizeof big), 2 * 4096);
	uio_init_kernel(&u, big, 10);
	cr_assert_eq(uio_put(&u, "0123456789", 10), 10);
	cr_assert_eq(memcmp(big, "0123456789", 10), 0);
}
