/*
 * The helper of a read-write bind: the only process that may change the bound directory. Its requests come from the
 * sentry, which may have been taken over: a directory descriptor it sends can only be used as far as the helper's own
 * Landlock rules reach, and names are checked here.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "fs/gofer/gofer.h"
#include "fs/vfs.h"
#include "sentry/base/err.h"
#include "sentry/base/log.h"
#include "sentry/platform/confine.h"

static bool name_ok(const char *s)
{
	return *s && !strchr(s, '/') && strcmp(s, ".") && strcmp(s, "..");
}

static int open_in(int dir, const char *name, int flags, unsigned mode)
{
	struct open_how how = {
	    .flags = (unsigned)flags | O_CLOEXEC | O_NOFOLLOW,
	    .mode = flags & O_CREAT ? mode : 0,
	    .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, dir, name, &how, sizeof how);

	return fd < 0 ? -errno : fd;
}

/* A descriptor for the object NAME: open for reading (and writing where allowed) if regular, a directory to read, else
 * a mere handle. Devices, pipes and sockets are never opened. */
static int open_object(int dir, const char *name, struct gofer_answer *a)
{
	int handle = open_in(dir, name, O_PATH, 0), fd = -EACCES;
	ssize_t n;

	if (handle < 0)
		return handle;
	if (fstat(handle, &a->st)) {
		close(handle);
		return -errno;
	}
	if (S_ISLNK(a->st.st_mode)) {
		n = readlinkat(handle, "", a->text, sizeof a->text - 1);
		a->text[n < 0 ? 0 : n] = 0;
		return handle;
	}
	if (S_ISREG(a->st.st_mode)) {
		fd = open_in(dir, name, O_RDWR | O_NONBLOCK | O_NOCTTY, 0);
		if (fd == -EACCES || fd == -EROFS || fd == -ETXTBSY || fd == -EPERM)
			fd = open_in(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	} else if (S_ISDIR(a->st.st_mode)) {
		fd = open_in(dir, name, O_RDONLY | O_DIRECTORY, 0);
	}
	if (fd < 0)
		return handle; /* attributes can be seen, content not */
	close(handle);
	if (fstat(fd, &a->st) || (!S_ISREG(a->st.st_mode) && !S_ISDIR(a->st.st_mode))) {
		close(fd); /* replaced in between */
		return -ENOENT;
	}
	return fd;
}

static int set_attributes(int fd, const struct gofer_request *r)
{
	struct timespec ts[2] = {r->atime, r->mtime};

	if ((r->flags & ATTR_MODE) && fchmod(fd, r->mode & 01777))
		return -errno;
	if (!(r->flags & ATTR_ATIME))
		ts[0].tv_nsec = UTIME_OMIT;
	if (!(r->flags & ATTR_MTIME))
		ts[1].tv_nsec = UTIME_OMIT;
	if ((r->flags & (ATTR_ATIME | ATTR_MTIME)) && futimens(fd, ts))
		return -errno;
	return 0;
}

/* *FD: descriptor for the answer. */
static int serve(struct gofer_request *r, const int dirs[2], struct gofer_answer *a, int *fd)
{
	int rc = 0;

	r->name[sizeof r->name - 1] = 0;
	r->text[sizeof r->text - 1] = 0;
	if (dirs[0] < 0)
		return -EINVAL;
	if (r->op == GOFER_SETATTR)
		return set_attributes(dirs[0], r);
	if (!name_ok(r->name))
		return -EINVAL;
	switch (r->op) {
	case GOFER_LOOKUP:
		break;
	case GOFER_CREATE:
		*fd = open_in(dirs[0], r->name, O_RDWR | O_CREAT | O_EXCL, r->mode & 0777);
		if (*fd >= 0)
			fchmod(*fd, r->mode & 0777);
		return *fd < 0 ? *fd : fstat(*fd, &a->st) ? -errno : 0;
	case GOFER_MKDIR:
		rc = mkdirat(dirs[0], r->name, r->mode & 01777) ? -errno : 0;
		break;
	case GOFER_SYMLINK:
		rc = symlinkat(r->text, dirs[0], r->name) ? -errno : 0;
		break;
	case GOFER_UNLINK:
		return unlinkat(dirs[0], r->name, 0) ? -errno : 0;
	case GOFER_RMDIR:
		return unlinkat(dirs[0], r->name, AT_REMOVEDIR) ? -errno : 0;
	case GOFER_RENAME:
		if (dirs[1] < 0 || !name_ok(r->text))
			return -EINVAL;
		return syscall(SYS_renameat2, dirs[0], r->name, dirs[1], r->text, r->flags) ? -errno : 0;
	default:
		return -EINVAL;
	}
	if (rc)
		return rc;
	*fd = open_object(dirs[0], r->name, a);
	return *fd < 0 ? *fd : 0;
}

int gofer_helper(int sock, int root)
{
	static struct gofer_request r;
	static struct gofer_answer a;
	struct err e = {0};
	int dirs[2];

	prctl(PR_SET_NAME, "ward-gofer");
	umask(0);
	if (confine_helper(&root, 1, &e)) {
		log_error("--bind: %s", e.text);
		return e.exit_code;
	}
	while (!gofer_recv(sock, &r, sizeof r, dirs, 2)) {
		int fd = -1;

		memset(&a, 0, sizeof a);
		a.error = serve(&r, dirs, &a, &fd);
		if (gofer_send(sock, &a, sizeof a, &fd, fd >= 0))
			break;
		if (fd >= 0)
			close(fd);
		for (int i = 0; i < 2; i++)
			if (dirs[i] >= 0)
				close(dirs[i]);
	}
	return 0;
}
