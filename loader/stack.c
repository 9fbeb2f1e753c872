/*
 * The first stack of a program, laid out as Linux's create_elf_tables: from the top down an empty word, the path,
 * environment and argument strings, a random gap, AT_PLATFORM and AT_RANDOM, then auxv, envp, argv, argc. Built in
 * kernel memory and written by one copy.
 */
#include "loader/loader.h"
#include "sentry/base/util.h"
#include "sentry/mm/mm.h"
#include "sentry/task/cred.h"
#include <cpuid.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

static const char platform[] = "x86_64";

static unsigned fill_auxv(uint64_t *a, const struct stack_info *in, uint64_t platform_addr, uint64_t random_addr,
			  uint64_t execfn_addr)
{
	unsigned n = 0, eax, ebx, ecx, edx = 0;

	__get_cpuid(1, &eax, &ebx, &ecx, &edx);
#define PUT(tag, value) (a[n++] = (tag), a[n++] = (value))
	if (in->vdso)
		PUT(AT_SYSINFO_EHDR, in->vdso);
	PUT(AT_MINSIGSTKSZ, getauxval(AT_MINSIGSTKSZ) ? getauxval(AT_MINSIGSTKSZ) : 3632);
	PUT(AT_HWCAP, edx);
	PUT(AT_PAGESZ, GUEST_PAGE_SIZE);
	PUT(AT_CLKTCK, 100);
	PUT(AT_PHDR, in->phdr);
	PUT(AT_PHENT, sizeof(Elf64_Phdr));
	PUT(AT_PHNUM, in->phnum);
	PUT(AT_BASE, in->base);
	PUT(AT_FLAGS, 0);
	PUT(AT_ENTRY, in->entry);
	PUT(AT_UID, in->cred->uid);
	PUT(AT_EUID, in->cred->euid);
	PUT(AT_GID, in->cred->gid);
	PUT(AT_EGID, in->cred->egid);
	PUT(AT_SECURE, in->secure);
	PUT(AT_RANDOM, random_addr);
	PUT(AT_HWCAP2, getauxval(AT_HWCAP2));
	PUT(AT_EXECFN, execfn_addr);
	PUT(AT_PLATFORM, platform_addr);
	PUT(AT_NULL, 0);
#undef PUT
	return n;
}

/* Addresses of V's strings, which start at ADDR. */
static uint64_t *put_pointers(uint64_t *out, const struct strv *v, uint64_t addr)
{
	const char *p = v->data;

	for (unsigned i = 0; i < v->count; i++) {
		*out++ = addr + (uint64_t)(p - v->data);
		p += strlen(p) + 1;
	}
	*out++ = 0;
	return out;
}

int stack_build(const struct stack_info *in, struct mm *mm, struct stack_image *out)
{
	uint64_t execfn, env, args, plat, rnd, auxv[64] = {0}, *w;
	size_t fn_size = strlen(in->execfn) + 1;
	unsigned n;

	execfn = in->top - 8 - fn_size;
	env = execfn - in->env->size;
	args = env - in->args->size;
	plat = ((args - in->shift) & ~15ull) - sizeof platform;
	rnd = (plat - 16) & ~15ull;
	n = fill_auxv(auxv, in, plat, rnd, execfn);
	_Static_assert(sizeof auxv == sizeof mm->auxv, "auxv");
	out->sp = (rnd - 8ull * (n + in->env->count + 1 + in->args->count + 1 + 1)) & ~15ull;
	out->size = in->top - out->sp;
	out->data = calloc(1, out->size);
	if (!out->data)
		return -ENOMEM;
#define AT(addr) (out->data + ((addr) - out->sp))
	memcpy(AT(execfn), in->execfn, fn_size);
	if (in->env->size)
		memcpy(AT(env), in->env->data, in->env->size);
	if (in->args->size)
		memcpy(AT(args), in->args->data, in->args->size);
	memcpy(AT(plat), platform, sizeof platform);
	memcpy(AT(rnd), in->random, 16);
#undef AT
	w = (uint64_t *)out->data;
	*w++ = in->args->count;
	w = put_pointers(w, in->args, args);
	w = put_pointers(w, in->env, env);
	memcpy(w, auxv, n * sizeof *auxv);

	memcpy(mm->auxv, auxv, sizeof mm->auxv);
	mm->start_stack = out->sp;
	mm->arg_start = args;
	mm->arg_end = mm->env_start = env;
	mm->env_end = execfn;
	return 0;
}
