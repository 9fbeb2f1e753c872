/*
 * The object behind MAP_SHARED|MAP_ANONYMOUS. The pages are the host's shared anonymous memory, which a host fork
 * shares by itself; the object gives the mapping what Linux's hidden shmem file gives it: one identity in every
 * address space that shares it (futexes), a name in maps, one charge however many processes map it.
 */
#include "sentry/mm/mm.h"
#include "fs/vfs.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

struct shmem {
	uint64_t pages;
};

static void shmem_release(struct file *f)
{
	struct shmem *s = f->priv;

	mm_account(NULL, -(int64_t)s->pages);
	free(s);
}

static const struct file_ops shmem_ops = {
	.llseek = no_llseek,
	.release = shmem_release,
};

struct file *shmem_file(uint64_t size)
{
	struct shmem *s = calloc(1, sizeof *s);
	struct inode *inode;
	struct file *f;

	if (!s)
		return NULL;
	s->pages = size >> 12;
	if (mm_account(NULL, (int64_t)s->pages) < 0)
		goto no_charge;
	inode = anon_inode(S_IFREG | 0777);
	if (!inode)
		goto no_inode;
	inode->size = size;
	inode->nlink = 0;
	f = file_anon(inode, "/dev/zero (deleted)", O_RDWR, &shmem_ops, s);
	if (!f)
		goto no_inode; /* file_anon has put the inode */
	return f;
no_inode:
	mm_account(NULL, -(int64_t)s->pages);
no_charge:
	free(s);
	return NULL;
}
