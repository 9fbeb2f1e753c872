/*
 * The framed archive in which --copy-out trees travel from the sentry to the helper that writes them. The reader
 * trusts nothing in it. A stream is: ROOT, one node, ROOT, one node ..., END. A node is FILE, DATA..., FILE_END; or
 * DIR, nodes..., DIR_END; or LINK; or ERROR (text of what went wrong instead of the node or of its rest).
 */
#ifndef WARD_ARCHIVE_H
#define WARD_ARCHIVE_H
#include <stdint.h>

#define ARCHIVE_MAGIC 0x57415244u
#define ARCHIVE_DATA_MAX 65536u
#define ARCHIVE_DEPTH 64u
enum archive_kind {
	ARCHIVE_ROOT = 1, /* size = index into config.copy_out */
	ARCHIVE_FILE,
	ARCHIVE_DATA,
	ARCHIVE_FILE_END,
	ARCHIVE_DIR,
	ARCHIVE_DIR_END,
	ARCHIVE_LINK,     /* payload: name NUL target NUL */
	ARCHIVE_ERROR,
	ARCHIVE_END,
};
/* Followed by `payload` bytes: the name (FILE, DIR; empty for a root), data, or text. */
struct archive_frame {
	uint32_t magic, kind, payload, mode;
	uint64_t size;
	int64_t mtime_sec;
	uint32_t mtime_nsec, pad;
};
struct config;
/* The helper process (sentry/cli/copy_out.c): confines itself, reads FD, writes the destinations. Exit code. */
int archive_helper(const struct config *c, int fd);
#endif
