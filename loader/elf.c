/*
 * ELF files: headers checked as Linux does (and no field trusted before), PT_LOAD mapped through do_mmap with its
 * rules and limits. A file may lie about everything; the worst it gets is an error or a dead process.
 */
#include "loader/loader.h"
#include "sentry/base/util.h"
#include "sentry/mm/mm.h"
#include "sentry/platform/platform.h"
#include "fs/vfs.h"
#include <errno.h>
#include <linux/mman.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

bool elf_header_ok(const Elf64_Ehdr *eh)
{
	return memcmp(eh->e_ident, ELFMAG, SELFMAG) == 0 && eh->e_ident[EI_CLASS] == ELFCLASS64 &&
	       (eh->e_type == ET_EXEC || eh->e_type == ET_DYN) && eh->e_machine == EM_X86_64;
}

int elf_span(const Elf64_Phdr *ph, unsigned count, uint64_t *low, uint64_t *size)
{
	uint64_t lo = UINT64_MAX, hi = 0, end;

	for (unsigned i = 0; i < count; i++) {
		if (ph[i].p_type != PT_LOAD)
			continue;
		if (add_overflows(ph[i].p_vaddr, ph[i].p_memsz, &end) || end > GUEST_TASK_SIZE)
			return -EINVAL;
		lo = MIN(lo, PAGE_DOWN(ph[i].p_vaddr));
		hi = MAX(hi, PAGE_UP(end));
	}
	if (hi <= lo)
		return -EINVAL;
	*low = lo;
	*size = hi - lo;
	return 0;
}

uint64_t elf_align(const Elf64_Phdr *ph, unsigned count)
{
	uint64_t a = GUEST_PAGE_SIZE;

	for (unsigned i = 0; i < count; i++) {
		uint64_t p = ph[i].p_align;

		/* Not a power of two: ignored, as Linux. Beyond 1 GiB no honest file goes. */
		if (ph[i].p_type == PT_LOAD && p && !(p & (p - 1)) && p <= 1ull << 30)
			a = MAX(a, p);
	}
	return a;
}

int elf_open(struct elf_image *im, struct file *file, int bad)
{
	size_t size;
	long n;

	memset(im, 0, sizeof *im);
	n = file_read_kernel(file, &im->eh, sizeof im->eh, 0);
	if (n < 0)
		return (int)n;
	/* A file shorter than a header cannot carry one; Linux sees the missing bytes as zeros. */
	if (!elf_header_ok(&im->eh) || n < (long)sizeof im->eh || !file->ops || !file->ops->mmap)
		return bad;
	if (im->eh.e_phentsize != sizeof(Elf64_Phdr))
		return bad;
	size = (size_t)im->eh.e_phnum * sizeof(Elf64_Phdr);
	if (!size || size > 65536 || im->eh.e_phoff > INT64_MAX - 65536)
		return bad;
	im->ph = malloc(size);
	if (!im->ph)
		return -ENOMEM;
	if (file_read_kernel(file, im->ph, size, im->eh.e_phoff) != (long)size) {
		free(im->ph);
		im->ph = NULL;
		return bad;
	}
	im->file = file_get(file);
	return 0;
}

void elf_close(struct elf_image *im)
{
	if (im->file)
		file_put(im->file);
	free(im->ph);
	memset(im, 0, sizeof *im);
}

int elf_interp_path(const struct elf_image *im, char **path)
{
	*path = NULL;
	for (unsigned i = 0; i < im->eh.e_phnum; i++) {
		const Elf64_Phdr *p = &im->ph[i];
		char *s;
		long n;

		if (p->p_type != PT_INTERP)
			continue;
		if (p->p_filesz > 4096 || p->p_filesz < 2 || p->p_offset > INT64_MAX - 4096)
			return -ENOEXEC;
		s = malloc(p->p_filesz);
		if (!s)
			return -ENOMEM;
		n = file_read_kernel(im->file, s, p->p_filesz, p->p_offset);
		if (n != (long)p->p_filesz || s[p->p_filesz - 1]) {
			free(s);
			return n < 0 ? (int)n : n != (long)p->p_filesz ? -EIO : -ENOEXEC;
		}
		*path = s;
		return 0;
	}
	return 0;
}

int elf_stack_prot(const struct elf_image *im)
{
	for (unsigned i = 0; i < im->eh.e_phnum; i++)
		if (im->ph[i].p_type == PT_GNU_STACK)
			return PROT_READ | PROT_WRITE | (im->ph[i].p_flags & PF_X ? PROT_EXEC : 0);
	return PROT_READ | PROT_WRITE;
}

static int segment_prot(const Elf64_Phdr *p)
{
	return (p->p_flags & PF_R ? PROT_READ : 0) | (p->p_flags & PF_W ? PROT_WRITE : 0) |
	       (p->p_flags & PF_X ? PROT_EXEC : 0);
}

/*
 * Zeros from the end of the file's part to the end of its page, also beyond .bss: the dynamic linker's first
 * allocations come from there and count on zeros (padzero of Linux).
 */
static int zero_tail(struct plat_thread *t, uint64_t from)
{
	static const char zeros[4096];
	uint64_t n = PAGE_UP(from) - from;

	if (!n)
		return 0;
	return plat_write_mem(t, from, zeros, n) == (long)n ? 0 : -EFAULT;
}

static int map_segment(struct elf_image *im, const Elf64_Phdr *p, struct mm *mm, struct plat_thread *t, uint64_t bias,
		       int flags)
{
	uint64_t start, page, slack, size, file_end, mem_end, off;
	int prot = segment_prot(p), r;
	int64_t at;

	if (p->p_filesz > p->p_memsz || p->p_memsz > GUEST_TASK_SIZE)
		return -EINVAL;
	start = p->p_vaddr + bias; /* may wrap on purpose: a bias can be negative */
	if (start > GUEST_TASK_SIZE - p->p_memsz)
		return -EINVAL;
	page = PAGE_DOWN(start);
	slack = start - page;
	file_end = start + p->p_filesz;
	mem_end = start + p->p_memsz;
	if (p->p_filesz) {
		if (p->p_offset < slack || p->p_offset > INT64_MAX - p->p_filesz)
			return -EINVAL;
		off = p->p_offset - slack;
		size = PAGE_UP(p->p_filesz + slack);
		at = do_mmap(mm, t, page, size, prot, MAP_PRIVATE | flags, im->file, off);
		if (at < 0)
			return (int)at;
		/* DIFF: none: Linux, too, leaves the tail of a read-only segment as the file has it. */
		if (mem_end > file_end && (prot & PROT_WRITE)) {
			r = zero_tail(t, file_end);
			if (r < 0)
				return r;
		}
		page = PAGE_UP(file_end);
	}
	size = PAGE_UP(mem_end) > page ? PAGE_UP(mem_end) - page : 0;
	if (!size)
		return 0;
	/* vm_brk_flags: readable and writable whatever the segment says, executable if it says so. */
	return mm_map_anon(mm, t, page, size, PROT_READ | PROT_WRITE | (prot & PROT_EXEC),
			   MAP_PRIVATE | (p->p_filesz ? MAP_FIXED : flags), NULL);
}

int elf_map(struct elf_image *im, struct mm *mm, struct plat_thread *t, uint64_t bias, int first_flags)
{
	int flags = first_flags;

	im->bias = bias;
	im->start_code = UINT64_MAX;
	for (unsigned i = 0; i < im->eh.e_phnum; i++) {
		const Elf64_Phdr *p = &im->ph[i];
		uint64_t at = p->p_vaddr + bias;
		int r;

		if (p->p_type != PT_LOAD)
			continue;
		r = map_segment(im, p, mm, t, bias, flags);
		if (r < 0)
			return r;
		flags = MAP_FIXED;
		if (im->eh.e_phoff >= p->p_offset && im->eh.e_phoff - p->p_offset < p->p_filesz)
			im->phdr_addr = at + (im->eh.e_phoff - p->p_offset);
		if (p->p_flags & PF_X) {
			im->start_code = MIN(im->start_code, at);
			im->end_code = MAX(im->end_code, at + p->p_filesz);
		}
		im->start_data = MAX(im->start_data, at);
		im->end_data = MAX(im->end_data, at + p->p_filesz);
		im->end = MAX(im->end, at + p->p_memsz);
	}
	if (im->start_code == UINT64_MAX)
		im->start_code = im->start_data;
	return flags == first_flags && first_flags != MAP_FIXED ? -EINVAL : 0;
}
