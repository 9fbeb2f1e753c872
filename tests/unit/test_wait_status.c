/* Wait statuses as waitid shows them. */
#include <criterion/criterion.h>
#include <signal.h>
#include "sentry/task/wait.h"

Test(wait_status, codes)
{
	int st;

	cr_assert_eq(wait_code(3 << 8, &st), CLD_EXITED);
	cr_assert_eq(st, 3);
	cr_assert_eq(wait_code(SIGKILL, &st), CLD_KILLED);
	cr_assert_eq(st, SIGKILL);
	cr_assert_eq(wait_code(SIGSEGV | 0x80, &st), CLD_DUMPED);
	cr_assert_eq(st, SIGSEGV);
}
