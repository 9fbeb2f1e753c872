/* The sentry's log: one line per event on the log descriptor; never from inside a signal handler. */
#ifndef WARD_BASE_LOG_H
#define WARD_BASE_LOG_H
#include <stdbool.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* FD receives the lines (default 2); lines above LEVEL are dropped (default LOG_WARN; WARD_LOG=debug). */
void log_setup(int fd, enum log_level level);
void log_at(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define log_error(...) log_at(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_at(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_at(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_at(LOG_DEBUG, __VA_ARGS__)

/* A broken invariant of the sentry itself (never reachable by a guest): logs and ends the sandbox. */
void ward_panic(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
#define BUG_ON(c)                                                                                  \
	do {                                                                                       \
		if (__builtin_expect(!!(c), 0))                                                    \
			ward_panic("%s:%d: %s", __FILE__, __LINE__, #c);                           \
	} while (0)
#endif
