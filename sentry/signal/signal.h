/* Signals: numbers, pending sets, handlers, sending, delivery. */
#ifndef WARD_SIGNAL_SIGNAL_H
#define WARD_SIGNAL_SIGNAL_H
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "sentry/base/list.h"
#include "sentry/wait.h"

struct task;
struct tgroup;
struct pgrp;
struct user_count;

#define L_NSIG 64
#define SIGRTMIN_KERNEL 32 /* libc takes the first two away from SIGRTMIN */
#define SIGBIT(n) (1ull << ((n) - 1))

/* The 128-byte siginfo as the guest sees it. */
struct l_siginfo {
	int32_t signo, err, code, pad;
	union {
		struct {
			int32_t pid;
			uint32_t uid;
			union {
				uint64_t value;  /* rt */
				int32_t status;  /* SIGCHLD: then utime, stime follow at 8 */
			};
			int64_t utime_unused, stime_unused;
		} rt;
		struct {
			int32_t pid;
			uint32_t uid;
			int32_t status, pad;
			int64_t utime, stime;
		} chld;
		struct {
			uint64_t addr;
			uint16_t addr_lsb;
		} fault;
		struct {
			int32_t tid, overrun;
			uint64_t value;
			int32_t private_;
		} timer;
		struct {
			int64_t band;
			int32_t fd;
		} poll;
		struct {
			uint64_t call_addr;
			int32_t nr;
			uint32_t arch;
		} sys;
		uint8_t bytes[112];
	};
};
_Static_assert(sizeof(struct l_siginfo) == 128, "siginfo");

struct sigqueue {
	struct list node;
	struct l_siginfo info;
	struct user_count *user; /* counted: who is charged */
	void *timer; /* POSIX timer that owns it, or NULL */
};
struct sigpending {
	uint64_t set;
	struct list queue;
};
struct l_sigaction {       /* the kernel's rt_sigaction layout on x86-64 */
	uint64_t handler, flags, restorer, mask;
};
struct sighand {
	unsigned refs;
	struct l_sigaction action[L_NSIG]; /* index signal - 1 */
	struct waitq signalfd_q;           /* signalfd pollers */
};

/* Codes used by senders. */
#define L_SI_USER 0
#define L_SI_KERNEL 0x80
#define L_SI_QUEUE (-1)
#define L_SI_TIMER (-2)
#define L_SI_TKILL (-6)

/* INFO NULL = SI_KERNEL. 0 or -errno (-EAGAIN: queue limit, for rt signals). No permission check. */
int signal_send_task(struct task *t, int signo, const struct l_siginfo *info);
int signal_send_group(struct tgroup *tg, int signo, const struct l_siginfo *info);
int signal_send_pgrp(struct pgrp *pg, int signo, const struct l_siginfo *info);
/* A synchronous fault of current: delivered even when blocked or ignored (then it kills). */
void signal_force_fault(struct task *t, int signo, const struct l_siginfo *info);
/* May current signal TG (kill(2) rules)? */
bool signal_permitted(struct tgroup *tg, int signo);
/* Is an unblocked, not ignored signal waiting for T? Recomputes t->notify. */
bool signal_pending(struct task *t);
bool signal_fatal_pending(struct task *t);
/* Take the first pending signal in MASK (a set of wanted signals); its number or 0. */
int signal_dequeue(struct task *t, uint64_t mask, struct l_siginfo *info);
/* Before returning to the guest: take the pending signals, stop, set up frames, mark the task as exiting. T is
 * current. IN_CALL: its registers stand at a system call whose result is *RESULT (restart codes included).
 * Returns true when the call is to be run again at once (no handler ran). With a frame, *RESULT is the new rax. */
bool signal_deliver(struct task *t, bool in_call, int64_t *result);
/* Write the frame of SIGNO's handler and point the registers at it: 0 or -EFAULT. (frame.c) */
int signal_frame(struct task *t, int signo, const struct l_sigaction *act, const struct l_siginfo *info,
		 uint64_t saved_mask);
/* rt_sigreturn: the restored rax; forces SIGSEGV on a bad frame. */
int64_t signal_frame_return(struct task *t);
int64_t do_sigaltstack(struct task *t, uint64_t sp, int flags, uint64_t size, uint64_t cur_sp);
bool on_altstack(const struct task *t, uint64_t sp);
/* Is signal N's default action to do nothing / stop / dump core? */
#define SIG_MASK_IGNORE (SIGBIT(SIGCHLD) | SIGBIT(SIGCONT) | SIGBIT(SIGWINCH) | SIGBIT(SIGURG))
#define SIG_MASK_STOP (SIGBIT(SIGSTOP) | SIGBIT(SIGTSTP) | SIGBIT(SIGTTIN) | SIGBIT(SIGTTOU))
#define SIG_MASK_CORE                                                                                         \
	(SIGBIT(SIGQUIT) | SIGBIT(SIGILL) | SIGBIT(SIGTRAP) | SIGBIT(SIGABRT) | SIGBIT(SIGFPE) |              \
	 SIGBIT(SIGSEGV) | SIGBIT(SIGBUS) | SIGBIT(SIGSYS) | SIGBIT(SIGXCPU) | SIGBIT(SIGXFSZ))
#define SIG_MASK_SYNC                                                                                         \
	(SIGBIT(SIGSEGV) | SIGBIT(SIGBUS) | SIGBIT(SIGILL) | SIGBIT(SIGTRAP) | SIGBIT(SIGFPE) | SIGBIT(SIGSYS))
#define SIG_MASK_KERNEL_ONLY (SIGBIT(SIGKILL) | SIGBIT(SIGSTOP))
/* Pure parts, unit tested: queue one signal, take one. */
int sigpending_add(struct sigpending *p, int signo, const struct l_siginfo *info, struct user_count *user,
		   uint64_t limit);
int sigpending_take(struct sigpending *p, uint64_t mask, struct l_siginfo *info);
/* After an action became "ignore": what is pending of it is dropped (do_sigaction). */
void signal_flush_ignored(struct tgroup *tg, int signo);
/* exec: caught signals go back to default; altstack off. */
void signal_exec(struct task *t);
void sigpending_init(struct sigpending *p);
void sigpending_flush(struct sigpending *p, uint64_t mask);
struct sighand *sighand_new(void);
struct sighand *sighand_dup(const struct sighand *h);
void sighand_put(struct sighand *h);
/* Set T's blocked mask (KILL and STOP removed), re-evaluating what is pending. */
void signal_set_mask(struct task *t, uint64_t mask);
#endif
