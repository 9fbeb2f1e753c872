/* From configuration to a running sandbox, in the sentry process. */
#ifndef WARD_BOOT_H
#define WARD_BOOT_H
#include <stdint.h>
#include "sentry/base/err.h"

struct config;
/* What the monitor hands over by fork. The sentry keeps nothing else open. */
struct boot_fds {
	int stdio[3];  /* -1 = closed */
	int control;
	int tty;       /* console stream of -t, or -1 */
	int log;
	int trace;     /* or -1 */
	int copy_out;  /* pipe to the copy-out helper, or -1 */
	int monitor;   /* pid of the parent */
};
/* Never returns. */
void boot_sentry(struct config *c, struct boot_fds *fds) __attribute__((noreturn));
/* Build every mount of C (sentry/boot_root.c). 0 or -1. */
int boot_mounts(struct config *c, struct err *e);
/* Copy the --copy-in trees into the sandbox (sentry/boot_copy.c). */
int boot_copy_in(const struct config *c, struct err *e);
/* Stream the --copy-out trees to FD as a framed archive (sentry/copy_out.c); C NULL: an empty one. */
void boot_copy_out(const struct config *c, int fd);
/* Absolute guest path: make every missing directory. 0 or -errno. */
int boot_mkdirs(const char *path, uint32_t mode);
/* Visible host entries of the default view; allocated. */
struct hostdir_entry;
const struct hostdir_entry *boot_host_view(unsigned *count);
#endif
