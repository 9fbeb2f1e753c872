#include "sentry/base/err.h"
#include <stdarg.h>
#include <stdio.h>

int err_set(struct err *e, int exit_code, const char *fmt, ...)
{
	va_list ap;

	if (e->exit_code)
		return -1;
	e->exit_code = exit_code;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof e->text, fmt, ap);
	va_end(ap);
	return -1;
}
