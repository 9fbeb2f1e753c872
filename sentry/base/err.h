/*
 * Error object of boot, configuration and command line: a message that says what was wrong, with which
 * input, and what to do; and the exit code of the command (125 ward's own, 126, 127).
 */
#ifndef WARD_BASE_ERR_H
#define WARD_BASE_ERR_H

struct err {
	int exit_code; /* 0: no error */
	char text[512];
};

/* Fills E (once: the first message wins) and returns -1, so that callers can `return err_set(...)`. */
int err_set(struct err *e, int exit_code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
#endif
