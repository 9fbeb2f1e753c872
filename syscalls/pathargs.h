/* Shared by the file handlers: path arguments copied in once, and the parent of a name to be made or removed. */
#ifndef WARD_SYSCALLS_PATHARGS_H
#define WARD_SYSCALLS_PATHARGS_H
#include <stdlib.h>
#include "fs/vfs.h"

static inline void free_string(char **s)
{
	free(*s);
}
#define AUTO_STR __attribute__((cleanup(free_string)))
#define AUTO_PATH __attribute__((cleanup(path_put)))
#define AUTO_FILE __attribute__((cleanup(file_put_auto)))
static inline void file_put_auto(struct file **f)
{
	if (*f)
		file_put(*f);
}

/* Copy in and resolve. LOOKUP_EMPTY allows "" (AT_EMPTY_PATH). */
int user_path(int dirfd, uaddr_t name, unsigned lookup_flags, struct path *out);
struct last {
	struct path dir; /* counted: path_put */
	char name[256];
	int type;        /* LAST_* of fs/walk.h: 0 is a normal name */
	bool trailing;
};
int user_parent(int dirfd, uaddr_t name, struct last *out);
#endif
