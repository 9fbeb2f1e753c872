/*
 * What of the host is visible: a small tree made from the entries at boot. Each entry's root descriptor is opened
 * here, before the walls are up; later opens name paths below one of them and nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fs/hostdir/hostdir.h"

struct hd_node *hostdir_child(const struct hd_node *n, const char *name)
{
	for (struct hd_node *c = n ? n->child : NULL; c; c = c->next)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static struct hd_node *node_new(struct hd_node *parent, const char *name, size_t size)
{
	struct hd_node *n = calloc(1, sizeof(*n)), **pp;

	if (!n)
		return NULL;
	n->name = strndup(name, size);
	if (!n->name) {
		free(n);
		return NULL;
	}
	n->rootfd = n->memfd = -1;
	n->parent = parent;
	if (parent) {
		for (pp = &parent->child; *pp;)
			pp = &(*pp)->next;
		*pp = n;
	}
	return n;
}

static struct hd_node *node_make(struct hd_node *n, const char *path)
{
	while (n) {
		char name[256];
		size_t size;

		while (*path == '/')
			path++;
		size = strcspn(path, "/");
		if (!size)
			return n;
		if (size > 255)
			return NULL;
		memcpy(name, path, size);
		name[size] = 0;
		struct hd_node *c = hostdir_child(n, name);
		n = c ? c : node_new(n, name, size);
		path += size;
	}
	return NULL;
}

void hostdir_view_free(struct hd_node *n)
{
	while (n) { /* depth first, without recursion */
		struct hd_node *p = n->parent;

		if (n->child) {
			n = n->child;
			continue;
		}
		if (p)
			p->child = n->next;
		if (n->rootfd >= 0)
			close(n->rootfd);
		if (n->memfd >= 0)
			close(n->memfd);
		free(n->name);
		free(n->rel);
		free(n->text);
		free(n->target);
		free(n);
		n = p;
	}
}

static int node_attach(struct hd_node *n, const struct hostdir_entry *e)
{
	struct stat st;

	if (!e->host) {
		if (e->text && !(n->text = strdup(e->text)))
			return -ENOMEM;
		if (e->target && !(n->target = strdup(e->target)))
			return -ENOMEM;
		return 0;
	}
	if (lstat(e->host, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode)) {
		n->rootfd = open(e->host, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		n->rel = strdup("");
	} else {
		const char *base = strrchr(e->host, '/');
		char *dir = base == e->host ? strdup("/") : strndup(e->host, (size_t)(base ? base - e->host : 0));

		if (!base || !dir) {
			free(dir);
			return base ? -ENOMEM : -EINVAL;
		}
		n->rootfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
		n->rel = strdup(base + 1);
		free(dir);
	}
	if (n->rootfd < 0)
		return -errno;
	return n->rel ? 0 : -ENOMEM;
}

int hostdir_view_build(const struct hostdir_entry *e, unsigned count, struct hd_node **out)
{
	struct hd_node *root = node_new(NULL, "/", 1);
	int r = root ? 0 : -ENOMEM;

	for (unsigned k = 0; r == 0 && k < count; k++) {
		struct hd_node *n = node_make(root, e[k].guest);

		r = n ? node_attach(n, &e[k]) : -ENOMEM;
	}
	if (r < 0) {
		hostdir_view_free(root);
		return r;
	}
	*out = root;
	return 0;
}
