/* sysfs and ustat: the old ways to ask about file systems. */
#include "syscalls/table.h"
#include <errno.h>
#include <string.h>
#include "fs/proc/proc.h"
#include "fs/vfs.h"

static int64_t fs_index(uaddr_t name)
{
	char text[64];
	long n = copy_in_str(text, name, sizeof(text));

	if (n < 0)
		return n == -ENAMETOOLONG ? -EINVAL : n;
	for (unsigned i = 0; proc_fs_types[i]; i++)
		if (!strcmp(text, proc_fs_types[i]))
			return i;
	return -EINVAL;
}

int64_t sys_sysfs(int option, unsigned long arg1, unsigned long arg2)
{
	unsigned count = 0;

	while (proc_fs_types[count])
		count++;
	switch (option) {
	case 1:
		return fs_index(uaddr(arg1));
	case 2:
		if ((unsigned)arg1 >= count)
			return -EINVAL;
		return copy_out(uaddr(arg2), proc_fs_types[(unsigned)arg1], strlen(proc_fs_types[(unsigned)arg1]) + 1);
	case 3:
		return count;
	}
	return -EINVAL;
}

struct l_ustat {
	int32_t tfree, pad;
	uint64_t tinode;
	char fname[6], fpack[6];
	uint32_t tail;
};
_Static_assert(sizeof(struct l_ustat) == 32, "ustat");

int64_t sys_ustat(unsigned dev, uint64_t buf)
{
	struct mount *m;

	list_for_each(m, &mount_list, node) {
		struct kstatfs st = {0};
		struct l_ustat u = {0};
		int r;

		if (m->sb->dev != dev)
			continue;
		r = m->sb->ops && m->sb->ops->statfs ? m->sb->ops->statfs(m->sb, &st) : 0;
		if (r < 0)
			return r;
		u.tfree = (int32_t)st.bfree;
		u.tinode = st.ffree;
		return copy_out_obj(uaddr(buf), u);
	}
	return -EINVAL;
}
