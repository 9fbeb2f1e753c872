/* User and group ids, supplementary groups, capabilities. Rules of kernel/sys.c and security/commoncap.c. */
#include "syscalls/table.h"
#include "sentry/task/task.h"
#include "sentry/base/util.h"
#include <linux/securebits.h>
#include <stdlib.h>

/* <linux/capability.h> would define the CAP_ names a second time. */
#define CAP_VERSION_1 0x19980330u
#define CAP_VERSION_2 0x20071026u
#define CAP_VERSION_3 0x20080522u
struct l_cap_header {
	uint32_t version;
	int32_t pid;
};
struct l_cap_data {
	uint32_t effective, permitted, inheritable;
};
#define KEEP(id) ((id) == (uid_t)-1)
#define NGROUPS_LIMIT 65536
/* CAP_FS_MASK: what follows fsuid. */
#define CAP_FS_SET                                                                                             \
	(1ull << CAP_CHOWN | 1ull << CAP_MKNOD | 1ull << CAP_DAC_OVERRIDE | 1ull << CAP_DAC_READ_SEARCH |      \
	 1ull << CAP_FOWNER | 1ull << CAP_FSETID | 1ull << CAP_LINUX_IMMUTABLE | 1ull << CAP_MAC_OVERRIDE)

/* Gaining or losing root among the user ids moves capabilities (cap_task_fix_setuid). */
static void fix_caps(struct cred *n, const struct cred *old)
{
	bool had_root = !old->uid || !old->euid || !old->suid, has_root = !n->uid || !n->euid || !n->suid;

	if (old->securebits & SECBIT_NO_SETUID_FIXUP)
		return;
	if (had_root && !has_root) {
		if (!(old->securebits & SECBIT_KEEP_CAPS))
			n->cap_permitted = n->cap_effective = 0;
		n->cap_ambient = 0;
	}
	if (!old->euid && n->euid)
		n->cap_effective = 0;
	if (old->euid && !n->euid)
		n->cap_effective = n->cap_permitted;
}

static int64_t set_uids(uid_t uid, uid_t euid, uid_t suid)
{
	struct cred *old = current->cred, *n = cred_dup(old);

	if (!n)
		return -ENOMEM;
	n->uid = KEEP(uid) ? old->uid : uid;
	n->euid = KEEP(euid) ? old->euid : euid;
	n->suid = KEEP(suid) ? old->suid : suid;
	n->fsuid = n->euid;
	fix_caps(n, old);
	cred_commit(current, n);
	return 0;
}

static int64_t set_gids(gid_t gid, gid_t egid, gid_t sgid)
{
	struct cred *old = current->cred, *n = cred_dup(old);

	if (!n)
		return -ENOMEM;
	n->gid = KEEP(gid) ? old->gid : gid;
	n->egid = KEEP(egid) ? old->egid : egid;
	n->sgid = KEEP(sgid) ? old->sgid : sgid;
	n->fsgid = n->egid;
	cred_commit(current, n);
	return 0;
}

int64_t sys_getuid(void)
{
	return current->cred->uid;
}
int64_t sys_geteuid(void)
{
	return current->cred->euid;
}
int64_t sys_getgid(void)
{
	return current->cred->gid;
}
int64_t sys_getegid(void)
{
	return current->cred->egid;
}

int64_t sys_setuid(uid_t uid)
{
	const struct cred *c = current->cred;

	if (uid == (uid_t)-1)
		return -EINVAL;
	if (capable(CAP_SETUID))
		return set_uids(uid, uid, uid);
	return uid == c->uid || uid == c->suid ? set_uids(-1, uid, -1) : -EPERM;
}

int64_t sys_setgid(gid_t gid)
{
	const struct cred *c = current->cred;

	if (gid == (gid_t)-1)
		return -EINVAL;
	if (capable(CAP_SETGID))
		return set_gids(gid, gid, gid);
	return gid == c->gid || gid == c->sgid ? set_gids(-1, gid, -1) : -EPERM;
}

int64_t sys_setreuid(uid_t ruid, uid_t euid)
{
	const struct cred *c = current->cred;
	uid_t suid = (uid_t)-1;

	if (!capable(CAP_SETUID)) {
		if (!KEEP(ruid) && ruid != c->uid && ruid != c->euid)
			return -EPERM;
		if (!KEEP(euid) && euid != c->uid && euid != c->euid && euid != c->suid)
			return -EPERM;
	}
	if (!KEEP(ruid) || (!KEEP(euid) && euid != c->uid))
		suid = KEEP(euid) ? c->euid : euid;
	return set_uids(ruid, euid, suid);
}

int64_t sys_setregid(gid_t rgid, gid_t egid)
{
	const struct cred *c = current->cred;
	gid_t sgid = (gid_t)-1;

	if (!capable(CAP_SETGID)) {
		if (!KEEP(rgid) && rgid != c->gid && rgid != c->egid)
			return -EPERM;
		if (!KEEP(egid) && egid != c->gid && egid != c->egid && egid != c->sgid)
			return -EPERM;
	}
	if (!KEEP(rgid) || (!KEEP(egid) && egid != c->gid))
		sgid = KEEP(egid) ? c->egid : egid;
	return set_gids(rgid, egid, sgid);
}

static bool one_of(uint32_t id, uint32_t a, uint32_t b, uint32_t c)
{
	return KEEP(id) || id == a || id == b || id == c;
}

int64_t sys_setresuid(uid_t ruid, uid_t euid, uid_t suid)
{
	const struct cred *c = current->cred;

	if (!capable(CAP_SETUID) && !(one_of(ruid, c->uid, c->euid, c->suid) && one_of(euid, c->uid, c->euid, c->suid) &&
				      one_of(suid, c->uid, c->euid, c->suid)))
		return -EPERM;
	return set_uids(ruid, euid, suid);
}

int64_t sys_setresgid(gid_t rgid, gid_t egid, gid_t sgid)
{
	const struct cred *c = current->cred;

	if (!capable(CAP_SETGID) && !(one_of(rgid, c->gid, c->egid, c->sgid) && one_of(egid, c->gid, c->egid, c->sgid) &&
				      one_of(sgid, c->gid, c->egid, c->sgid)))
		return -EPERM;
	return set_gids(rgid, egid, sgid);
}

static int64_t out3(uaddr_t a, uint32_t va, uaddr_t b, uint32_t vb, uaddr_t c, uint32_t vc)
{
	return copy_out_obj(a, va) || copy_out_obj(b, vb) || copy_out_obj(c, vc) ? -EFAULT : 0;
}
int64_t sys_getresuid(uaddr_t ruid, uaddr_t euid, uaddr_t suid)
{
	const struct cred *c = current->cred;

	return out3(ruid, c->uid, euid, c->euid, suid, c->suid);
}
int64_t sys_getresgid(uaddr_t rgid, uaddr_t egid, uaddr_t sgid)
{
	const struct cred *c = current->cred;

	return out3(rgid, c->gid, egid, c->egid, sgid, c->sgid);
}

/* The old id in every case: these calls cannot report an error. */
int64_t sys_setfsuid(uid_t fsuid)
{
	struct cred *old = current->cred, *n;
	uid_t before = old->fsuid;

	if (KEEP(fsuid) || (fsuid != old->fsuid && !one_of(fsuid, old->uid, old->euid, old->suid) && !capable(CAP_SETUID)))
		return before;
	n = cred_dup(old);
	if (!n)
		return before;
	n->fsuid = fsuid;
	if (!(old->securebits & SECBIT_NO_SETUID_FIXUP)) {
		if (!before && fsuid)
			n->cap_effective &= ~CAP_FS_SET;
		if (before && !fsuid)
			n->cap_effective |= n->cap_permitted & CAP_FS_SET;
	}
	cred_commit(current, n);
	return before;
}

int64_t sys_setfsgid(gid_t fsgid)
{
	struct cred *old = current->cred, *n;
	gid_t before = old->fsgid;

	if (KEEP(fsgid) || (fsgid != old->fsgid && !one_of(fsgid, old->gid, old->egid, old->sgid) && !capable(CAP_SETGID)))
		return before;
	n = cred_dup(old);
	if (!n)
		return before;
	n->fsgid = fsgid;
	cred_commit(current, n);
	return before;
}

int64_t sys_getgroups(int size, uaddr_t list)
{
	const struct cred *c = current->cred;

	if (size < 0)
		return -EINVAL;
	if (!size)
		return c->group_count;
	if ((unsigned)size < c->group_count)
		return -EINVAL;
	if (c->group_count && copy_out(list, c->groups, c->group_count * sizeof *c->groups))
		return -EFAULT;
	return c->group_count;
}

int64_t sys_setgroups(int size, uaddr_t list)
{
	struct cred *n;
	gid_t *g = NULL;

	if (!capable(CAP_SETGID))
		return -EPERM;
	if ((unsigned)size > NGROUPS_LIMIT)
		return -EINVAL;
	if (size) {
		g = malloc((size_t)size * sizeof *g);
		if (!g)
			return -ENOMEM;
		if (copy_in(g, list, (size_t)size * sizeof *g)) {
			free(g);
			return -EFAULT;
		}
	}
	n = cred_dup(current->cred);
	if (!n) {
		free(g);
		return -ENOMEM;
	}
	free(n->groups);
	n->groups = g;
	n->group_count = (unsigned)size;
	cred_commit(current, n);
	return 0;
}

/* --- capabilities ------------------------------------------------------------------------------------------- */
/* Header version to the number of 32-bit words; the preferred version is written back for an unknown one. */
static int read_header(uaddr_t header, struct l_cap_header *h, unsigned *words)
{
	if (copy_in(h, header, sizeof *h))
		return -EFAULT;
	switch (h->version) {
	case CAP_VERSION_1:
		*words = 1;
		return 0;
	case CAP_VERSION_2:
	case CAP_VERSION_3:
		*words = 2;
		return 0;
	default:
		h->version = CAP_VERSION_3;
		return copy_out(header, &h->version, sizeof h->version) ? -EFAULT : -EINVAL;
	}
}

int64_t sys_capget(uaddr_t header, uaddr_t data)
{
	struct l_cap_header h;
	struct l_cap_data d[2];
	const struct cred *c;
	struct task *t;
	unsigned words;
	int ret = read_header(header, &h, &words);

	if (uaddr_null(data) && ret == -EINVAL)
		return 0;
	if (ret || uaddr_null(data))
		return ret;
	if (h.pid < 0)
		return -EINVAL;
	t = h.pid ? task_find(h.pid) : current;
	if (!t)
		return -ESRCH;
	c = t->cred;
	for (unsigned i = 0; i < 2; i++) {
		d[i].effective = (uint32_t)(c->cap_effective >> 32 * i);
		d[i].permitted = (uint32_t)(c->cap_permitted >> 32 * i);
		d[i].inheritable = (uint32_t)(c->cap_inheritable >> 32 * i);
	}
	return copy_out(data, d, words * sizeof d[0]);
}

int64_t sys_capset(uaddr_t header, uaddr_t data)
{
	struct l_cap_header h;
	struct l_cap_data d[2] = {0};
	struct cred *old = current->cred, *n;
	uint64_t e, p, i;
	unsigned words;
	int ret = read_header(header, &h, &words);

	if (ret)
		return ret;
	if (h.pid && h.pid != current->tid)
		return -EPERM;
	if (copy_in(d, data, words * sizeof d[0]))
		return -EFAULT;
	e = (d[0].effective | (uint64_t)d[1].effective << 32) & CAP_FULL_SET;
	p = (d[0].permitted | (uint64_t)d[1].permitted << 32) & CAP_FULL_SET;
	i = (d[0].inheritable | (uint64_t)d[1].inheritable << 32) & CAP_FULL_SET;
	if (!capable(CAP_SETPCAP) && (i & ~(old->cap_inheritable | old->cap_permitted)))
		return -EPERM;
	if (i & ~(old->cap_inheritable | old->cap_bounding))
		return -EPERM;
	if ((p & ~old->cap_permitted) || (e & ~p))
		return -EPERM;
	n = cred_dup(old);
	if (!n)
		return -ENOMEM;
	n->cap_effective = e;
	n->cap_permitted = p;
	n->cap_inheritable = i;
	n->cap_ambient &= p & i;
	cred_commit(current, n);
	return 0;
}
