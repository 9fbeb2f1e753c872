/* Building one line of trace text in a bounded buffer. */
#include "sentry/trace/out.h"
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "sentry/signal/signal.h"

#define ROOM 8 /* kept for the "..." and the newline */

static void out_bytes(struct trace_out *o, const char *s, size_t n)
{
	size_t left = sizeof o->buf - ROOM - o->len;

	if (o->full)
		return;
	if (n > left) {
		n = left;
		o->full = true;
	}
	memcpy(o->buf + o->len, s, n);
	o->len += n;
}

void out_str(struct trace_out *o, const char *s)
{
	out_bytes(o, s, strlen(s));
}

void out_fmt(struct trace_out *o, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (n > 0)
		out_bytes(o, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

void out_quoted(struct trace_out *o, const void *bytes, size_t n)
{
	static const char escape[] = "\"\\\n\r\t\v\f", letter[] = "\"\\nrtvf";
	const unsigned char *p = bytes;

	out_str(o, "\"");
	for (size_t i = 0; i < n; i++) {
		const char *e = p[i] ? strchr(escape, p[i]) : NULL;
		char c = (char)p[i];

		if (e)
			out_fmt(o, "\\%c", letter[e - escape]);
		else if (p[i] >= 0x20 && p[i] < 0x7f)
			out_bytes(o, &c, 1);
		else if (i + 1 < n && p[i + 1] >= '0' && p[i + 1] <= '9')
			out_fmt(o, "\\%03o", p[i]);
		else
			out_fmt(o, "\\%o", p[i]);
	}
	out_str(o, "\"");
}

void out_const(struct trace_out *o, const struct const_name *t, uint64_t value)
{
	for (; t->name; t++)
		if (t->value == value) {
			out_str(o, t->name);
			return;
		}
	out_fmt(o, "%#lx", value);
}

void out_flags(struct trace_out *o, const struct const_name *t, uint64_t value, const char *zero)
{
	const char *sep = "";

	for (; t->name; t++)
		if (t->value && (value & t->value) == t->value) {
			out_fmt(o, "%s%s", sep, t->name);
			value &= ~t->value;
			sep = "|";
		}
	if (value)
		out_fmt(o, "%s%#lx", sep, value);
	else if (!*sep)
		out_str(o, zero ? zero : "0");
}

void out_signal(struct trace_out *o, int signo)
{
	const char *name = signo > 0 && signo < 32 ? sigabbrev_np(signo) : NULL;

	if (name)
		out_fmt(o, "SIG%s", name);
	else if (signo >= 32 && signo <= 64)
		out_fmt(o, "SIGRT_%d", signo - 32);
	else
		out_fmt(o, "%d", signo);
}

void out_siginfo(struct trace_out *o, const struct l_siginfo *si)
{
	out_str(o, "{si_signo=");
	out_signal(o, si->signo);
	out_fmt(o, ", si_code=%d", si->code);
	if (si->code == L_SI_TIMER)
		out_fmt(o, ", si_timerid=%d, si_overrun=%d", si->timer.tid, si->timer.overrun);
	else if (si->code > 0 && si->code < L_SI_KERNEL &&
		 (si->signo == SIGSEGV || si->signo == SIGBUS || si->signo == SIGFPE || si->signo == SIGILL ||
		  si->signo == SIGTRAP))
		out_fmt(o, ", si_addr=%#lx", si->fault.addr);
	else
		out_fmt(o, ", si_pid=%d, si_uid=%u", si->rt.pid, si->rt.uid);
	if (si->signo == SIGCHLD)
		out_fmt(o, ", si_status=%d", si->chld.status);
	out_str(o, "}");
}

void out_open_flags(struct trace_out *o, unsigned flags)
{
	static const struct const_name rest[] = {
	    {O_CREAT, "O_CREAT"},	  {O_EXCL, "O_EXCL"},		{O_NOCTTY, "O_NOCTTY"},
	    {O_TRUNC, "O_TRUNC"},	  {O_APPEND, "O_APPEND"},	{O_NONBLOCK, "O_NONBLOCK"},
	    {O_SYNC, "O_SYNC"},		  {O_DSYNC, "O_DSYNC"},		{O_ASYNC, "O_ASYNC"},
	    {O_DIRECT, "O_DIRECT"},	  {0100000, "O_LARGEFILE"},	{O_NOFOLLOW, "O_NOFOLLOW"},
	    {O_TMPFILE, "O_TMPFILE"},	  {O_DIRECTORY, "O_DIRECTORY"}, {O_NOATIME, "O_NOATIME"},
	    {O_CLOEXEC, "O_CLOEXEC"},	  {O_PATH, "O_PATH"},		{0, NULL},
	};
	static const char *const mode[] = {"O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE"};

	out_str(o, mode[flags & 3]);
	if (flags & ~3u) {
		out_str(o, "|");
		out_flags(o, rest, flags & ~3u, NULL);
	}
}
