/*
 * The system-call table as C: prototypes of every handler, made from table.def, and one descriptor per number
 * for dispatch, tracing, statistics and the support matrix. A handler whose signature differs from its row does
 * not compile where this header is included.
 */
#ifndef WARD_SYSCALLS_TABLE_H
#define WARD_SYSCALLS_TABLE_H
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include "sentry/mm/uaccess.h"

#define SYSCALL_MAX 463 /* numbers are below this */

/* Direction and size rule of an argument (argkinds.def). */
enum arg_marshal {
	ARG_REG, ARG_BUF_IN, ARG_BUF_OUT, ARG_FIX_IN, ARG_FIX_OUT, ARG_FIX_IO, ARG_STR_IN, ARG_PTR
};

enum arg_kind {
	KIND_none,
#define KIND(name, type, marshal, size, printer) KIND_##name,
#include "syscalls/argkinds.def"
#undef KIND
	KIND_COUNT
};

/* C type of each kind and its reading from a register: the low bytes, so garbage in the upper half is dropped. */
#define KIND(name, type, marshal, size, printer)                                                   \
	typedef type argtype_##name;                                                               \
	static inline argtype_##name arg_from_reg_##name(uint64_t reg)                             \
	{                                                                                          \
		argtype_##name v;                                                                  \
		memcpy(&v, &reg, sizeof v);                                                        \
		return v;                                                                          \
	}
#include "syscalls/argkinds.def"
#undef KIND

/* While the tree is incomplete, a missing handler is a null address that answers ENOSYS. */
#ifdef WARD_WIP
#define SYSCALL_DECL __attribute__((weak)) int64_t
#else
#define SYSCALL_DECL int64_t
#endif
#define SYS0(nr, name, ...) SYSCALL_DECL sys_##name(void);
#define SYS1(nr, name, s, c, f, k1, n1) SYSCALL_DECL sys_##name(argtype_##k1);
#define SYS2(nr, name, s, c, f, k1, n1, k2, n2) SYSCALL_DECL sys_##name(argtype_##k1, argtype_##k2);
#define SYS3(nr, name, s, c, f, k1, n1, k2, n2, k3, n3)                                            \
	SYSCALL_DECL sys_##name(argtype_##k1, argtype_##k2, argtype_##k3);
#define SYS4(nr, name, s, c, f, k1, n1, k2, n2, k3, n3, k4, n4)                                    \
	SYSCALL_DECL sys_##name(argtype_##k1, argtype_##k2, argtype_##k3, argtype_##k4);
#define SYS5(nr, name, s, c, f, k1, n1, k2, n2, k3, n3, k4, n4, k5, n5)                            \
	SYSCALL_DECL sys_##name(argtype_##k1, argtype_##k2, argtype_##k3, argtype_##k4, argtype_##k5);
#define SYS6(nr, name, s, c, f, k1, n1, k2, n2, k3, n3, k4, n4, k5, n5, k6, n6)                    \
	SYSCALL_DECL sys_##name(argtype_##k1, argtype_##k2, argtype_##k3, argtype_##k4,            \
				argtype_##k5, argtype_##k6);
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

enum syscall_support { SUPPORT_UNUSED, SUPPORT_FULL, SUPPORT_PARTIAL, SUPPORT_NONE };
enum syscall_class {
	CLASS_FILE, CLASS_DESC, CLASS_PROCESS, CLASS_SIGNAL, CLASS_MEMORY, CLASS_IPC, CLASS_NETWORK, CLASS_TIME,
	CLASS_CRED, CLASS_SCHED, CLASS_MISC, CLASS_COUNT
};
/* Behaviour flags of a row. */
#define SC_0 0
#define SC_SLEEPS 1u
#define SC_RET_ADDR 2u
#define SC_NORETURN 4u
#define SC_RAW 8u
#define SC_REFUSED 16u /* SUPPORT_NONE on purpose, not for want of code */

struct syscall_desc {
	const char *name;  /* NULL: the number is unused */
	const char *note;  /* why partial or absent; NULL if full */
	/* Unpacks the registers and calls the handler; NULL when there is none. */
	int64_t (*thunk)(const uint64_t args[6]);
	const char *arg_name[6];
	uint8_t arg_kind[6]; /* enum arg_kind */
	uint16_t nr;
	int16_t error;     /* SUPPORT_NONE: what the call answers, -ENOSYS unless Linux says otherwise */
	uint8_t arg_count, support, class, flags;
};

struct arg_kind_desc {
	const char *name;
	uint16_t size;   /* of the object for FIX_*, cap of the string for STR_IN */
	uint8_t marshal; /* enum arg_marshal */
	uint8_t type_size; /* bytes of the C type */
	bool is_signed;
};

/* NULL when NR is out of range or unused. */
const struct syscall_desc *syscall_desc(int nr);
/* Descriptor of the call NAMEd, or NULL. */
const struct syscall_desc *syscall_find(const char *name);
const struct arg_kind_desc *arg_kind_desc(unsigned kind);
/* "file", "desc", ... */
const char *syscall_class_name(unsigned class_);
#endif
