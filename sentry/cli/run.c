/* `ward run`, `ward confinement`. */
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include "sentry/base/util.h"
#include "sentry/cli/cli.h"
#include "sentry/platform/confine.h"

int cmd_run(int argc, char **argv)
{
	static struct config c;
	struct err e = {0};

	if (options_run(argc, argv, &c, &e))
		return cli_fail(&e);
	return monitor_run(&c);
}

int cmd_confinement(int argc, char **argv)
{
	confine_print(stdout, argc > 1 && !strcmp(argv[1], "--json"));
	return 0;
}
