/* Trace text: escapes, flags, bounds; the filter's language. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include "sentry/trace/out.h"
#include "sentry/trace/trace.h"

static struct trace_out o;

static const char *text(void)
{
	o.buf[o.len] = 0;
	o.len = 0;
	return o.buf;
}

Test(trace, guest_bytes_are_escaped)
{
	out_quoted(&o, "a\"\\\n\t\033[31m\0007\0", 13);
	cr_expect_str_eq(text(), "\"a\\\"\\\\\\n\\t\\33[31m\\0007\\0\"");
	out_quoted(&o, "\xff", 1);
	cr_expect_str_eq(text(), "\"\\377\"");
}

Test(trace, flags_and_constants)
{
	out_open_flags(&o, O_RDONLY);
	cr_expect_str_eq(text(), "O_RDONLY");
	out_open_flags(&o, O_RDWR | O_CREAT | O_CLOEXEC);
	cr_expect_str_eq(text(), "O_RDWR|O_CREAT|O_CLOEXEC");
	out_flags(&o, names_prot, 0, "PROT_NONE");
	cr_expect_str_eq(text(), "PROT_NONE");
	out_flags(&o, names_prot, 0x80000003, "PROT_NONE");
	cr_expect_str_eq(text(), "PROT_READ|PROT_WRITE|0x80000000");
	out_const(&o, names_whence, 99);
	cr_expect_str_eq(text(), "0x63");
	out_signal(&o, 15);
	cr_expect_str_eq(text(), "SIGTERM");
	out_signal(&o, 34);
	cr_expect_str_eq(text(), "SIGRT_2");
}

Test(trace, a_line_never_overflows)
{
	for (int i = 0; i < 10000; i++)
		out_quoted(&o, "\001\002\003\004", 4);
	cr_expect(o.full);
	cr_expect_leq(o.len, sizeof o.buf - 4);
}

static int parse(const char *spec, struct err *e)
{
	memset(e, 0, sizeof *e);
	return trace_parse_filter(spec, e);
}

Test(trace, filter_names_what_it_does_not_know)
{
	struct err e;

	cr_expect_eq(parse(NULL, &e), 0);
	cr_expect_eq(parse("", &e), 0);
	cr_expect_eq(parse("file,openat,%desc", &e), 0);
	cr_expect_eq(parse("!futex,!time", &e), 0);
	cr_expect_eq(parse("all", &e), 0);
	cr_expect_eq(parse("openta", &e), -1);
	cr_expect_eq(e.exit_code, 125);
	cr_expect_not_null(strstr(e.text, "\"openta\""));
	cr_expect_eq(parse("file,,desc", &e), -1);
	cr_expect_eq(parse("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", &e), -1);
}
