/* Private to the path code: the state of one walk (namei.c), shared with open.c for O_CREAT. */
#ifndef WARD_FS_WALK_H
#define WARD_FS_WALK_H
#include "fs/vfs.h"

#define WALK_LINKS 40
enum { LAST_NORM, LAST_DOT, LAST_DOTDOT, LAST_ROOT };

struct walk {
	struct path path;       /* counted: where we are */
	struct path root;       /* counted */
	unsigned flags;
	unsigned resolve;       /* RESOLVE_* */
	unsigned depth;         /* link texts being walked below the innermost */
	unsigned links;         /* followed in total */
	const char *rest;       /* what is left of the innermost text */
	const char *name;       /* the caller's */
	struct {
		char *text;     /* owned; NULL for the caller's name */
		const char *rest;
	} stack[WALK_LINKS + 1];
	char *text;             /* owned text REST points into */
	char last[256];         /* the last component */
	int last_type;
	bool trailing;          /* slashes after it: must be a directory */
};

int walk_begin(struct walk *w, int dirfd, const struct path *base, const char *name, unsigned flags);
/* To the parent of the last component; fills last, last_type, trailing. */
int walk_parent(struct walk *w);
/* After walk_parent: step into D (counted, taken over; child of w->path), which is positive. 0: w->path is there.
 * 1: it was a link whose text is to be walked: call walk_parent again. FOLLOW: whether a link is followed. */
int walk_step(struct walk *w, struct dentry *d, bool follow);
/* "." and ".." and "/" as last component. */
int walk_dots(struct walk *w);
void walk_end(struct walk *w);
#endif
