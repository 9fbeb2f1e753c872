/* memfd_create. */
#include "syscalls/table.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include "fs/vfs.h"

#define L_MFD_NOEXEC_SEAL 8u
#define L_MFD_EXEC 16u
#define L_F_SEAL_EXEC 32u
#define NAME_MAX_ 249 /* NAME_MAX less "memfd:" */

int64_t sys_memfd_create(uaddr_t uname, unsigned flags)
{
	if (flags & MFD_HUGETLB)
		return -ENOSYS; /* DIFF: no huge pages */
	if (flags & ~(MFD_CLOEXEC | MFD_ALLOW_SEALING | L_MFD_NOEXEC_SEAL | L_MFD_EXEC))
		return -EINVAL;
	if ((flags & L_MFD_EXEC) && (flags & L_MFD_NOEXEC_SEAL))
		return -EINVAL;
	char name[NAME_MAX_ + 1];
	long n = copy_in_str(name, uname, sizeof name);
	if (n < 0)
		return n == -ENAMETOOLONG ? -EINVAL : n;
	unsigned seals = flags & (MFD_ALLOW_SEALING | L_MFD_NOEXEC_SEAL) ? 0 : F_SEAL_SEAL;
	if (flags & L_MFD_NOEXEC_SEAL)
		seals |= L_F_SEAL_EXEC;
	struct file *f;
	int r = tmpfs_memfd_new(name, O_RDWR | O_LARGEFILE, seals, &f);
	if (r)
		return r;
	int fd = fd_install(f, 0, flags & MFD_CLOEXEC);
	if (fd < 0)
		file_put(f);
	return fd;
}
