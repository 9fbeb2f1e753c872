/* Path text of a place, built from the leaf up: getcwd, /proc/self/fd, /proc/self/exe, mountinfo. */
#include <errno.h>
#include <string.h>
#include "fs/vfs.h"

struct back {
	char *buf, *p;
};

static bool prepend(struct back *b, const char *s, size_t n)
{
	if ((size_t)(b->p - b->buf) < n)
		return false;
	b->p -= n;
	memcpy(b->p, s, n);
	return true;
}

long path_text(const struct path *path, const struct path *root, char *buf, size_t size)
{
	struct back b = {buf, buf + size};
	const struct mount *m = path->mnt;
	const struct dentry *d = path->dentry;
	bool any = false;

	if (!size || !d || !prepend(&b, "", 1))
		return -ENAMETOOLONG;
	if (d->dead && !prepend(&b, " (deleted)", 10))
		return -ENAMETOOLONG;
	if (!m) { /* outside any tree: the name is the whole text */
		if (!prepend(&b, d->name, d->name_size))
			return -ENAMETOOLONG;
		goto done;
	}
	for (;;) {
		if (root && m == root->mnt && d == root->dentry)
			break;
		if (d == m->root || d == d->parent) {
			if (!m->parent || d != m->root) {
				if (root && (root->mnt != m || root->dentry != d)) {
					if ((!any && !prepend(&b, "/", 1)) || !prepend(&b, "(unreachable)", 13))
						return -ENAMETOOLONG;
					goto done;
				}
				break;
			}
			d = m->mountpoint;
			m = m->parent;
			continue;
		}
		if (!prepend(&b, d->name, d->name_size) || !prepend(&b, "/", 1))
			return -ENAMETOOLONG;
		any = true;
		d = d->parent;
	}
	if (!any && !prepend(&b, "/", 1))
		return -ENAMETOOLONG;
done:;
	size_t n = (size_t)(buf + size - b.p);

	memmove(buf, b.p, n);
	return (long)n - 1;
}
