/* What execve does to credentials: set-user-ID files, and capabilities as capabilities(7) transforms them. */
#include "loader/loader.h"
#include "sentry/task/cred.h"
#include "sentry/task/task.h"
#include "fs/vfs.h"
#include <errno.h>
#include <linux/securebits.h>
#include <sys/mount.h>
#include <sys/stat.h>

/* DIFF: file capabilities (security.capability) give nothing yet. */
int exec_cred(const struct file *file, struct cred **out, bool *secure)
{
	const struct cred *old = current->cred;
	const struct inode *i = file->inode;
	struct cred *c = cred_dup(old);
	bool changed;

	if (!c)
		return -ENOMEM;
	if (!(file->path.mnt && (file->path.mnt->flags & MS_NOSUID)) && !current->no_new_privs) {
		if (i->mode & S_ISUID)
			c->euid = i->uid;
		if ((i->mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
			c->egid = i->gid;
	}
	c->suid = c->fsuid = c->euid;
	c->sgid = c->fsgid = c->egid;
	changed = c->euid != old->euid || c->egid != old->egid;
	if (changed)
		c->cap_ambient = 0;
	c->cap_permitted = c->cap_effective = c->cap_ambient;
	if (!(c->securebits & SECBIT_NOROOT) && (c->euid == 0 || c->uid == 0)) {
		c->cap_permitted = c->cap_bounding | c->cap_inheritable;
		if (c->euid == 0)
			c->cap_effective = c->cap_permitted;
	}
	c->securebits &= ~SECBIT_KEEP_CAPS;
	*secure = c->euid != c->uid || c->egid != c->gid;
	*out = c;
	return 0;
}
