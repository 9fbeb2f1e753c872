/* Formats one log line into a local buffer and writes it with a single call. */
#include "sentry/base/log.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int log_fd = 2;
static enum log_level log_level = LOG_WARN;

void log_setup(int fd, enum log_level level)
{
	log_fd = fd;
	log_level = level;
}

/* Guest bytes may be in the text: everything but printable ASCII is shown as '?'. */
static void emit(const char *prefix, const char *fmt, va_list ap)
{
	char line[1024];
	int n = snprintf(line, sizeof line, "ward: %s", prefix);
	int m = vsnprintf(line + n, sizeof line - n - 1, fmt, ap);

	if (m < 0)
		return;
	n = n + m < (int)sizeof line - 1 ? n + m : (int)sizeof line - 2;
	for (int i = 0; i < n; i++)
		if ((unsigned char)line[i] < 32 || (unsigned char)line[i] > 126)
			line[i] = '?';
	line[n++] = '\n';
	if (write(log_fd, line, n) < 0)
		return;
}

void log_at(enum log_level level, const char *fmt, ...)
{
	static const char *const names[] = {"error: ", "warning: ", "", "debug: "};
	va_list ap;

	if (level > log_level)
		return;
	va_start(ap, fmt);
	emit(names[level], fmt, ap);
	va_end(ap);
}

void ward_panic(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	emit("panic: ", fmt, ap);
	va_end(ap);
	abort();
}
