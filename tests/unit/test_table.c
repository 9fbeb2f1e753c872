/* The system-call table: completeness, look-ups, unpacking of registers. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include "syscalls/table.h"

Test(table, every_number_of_linux_is_there)
{
	for (int nr = 0; nr < SYSCALL_MAX; nr++) {
		const struct syscall_desc *d = syscall_desc(nr);

		if (nr > 336 && nr < 424) {
			cr_expect_null(d, "%d is a hole in the kernel's table", nr);
			continue;
		}
		cr_assert_not_null(d, "%d", nr);
		cr_expect_eq(d->nr, nr);
		cr_expect_eq(syscall_find(d->name), d);
		if (d->support == SUPPORT_NONE)
			cr_expect(!d->thunk && d->error < 0 && d->note, "%s", d->name);
		else
			cr_expect(d->thunk && !d->error, "%s", d->name);
		cr_expect_eq(d->support == SUPPORT_PARTIAL || d->support == SUPPORT_NONE, d->note != NULL, "%s",
			     d->name);
	}
	cr_expect_null(syscall_desc(-1));
	cr_expect_null(syscall_desc(SYSCALL_MAX));
	cr_expect_null(syscall_find("nonsense"));
}

Test(table, buffers_are_followed_by_their_size)
{
	for (int nr = 0; nr < SYSCALL_MAX; nr++) {
		const struct syscall_desc *d = syscall_desc(nr);

		for (unsigned i = 0; d && i < d->arg_count; i++) {
			const struct arg_kind_desc *k = arg_kind_desc(d->arg_kind[i]);

			if (k->marshal != ARG_BUF_IN && k->marshal != ARG_BUF_OUT)
				continue;
			cr_assert_lt(i + 1, d->arg_count, "%s", d->name);
			const char *size = arg_kind_desc(d->arg_kind[i + 1])->name;

			cr_expect(!strcmp(size, "size") || !strcmp(size, "isize") || !strcmp(size, "uint"), "%s: %s",
				  d->name, size);
		}
	}
}

Test(table, upper_halves_of_registers_are_dropped)
{
	uint64_t poisoned = 0xdeadbeef00000003ull;

	cr_expect_eq(arg_from_reg_fd(poisoned), 3);
	cr_expect_eq(arg_from_reg_sint(0xdeadbeefffffffffull), -1);
	cr_expect_eq(arg_from_reg_uint(0xdeadbeefffffffffull), 0xffffffffu);
	cr_expect_eq(arg_from_reg_size(poisoned), poisoned);
	cr_expect_eq(arg_from_reg_path(poisoned).a, poisoned);
}
