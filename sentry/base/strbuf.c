/* A growing text buffer. */
#include "sentry/base/strbuf.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *strbuf_room(struct strbuf *s, size_t n)
{
	if (s->cap - s->size < n) {
		size_t cap = s->cap ? s->cap : 512;
		while (cap - s->size < n)
			cap *= 2;
		char *p = realloc(s->data, cap);
		if (!p) {
			s->failed = true;
			return NULL;
		}
		s->data = p;
		s->cap = cap;
	}
	return s->data + s->size;
}

void strbuf_add(struct strbuf *s, const void *p, size_t n)
{
	char *at = strbuf_room(s, n);
	if (!at)
		return;
	memcpy(at, p, n);
	s->size += n;
}

void strbuf_puts(struct strbuf *s, const char *text)
{
	strbuf_add(s, text, strlen(text));
}

void strbuf_printf(struct strbuf *s, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	char *at = n >= 0 ? strbuf_room(s, (size_t)n + 1) : NULL;
	if (!at)
		return;
	va_start(ap, fmt);
	vsnprintf(at, (size_t)n + 1, fmt, ap);
	va_end(ap);
	s->size += (size_t)n;
}

void strbuf_free(struct strbuf *s)
{
	free(s->data);
	*s = (struct strbuf){0};
}
