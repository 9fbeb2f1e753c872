/* The descriptors of every call, expanded from table.def, and the checks of its numbers against the kernel's. */
#include "syscalls/table.h"
#include <asm/unistd_64.h>
#include <errno.h>

/* --- numbers: those newer than the oldest kernel headers we build with are given by hand ------------------- */
#ifndef __NR_uretprobe
#define __NR_uretprobe 335
#endif
#ifndef __NR_uprobe
#define __NR_uprobe 336
#endif
#ifndef __NR_cachestat
#define __NR_cachestat 451
#endif
#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452
#endif
#ifndef __NR_map_shadow_stack
#define __NR_map_shadow_stack 453
#endif
#ifndef __NR_futex_wake
#define __NR_futex_wake 454
#define __NR_futex_wait 455
#define __NR_futex_requeue 456
#endif
#ifndef __NR_statmount
#define __NR_statmount 457
#define __NR_listmount 458
#endif
#ifndef __NR_lsm_get_self_attr
#define __NR_lsm_get_self_attr 459
#define __NR_lsm_set_self_attr 460
#define __NR_lsm_list_modules 461
#endif
#ifndef __NR_mseal
#define __NR_mseal 462
#endif
#define SAME_NUMBER(nr, name)                                                                      \
	_Static_assert((nr) == __NR_##name, "table.def: wrong number of " #name);                  \
	_Static_assert((nr) < SYSCALL_MAX, "table.def: number beyond the table: " #name);
#define SYS0(nr, name, ...) SAME_NUMBER(nr, name)
#define SYS1 SYS0
#define SYS2 SYS0
#define SYS3 SYS0
#define SYS4 SYS0
#define SYS5 SYS0
#define SYS6 SYS0
#define NOSYS(nr, name, reason) SAME_NUMBER(nr, name)
#include "syscalls/table.def"
#undef SYS0
#undef SYS1
#undef SYS2
#undef SYS3
#undef SYS4
#undef SYS5
#undef SYS6
#undef NOSYS

/* --- thunks: registers to typed arguments ---------------------------------------------------------------- */
#ifdef WARD_WIP
#define CALL(name, ...) return sys_##name ? sys_##name(__VA_ARGS__) : -ENOSYS
#else
#define CALL(name, ...) return sys_##name(__VA_ARGS__)
#endif
#define THUNK(name) static int64_t thunk_##name(const uint64_t a[6])
#define V(n, k) arg_from_reg_##k(a[n])
#define SYS0(nr, name, ...)                                                                        \
	THUNK(name)                                                                                \
	{                                                                                          \
		CALL(name);                                                                        \
	}
#define SYS1(nr, name, s, c, f, k1, n1)                                                            \
	THUNK(name)                                                                                \
	{                                                                                          \
		CALL(name, V(0, k1));                                                              \
	}
#define SYS2(nr, name, s, c, f, k1, n1, k2, n2)                                                    \
	THUNK(name)                                                                                \
	{                                                                                          \
		CALL(name, V(0, k1), V(1, k2));                                                    \
	}
#define SYS3(nr, name, s, c, f, k1, n1, k2, n2, k3, n3)                                            \
	THUNK(name)                                                                                \
	{                                                                                          \
		CALL(name, V(0, k1), V(1, k2), V(2, k3));                                          \
	}
#define SYS4(nr, name, s, c, f, k1, n1, k2, n2, k3, n3, k4, n4)                                    \
	THUNK(name)                                                                                \
	{                                                                                          \
		CALL(name, V(0, k1), V(1, k2), V(2, k3), V(3, k4));                                \
	}
#define SYS5(nr, name, s, c, f, k1, n1, k2, n2, k3, n3, k4, n4, k5, n5)                            \
	THUNK(name)                                                                                \
	{                                                                                          \
		CALL(name, V(0, k1), V(1, k2), V(2, k3), V(3, k4), V(4, k5));                      \
	}
#define SYS6(nr, name, s, c, f, k1, n1, k2, n2, k3, n3, k4, n4, k5, n5, k6, n6)                    \
	THUNK(name)                                                                                \
	{                                                                                          \
		CALL(name, V(0, k1), V(1, k2), V(2, k3), V(3, k4), V(4, k5), V(5, k6));            \
	}
#define NOSYS(nr, name, reason)
#include "syscalls/table.def"
#undef SYS0
#undef SYS1
#undef SYS2
#undef SYS3
#undef SYS4
#undef SYS5
#undef SYS6
#undef NOSYS

/* --- descriptors -------------------------------------------------------------------------------------------- */
#define FULL SUPPORT_FULL
#define PARTIAL(text) SUPPORT_PARTIAL, .note = text
#define HEAD(n, name_, c, f, count, ...)                                                           \
	.nr = n, .name = #name_, .class = CLASS_##c, .flags = SC_##f, .arg_count = count,          \
	.thunk = thunk_##name_, .support = __VA_ARGS__
#define SYS0(nr, name, s, c, f) [nr] = {HEAD(nr, name, c, f, 0, s)},
#define SYS1(nr, name, s, c, f, k1, n1)                                                            \
	[nr] = {.arg_kind = {KIND_##k1}, .arg_name = {#n1}, HEAD(nr, name, c, f, 1, s)},
#define SYS2(nr, name, s, c, f, k1, n1, k2, n2)                                                    \
	[nr] = {.arg_kind = {KIND_##k1, KIND_##k2}, .arg_name = {#n1, #n2},                        \
		HEAD(nr, name, c, f, 2, s)},
#define SYS3(nr, name, s, c, f, k1, n1, k2, n2, k3, n3)                                            \
	[nr] = {.arg_kind = {KIND_##k1, KIND_##k2, KIND_##k3}, .arg_name = {#n1, #n2, #n3},        \
		HEAD(nr, name, c, f, 3, s)},
#define SYS4(nr, name, s, c, f, k1, n1, k2, n2, k3, n3, k4, n4)                                    \
	[nr] = {.arg_kind = {KIND_##k1, KIND_##k2, KIND_##k3, KIND_##k4},                          \
		.arg_name = {#n1, #n2, #n3, #n4}, HEAD(nr, name, c, f, 4, s)},
#define SYS5(nr, name, s, c, f, k1, n1, k2, n2, k3, n3, k4, n4, k5, n5)                            \
	[nr] = {.arg_kind = {KIND_##k1, KIND_##k2, KIND_##k3, KIND_##k4, KIND_##k5},               \
		.arg_name = {#n1, #n2, #n3, #n4, #n5}, HEAD(nr, name, c, f, 5, s)},
#define SYS6(nr, name, s, c, f, k1, n1, k2, n2, k3, n3, k4, n4, k5, n5, k6, n6)                    \
	[nr] = {.arg_kind = {KIND_##k1, KIND_##k2, KIND_##k3, KIND_##k4, KIND_##k5, KIND_##k6},    \
		.arg_name = {#n1, #n2, #n3, #n4, #n5, #n6}, HEAD(nr, name, c, f, 6, s)},
#define NOSYS(n, name_, reason)                                                                    \
	[n] = {.nr = n, .name = #name_, .note = reason, .support = SUPPORT_NONE,                   \
	       .class = CLASS_MISC, .error = -ENOSYS},
#define REFUSE(n, name_, err, reason)                                                              \
	[n] = {.nr = n, .name = #name_, .note = reason, .support = SUPPORT_NONE,                   \
	       .class = CLASS_MISC, .error = -err, .flags = SC_REFUSED},
static const struct syscall_desc table[SYSCALL_MAX] = {
#include "syscalls/table.def"
};

#define REG ARG_REG
#define BUF_IN ARG_BUF_IN
#define BUF_OUT ARG_BUF_OUT
#define FIX_IN ARG_FIX_IN
#define FIX_OUT ARG_FIX_OUT
#define FIX_IO ARG_FIX_IO
#define STR_IN ARG_STR_IN
#define PTR ARG_PTR
#define KIND(n, type, m, s, printer)                                                               \
	[KIND_##n] = {.name = #n, .marshal = m, .size = s, .type_size = sizeof(type),              \
		      .is_signed = _Generic((argtype_##n *)0, int *: true, long *: true, default: false)},
static const struct arg_kind_desc kinds[KIND_COUNT] = {
#include "syscalls/argkinds.def"
};

const struct syscall_desc *syscall_desc(int nr)
{
	if (nr < 0 || nr >= SYSCALL_MAX || !table[nr].name)
		return NULL;
	return &table[nr];
}

const struct syscall_desc *syscall_find(const char *name)
{
	for (int i = 0; i < SYSCALL_MAX; i++)
		if (table[i].name && !strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

const struct arg_kind_desc *arg_kind_desc(unsigned kind)
{
	return &kinds[kind < KIND_COUNT ? kind : 0];
}

const char *syscall_class_name(unsigned class_)
{
	static const char *const name[CLASS_COUNT] = {
	    [CLASS_FILE] = "file",	 [CLASS_DESC] = "desc",	      [CLASS_PROCESS] = "process",
	    [CLASS_SIGNAL] = "signal",	 [CLASS_MEMORY] = "memory",   [CLASS_IPC] = "ipc",
	    [CLASS_NETWORK] = "network", [CLASS_TIME] = "time",	      [CLASS_CRED] = "cred",
	    [CLASS_SCHED] = "sched",	 [CLASS_MISC] = "misc",
	};
	return class_ < CLASS_COUNT ? name[class_] : "?";
}
