/*
 * execve, from the path to the first instruction. Everything that can be refused is found out first: file, script
 * chain, ELF headers, interpreter, argument strings. Then comes the point of no return (the other threads are
 * gone): a new host process, the mappings, the stack. A failure after it kills, as on Linux. The old address space
 * is left only when the new one stands.
 */
#include "loader/loader.h"
#include "sentry/base/host.h"
#include "sentry/base/log.h"
#include "sentry/base/util.h"
#include "sentry/mm/mm.h"
#include "sentry/platform/platform.h"
#include "sentry/task/task.h"
#include "fs/vfs.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/mman.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/resource.h>

/* Robust futexes and clear_tid of the memory that T leaves (sentry/futex). */
__attribute__((weak)) void futex_exit(struct task *t);

#define SCRIPT_DEPTH 5
#define MAX_STACK (64ull << 20)
#define DYN_BASE (GUEST_TASK_SIZE / 3 * 2)

struct exec {
	struct file *file;        /* counted: the program itself after scripts; writers are held off */
	char *filename;           /* owned: as the caller named it, AT_EXECFN */
	char comm[16];
	bool path_inaccessible;   /* /dev/fd/N of a close-on-exec descriptor: a script could not open it */
	struct strv args, env;
	size_t budget;
	struct elf_image prog, interp; /* interp.file NULL: none */
	struct cred *cred;        /* counted */
	bool secure;
	struct {
		uint64_t mmap, stack, dyn, brk, shift;
		uint8_t bytes[16];
	} rnd;
};

static void drop_file(struct file **f)
{
	if (!*f)
		return;
	inode_allow_write((*f)->inode);
	file_put(*f);
	*f = NULL;
}

static void exec_fini(struct exec *x)
{
	drop_file(&x->file);
	free(x->filename);
	strv_free(&x->args);
	strv_free(&x->env);
	elf_close(&x->prog);
	elf_close(&x->interp);
	if (x->cred)
		cred_put(x->cred);
}

static int open_program(int dirfd, const char *path, unsigned lookup, struct file **out)
{
	struct path p;
	int r = path_lookup(dirfd, path, lookup, &p);

	if (r < 0)
		return r;
	r = file_open_exec(&p, out);
	path_put(&p);
	if (r < 0)
		return r;
	r = inode_deny_write((*out)->inode);
	if (r < 0) {
		file_put(*out);
		*out = NULL;
	}
	return r;
}

/* Follow "#!" lines until x->file is no script. */
static int resolve_scripts(struct exec *x)
{
	char head[EXEC_HEAD_SIZE], *interp, *arg, *path;
	struct file *next;
	long n;
	int r;

	path = strdup(x->filename);
	for (unsigned depth = 0; path; depth++) {
		memset(head, 0, sizeof head);
		n = file_read_kernel(x->file, head, sizeof head, 0);
		r = n < 0 ? (int)n : 0;
		if (r < 0 || head[0] != '#' || head[1] != '!')
			goto out;
		r = depth >= SCRIPT_DEPTH ? -ELOOP : script_parse(head, &interp, &arg);
		if (r == 0 && x->path_inaccessible)
			r = -ENOENT;
		if (r == 0)
			r = args_for_script(&x->args, interp, arg, path);
		if (r == 0)
			r = open_program(AT_FDCWD, interp, LOOKUP_FOLLOW, &next);
		if (r < 0)
			goto out;
		drop_file(&x->file);
		x->file = next;
		x->path_inaccessible = false;
		free(path);
		path = strdup(interp);
	}
	return -ENOMEM;
out:
	free(path);
	return r;
}

static int open_interp(struct exec *x)
{
	struct file *f;
	char *path;
	int r = elf_interp_path(&x->prog, &path);

	if (r < 0 || !path)
		return r;
	r = open_program(AT_FDCWD, path, LOOKUP_FOLLOW, &f);
	free(path);
	if (r < 0)
		return r;
	r = elf_open(&x->interp, f, -ELIBBAD);
	drop_file(&f);
	return r;
}

static uint64_t stack_limit(void)
{
	return current->tg->rlim[RLIMIT_STACK].cur;
}

/* DIFF: file capabilities (security.capability) give nothing yet. */
static int prepare_cred(struct exec *x)
{
	const struct inode *i = x->file->inode;
	const struct mount *m = x->file->path.mnt;

	x->cred = cred_for_exec(current, i->mode, i->uid, i->gid, m && (m->flags & MS_NOSUID), &x->secure);
	return x->cred ? 0 : -ENOMEM;
}

/* Everything that may still fail without harm. x->filename, x->file and the strings are set. */
static int prepare(struct exec *x)
{
	int r;

	if (!x->args.count) {
		/* Linux gives programs an empty argv[0] rather than none. */
		r = strv_add(&x->args, "", 0);
		if (r < 0)
			return r;
	}
	r = resolve_scripts(x);
	if (r == 0)
		r = prepare_cred(x);
	if (r == 0)
		r = elf_open(&x->prog, x->file, -ENOEXEC);
	if (r == 0)
		r = open_interp(x);
	if (r < 0)
		return r;
	if (host_getrandom(&x->rnd, sizeof x->rnd) != sizeof x->rnd)
		return -EAGAIN;
	if (current->personality & ADDR_NO_RANDOMIZE)
		x->rnd.mmap = x->rnd.stack = x->rnd.dyn = x->rnd.brk = x->rnd.shift = 0;
	return 0;
}

/* --- the new address space ----------------------------------------------------------------------------------- */

static void place_areas(struct exec *x, struct mm *mm, uint64_t *stack_top)
{
	uint64_t lim = stack_limit(), gap = MAX(MIN(lim, GUEST_TASK_SIZE / 6 * 5), 128ull << 20);

	/* As Linux: 22 bits for the stack, 28 for mappings, in pages. */
	*stack_top = GUEST_TASK_SIZE - GUEST_PAGE_SIZE - ((x->rnd.stack & 0x3fffff) << 12);
	if (lim == L_RLIM_INFINITY)
		gap = 128ull << 20;
	gap += (0x3fffffull << 12) + (256ull << 12) + MAX_STACK;
	mm->mmap_base = PAGE_DOWN(GUEST_TASK_SIZE - gap - ((x->rnd.mmap & 0xfffffff) << 12));
}

static int map_program(struct exec *x, struct mm *mm, struct plat_thread *host)
{
	struct elf_image *im = &x->prog;
	uint64_t low, size, bias = 0, align;
	int r = elf_span(im->ph, im->eh.e_phnum, &low, &size);

	if (r < 0)
		return r;
	if (im->eh.e_type == ET_DYN) {
		align = elf_align(im->ph, im->eh.e_phnum);
		bias = ALIGN_DOWN(DYN_BASE + ((x->rnd.dyn & 0xfffffff) << 12), align) - low;
	}
	r = elf_map(im, mm, host, bias, MAP_FIXED_NOREPLACE);
	if (r < 0)
		return r;
	mm->start_code = im->start_code;
	mm->end_code = im->end_code;
	mm->start_data = im->start_data;
	mm->end_data = im->end_data;
	mm->brk = mm->brk_start = PAGE_UP(im->end) + (PAGE_DOWN(x->rnd.brk) & ((im->bias ? 1ull << 30 : 32ull << 20) - 1));
	return 0;
}

static int map_interp(struct exec *x, struct mm *mm, struct plat_thread *host, uint64_t *entry)
{
	struct elf_image *im = &x->interp;
	uint64_t low, size, at;
	int r;

	*entry = x->prog.eh.e_entry + x->prog.bias;
	if (!im->file)
		return *entry >= GUEST_TASK_SIZE ? -EINVAL : 0;
	r = elf_span(im->ph, im->eh.e_phnum, &low, &size);
	if (r < 0)
		return r;
	if (im->eh.e_type == ET_EXEC) {
		r = elf_map(im, mm, host, 0, MAP_FIXED_NOREPLACE);
	} else {
		at = mm_find_gap(mm, size, elf_align(im->ph, im->eh.e_phnum));
		r = at ? elf_map(im, mm, host, at - low, MAP_FIXED_NOREPLACE) : -ENOMEM;
	}
	if (r < 0)
		return r;
	*entry = im->eh.e_entry + im->bias;
	return *entry >= GUEST_TASK_SIZE ? -EINVAL : 0;
}

static int make_stack(struct exec *x, struct mm *mm, struct plat_thread *host, uint64_t top, uint64_t *sp)
{
	uint64_t need = x->args.size + x->env.size + 8ull * (x->args.count + x->env.count) + (128 << 10), size;
	struct stack_image im = {0};
	struct stack_info in = {
		.args = &x->args,
		.env = &x->env,
		.execfn = x->filename,
		.random = x->rnd.bytes,
		.top = top,
		.shift = x->rnd.shift & 0x1ff0,
		.phdr = x->prog.phdr_addr,
		.phnum = x->prog.eh.e_phnum,
		.base = x->interp.file ? x->interp.bias : 0,
		.entry = x->prog.eh.e_entry + x->prog.bias,
		.vdso = plat_vdso_addr(),
		.cred = x->cred,
		.secure = x->secure,
	};
	int r;

	/* DIFF: the stack is mapped whole and does not grow; an unlimited one has 64 MiB. */
	size = PAGE_UP(MAX(MIN(stack_limit(), MAX_STACK), need));
	r = mm_map_anon(mm, host, top - size, size, elf_stack_prot(&x->prog),
			MAP_PRIVATE | MAP_NORESERVE | MAP_GROWSDOWN, "[stack]");
	if (r == 0)
		r = stack_build(&in, mm, &im);
	if (r < 0)
		return r;
	if (plat_write_mem(host, im.sp, im.data, im.size) != (long)im.size)
		r = -EFAULT;
	*sp = im.sp;
	free(im.data);
	return r;
}

static int build(struct exec *x, struct mm *mm, struct plat_thread *host)
{
	uint64_t top, entry, sp;
	struct guest_regs *regs;
	int r;

	place_areas(x, mm, &top);
	r = map_program(x, mm, host);
	if (r == 0)
		r = map_interp(x, mm, host, &entry);
	if (r == 0)
		r = make_stack(x, mm, host, top, &sp);
	if (r == 0)
		r = mm_set_exe(mm, x->file);
	if (r < 0)
		return r;
	regs = plat_regs(host);
	memset(regs, 0, sizeof *regs);
	regs->rip = entry;
	regs->rsp = sp;
	regs->eflags = 0x202;
	regs->cs = 0x33;
	regs->ss = 0x2b;
	plat_regs_changed(host);
	plat_set_fs_base(host, 0);
	plat_set_fpstate(host, NULL, 0);
	return 0;
}

/* Current leaves its old memory for MM and HOST. */
static void switch_memory(struct mm *mm, struct plat_thread *host)
{
	struct plat_thread *old_host = current->host;
	struct mm *old = current->mm;

	if (futex_exit)
		futex_exit(current);
	current->host = host;
	current->mm = mm;
	mm->users = 1;
	mm->as = plat_thread_as(host);
	if (old_host) {
		current->tg->utime_ns += plat_thread_cpu_ns(old_host);
		plat_thread_exit(old_host);
	}
	if (old) {
		old->users--;
		mm_put(old);
	}
}

static int unshare_files(void)
{
	struct fdtable *n;

	if (current->files->refs == 1)
		return 0;
	n = fdtable_dup(current->files);
	if (!n)
		return -ENOMEM;
	fdtable_put(current->files);
	current->files = n;
	return 0;
}

static int commit(struct exec *x)
{
	bool fresh = current->host && current->mm && list_empty(&current->mm->vmas);
	struct plat_thread *host = current->host;
	struct mm *mm = current->mm;
	int r = unshare_files();

	if (r == 0)
		r = task_dethread();
	if (r < 0)
		return r;
	if (!fresh) {
		host = NULL;
		mm = mm_new();
		r = mm ? plat_as_new(&host) : -ENOMEM;
	}
	if (r == 0)
		r = build(x, mm, host);
	if (r < 0) {
		log_debug("execve %s: %d past the point of no return", x->filename, r);
		if (!fresh) {
			if (host)
				plat_thread_exit(host);
			mm_put(mm);
			tgroup_exit(current->tg, SIGSEGV);
		}
		return r;
	}
	if (!fresh)
		switch_memory(mm, host);
	fdtable_close_on_exec(current->files);
	if (x->secure)
		current->pdeath_signal = 0;
	cred_commit(current, x->cred);
	x->cred = NULL;
	task_exec_done(x->comm);
	if (x->secure)
		current->tg->dumpable = false;
	return 0;
}

/* --- entries -------------------------------------------------------------------------------------------------- */

static void set_comm(struct exec *x, const char *path)
{
	const char *slash = strrchr(path, '/');

	snprintf(x->comm, sizeof x->comm, "%.15s", slash ? slash + 1 : path);
}

/* The name that AT_EXECFN and a script's argument give to what PATH means from DIRFD. */
static int name_program(struct exec *x, int dirfd, const char *path)
{
	char buf[4096 + 32];

	if (dirfd == AT_FDCWD || path[0] == '/')
		snprintf(buf, sizeof buf, "%s", path);
	else if (!*path)
		snprintf(buf, sizeof buf, "/dev/fd/%d", dirfd);
	else
		snprintf(buf, sizeof buf, "/dev/fd/%d/%s", dirfd, path);
	x->filename = strdup(buf);
	if (!x->filename)
		return -ENOMEM;
	set_comm(x, *path ? path : x->file->path.dentry->name ? x->file->path.dentry->name : buf);
	if (dirfd != AT_FDCWD && path[0] != '/' && dirfd >= 0 && (unsigned)dirfd < current->files->cap)
		x->path_inaccessible = current->files->cloexec[dirfd / 64] >> (dirfd % 64) & 1;
	return 0;
}

static int exec_start(struct exec *x, int dirfd, const char *path, int flags)
{
	unsigned lookup = flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW;
	int r;

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if (flags & AT_EMPTY_PATH)
		lookup |= LOOKUP_EMPTY;
	x->budget = args_budget(stack_limit());
	r = open_program(dirfd, path, lookup, &x->file);
	return r < 0 ? r : name_program(x, dirfd, path);
}

/* The arguments are in, unless R says otherwise: load, and let go of X. */
static int exec_finish(struct exec *x, int r)
{
	if (r == 0)
		r = prepare(x);
	if (r == 0)
		r = commit(x);
	exec_fini(x);
	free(x);
	return r;
}

int do_execve_file(int dirfd, const char *path, uaddr_t argv, uaddr_t envp, int flags)
{
	struct exec *x = calloc(1, sizeof *x);
	int r;

	if (!x)
		return -ENOMEM;
	r = exec_start(x, dirfd, path, flags);
	if (r == 0)
		r = args_from_user(&x->args, argv, &x->budget);
	if (r == 0)
		r = args_from_user(&x->env, envp, &x->budget);
	return exec_finish(x, r);
}

int do_execve_kernel(const char *path, char *const *argv, char *const *envp)
{
	struct exec *x = calloc(1, sizeof *x);
	int r;

	if (!x)
		return -ENOMEM;
	r = exec_start(x, AT_FDCWD, path, 0);
	if (r == 0)
		r = args_from_kernel(&x->args, argv, &x->budget);
	if (r == 0)
		r = args_from_kernel(&x->env, envp, &x->budget);
	return exec_finish(x, r);
}
