/*
 * The path walk. One loop over components; link texts are stacked, not recursed into, and a link in the last place
 * replaces the text it came from, so that every stacked text still has components to go. Order of errors as Linux's
 * link_path_walk: search permission of the directory, then the name's length, then the lookup.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "fs/walk.h"
#include "sentry/task/task.h"

static void path_set(struct path *dst, const struct path *src)
{
	struct path old = *dst;

	path_get(src);
	*dst = *src;
	path_put(&old);
}

int walk_begin(struct walk *w, int dirfd, const struct path *base, const char *name, unsigned flags)
{
	size_t size = strlen(name);

	/* The stack of texts is large and is only read below depth: leave it alone. */
	w->path = w->root = (struct path){0};
	w->flags = flags & 0xffff;
	w->resolve = flags >> 16;
	w->depth = w->links = 0;
	w->text = NULL;
	w->name = w->rest = name;
	w->trailing = false;
	w->last[0] = 0;
	w->last_type = LAST_ROOT;
	if (size >= PATH_MAX)
		return -ENAMETOOLONG;
	if (!size && !(flags & LOOKUP_EMPTY))
		return -ENOENT;
	path_set(&w->root, current && current->fs ? &current->fs->root : base ? base : &vfs_root);
	if (name[0] == '/' && !(w->resolve & RESOLVE_IN_ROOT)) {
		if (w->resolve & RESOLVE_BENEATH)
			return -EXDEV;
		path_set(&w->path, &w->root);
		mount_cross(&w->path);
		return 0;
	}
	if (base) {
		path_set(&w->path, base);
	} else if (dirfd == AT_FDCWD) {
		path_set(&w->path, &current->fs->cwd);
	} else {
		struct file *f = fd_get(dirfd);

		if (!f)
			return -EBADF;
		path_set(&w->path, &f->path);
		file_put(f);
		if (size && (!w->path.dentry->inode || !S_ISDIR(w->path.dentry->inode->mode)))
			return -ENOTDIR;
	}
	if (w->resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT))
		path_set(&w->root, &w->path);
	return 0;
}

void walk_end(struct walk *w)
{
	while (w->depth)
		free(w->stack[--w->depth].text);
	free(w->text);
	w->text = NULL;
	path_put(&w->path);
	path_put(&w->root);
}

static int walk_up(struct walk *w)
{
	struct path next;

	for (;;) {
		if (path_equal(&w->path, &w->root))
			return w->resolve & RESOLVE_BENEATH ? -EXDEV : 0;
		if (!w->path.mnt || w->path.dentry != w->path.mnt->root)
			break;
		if (!w->path.mnt->parent)
			return 0;
		if (w->resolve & RESOLVE_NO_XDEV)
			return -EXDEV;
		next = (struct path){w->path.mnt->parent, w->path.mnt->mountpoint};
		path_set(&w->path, &next);
	}
	next = (struct path){w->path.mnt, w->path.dentry->parent};
	path_set(&w->path, &next);
	mount_cross(&w->path);
	return 0;
}

/* Push the text of link I, which was found in w->path; LAST: it was the final component of everything. */
static int push_link(struct walk *w, struct inode *i, bool last)
{
	char *text;
	long n;

	if (w->resolve & RESOLVE_NO_SYMLINKS)
		return -ELOOP;
	if (++w->links > WALK_LINKS)
		return -ELOOP;
	if (i->ops->follow) {
		struct path to = {0};

		if (w->resolve & RESOLVE_NO_MAGICLINKS)
			return -ELOOP;
		int r = i->ops->follow(i, &to);
		if (r != -EOPNOTSUPP && r != -ENOSYS) {
			if (r < 0)
				return r;
			if ((w->resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT)) ||
			    ((w->resolve & RESOLVE_NO_XDEV) && to.mnt != w->path.mnt)) {
				path_put(&to);
				return -EXDEV;
			}
			path_put(&w->path);
			w->path = to;
			return 0;
		}
	}
	if (!i->ops->readlink)
		return -EINVAL;
	text = malloc(PATH_MAX);
	if (!text)
		return -ENOMEM;
	n = i->ops->readlink(i, text, PATH_MAX - 1);
	if (n <= 0 || n >= PATH_MAX) {
		free(text);
		return n < 0 ? (int)n : n == 0 ? -ENOENT : -ENAMETOOLONG;
	}
	text[n] = 0;
	if (text[0] == '/') {
		if (w->resolve & RESOLVE_BENEATH) {
			free(text);
			return -EXDEV;
		}
		if ((w->resolve & RESOLVE_NO_XDEV) && w->root.mnt != w->path.mnt) {
			free(text);
			return -EXDEV;
		}
		path_set(&w->path, &w->root);
		mount_cross(&w->path);
	}
	if (last) { /* the old text is used up */
		free(w->text);
	} else {
		w->stack[w->depth].text = w->text;
		w->stack[w->depth].rest = w->rest;
		w->depth++;
	}
	w->text = text;
	w->rest = text;
	return 1;
}

static int step(struct walk *w, struct dentry *d, bool last, bool follow)
{
	struct path next = {w->path.mnt, d};
	int r;

	if (next.mnt)
		mount_get(next.mnt);
	mount_cross(&next);
	if (next.mnt != w->path.mnt && (w->resolve & RESOLVE_NO_XDEV)) {
		path_put(&next);
		return -EXDEV;
	}
	if (!next.dentry->inode) {
		path_put(&next);
		return -ENOENT;
	}
	if (S_ISLNK(next.dentry->inode->mode) && follow) {
		r = push_link(w, next.dentry->inode, last);
		path_put(&next);
		return r;
	}
	path_put(&w->path);
	w->path = next;
	return 0;
}

int walk_step(struct walk *w, struct dentry *d, bool follow)
{
	return step(w, d, true, follow);
}

int walk_dots(struct walk *w)
{
	return w->last_type == LAST_DOTDOT ? walk_up(w) : 0;
}

int walk_parent(struct walk *w)
{
	w->last_type = LAST_ROOT;
	w->last[0] = 0;
	for (;;) {
		const char *p = w->rest, *end;
		struct inode *dir;
		int r;

		while (*p == '/')
			p++;
		if (!*p) { /* only possible for a text of slashes, or "" with AT_EMPTY_PATH */
			if (w->depth) {
				free(w->text);
				w->depth--;
				w->text = w->stack[w->depth].text;
				w->rest = w->stack[w->depth].rest;
				continue;
			}
			w->rest = p;
			return 0;
		}
		dir = w->path.dentry->inode;
		if (!dir || !S_ISDIR(dir->mode))
			return -ENOTDIR;
		r = inode_permission(dir, MAY_EXEC);
		if (r < 0)
			return r;
		end = strchrnul(p, '/');
		size_t n = (size_t)(end - p);
		bool slash = *end == '/';
		while (*end == '/')
			end++;
		bool last = !*end && !w->depth;
		if (n > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(w->last, p, n);
		w->last[n] = 0;
		w->rest = end;
		w->last_type = !strcmp(w->last, ".") ? LAST_DOT : !strcmp(w->last, "..") ? LAST_DOTDOT : LAST_NORM;
		if (last) {
			if (slash)
				w->trailing = true;
			return 0;
		}
		if (!*end && slash && w->depth == 0)
			w->trailing = true;
		if (w->last_type != LAST_NORM) {
			r = walk_dots(w);
		} else {
			struct dentry *d;

			r = dentry_lookup(w->path.dentry, w->last, &d);
			/* A link that ends its text, with texts below: the used-up one is dropped on push. */
			if (r == 0)
				r = step(w, d, !*end, true);
		}
		if (r < 0)
			return r;
		if (r == 0 && !*w->rest && w->depth) { /* this text is done: back to the one below */
			free(w->text);
			w->depth--;
			w->text = w->stack[w->depth].text;
			w->rest = w->stack[w->depth].rest;
		}
		w->last_type = LAST_ROOT;
	}
}

static int walk_all(struct walk *w, struct path *out)
{
	int r;

	do {
		struct dentry *d;

		r = walk_parent(w);
		if (r < 0)
			return r;
		if (w->last_type == LAST_ROOT)
			break;
		if (w->last_type != LAST_NORM) {
			r = walk_dots(w);
			if (r < 0)
				return r;
			break;
		}
		r = dentry_lookup(w->path.dentry, w->last, &d);
		if (r < 0)
			return r;
		r = walk_step(w, d, (w->flags & LOOKUP_FOLLOW) || w->trailing);
		if (r < 0)
			return r;
	} while (r > 0);
	if ((w->trailing || (w->flags & LOOKUP_DIRECTORY)) &&
	    (!w->path.dentry->inode || !S_ISDIR(w->path.dentry->inode->mode)))
		return -ENOTDIR;
	*out = w->path;
	w->path = (struct path){0};
	return 0;
}

int path_lookup(int dirfd, const char *name, unsigned flags, struct path *out)
{
	struct walk w;
	int r = walk_begin(&w, dirfd, NULL, name, flags);

	if (r == 0)
		r = walk_all(&w, out);
	walk_end(&w);
	return r;
}

int path_lookup_from(const struct path *base, const char *name, unsigned flags, struct path *out)
{
	struct walk w;
	int r = walk_begin(&w, AT_FDCWD, base, name, flags);

	if (r == 0)
		r = walk_all(&w, out);
	walk_end(&w);
	return r;
}

int path_lookup_parent(int dirfd, const char *name, unsigned flags, struct path *parent, char *last, int *last_type,
		       bool *trailing)
{
	struct walk w;
	int r = walk_begin(&w, dirfd, NULL, name, flags);

	if (r == 0)
		r = walk_parent(&w);
	if (r == 0) {
		strcpy(last, w.last);
		*last_type = w.last_type;
		*trailing = w.trailing;
		*parent = w.path;
		w.path = (struct path){0};
	}
	walk_end(&w);
	return r;
}
