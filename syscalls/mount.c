/* mount and umount2: tmpfs, proc, sysfs, binds, remounts. One mount namespace, so propagation changes mean nothing. */
#include "syscalls/table.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include "fs/vfs.h"
#include "sentry/task/task.h"
#include "syscalls/pathargs.h"

#define PROPAGATION (MS_SHARED | MS_PRIVATE | MS_SLAVE | MS_UNBINDABLE)
#define DEFAULT_TMPFS (512ull << 20)

/* "size=64m": bytes; 0 if malformed. */
static uint64_t parse_size(const char *s)
{
	char *end;
	uint64_t n = strtoull(s, &end, 10);
	unsigned shift = 0;

	switch (*end | 0x20) {
	case 'k':
		shift = 10;
		break;
	case 'm':
		shift = 20;
		break;
	case 'g':
		shift = 30;
		break;
	}
	return n > UINT64_MAX >> shift ? 0 : n << shift;
}

static int tmpfs_from(char *data, struct superblock **out)
{
	uint64_t size = DEFAULT_TMPFS, inodes = 0;
	struct iattr a = {.valid = 0};
	char *save = NULL;

	for (char *o = strtok_r(data, ",", &save); o; o = strtok_r(NULL, ",", &save)) {
		if (!strncmp(o, "size=", 5)) {
			size = parse_size(o + 5);
			if (!size)
				return -EINVAL;
		} else if (!strncmp(o, "nr_inodes=", 10)) {
			inodes = parse_size(o + 10);
		} else if (!strncmp(o, "mode=", 5)) {
			a.valid |= ATTR_MODE;
			a.mode = (uint32_t)strtoul(o + 5, NULL, 8) & 07777;
		} else if (!strncmp(o, "uid=", 4)) {
			a.valid |= ATTR_UID;
			a.uid = (uint32_t)strtoul(o + 4, NULL, 10);
		} else if (!strncmp(o, "gid=", 4)) {
			a.valid |= ATTR_GID;
			a.gid = (uint32_t)strtoul(o + 4, NULL, 10);
		} else {
			return -EINVAL;
		}
	}
	*out = tmpfs_new(size, inodes);
	if (!*out)
		return -ENOMEM;
	if (!(a.valid & ATTR_MODE)) {
		a.valid |= ATTR_MODE;
		a.mode = 01777;
	}
	inode_apply_attr((*out)->root->inode, &a);
	return 0;
}

static int64_t mount_new_fs(const struct path *at, const char *type, const char *source, unsigned flags, char *data)
{
	struct superblock *sb = NULL;
	int r = 0;

	if (!strcmp(type, "tmpfs") || !strcmp(type, "ramfs"))
		r = tmpfs_from(data, &sb);
	else if (!strcmp(type, "proc"))
		sb = proc_new();
	else if (!strcmp(type, "sysfs"))
		sb = sysfs_new();
	else
		return -ENODEV;
	if (r == 0 && !sb)
		r = -ENOMEM;
	if (r == 0)
		r = mount_add(sb, at, flags, source);
	if (sb) {
		if (r < 0) { /* never mounted: drop its tree */
			super_activate(sb);
			super_deactivate(sb);
		}
		super_put(sb);
	}
	return r;
}

int64_t sys_mount(uaddr_t usource, uaddr_t target, uaddr_t utype, unsigned long flags, uaddr_t udata)
{
	AUTO_PATH struct path at = {0};
	AUTO_PATH struct path from = {0};
	AUTO_STR char *source = NULL;
	char type[64] = "", data[1024] = "";
	int r;

	if ((flags & MS_MGC_MSK) == MS_MGC_VAL)
		flags &= ~(unsigned long)MS_MGC_MSK;
	if (!uaddr_null(utype) && copy_in_str(type, utype, sizeof(type)) < 0)
		return -EINVAL;
	if (!uaddr_null(usource)) {
		r = copy_in_path(&source, usource, true);
		if (r < 0)
			return r;
	}
	if (!(flags & (MS_BIND | MS_MOVE | PROPAGATION)) && !uaddr_null(udata) &&
	    copy_in_str(data, udata, sizeof(data)) < 0)
		return -EINVAL;
	r = user_path(AT_FDCWD, target, LOOKUP_FOLLOW, &at);
	if (r < 0)
		return r;
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (flags & MS_REMOUNT)
		return mount_remount(&at, (unsigned)flags);
	if (flags & MS_BIND) {
		if (!source || !*source)
			return -EINVAL;
		r = path_lookup(AT_FDCWD, source, LOOKUP_FOLLOW, &from);
		return r < 0 ? r : mount_bind(&from, &at, 0, flags & MS_REC);
	}
	if (flags & PROPAGATION)
		return at.mnt && at.dentry == at.mnt->root ? 0 : -EINVAL;
	if (flags & MS_MOVE)
		return -EINVAL;
	if (!*type)
		return -ENODEV;
	return mount_new_fs(&at, type, source, (unsigned)flags, data);
}

int64_t sys_umount2(uaddr_t target, unsigned flags)
{
	AUTO_PATH struct path p = {0};
	int r;

	if (flags & ~(unsigned)(MNT_FORCE | MNT_DETACH | MNT_EXPIRE | UMOUNT_NOFOLLOW))
		return -EINVAL;
	if ((flags & MNT_EXPIRE) && (flags & (MNT_FORCE | MNT_DETACH)))
		return -EINVAL;
	r = user_path(AT_FDCWD, target, flags & UMOUNT_NOFOLLOW ? 0 : LOOKUP_FOLLOW, &p);
	if (r < 0)
		return r;
	if (!p.mnt || p.dentry != p.mnt->root)
		return -EINVAL;
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (flags & MNT_EXPIRE)
		return -EAGAIN;
	return mount_remove(&p, (int)flags);
}

int64_t sys_pivot_root(uaddr_t new_root, uaddr_t put_old)
{
	AUTO_PATH struct path n = {0};
	AUTO_PATH struct path o = {0};
	int r = user_path(AT_FDCWD, new_root, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &n);

	if (r == 0)
		r = user_path(AT_FDCWD, put_old, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &o);
	if (r < 0)
		return r;
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	struct path old = vfs_root;
	path_get(&old);
	r = mount_pivot(&n, &o);
	/* Every process whose root or directory was the old root moves to the new one. */
	for (struct tgroup *tg = r == 0 ? tgroup_next(0) : NULL; tg; tg = tgroup_next(tg->pid + 1)) {
		struct task *t;

		list_for_each(t, &tg->tasks, tg_node) {
			if (!t->fs)
				continue;
			if (path_equal(&t->fs->root, &old)) {
				path_put(&t->fs->root);
				t->fs->root = vfs_root;
				path_get(&vfs_root);
			}
			if (path_equal(&t->fs->cwd, &old)) {
				path_put(&t->fs->cwd);
				t->fs->cwd = vfs_root;
				path_get(&vfs_root);
			}
		}
	}
	path_put(&old);
	return r;
}
