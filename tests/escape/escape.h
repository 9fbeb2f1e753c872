/*
 * An attempt to reach the host. argv[1]: a host file outside the view; argv[2]: the pid of a host process. Each try runs in
 * a child of its own, because being killed for it is a right answer; ESCAPED reports a try that got something. The last
 * line of a run in which nothing did is "contained".
 */
#ifndef WARD_TESTS_ESCAPE_H
#define WARD_TESTS_ESCAPE_H
#include "check.h"

static int escapes;
/* Out of the sandbox these programs could do harm. */
__attribute__((constructor)) static void only_inside(void)
{
	char name[65] = "";

	gethostname(name, sizeof name - 1);
	if (strcmp(name, "ward")) {
		puts("runs in ward only");
		_exit(3);
	}
}
#define ESCAPED(...)                                                                               \
	do {                                                                                       \
		printf("ESCAPED: " __VA_ARGS__);                                                   \
		printf("\n");                                                                      \
		fflush(stdout);                                                                    \
		escapes++;                                                                         \
	} while (0)
/* Runs BODY in a child; a try that hangs is ended. */
#define TRY(...)                                                                                   \
	do {                                                                                       \
		fflush(stdout);                                                                    \
		pid_t c_ = fork();                                                                 \
		NEED(c_ >= 0);                                                                     \
		if (c_ == 0) {                                                                     \
			alarm(5);                                                                  \
			__VA_ARGS__;                                                               \
			_exit(escapes != 0);                                                       \
		}                                                                                  \
		int st_ = check_wait(c_);                                                          \
		if (WIFEXITED(st_) && WEXITSTATUS(st_) == 1)                                       \
			escapes++;                                                                 \
	} while (0)
__attribute__((unused)) static void try_file(const char *path)
{
	char b[64];
	int fd = open(path, O_RDONLY);
	long n = fd < 0 ? -1 : read(fd, b, sizeof b);

	if (n > 0)
		ESCAPED("read %ld bytes of %s: %.*s", n, path, (int)n, b);
	if (fd >= 0)
		close(fd);
}
__attribute__((unused)) static int escape_done(void)
{
	puts(escapes ? "ESCAPED" : "contained");
	return escapes != 0;
}
#endif
