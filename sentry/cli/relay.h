/* `-t`, outside: the caller's terminal in raw mode, relayed over a stream to the sandbox's console. */
#ifndef WARD_CLI_RELAY_H
#define WARD_CLI_RELAY_H
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include "sentry/base/err.h"

struct relay {
	int stream;              /* our end, -1 = not in use */
	bool in_open;
	char to[4096];           /* typed, not yet taken by the stream */
	unsigned to_at, to_size;
};
/* Make the stream: *FAR is the sandbox's end. 0 or -1. */
int relay_open(struct relay *r, int *far, struct err *e);
/* Raw mode now; restored by relay_close and by exit(). */
void relay_raw(void);
void relay_window(uint16_t *rows, uint16_t *cols);
/* Two entries for poll, and what to do after it. */
void relay_prepare(const struct relay *r, struct pollfd p[2]);
void relay_serve(struct relay *r, const struct pollfd p[2]);
/* Drain what the sandbox wrote, restore the terminal. */
void relay_close(struct relay *r);
#endif
