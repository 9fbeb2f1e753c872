/* Script lines, argument lists, ELF headers (honest and hostile) and the first stack. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "loader/loader.h"
#include "sentry/mm/mm.h"
#include "sentry/platform/platform.h"
#include "sentry/task/cred.h"
#include "fs/vfs.h"

static char content[8192];
static size_t content_size;
static const struct file_ops fops = {.mmap = (void *)1};
static struct file prog = {.refs = 1, .ops = &fops};

long file_read_kernel(struct file *f, void *buf, size_t size, uint64_t pos)
{
	if (pos >= content_size)
		return 0;
	if (size > content_size - pos)
		size = content_size - pos;
	memcpy(buf, content + pos, size);
	return (long)size;
}
struct file *file_get(struct file *f)
{
	f->refs++;
	return f;
}
void file_put(struct file *f)
{
	f->refs--;
}

/* Guest memory for argument strings: two pages at 0x10000. */
static char guest[8192];

long copy_in_some(void *dst, uaddr_t src, size_t size)
{
	if (src.a < 0x10000 || src.a >= 0x12000)
		return -EFAULT;
	if (size > 0x12000 - src.a)
		size = 0x12000 - src.a;
	memcpy(dst, guest + (src.a - 0x10000), size);
	return (long)size;
}
int copy_in(void *dst, uaddr_t src, size_t size)
{
	return copy_in_some(dst, src, size) == (long)size ? 0 : -EFAULT;
}

/* What elf_map asked for. */
static struct {
	uint64_t addr, size, off;
	int prot, anon;
} maps[16];
static unsigned map_count;

int64_t do_mmap(struct mm *mm, struct plat_thread *t, uint64_t a, uint64_t n, int prot, int flags, struct file *f,
		uint64_t off)
{
	maps[map_count++] = (typeof(maps[0])){a, n, off, prot, 0};
	return off & 4095 ? -EINVAL : (int64_t)a;
}
int mm_map_anon(struct mm *mm, struct plat_thread *t, uint64_t a, uint64_t n, int prot, int flags, const char *name)
{
	maps[map_count++] = (typeof(maps[0])){a, n, 0, prot, 1};
	return 0;
}
static uint64_t zeroed_end; /* of the last write */

long plat_write_mem(struct plat_thread *t, uint64_t dst, const void *src, size_t size)
{
	zeroed_end = dst + size;
	return (long)size;
}

/* --- scripts ------------------------------------------------------------------------------------------------- */

static int parse(const char *text, size_t n, const char *interp, const char *arg)
{
	char head[EXEC_HEAD_SIZE] = {0}, *i = NULL, *a = NULL;
	int r;

	memcpy(head, text, n < sizeof head ? n : sizeof head);
	r = script_parse(head, &i, &a);
	if (r == 0) {
		cr_assert_str_eq(i, interp);
		if (arg)
			cr_assert_str_eq(a, arg);
		else
			cr_assert_null(a);
	}
	return r;
}
#define PARSE(text, ...) parse(text, strlen(text), __VA_ARGS__)

Test(script, forms)
{
	cr_assert_eq(PARSE("#!/bin/sh\n", "/bin/sh", NULL), 0);
	cr_assert_eq(PARSE("#! \t/bin/sh  -e -u \t\nrest", "/bin/sh", "-e -u"), 0);
	cr_assert_eq(PARSE("#!/bin/sh", "/bin/sh", NULL), 0);
	cr_assert_eq(PARSE("#!/bin/sh \t \n", "/bin/sh", NULL), 0);
	cr_assert_eq(PARSE("#!sh", "sh", NULL), 0);
	cr_assert_eq(PARSE("#!\n", NULL, NULL), -ENOEXEC);
	cr_assert_eq(PARSE("#!   \n/bin/sh\n", NULL, NULL), -ENOEXEC);
	cr_assert_eq(PARSE("#", NULL, NULL), -ENOEXEC);
	cr_assert_eq(PARSE("#!", NULL, NULL), -ENOEXEC);
}

Test(script, a_cut_path_is_refused_a_cut_argument_is_not)
{
	char text[400];

	memset(text, 'a', sizeof text);
	memcpy(text, "#!/", 3);
	cr_assert_eq(parse(text, 300, NULL, NULL), -ENOEXEC);
	text[200] = ' ';
	char interp[256] = {0}, arg[256] = {0};
	memcpy(interp, text + 2, 198);
	memset(arg, 'a', 255 - 201);
	cr_assert_eq(parse(text, 300, interp, arg), 0);
	memset(text + 2, ' ', 398);
	cr_assert_eq(parse(text, 300, NULL, NULL), -ENOEXEC);
}

Test(script, random_heads_stay_inside)
{
	srand(2);
	for (int i = 0; i < 200000; i++) {
		char *head = malloc(EXEC_HEAD_SIZE), *in, *arg;
		static const char set[] = "#! \t\n\0/a";

		for (int k = 0; k < EXEC_HEAD_SIZE; k++)
			head[k] = set[rand() % (rand() % 2 ? 8 : 4)];
		memcpy(head, "#!", 2);
		if (script_parse(head, &in, &arg) == 0) {
			cr_assert(in >= head + 2 && in + strlen(in) < head + EXEC_HEAD_SIZE && *in);
			cr_assert(!arg || (arg > in && arg + strlen(arg) < head + EXEC_HEAD_SIZE && *arg));
		}
		free(head);
	}
}

/* --- arguments ------------------------------------------------------------------------------------------------- */

Test(args, scripts_replace_the_first)
{
	struct strv v = {0};

	strv_add(&v, "x", 1);
	strv_add(&v, "one", 3);
	cr_assert_eq(args_for_script(&v, "/bin/sh", "-e", "./x"), 0);
	cr_assert_eq(v.count, 4);
	cr_assert_eq(memcmp(v.data, "/bin/sh\0-e\0./x\0one", 19), 0);
	strv_free(&v);
	cr_assert_eq(args_for_script(&v, "i", NULL, "p"), 0);
	cr_assert_eq(v.count, 2);
	strv_free(&v);
}

Test(args, from_guest)
{
	uint64_t ptrs[] = {0x10ffc, 0x10100, 0};
	struct strv v = {0};
	size_t budget = 1000;

	memcpy(guest, ptrs, sizeof ptrs);
	strcpy(guest + 0xffc, "crosses");
	strcpy(guest + 0x100, "b");
	cr_assert_eq(args_from_user(&v, uaddr(0x10000), &budget), 0);
	cr_assert_eq(v.count, 2);
	cr_assert_eq(memcmp(v.data, "crosses\0b", 10), 0);
	cr_assert_eq(budget, 1000 - 16 - 10);
	budget = 20;
	cr_assert_eq(args_from_user(&v, uaddr(0x10000), &budget), -E2BIG);
	budget = 1000;
	cr_assert_eq(args_from_user(&v, uaddr(0x20000), &budget), -EFAULT);
	ptrs[1] = 0x13000;
	memcpy(guest, ptrs, sizeof ptrs);
	cr_assert_eq(args_from_user(&v, uaddr(0x10000), &budget), -EFAULT);
	memset(guest + 0x1000, 'x', 0x1000); /* no NUL before the end of memory */
	ptrs[0] = 0x11000;
	memcpy(guest, ptrs, sizeof ptrs);
	budget = 100000;
	cr_assert_eq(args_from_user(&v, uaddr(0x10000), &budget), -EFAULT);
	cr_assert_eq(args_from_user(&v, uaddr(0), &budget), 0);
	strv_free(&v);
	cr_assert_eq(args_budget(8 << 20), 2 << 20);
	cr_assert_eq(args_budget(0), 128 << 10);
	cr_assert_eq(args_budget(~0ull), 6 << 20);
}

/* --- ELF ------------------------------------------------------------------------------------------------------- */

static Elf64_Ehdr *eh = (void *)content;
static Elf64_Phdr *ph = (void *)(content + 64);

static void good_elf(unsigned phnum)
{
	memset(content, 0, sizeof content);
	content_size = sizeof content;
	memcpy(eh->e_ident, ELFMAG, 4);
	eh->e_ident[EI_CLASS] = ELFCLASS64;
	eh->e_type = ET_EXEC;
	eh->e_machine = EM_X86_64;
	eh->e_phoff = 64;
	eh->e_phentsize = sizeof(Elf64_Phdr);
	eh->e_phnum = phnum;
	map_count = 0;
}

Test(elf, headers)
{
	struct elf_image im;

	good_elf(1);
	cr_assert_eq(elf_open(&im, &prog, -ENOEXEC), 0);
	elf_close(&im);
	cr_assert_eq(prog.refs, 1);
#define BAD(change) (good_elf(1), (change), elf_open(&im, &prog, -ELIBBAD))
	cr_assert_eq(BAD(content[0] = 0), -ELIBBAD);
	cr_assert_eq(BAD(eh->e_ident[EI_CLASS] = ELFCLASS32), -ELIBBAD);
	cr_assert_eq(BAD(eh->e_type = ET_REL), -ELIBBAD);
	cr_assert_eq(BAD(eh->e_machine = EM_AARCH64), -ELIBBAD);
	cr_assert_eq(BAD(eh->e_phentsize = 55), -ELIBBAD);
	cr_assert_eq(BAD(eh->e_phnum = 0), -ELIBBAD);
	cr_assert_eq(BAD(eh->e_phnum = 0xffff), -ELIBBAD);
	cr_assert_eq(BAD(eh->e_phnum = 1170), -ELIBBAD); /* beyond the end of the file */
	cr_assert_eq(BAD(eh->e_phoff = ~0ull), -ELIBBAD);
	cr_assert_eq(BAD(eh->e_phoff = INT64_MAX), -ELIBBAD);
	cr_assert_eq(BAD(content_size = 20), -ELIBBAD);
	cr_assert_eq(prog.refs, 1);
}

Test(elf, interpreter)
{
	struct elf_image im;
	char *path;

#define INTERP(change)                                                                                        \
	(good_elf(1), ph->p_type = PT_INTERP, ph->p_offset = 1000, ph->p_filesz = 4, strcpy(content + 1000, "/ld"), \
	 (change), elf_open(&im, &prog, -ENOEXEC), elf_interp_path(&im, &path))
	cr_assert_eq(INTERP(ph->p_flags = 0), 0);
	cr_assert_str_eq(path, "/ld");
	free(path);
	elf_close(&im);
	cr_assert_eq(INTERP(ph->p_filesz = 1), -ENOEXEC);
	elf_close(&im);
	cr_assert_eq(INTERP(ph->p_filesz = 5000), -ENOEXEC);
	elf_close(&im);
	cr_assert_eq(INTERP(content[1003] = 'x'), -ENOEXEC);
	elf_close(&im);
	cr_assert_eq(INTERP(ph->p_offset = 8190), -EIO);
	elf_close(&im);
	cr_assert_eq(INTERP(ph->p_type = PT_NOTE), 0);
	cr_assert_null(path);
	elf_close(&im);
}

Test(elf, segments_and_bss)
{
	struct elf_image im;

	good_elf(2);
	ph[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x400000, .p_filesz = 0x1234,
			     .p_memsz = 0x1234, .p_align = 4096};
	ph[1] = (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = 0x403210, .p_offset = 0x2210,
			     .p_filesz = 0x100, .p_memsz = 0x3000, .p_align = 4096};
	cr_assert_eq(elf_open(&im, &prog, -ENOEXEC), 0);
	cr_assert_eq(elf_map(&im, NULL, NULL, 0, MAP_FIXED_NOREPLACE), 0);
	cr_assert_eq(map_count, 3);
	cr_assert_eq(maps[0].addr, 0x400000);
	cr_assert_eq(maps[0].size, 0x2000);
	cr_assert_eq(maps[0].prot, PROT_READ | PROT_EXEC);
	cr_assert_eq(maps[1].addr, 0x403000);
	cr_assert_eq(maps[1].off, 0x2000);
	cr_assert_eq(maps[1].size, 0x1000);
	cr_assert(maps[2].anon && maps[2].addr == 0x404000 && maps[2].size == 0x3000);
	cr_assert_eq(zeroed_end, 0x404000);
	cr_assert_eq(im.end, 0x406210);
	cr_assert_eq(im.phdr_addr, 0x400040);
	cr_assert_eq(im.start_code, 0x400000);
	cr_assert_eq(im.end_code, 0x401234);
	elf_close(&im);
}

Test(elf, hostile_segments)
{
	struct elf_image im;
	uint64_t low, size;

#define SEG(...)                                                                                              \
	(good_elf(1), ph[0] = (Elf64_Phdr){.p_type = PT_LOAD, __VA_ARGS__}, elf_open(&im, &prog, -ENOEXEC),       \
	 elf_close(&im), elf_open(&im, &prog, -ENOEXEC), elf_map(&im, NULL, NULL, 0, MAP_FIXED_NOREPLACE))
	cr_assert_eq(SEG(.p_vaddr = 0x400000, .p_filesz = 2, .p_memsz = 1), -EINVAL);
	elf_close(&im);
	cr_assert_eq(SEG(.p_vaddr = ~0ull - 100, .p_filesz = 1, .p_memsz = 1000), -EINVAL);
	cr_assert_eq(elf_span(im.ph, 1, &low, &size), -EINVAL);
	elf_close(&im);
	cr_assert_eq(SEG(.p_vaddr = 0x1000, .p_filesz = 1, .p_memsz = ~0ull), -EINVAL);
	elf_close(&im);
	cr_assert_eq(SEG(.p_vaddr = 0x400100, .p_offset = 0x10, .p_filesz = 1, .p_memsz = 1), -EINVAL);
	elf_close(&im);
	cr_assert_eq(SEG(.p_vaddr = 0x400100, .p_offset = 0x210, .p_filesz = 1, .p_memsz = 1), -EINVAL);
	elf_close(&im);
	cr_assert_eq(SEG(.p_vaddr = 0x400000, .p_offset = ~0ull << 12, .p_filesz = 1, .p_memsz = 1), -EINVAL);
	elf_close(&im);
	good_elf(1);
	cr_assert_eq(elf_span(ph, 1, &low, &size), -EINVAL);
	ph[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_align = 3, .p_memsz = 1};
	cr_assert_eq(elf_align(ph, 1), 4096);
	ph[0].p_align = 1ull << 63;
	cr_assert_eq(elf_align(ph, 1), 4096);
	ph[0].p_align = 0x200000;
	cr_assert_eq(elf_align(ph, 1), 0x200000);
}

/* --- the first stack --------------------------------------------------------------------------------------------- */

Test(stack, layout)
{
	struct cred cred = {.uid = 7, .euid = 7};
	struct strv args = {0}, env = {0};
	struct mm mm = {0};
	struct stack_image im;
	uint8_t random[16] = "0123456789abcdef";
	struct stack_info in = {.args = &args, .env = &env, .execfn = "/bin/prog", .random = random, .cred = &cred,
				.top = 0x7000000000, .shift = 0x120, .phdr = 0x400040, .phnum = 3, .entry = 0x401000};
	uint64_t *w, off, seen = 0;

	strv_add(&args, "prog", 4);
	strv_add(&args, "arg", 3);
	strv_add(&env, "A=b", 3);
	cr_assert_eq(stack_build(&in, &mm, &im), 0);
	cr_assert_eq(im.sp & 15, 0);
	cr_assert_eq(im.sp + im.size, in.top);
	w = (void *)im.data;
	off = im.sp;
#define STR(addr) (im.data + ((addr) - off))
	cr_assert_eq(w[0], 2);
	cr_assert_str_eq(STR(w[1]), "prog");
	cr_assert_str_eq(STR(w[2]), "arg");
	cr_assert_eq(w[3], 0);
	cr_assert_str_eq(STR(w[4]), "A=b");
	cr_assert_eq(w[5], 0);
	for (w += 6; w[0]; w += 2) {
		if (w[0] == AT_EXECFN)
			cr_assert_str_eq(STR(w[1]), "/bin/prog");
		if (w[0] == AT_RANDOM)
			cr_assert_eq(memcmp(STR(w[1]), random, 16), 0);
		if (w[0] == AT_PLATFORM)
			cr_assert_str_eq(STR(w[1]), "x86_64");
		if (w[0] == AT_UID)
			cr_assert_eq(w[1], 7);
		if (w[0] == AT_PHDR)
			cr_assert_eq(w[1], 0x400040);
		seen |= 1ull << w[0];
	}
	cr_assert((seen >> AT_EXECFN & 1) && (seen >> AT_RANDOM & 1) && (seen >> AT_SECURE & 1));
	cr_assert_eq(mm.arg_end, mm.env_start);
	cr_assert_eq(mm.arg_end - mm.arg_start, 9);
	cr_assert_eq(mm.env_end - mm.env_start, 4);
	free(im.data);
	strv_free(&args);
	strv_free(&env);
}
