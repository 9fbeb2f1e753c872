/* One line for the user. */
#include <stdarg.h>
#include <stdio.h>
#include "sentry/cli/cli.h"

void cli_line(const char *fmt, ...)
{
	char line[1200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	/* Control characters would move the reader's cursor; UTF-8 passes, but for the C1 controls in it. */
	for (unsigned char *p = (unsigned char *)line; *p; p++)
		if (*p < 32 || *p == 127 || (p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0))
			*p = '?';
	fprintf(stderr, "ward: %s\n", line);
}

int cli_fail(const struct err *e)
{
	cli_line("%s", e->text);
	return e->exit_code;
}
