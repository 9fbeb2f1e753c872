/* Ids, keys and permissions of System V objects (Linux: ipc/util.c). */
#include "sentry/ipc/ipc.h"
#include "sentry/loop.h"
#include "sentry/base/util.h"
#include "sentry/task/task.h"
#include <errno.h>
#include <stdlib.h>

int64_t ipc_seconds(void)
{
	return (int64_t)(now_real_ns() / 1000000000u);
}

static int slot_free(struct ipc_table *t)
{
	if (t->count >= t->max)
		return -ENOSPC;
	if (t->count == t->cap) {
		unsigned cap = t->cap ? MIN(t->cap * 2, (unsigned)IPC_SLOTS) : 16;
		struct ipc_object **s = realloc(t->slot, cap * sizeof *s);

		if (!s)
			return -ENOMEM;
		for (unsigned i = t->cap; i < cap; i++)
			s[i] = NULL;
		t->slot = s;
		t->cap = cap;
	}
	for (unsigned i = 0; i < t->cap; i++) {
		unsigned n = (t->next + i) % t->cap;

		if (!t->slot[n]) {
			if (n < t->next)
				t->seq = (t->seq + 1) & 0x7fff;
			t->next = n + 1;
			return (int)n;
		}
	}
	return -ENOSPC;
}

static int insert(struct ipc_table *t, struct ipc_object *o, int slot, const struct ipc_get *g)
{
	const struct cred *c = current->cred;

	o->slot = slot;
	o->seq = t->seq;
	o->id = t->seq % (INT32_MAX / IPC_SLOTS) * IPC_SLOTS + slot;
	o->key = g->key;
	o->mode = (uint32_t)g->flags & 0777;
	o->uid = o->cuid = c->euid;
	o->gid = o->cgid = c->egid;
	t->slot[slot] = o;
	t->count++;
	t->high = MAX(t->high, slot);
	return o->id;
}

int64_t ipc_get(struct ipc_table *t, const struct ipc_get *g)
{
	struct ipc_object *o = NULL;
	int r = -ENOMEM;

	if (g->key != IPC_PRIVATE)
		for (int i = 0; i <= t->high && !o; i++)
			if (t->slot[i] && t->slot[i]->key == g->key)
				o = t->slot[i];
	if (o) {
		if ((g->flags & IPC_CREAT) && (g->flags & IPC_EXCL))
			return -EEXIST;
		r = g->check ? g->check(o, g) : 0;
		if (r < 0)
			return r;
		return ipc_allowed(o, g->flags) ? o->id : -EACCES;
	}
	if (g->key != IPC_PRIVATE && !(g->flags & IPC_CREAT))
		return -ENOENT;
	o = g->make(g, &r);
	if (!o)
		return r;
	r = slot_free(t);
	if (r < 0) {
		t->free(o);
		return r;
	}
	return insert(t, o, r, g);
}

struct ipc_object *ipc_at(struct ipc_table *t, int index)
{
	unsigned i = (unsigned)index % IPC_SLOTS;

	return index < 0 || i >= t->cap ? NULL : t->slot[i];
}

struct ipc_object *ipc_find(struct ipc_table *t, int id)
{
	struct ipc_object *o = ipc_at(t, id);

	return o && o->id == id ? o : NULL;
}

void ipc_put(struct ipc_table *t, struct ipc_object *o)
{
	if (--o->refs == 0)
		t->free(o);
}

void ipc_remove(struct ipc_table *t, struct ipc_object *o)
{
	if (o->dead)
		return;
	o->dead = true;
	t->slot[o->slot] = NULL;
	t->count--;
	while (t->high >= 0 && !t->slot[t->high])
		t->high--;
	ipc_put(t, o);
}

bool ipc_allowed(const struct ipc_object *o, int flags)
{
	const struct cred *c = current->cred;
	unsigned want = ((unsigned)flags >> 6 | (unsigned)flags >> 3 | (unsigned)flags) & 7, granted = o->mode;

	if (c->euid == o->cuid || c->euid == o->uid)
		granted >>= 6;
	else if (c->egid == o->cgid || c->egid == o->gid || cred_in_group(c, o->cgid) || cred_in_group(c, o->gid))
		granted >>= 3;
	return !(want & ~granted) || capable(CAP_IPC_OWNER);
}

bool ipc_owner(const struct ipc_object *o)
{
	uid_t me = current->cred->euid;

	return me == o->cuid || me == o->uid || capable(CAP_SYS_ADMIN);
}

void ipc_fill(struct ipc64_perm *p, const struct ipc_object *o)
{
	p->key = o->key;
	p->uid = o->uid;
	p->gid = o->gid;
	p->cuid = o->cuid;
	p->cgid = o->cgid;
	p->mode = o->mode;
	p->seq = o->seq;
}

int ipc_set(struct ipc_object *o, const struct ipc64_perm *p)
{
	if (p->uid == UINT32_MAX || p->gid == UINT32_MAX)
		return -EINVAL;
	o->uid = p->uid;
	o->gid = p->gid;
	o->mode = (o->mode & ~0777u) | (p->mode & 0777);
	return 0;
}
