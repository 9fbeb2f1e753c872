/*
 * The control channel between monitor (command line process) and sentry: one SOCK_SEQPACKET pair, one struct
 * control_msg plus text per packet. The monitor is trusted by the sentry; the sentry is not trusted by the
 * monitor, which checks every size and number it receives.
 */
#ifndef WARD_CONTROL_H
#define WARD_CONTROL_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "sentry/base/err.h"

#define CONTROL_MAX (128 * 1024) /* largest packet */
#define CONTROL_FDS 3

enum control_kind {
	/* monitor to sentry */
	CONTROL_SIGNAL = 1, /* id (0 = process 1), a = signal: to the process group of that program */
	CONTROL_KILL,       /* end the sandbox: kill every process, then copy out */
	CONTROL_EXEC,       /* id, a = uid, b = gid, c = CONTROL_EXEC_TTY; text = cwd, argv, "", env; 3 descriptors */
	CONTROL_WINSIZE,    /* id, a = rows, b = columns */
	/* sentry to monitor */
	CONTROL_STARTED,    /* process 1's program runs; a = nanoseconds of boot */
	CONTROL_FAILED,     /* boot failed: a = exit code, text = message */
	CONTROL_EXITED,     /* program ID ended: a = wait status, b = errno when it never started (+ SPAWN_CWD) */
	CONTROL_COUNTERS,   /* text = struct control_counters */
};
#define CONTROL_EXEC_TTY 1

struct control_msg {
	uint32_t kind;
	uint32_t id;
	int64_t a, b, c;
};
struct control_counters {
	uint64_t calls, processes, peak_bytes, guest_cpu_ns;
	uint64_t mem_refused;
};

struct config;
struct boot_fds;
/* Plain blocking packet send/receive, used on both sides. Descriptors received beyond FD_COUNT are closed.
 * recv: size of the text (>= 0), -EPIPE at end of file or -errno. */
int control_send(int fd, const struct control_msg *m, const void *text, size_t size, const int *fds, unsigned fd_count);
long control_recv(int fd, struct control_msg *m, void *text, size_t size, int *fds, unsigned *fd_count, int flags);

/* --- sentry's side (sentry/control.c) --------------------------------------------------------------------- */
/* Serve FD from the event loop; the boot began at BEGIN_NS. 0 or -errno. */
int control_start(int fd, uint64_t begin_ns);
/* Start the program of C as process 1. 0 or -1. */
int control_spawn_init(const struct config *c, const struct boot_fds *fds, struct err *e);
void control_init_exited(int wait_status);
void control_boot_failed(int fd, const struct err *e);
#endif
