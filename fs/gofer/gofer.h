/*
 * Read-write binds. The sentry may not change host files: a helper process (sentry/cli/gofer.c), Landlocked to the
 * bound directory, does it. The helper keeps no state: a request carries the directories it acts in as descriptors,
 * names are single components, and the answer carries a descriptor of what was found or made. Bytes then move
 * directly between the sentry and that descriptor.
 */
#ifndef WARD_FS_GOFER_H
#define WARD_FS_GOFER_H
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum gofer_op {
	GOFER_LOOKUP = 1, /* dir, name -> fd, st, text = target of a link */
	GOFER_CREATE,     /* dir, name, mode -> fd, st */
	GOFER_MKDIR,      /* dir, name, mode -> fd, st */
	GOFER_SYMLINK,    /* dir, name, text -> fd, st */
	GOFER_UNLINK,     /* dir, name */
	GOFER_RMDIR,      /* dir, name */
	GOFER_RENAME,     /* dir, name, dir2, text = new name, flags */
	GOFER_SETATTR,    /* dir = the object; flags = ATTR_*, mode, times */
};
struct gofer_request {
	uint32_t op, flags, mode, pad;
	struct timespec atime, mtime;
	char name[256], text[4096];
};
struct gofer_answer {
	int32_t error; /* 0 or -errno */
	uint32_t pad;
	struct stat st;
	char text[4096];
};
/* One packet with up to two descriptors. 0 or -errno. */
int gofer_send(int sock, const void *msg, size_t size, const int *fds, unsigned fd_count);
/* FDS gets FD_MAX entries, -1 where none came. 0, -EPIPE at the end, -EBADMSG for another size. */
int gofer_recv(int sock, void *msg, size_t size, int *fds, unsigned fd_max);

struct superblock;
/* SOCK and ROOT (the bound directory, read-only descriptor) are taken over. Files of the host user SHOWN_UID appear
 * as UID:GID. NULL with *ERROR. */
struct superblock *gofer_new(int sock, int root, uint32_t uid, uint32_t gid, int *error);
/* The helper's life: confines itself to ROOT, serves SOCK until its end. */
int gofer_helper(int sock, int root);
#endif
