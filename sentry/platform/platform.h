/*
 * The platform: how guest code runs and how its calls come back. One address space = one host process (stub);
 * one plat_thread = one host thread in it. All functions are called from fibers of the sentry's one thread;
 * those marked "sleeps" block the calling fiber. Guest-supplied state is validated inside; on a broken invariant
 * the platform kills that host process and every thread of it reports PLAT_DEAD.
 */
#ifndef WARD_PLATFORM_H
#define WARD_PLATFORM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "sentry/base/err.h"

struct fiber;
struct plat_as;
struct plat_thread;

/* User addresses end here; above lie stub text, mailboxes, thread areas and the vDSO. */
#define GUEST_TASK_SIZE 0x7ff000000000ull
#define GUEST_ADDR_MIN 0x10000ull

/* General registers in the order of the kernel's gregset (sigcontext_64): memcpy-able to and from a ucontext. */
struct guest_regs {
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, eflags;
	uint16_t cs, gs, fs, ss;
	uint64_t err, trapno, oldmask, cr2;
};

enum plat_event_kind { PLAT_CALL, PLAT_FAULT, PLAT_KICKED, PLAT_DEAD };

struct plat_event {
	enum plat_event_kind kind;
	int nr;           /* PLAT_CALL: x86-64 number; a call by int 0x80 or x32 has nr -1 */
	uint64_t args[6];
	int signo, code;  /* PLAT_FAULT: as the kernel's siginfo; trapno, err, cr2 stand in the registers */
	uint64_t addr;
};

/* --- boot ------------------------------------------------------------------------------------------------- */
/* Detect features, honour WARD_FEATURES. Fails with a message that names what the kernel lacks. */
int plat_init(struct err *e);
/* Start the zygote and take its listener; call after Landlock is in force. */
int plat_start(struct err *e);
/* Kill everything (idempotent). */
void plat_shutdown(void);
/* vDSO for the guest: address in every guest address space, 0 when there is none. */
uint64_t plat_vdso_addr(void);

/* --- address spaces and threads ----------------------------------------------------------------------------- */
/* A fresh, empty address space with one thread, from the zygote. Sleeps. 0 or -errno (-EAGAIN, -ENOMEM). */
int plat_as_new(struct plat_thread **out);
/* Copy T's address space (T is the calling thread, stopped in a call). The child thread resumes with T's
 * registers, rax = 0, rsp = CHILD_SP unless 0, and FS base = TLS if SET_TLS. Sleeps. */
int plat_fork(struct plat_thread *t, uint64_t child_sp, bool set_tls, uint64_t tls, struct plat_thread **out);
/* One more thread in T's address space (CLONE_VM), same conventions. Sleeps. */
int plat_clone(struct plat_thread *t, uint64_t child_sp, bool set_tls, uint64_t tls, struct plat_thread **out);
/* T's task is done with it: the host thread exits. The last thread of an address space ends the host process. */
void plat_thread_exit(struct plat_thread *t);
/* Kill the whole host process of AS (every thread; plat_threads of it report PLAT_DEAD when run, and must
 * still be handed to plat_thread_exit). */
void plat_as_kill(struct plat_as *as);
struct plat_as *plat_thread_as(struct plat_thread *t);
/* Number of the CPU-time clock of T / its host pid, for accounting only: nanoseconds of CPU of the thread. */
uint64_t plat_thread_cpu_ns(struct plat_thread *t);

/* --- running ------------------------------------------------------------------------------------------------- */
/* Resume T's guest code and sleep until its next event. After PLAT_CALL the result set by plat_set_result (or
 * changed registers) is used at the next plat_run. Must be called on the fiber that owns T. */
void plat_run(struct plat_thread *t, struct plat_event *ev);
void plat_set_result(struct plat_thread *t, int64_t result);
/* The call will block: let the guest thread sleep. Called by wait_on; idempotent within a call. */
void plat_park(struct plat_thread *t);
/* Make a thread that runs guest code report PLAT_KICKED soon; harmless in any other state. */
void plat_kick(struct plat_thread *t);
/* Registers of a stopped thread; after a change call plat_regs_changed. */
struct guest_regs *plat_regs(struct plat_thread *t);
void plat_regs_changed(struct plat_thread *t);
/* FS/GS base of a stopped thread. set: takes effect at resume. */
/* As of its last event; exact where the processor has FSGSBASE, else the last value set by plat_set_fs_base. */
uint64_t plat_get_fs_base(struct plat_thread *t);
int plat_set_fs_base(struct plat_thread *t, uint64_t base);
/* Extended state (fxsave/xsave image as in a signal frame). Returns its size or -errno; SIZE bounds the copy.
 * Layout is the kernel's _fpstate with FP_XSTATE_MAGIC1 and the trailing MAGIC2. plat_fpstate_size: the size on
 * this machine. set: the image is sanitised; NULL resets to the initial state. */
size_t plat_fpstate_size(void);
long plat_get_fpstate(struct plat_thread *t, void *buf, size_t size);
int plat_set_fpstate(struct plat_thread *t, const void *buf, size_t size);

/* --- memory of the guest, executed by thread T stopped in a call. Sleep. 0 or -errno. -------------------------- */
/* ADDR is always fixed and page aligned, below GUEST_TASK_SIZE. HOSTFD -1 = anonymous; its access mode must
 * allow the mapping. FLAGS: MAP_PRIVATE or MAP_SHARED, with MAP_NORESERVE, MAP_GROWSDOWN, MAP_POPULATE allowed. */
int plat_mmap(struct plat_thread *t, uint64_t addr, uint64_t size, int prot, int flags, int hostfd, uint64_t off);
int plat_munmap(struct plat_thread *t, uint64_t addr, uint64_t size);
int plat_mprotect(struct plat_thread *t, uint64_t addr, uint64_t size, int prot);
/* Moves or resizes pages: always MREMAP_MAYMOVE|MREMAP_FIXED when NEW_ADDR differs; DONTUNMAP in flags allowed. */
int plat_mremap(struct plat_thread *t, uint64_t old, uint64_t old_size, uint64_t new_size, int flags,
		uint64_t new_addr);
int plat_madvise(struct plat_thread *t, uint64_t addr, uint64_t size, int advice);

/* Copies between sentry and guest memory through thread T's address space. Return the number of bytes copied
 * (short when a page is missing or forbids it) or -EFAULT when none. Do not sleep on the vmread path. */
long plat_read_mem(struct plat_thread *t, void *dst, uint64_t src, size_t size);
long plat_write_mem(struct plat_thread *t, uint64_t dst, const void *src, size_t size);
/* Atomic compare-and-exchange of an aligned guest word, made by the thread's own host process: *SEEN is the word as it was
 * (exchanged if it equals OLD). T is stopped in a call. 0 or -EFAULT. Sleeps: look everything up again afterwards. */
int plat_cmpxchg32(struct plat_thread *t, uint64_t addr, uint32_t old, uint32_t new, uint32_t *seen);
/* Fast path used by copy_in/copy_out (sentry/mm/uaccess.c): bytes that came or may go with the call's own window.
 * Return true when served. */
bool plat_window_in(struct plat_thread *t, void *dst, uint64_t src, size_t size);
/* A NUL-terminated string that came with the call: copies it with its NUL (at most CAP bytes) and returns its length
 * without NUL; -1 when it did not come with the call (use plat_read_mem). */
long plat_window_str(struct plat_thread *t, char *dst, uint64_t src, size_t cap);
/* What this call has put into the window for [addr, addr+size), which guest memory shows only later (tracing). */
bool plat_window_peek(struct plat_thread *t, void *dst, uint64_t addr, size_t size);
bool plat_window_out(struct plat_thread *t, uint64_t dst, const void *src, size_t size);

/* --- statistics ------------------------------------------------------------------------------------------------- */
struct plat_stats {
	uint64_t calls, by_mailbox, by_doorbell, parks, orders, kicks, faults, forks, clones, spaces, killed;
};
const struct plat_stats *plat_stats(void);
#endif
