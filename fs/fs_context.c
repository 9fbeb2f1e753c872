/* Root, working directory and umask of a process; shared with CLONE_FS. */
#include <stdlib.h>
#include "fs/vfs.h"

struct fs_context *fs_context_new(const struct path *root, const struct path *cwd)
{
	struct fs_context *fs = calloc(1, sizeof(*fs));

	if (!fs)
		return NULL;
	fs->refs = 1;
	fs->root = *root;
	fs->cwd = *cwd;
	path_get(&fs->root);
	path_get(&fs->cwd);
	fs->umask = 022;
	return fs;
}

struct fs_context *fs_context_dup(struct fs_context *old)
{
	struct fs_context *fs = fs_context_new(&old->root, &old->cwd);

	if (fs)
		fs->umask = old->umask;
	return fs;
}

struct fs_context *fs_context_get(struct fs_context *fs)
{
	fs->refs++;
	return fs;
}

void fs_context_put(struct fs_context *fs)
{
	if (!fs || --fs->refs)
		return;
	path_put(&fs->root);
	path_put(&fs->cwd);
	free(fs);
}
