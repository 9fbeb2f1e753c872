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

static void vma_file_id(const struct vma *v, uint64_t *ino, uint64_t *dev)
{
	*ino = *dev = 0;
	if (!v->file)
		return;
	*ino = v->file->inode->ino;
	*dev = v->file->inode->sb->dev;
	struct kstat st;
	/* An overlay answers with its own device and the lower inode: ask as stat would. */
	if (v->file->inode->ops && v->file->inode->ops->getattr && !v->file->inode->ops->getattr(v->file->inode, &st)) {
		*ino = st.ino;
		*dev = st.dev;
	}
}

static void vma_line(struct strbuf *s, const struct vma *v, char *text)
{
	uint64_t ino, dev;
	vma_file_id(v, &ino, &dev);
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

/* --- PROCMAP_QUERY: one mapping by address, in binary --------------------------------------------------------------- */
struct l_procmap_query {
	uint64_t size, query_flags, query_addr, vma_start, vma_end, vma_flags, vma_page_size, vma_offset, inode;
	uint32_t dev_major, dev_minor, vma_name_size, build_id_size;
	uint64_t vma_name_addr, build_id_addr;
};
_Static_assert(sizeof(struct l_procmap_query) == 104, "procmap_query");
#define L_PROCMAP_QUERY 0xc0686611u /* _IOWR('f', 17, struct procmap_query) */
#define Q_READ 1u
#define Q_WRITE 2u
#define Q_EXEC 4u
#define Q_SHARED 8u
#define Q_OR_NEXT 16u
#define Q_FILE 32u

static unsigned query_bits(const struct vma *v)
{
	return (v->prot & PROT_READ ? Q_READ : 0) | (v->prot & PROT_WRITE ? Q_WRITE : 0) |
	       (v->prot & PROT_EXEC ? Q_EXEC : 0) | (v->flags & MAP_SHARED ? Q_SHARED : 0);
}

static struct vma *query_find(struct mm *mm, const struct l_procmap_query *q)
{
	unsigned want = (unsigned)q->query_flags & (Q_READ | Q_WRITE | Q_EXEC | Q_SHARED);

	for (struct vma *v = mm_find(mm, q->query_addr); v; v = vma_next(mm, v)) {
		if (v->start > q->query_addr && !(q->query_flags & Q_OR_NEXT))
			return NULL;
		if ((query_bits(v) & want) == want && (v->file || !(q->query_flags & Q_FILE)))
			return v;
		if (!(q->query_flags & Q_OR_NEXT))
			return NULL;
	}
	return NULL;
}

/* do_procmap_query; there are no build ids here. */
int64_t maps_ioctl(const struct pnode *n, unsigned cmd, uint64_t arg)
{
	struct l_procmap_query q = {0};
	uint64_t size, dev;
	struct file *file;
	char *text = NULL;
	long len = 0;
	int64_t r;

	if (cmd != L_PROCMAP_QUERY)
		return -ENOTTY;
	if (copy_in_obj(size, uaddr(arg)))
		return -EFAULT;
	if (size > GUEST_PAGE_SIZE)
		return -E2BIG;
	if (size < offsetof(struct l_procmap_query, query_addr) + sizeof(q.query_addr))
		return -EINVAL;
	if (size > sizeof(q)) { /* a longer form than we know: the rest must be zero */
		char rest[64];

		for (uint64_t at = sizeof(q), step; at < size; at += step) {
			step = MIN(size - at, sizeof(rest));
			if (copy_in(rest, uaddr(arg + at), step))
				return -EFAULT;
			for (uint64_t k = 0; k < step; k++)
				if (rest[k])
					return -E2BIG;
		}
	}
	if (copy_in(&q, uaddr(arg), MIN(size, sizeof(q))))
		return -EFAULT;
	if (q.query_flags & ~63ull)
		return -EINVAL;
	if (!!q.vma_name_size != !!q.vma_name_addr || !!q.build_id_size != !!q.build_id_addr)
		return -EINVAL;
	struct mm *mm = node_mm(n); /* looked up after the last sleep; nothing below sleeps until V was read */
	if (!mm)
		return -ESRCH;
	struct vma *v = query_find(mm, &q);
	if (!v)
		return -ENOENT;
	q.vma_start = v->start;
	q.vma_end = v->end;
	q.vma_flags = query_bits(v);
	q.vma_page_size = GUEST_PAGE_SIZE;
	q.vma_offset = v->file ? v->off : 0;
	q.build_id_size = 0;
	file = v->file ? file_get(v->file) : NULL;
	if (q.vma_name_size) {
		text = malloc(4097);
		r = -ENOMEM;
		if (!text)
			goto out;
		if (file)
			len = path_text(&file->path, &current->fs->root, text, 4096);
		else if (v->name)
			len = snprintf(text, 4096, "%s", v->name);
		r = -ENAMETOOLONG;
		if (len > 0 && (uint64_t)len + 1 > q.vma_name_size)
			goto out;
		q.vma_name_size = len > 0 ? (uint32_t)len + 1 : 0;
		text[len > 0 ? len : 0] = 0;
	}
	struct vma of = {.file = file}; /* V itself is not looked at any more: asking a file may sleep */
	vma_file_id(&of, &q.inode, &dev);
	q.dev_major = (uint32_t)(dev >> 8 & 0xfff);
	q.dev_minor = (uint32_t)(dev & 0xff);
	r = -EFAULT;
	if (q.vma_name_size && copy_out(uaddr(q.vma_name_addr), text, q.vma_name_size))
		goto out;
	r = copy_out(uaddr(arg), &q, MIN(size, sizeof(q)));
out:
	free(text);
	file_put(file);
	return r;
}
