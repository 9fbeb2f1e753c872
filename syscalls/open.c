/* open, openat, openat2, creat; and the helpers that turn path arguments into places. */
#include "syscalls/table.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include "fs/vfs.h"
#include "syscalls/pathargs.h"

#define L_O_LARGEFILE 0100000
#define VALID_FLAGS                                                                                \
	(O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_SYNC | O_DSYNC | O_ASYNC |  \
	 O_DIRECT | L_O_LARGEFILE | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC | O_PATH | O_TMPFILE)

int user_path(int dirfd, uaddr_t name, unsigned lookup_flags, struct path *out)
{
	AUTO_STR char *s = NULL;
	int r = copy_in_path(&s, name, lookup_flags & LOOKUP_EMPTY);

	return r < 0 ? r : path_lookup(dirfd, s, lookup_flags, out);
}

int user_parent(int dirfd, uaddr_t name, struct last *out)
{
	AUTO_STR char *s = NULL;
	int r = copy_in_path(&s, name, false);

	return r < 0 ? r : path_lookup_parent(dirfd, s, LOOKUP_PARENT, &out->dir, out->name, &out->type, &out->trailing);
}

static int64_t do_open(int dirfd, uaddr_t path, int flags, uint32_t mode, uint64_t resolve)
{
	AUTO_STR char *s = NULL;
	struct file *f;
	int fd, r = copy_in_path(&s, path, false);

	if (r < 0)
		return r;
	r = file_open(dirfd, s, flags, mode, LOOKUP_RESOLVE(resolve), &f);
	if (r < 0)
		return r;
	fd = fd_install(f, 0, flags & O_CLOEXEC);
	if (fd < 0)
		file_put(f);
	return fd;
}

int64_t sys_openat(int dirfd, uaddr_t path, int flags, uint32_t mode)
{
	flags &= VALID_FLAGS;
	if (!(flags & O_PATH))
		flags |= L_O_LARGEFILE;
	/* __O_TMPFILE without O_DIRECTORY: an old kernel would have made something else of it. */
	if ((flags & O_TMPFILE & ~O_DIRECTORY) && (flags & O_TMPFILE) != O_TMPFILE && !(flags & O_PATH))
		return -EINVAL;
	return do_open(dirfd, path, flags, mode & 07777, 0);
}

int64_t sys_open(uaddr_t path, int flags, uint32_t mode)
{
	return sys_openat(AT_FDCWD, path, flags, mode);
}

int64_t sys_creat(uaddr_t path, uint32_t mode)
{
	return sys_openat(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int64_t sys_openat2(int dirfd, uaddr_t path, uaddr_t uhow, size_t size)
{
	struct open_how how = {0};
	char rest[64];

	if (size < sizeof(how))
		return -EINVAL;
	if (size > 4096)
		return -E2BIG;
	if (copy_in(&how, uhow, sizeof(how)))
		return -EFAULT;
	for (size_t at = sizeof(how); at < size;) { /* newer fields must be zero */
		size_t n = size - at < sizeof(rest) ? size - at : sizeof(rest);

		if (copy_in(rest, uaddr_add(uhow, at), n))
			return -EFAULT;
		for (size_t k = 0; k < n; k++)
			if (rest[k])
				return -E2BIG;
		at += n;
	}
	bool creates = (how.flags & O_CREAT) || (how.flags & O_TMPFILE & ~O_DIRECTORY);
	if (how.flags & ~(uint64_t)VALID_FLAGS)
		return -EINVAL;
	if (how.resolve & ~(uint64_t)(RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH |
				      RESOLVE_IN_ROOT | RESOLVE_CACHED))
		return -EINVAL;
	if ((how.resolve & RESOLVE_BENEATH) && (how.resolve & RESOLVE_IN_ROOT))
		return -EINVAL;
	if (creates ? how.mode & ~07777ull : how.mode)
		return -EINVAL;
	if ((how.flags & O_PATH) && (how.flags & ~(uint64_t)(O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)))
		return -EINVAL;
	if ((how.flags & O_TMPFILE & ~O_DIRECTORY) && (how.flags & O_TMPFILE) != O_TMPFILE)
		return -EINVAL;
	if ((how.resolve & RESOLVE_CACHED) && (creates || (how.flags & O_TRUNC)))
		return -EAGAIN;
	return do_open(dirfd, path, (int)how.flags | (how.flags & O_PATH ? 0 : L_O_LARGEFILE), (uint32_t)how.mode,
		       how.resolve & ~(uint64_t)RESOLVE_CACHED);
}
