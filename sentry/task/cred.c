/* Credentials: immutable sets of ids and capabilities, counted. */
#include "sentry/task/cred.h"
#include "sentry/task/task.h"
#include <linux/securebits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct cred *cred_new(uid_t uid, gid_t gid)
{
	struct cred *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->refs = 1;
	c->uid = c->euid = c->suid = c->fsuid = uid;
	c->gid = c->egid = c->sgid = c->fsgid = gid;
	c->cap_bounding = CAP_FULL_SET;
	if (uid == 0)
		c->cap_effective = c->cap_permitted = CAP_FULL_SET;
	return c;
}

struct cred *cred_dup(const struct cred *c)
{
	struct cred *n = malloc(sizeof *n);

	if (!n)
		return NULL;
	*n = *c;
	n->refs = 1;
	n->groups = NULL;
	if (c->group_count) {
		n->groups = malloc(c->group_count * sizeof *n->groups);
		if (!n->groups) {
			free(n);
			return NULL;
		}
		memcpy(n->groups, c->groups, c->group_count * sizeof *n->groups);
	}
	return n;
}

struct cred *cred_get(struct cred *c)
{
	c->refs++;
	return c;
}

void cred_put(struct cred *c)
{
	if (!c || --c->refs)
		return;
	free(c->groups);
	free(c);
}

bool cred_has(const struct cred *c, int cap)
{
	return c->cap_effective >> cap & 1;
}

bool capable(int cap)
{
	return cred_has(current->cred, cap);
}

bool cred_in_group(const struct cred *c, gid_t gid)
{
	if (c->fsgid == gid)
		return true;
	for (unsigned i = 0; i < c->group_count; i++)
		if (c->groups[i] == gid)
			return true;
	return false;
}

void cred_commit(struct task *t, struct cred *c)
{
	struct cred *old = t->cred;

	/* The parent-death signal is cleared and the process not dumpable when the effective ids change. */
	if (old && (old->euid != c->euid || old->egid != c->egid || old->fsuid != c->fsuid || old->fsgid != c->fsgid ||
		    (c->cap_permitted & ~old->cap_permitted))) {
		t->pdeath_signal = 0;
		t->tg->dumpable = false;
	}
	if (t->user && t->user->uid != c->uid) {
		struct user_count *u = user_count_get(c->uid);

		/* Without memory the task stays charged to its old user. */
		if (u) {
			t->user->tasks--;
			user_count_put(t->user);
			u->tasks++;
			t->user = u;
		}
	}
	t->cred = c;
	cred_put(old);
}

/* Follows bprm_fill_uid and cap_bprm_creds_from_file. */
struct cred *cred_for_exec(const struct task *t, uint32_t mode, uid_t uid, gid_t gid, bool nosuid, bool *secure)
{
	const struct cred *old = t->cred;
	struct cred *n = cred_dup(old);
	bool changed;

	if (!n)
		return NULL;
	if (!nosuid && !t->no_new_privs) {
		if (mode & S_ISUID)
			n->euid = uid;
		if ((mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
			n->egid = gid;
	}
	changed = n->euid != old->euid || n->egid != old->egid;
	if (changed)
		n->cap_ambient = 0;
	if (!(old->securebits & SECBIT_NOROOT) && (!n->euid || !n->uid)) {
		n->cap_permitted = n->cap_bounding | n->cap_inheritable;
		n->cap_effective = n->euid ? n->cap_ambient : n->cap_permitted;
	} else {
		n->cap_permitted = n->cap_effective = n->cap_ambient;
	}
	n->suid = n->fsuid = n->euid;
	n->sgid = n->fsgid = n->egid;
	n->securebits &= ~(unsigned)SECBIT_KEEP_CAPS;
	*secure = n->uid != n->euid || n->gid != n->egid;
	return n;
}
