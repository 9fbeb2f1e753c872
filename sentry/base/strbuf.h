/* A growing text buffer. After a failed allocation it stays as it is and says so: check `failed` once at the end. */
#ifndef WARD_BASE_STRBUF_H
#define WARD_BASE_STRBUF_H
#include <stdbool.h>
#include <stddef.h>

struct strbuf {
	char *data; /* not terminated */
	size_t size, cap;
	bool failed;
};
void strbuf_add(struct strbuf *s, const void *p, size_t n);
void strbuf_puts(struct strbuf *s, const char *text);
void strbuf_printf(struct strbuf *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Room for N more bytes, to be filled by the caller, who then adds to size; NULL when memory is short. */
char *strbuf_room(struct strbuf *s, size_t n);
void strbuf_free(struct strbuf *s);
#endif
