/* argv: none: exit 42 | kill N: dies by signal N. The runner compares the status; nothing is printed. */
#include "check.h"
#include <sys/resource.h>

int main(int argc, char **argv)
{
	struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	if (argc > 2) {
		kill(getpid(), atoi(argv[2]));
		pause();
	}
	return 42;
}
