/*
 * "#!" lines, as Linux's fs/binfmt_script.c reads them: the first 256 bytes count; the interpreter's path must end
 * within them; what follows it, trailing blanks removed, is one argument, however many words it has.
 */
#include "loader/loader.h"
#include <errno.h>
#include <string.h>

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

/* First character that is no blank / first that ends a word, in [p, last]; NULL if there is none. */
static char *skip_blanks(char *p, char *last)
{
	for (; p <= last; p++)
		if (!blank(*p))
			return p;
	return NULL;
}

static char *word_end(char *p, char *last)
{
	for (; p <= last; p++)
		if (blank(*p) || !*p)
			return p;
	return NULL;
}

int script_parse(char head[EXEC_HEAD_SIZE], char **interp, char **arg)
{
	char *last = head + EXEC_HEAD_SIZE - 1, *end, *name, *sep;
	size_t n = strnlen(head, EXEC_HEAD_SIZE);

	*arg = NULL;
	if (head[0] != '#' || head[1] != '!')
		return -ENOEXEC;
	end = memchr(head, '\n', n);
	if (!end) {
		end = skip_blanks(head + 2, last);
		if (!end || !word_end(end, last))
			return -ENOEXEC; /* nothing, or a path cut off at the end: not to be guessed */
		end = last;
	}
	while (blank(end[-1]))
		end--;
	*end = 0;
	name = skip_blanks(head + 2, end);
	if (!name || name == end || !*name)
		return -ENOEXEC;
	sep = word_end(name, end);
	if (sep && *sep) {
		*sep = 0;
		*arg = skip_blanks(sep + 1, end);
		if (*arg && !**arg)
			*arg = NULL;
	}
	*interp = name;
	return 0;
}
