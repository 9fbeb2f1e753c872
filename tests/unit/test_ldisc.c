/* The line discipline without tasks: editing, end of file, echo, raw mode, output processing, flow control. */
#include <criterion/criterion.h>
#include <string.h>
#include <termios.h>
#include "fs/tty/tty.h"

static struct tty t;

static void setup(void)
{
	memset(&t, 0, sizeof t);
	t.refs = 1;
	waitq_init(&t.rd_q);
	waitq_init(&t.wr_q);
	waitq_init(&t.m_q);
	ldisc_reset(&t);
}

static void type(const char *s)
{
	cr_assert_eq(tty_input(&t, s, strlen(s)), strlen(s));
}

static void expect_read(size_t size, const char *want, bool want_end)
{
	uint8_t buf[8192];
	bool end;
	size_t n = ldisc_take(&t, buf, size, &end);
	cr_assert_eq(n, strlen(want), "%zu bytes", n);
	cr_assert_eq(memcmp(buf, want, n), 0);
	cr_assert_eq(end, want_end);
}

static void expect_out(const char *want)
{
	char buf[8192];
	size_t n = tty_output(&t, buf, sizeof buf - 1);
	buf[n] = 0;
	cr_assert_str_eq(buf, want);
}

TestSuite(ldisc, .init = setup);

Test(ldisc, line_is_readable_only_when_complete)
{
	type("ab");
	cr_assert(!ldisc_readable(&t, false));
	type("c\r");
	cr_assert(ldisc_readable(&t, false));
	cr_assert_eq(ldisc_available(&t), 4);
	expect_out("abc\r\n");
	expect_read(2, "ab", false);
	expect_read(10, "c\n", true);
	cr_assert(!ldisc_readable(&t, false));
}

Test(ldisc, erase_word_and_line)
{
	type("foo bar\x7f");
	expect_out("foo bar\b \b");
	type("\x17");
	type("x\n");
	expect_read(100, "foo x\n", true);
	tty_output(&t, (char[64]){0}, 64);
	type("gone\x15kept\n");
	expect_read(100, "kept\n", true);
}

Test(ldisc, eof_ends_a_line_without_a_byte)
{
	type("ab\x04");
	expect_read(100, "ab", true);
	type("\x04");
	expect_read(100, "", true);
	/* A buffer that ends exactly before the mark takes the mark along. */
	type("ab\x04");
	expect_read(2, "ab", true);
	cr_assert(!ldisc_readable(&t, false));
}

Test(ldisc, control_characters_echo_with_caret)
{
	type("\x16\x03");
	expect_out("^\b^C");
	type("\n");
	expect_read(10, "\x03\n", true);
}

Test(ldisc, raw_mode_gives_every_byte)
{
	struct l_termios2 n = t.tio;
	n.lflag &= ~(unsigned)(ICANON | ECHO | ISIG);
	n.iflag = 0;
	n.cc[VMIN] = 2;
	ldisc_set_termios(&t, &n);
	type("\r");
	cr_assert(!ldisc_readable(&t, true));
	type("\x03");
	cr_assert(ldisc_readable(&t, true));
	expect_read(10, "\r\x03", false);
	expect_out("");
}

Test(ldisc, overlong_line_can_still_be_ended)
{
	for (int i = 0; i < 2 * TTY_BUF; i++) {
		type("x");
		tty_output(&t, (char[8]){0}, 8);
	}
	type("\n");
	cr_assert(ldisc_readable(&t, false));
	cr_assert_eq(ldisc_available(&t), TTY_BUF);
}

Test(ldisc, stop_and_start)
{
	type("\x13");
	cr_assert(t.stopped);
	type("\x11");
	cr_assert(!t.stopped);
}

Test(ldisc, output_processing)
{
	for (const char *p = "a\tb\n"; *p; p++)
		cr_assert(ldisc_out(&t, (uint8_t)*p));
	expect_out("a\tb\r\n");
	cr_assert_eq(t.column, 0);
}
