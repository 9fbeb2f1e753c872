/* Inside the stub: raw calls, the frame the kernel builds, and what the parts offer each other. */
#ifndef WARD_STUB_H
#define WARD_STUB_H
#include "sentry/platform/trap/layout.h"
#include <stddef.h>

typedef uint64_t u64;
typedef int64_t s64;
typedef uint32_t u32;

struct stub_stack_t {
	u64 sp;
	int flags, pad;
	u64 size;
};
struct stub_uc {
	u64 flags, link;
	struct stub_stack_t stack;
	u64 gregs[23];
	u64 fpregs;
	u64 reserved[8];
	u64 sigmask;
};
/* Indices in gregs */
enum { R_R8, R_R9, R_R10, R_R11, R_R12, R_R13, R_R14, R_R15, R_RDI, R_RSI, R_RBP, R_RBX, R_RDX, R_RAX, R_RCX,
       R_RSP, R_RIP, R_EFL, R_CSGSFS, R_ERR, R_TRAPNO, R_OLDMASK, R_CR2 };
struct stub_siginfo {
	int signo, err, code, pad;
	u64 addr; /* faults: si_addr; SIGSYS: call address */
	int nr;
	u32 arch;
};

static inline s64 raw6(u64 nr, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)
{
	register u64 r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	s64 ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

/* entry.S */
extern char stub_restorer[], stub_copy_begin[], stub_copy_end[], stub_copy_fixup[], stub_str_begin[],
    stub_str_end[], stub_str_fixup[], stub_xchg_begin[], stub_xchg_end[], stub_xchg_fixup[];
u64 stub_cmpxchg(void *word, u32 old, u32 new);
long stub_copy(void *dst, const void *src, size_t n);
long stub_copy_str(char *dst, const char *src, size_t n);
long stub_clone(u64 flags, u64 sp, u64 tls, u64 cookie, void (*fn)(void *), void *arg);
long stub_helper(u64 sp, void *cleartid, void (*fn)(void *));
void stub_enter_guest(void *uc) __attribute__((noreturn));
void stub_switch_stack(u64 sp, void (*fn)(void *), void *arg) __attribute__((noreturn));

/* serve.c */
void stub_serve(struct mbox *m, struct stub_uc *uc, u32 kind);
void stub_first_wait(struct mbox *m, struct stub_uc *uc);
/* handler.c */
void stub_on_signal(int sig, struct stub_siginfo *si, struct stub_uc *uc);
/* marshal.c */
void stub_stage(struct mbox *m);

static inline u64 slot_area(u32 slot)
{
	return AREA_BASE + slot * AREA_SIZE;
}
static inline struct mbox *slot_mbox(u32 slot)
{
	return (struct mbox *)(MBOX_BASE + slot * MBOX_SIZE);
}
static inline u32 addr_slot(u64 sp)
{
	return (u32)((sp - AREA_BASE) / AREA_SIZE);
}
static inline __attribute__((noreturn)) void stub_die(int code)
{
	for (;;)
		raw6(231, (u64)code, 0, 0, 0, 0, COOKIE_OWN);
}
#endif
