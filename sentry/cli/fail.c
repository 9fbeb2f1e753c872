/* One line for the user, and the exit code of the command. */
#include "sentry/cli/cli.h"
#include "sentry/base/err.h"
#include <stdio.h>

int cli_fail(const struct err *e)
{
	fprintf(stderr, "ward: %s\n", e->text);
	return e->exit_code;
}
