/* /proc/PID/maps, smaps, statm: from the table of mappings. Resident sizes are estimates: the pages are the host's. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "fs/proc/proc.h"
#include "sentry/base/util.h"
#include "sentry/mm/mm.h"
#include "sentry/task/task.h"

static struct mm *node_mm(const struct pnode *n)
{
	struct task *t = pnode_task(n);
	return t ? t->mm : NULL;
}

static void vma_line(struct strbuf *s, const struct vma *v, char *text)
{
	uint64_t ino = 0, dev = 0;
	if (v->file) {
		ino = v->file->inode->ino;
		dev = v->file->inode->sb->dev;
		struct kstat st;
		/* An overlay answers with its own device and the lower inode: ask as stat would. */
		if (v->file->inode->ops && v->file->inode->ops->getattr && !v->file->inode->ops->getattr(v->file->inode, &st)) {
			ino = st.ino;
			dev = st.dev;
		}
	}
	size_t start = s->size;
	strbuf_printf(s, "%08llx-%08llx %c%c%c%c %08llx %02x:%02x %llu ", (unsigned long long)v->start,
		      (unsigned long long)v->end, v->prot & PROT_READ ? 'r' : '-', v->prot & PROT_WRITE ? 'w' : '-',
		      v->prot & PROT_EXEC ? 'x' : '-', v->flags & MAP_SHARED ? 's' : 'p', v->file ? (unsigned long long)v->off : 0ull,
		      (unsigned)(dev >> 8 & 0xfff), (unsigned)(dev & 0xff), (unsigned long long)ino);
	const char *name = v->name;
	long len = 0;
	if (v->file) {
		len = path_text(&v->file->path, &current->fs->root, text, 4096);
		if (len < 0)
			len = 0;
		name = text;
	} else if (name) {
		len = (long)strlen(name);
	}
	if (len) {
		while (s->size - start < 73 && !s->failed)
			strbuf_puts(s, " ");
		for (long i = 0; i < len; i++) {
			if (name[i] == '\n')
				strbuf_puts(s, "\\012");
			else
				strbuf_add(s, name + i, 1);
		}
	}
	strbuf_puts(s, "\n");
}

static uint64_t kb(const struct vma *v)
{
	return (v->end - v->start) >> 10;
}

static void smaps_block(struct strbuf *s, const struct vma *v, const char *head_name)
{
	unsigned long long size = kb(v), rss = v->prot ? size : 0;
	bool clean = v->file && !(v->prot & PROT_WRITE);
	if (head_name)
		strbuf_printf(s, "Size:           %8llu kB\nKernelPageSize:        4 kB\nMMUPageSize:           4 kB\n", size);
	strbuf_printf(s,
		      "Rss:            %8llu kB\nPss:            %8llu kB\nPss_Dirty:      %8llu kB\n"
		      "Shared_Clean:          0 kB\nShared_Dirty:          0 kB\nPrivate_Clean:  %8llu kB\n"
		      "Private_Dirty:  %8llu kB\nReferenced:     %8llu kB\nAnonymous:      %8llu kB\nLazyFree:              0 kB\n"
		      "AnonHugePages:         0 kB\nShmemPmdMapped:        0 kB\nFilePmdMapped:         0 kB\n"
		      "Shared_Hugetlb:        0 kB\nPrivate_Hugetlb:       0 kB\nSwap:                  0 kB\n"
		      "SwapPss:               0 kB\nLocked:         %8llu kB\n",
		      rss, rss, clean ? 0 : rss, clean ? rss : 0, clean ? 0 : rss, rss, v->file ? 0 : rss,
		      v->flags & MAP_LOCKED ? rss : 0);
	if (head_name)
		strbuf_printf(s, "THPeligible:           0\nVmFlags:%s%s%s%s mr mw me sd \n", v->prot & PROT_READ ? " rd" : "",
			      v->prot & PROT_WRITE ? " wr" : "", v->prot & PROT_EXEC ? " ex" : "",
			      v->flags & MAP_SHARED ? " sh" : "");
}

static int walk(const struct pnode *n, struct strbuf *s, bool smaps)
{
	struct mm *mm = node_mm(n);
	if (!mm)
		return 0; /* a zombie or kernel thread: empty, as on Linux */
	char *text = malloc(4096);
	if (!text)
		return -ENOMEM;
	struct vma *v;
	list_for_each(v, &mm->vmas, node) {
		vma_line(s, v, text);
		if (smaps)
			smaps_block(s, v, "");
	}
	free(text);
	return 0;
}

int show_maps(const struct pnode *n, struct strbuf *s)
{
	return walk(n, s, false);
}

int show_smaps(const struct pnode *n, struct strbuf *s)
{
	return walk(n, s, true);
}

int show_smaps_rollup(const struct pnode *n, struct strbuf *s)
{
	struct mm *mm = node_mm(n);
	if (!mm)
		return -ESRCH;
	struct vma all = {.prot = PROT_READ | PROT_WRITE}, *v;
	uint64_t first = 0, total = 0;
	list_for_each(v, &mm->vmas, node) {
		if (!first)
			first = v->start;
		all.start = first;
		total += v->end - v->start;
	}
	all.end = all.start + total;
	strbuf_printf(s, "%08llx-%08llx ---p 00000000 00:00 0                          [rollup]\n",
		      (unsigned long long)all.start, (unsigned long long)all.end);
	smaps_block(s, &all, NULL);
	return 0;
}

int show_statm(const struct pnode *n, struct strbuf *s)
{
	struct mm *mm = node_mm(n);
	if (!mm) {
		strbuf_puts(s, "0 0 0 0 0 0 0\n");
		return 0;
	}
	unsigned long long text = (PAGE_UP(mm->end_code) - PAGE_DOWN(mm->start_code)) / GUEST_PAGE_SIZE;
	unsigned long long rss = MIN(mm->data_pages + text, mm->total_pages);
	strbuf_printf(s, "%llu %llu %llu %llu 0 %llu 0\n", (unsigned long long)mm->total_pages, rss, text, text,
		      (unsigned long long)mm->data_pages);
	return 0;
}
