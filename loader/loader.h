/*
 * The loader: from a path to a program that stands ready in an address space. exec.c is the order of events,
 * elf.c reads and maps ELF files, script.c takes "#!" lines apart, stack.c builds the first stack, args.c copies
 * argument strings.
 */
#ifndef WARD_LOADER_H
#define WARD_LOADER_H
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "sentry/mm/uaccess.h"

struct cred;
struct file;
struct mm;
struct plat_thread;

/* --- for system calls and spawn ------------------------------------------------------------------------------ */
/* Replace current's program. FLAGS: AT_EMPTY_PATH, AT_SYMLINK_NOFOLLOW. 0: current runs the new program (its call
 * has no result any more); -errno: nothing has happened, or current is being killed. Sleeps. */
int do_execve_file(int dirfd, const char *path, uaddr_t argv, uaddr_t envp, int flags);
/* The same with strings of the kernel's, for a process started from outside. An mm without mappings and its fresh
 * host thread are used as they are. */
int do_execve_kernel(const char *path, char *const *argv, char *const *envp);

/* --- argument strings (args.c) ------------------------------------------------------------------------------- */
#define MAX_ARG_STRLEN (32 * 4096u)
struct strv {               /* NUL-terminated strings, one after the other */
	char *data;
	size_t size, cap;
	unsigned count;
};
/* Append S (N bytes without NUL). 0 or -ENOMEM. */
int strv_add(struct strv *v, const char *s, size_t n);
void strv_free(struct strv *v);
/* Copy the array at ARRAY (NULL: empty) into V; all strings and pointers together may take up to *BUDGET, which is
 * reduced. 0, -E2BIG, -EFAULT, -ENOMEM. */
int args_from_user(struct strv *v, uaddr_t array, size_t *budget);
int args_from_kernel(struct strv *v, char *const *array, size_t *budget);
/* Bytes that arguments and environment may take: a quarter of the stack limit, 128 KiB to 6 MiB. */
size_t args_budget(uint64_t stack_limit);
/* V's first string is replaced by INTERP, [ARG], PATH: how a script gets its arguments. */
int args_for_script(struct strv *v, const char *interp, const char *arg, const char *path);

/* --- scripts (script.c) -------------------------------------------------------------------------------------- */
#define EXEC_HEAD_SIZE 256
/* Take apart the first 256 bytes of a file (zero-padded) that begins with "#!", in place. *ARG NULL if none. 0 or
 * -ENOEXEC. */
int script_parse(char head[EXEC_HEAD_SIZE], char **interp, char **arg);

/* --- ELF (elf.c) --------------------------------------------------------------------------------------------- */
struct elf_image {
	struct file *file;  /* counted */
	Elf64_Ehdr eh;
	Elf64_Phdr *ph;     /* owned; eh.e_phnum entries */
	uint64_t bias;      /* set by elf_map: added to every address in the file */
	uint64_t phdr_addr; /* where the program headers are mapped; 0 if nowhere */
	uint64_t start_code, end_code, start_data, end_data, end; /* set by elf_map */
};
/* Is the header that of an x86-64 program or shared object? */
bool elf_header_ok(const Elf64_Ehdr *eh);
/* Lowest page and size of what PT_LOAD covers. 0, or -EINVAL when there is none or the sums wrap. */
int elf_span(const Elf64_Phdr *ph, unsigned count, uint64_t *low, uint64_t *size);
/* Largest sane alignment that PT_LOAD asks for; at least a page. */
uint64_t elf_align(const Elf64_Phdr *ph, unsigned count);
/* Read the header and program headers of FILE (reference taken on success); BAD is the error for a malformed one. */
int elf_open(struct elf_image *im, struct file *file, int bad);
void elf_close(struct elf_image *im);
/* Path of the interpreter, allocated; NULL in *PATH if none. 0 or -errno. */
int elf_interp_path(const struct elf_image *im, char **path);
/* Stack protection from PT_GNU_STACK. */
int elf_stack_prot(const struct elf_image *im);
/* Map every PT_LOAD of IM at BIAS. FIRST_FLAGS: how the first is placed (MAP_FIXED or MAP_FIXED_NOREPLACE). */
int elf_map(struct elf_image *im, struct mm *mm, struct plat_thread *t, uint64_t bias, int first_flags);

/* --- the first stack (stack.c) ------------------------------------------------------------------------------- */
struct stack_info {
	const struct strv *args, *env;
	const char *execfn;
	const uint8_t *random;      /* 16 bytes for AT_RANDOM */
	uint64_t top;               /* end of the stack mapping */
	uint64_t shift;             /* random bytes below the strings, a multiple of 16 */
	uint64_t phdr, phnum, base, entry, vdso;
	const struct cred *cred;
	bool secure;
};
struct stack_image {
	char *data;                 /* owned */
	size_t size;
	uint64_t sp;                /* where data belongs: data ends at top */
};
/* Lay the stack out; fills MM's arg_*, env_*, start_stack and auxv. 0 or -ENOMEM. */
int stack_build(const struct stack_info *in, struct mm *mm, struct stack_image *out);
#endif
