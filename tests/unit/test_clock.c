/* Conversions of times at their edges; decoding of clock ids. */
#include <criterion/criterion.h>
#include <errno.h>
#include "sentry/time/clock.h"

Test(clock, times_are_clipped_not_wrapped)
{
	struct l_timespec huge = {INT64_MAX, 999999999}, neg = {-1, 0}, bad = {0, 1000000000}, one = {1, 5};

	cr_expect_eq(timespec_ns(&huge), NS_MAX);
	cr_expect_eq(timespec_ns(&one), 1000000005u);
	cr_expect(timespec_valid(&huge));
	cr_expect(!timespec_valid(&neg));
	cr_expect(!timespec_valid(&bad));
	cr_expect_eq(ns_add(NS_MAX, 1), NS_MAX);
	cr_expect_eq(ns_add(1, UINT64_MAX), NS_MAX);
	cr_expect_eq(ns_add(2, 3), 5);
	cr_expect_eq(ns_timeval(1999999999).usec, 999999);
}

Test(clock, ids)
{
	struct clock_ref c;
	uint64_t a, b;

	cr_assert_eq(clock_decode(L_CLOCK_MONOTONIC, &c), 0);
	cr_expect(c.can_sleep && c.can_time);
	cr_expect_eq(clock_now(&c, &a), 0);
	cr_expect_eq(clock_now(&c, &b), 0);
	cr_expect_leq(a, b);
	cr_expect_eq(clock_to_mono(&c, 12345), 12345);
	cr_assert_eq(clock_decode(L_CLOCK_MONOTONIC_RAW, &c), 0);
	cr_expect(!c.can_sleep && !c.can_time);
	cr_assert_eq(clock_decode(L_CLOCK_THREAD_CPUTIME_ID, &c), 0);
	cr_expect(!c.can_sleep && c.can_time);
	cr_expect_eq(clock_decode(10, &c), -EINVAL);
	cr_expect_eq(clock_decode(12, &c), -EINVAL);
	cr_expect_eq(clock_decode(-1, &c), -EINVAL, "a descriptor as clock");
}
