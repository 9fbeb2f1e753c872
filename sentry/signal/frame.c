/*
 * Signal frames exactly as x86-64 Linux lays them out (arch/x86/kernel/signal_64.c): restorer, ucontext, siginfo
 * below the 64-byte aligned extended state. What comes back through rt_sigreturn is the guest's to forge; it is
 * validated here and the extended state inside the platform.
 */
#include "sentry/signal/signal.h"
#include "sentry/task/task.h"
#include "sentry/platform/platform.h"
#include "sentry/base/util.h"
#include <stdlib.h>
#include <string.h>

struct l_stack_t {
	uint64_t sp;
	int32_t flags, pad;
	uint64_t size;
};
struct l_ucontext {
	uint64_t flags, link;
	struct l_stack_t stack;
	struct guest_regs regs;
	uint64_t fpstate, reserved[8];
	uint64_t sigmask;
};
struct l_rt_sigframe {
	uint64_t restorer;
	struct l_ucontext uc;
	struct l_siginfo info;
};
_Static_assert(sizeof(struct guest_regs) == 184, "gregset");
_Static_assert(offsetof(struct l_ucontext, sigmask) == 296, "ucontext");
_Static_assert(sizeof(struct l_rt_sigframe) == 440, "rt_sigframe");

#define UC_FP_XSTATE 1u
#define UC_SIGCONTEXT_SS 2u
#define UC_STRICT_RESTORE_SS 4u
#define SA_RESTORER_FLAG 0x04000000u
#define RED_ZONE 128
#define USER_CS 0x33
#define USER_SS 0x2b
#define FL_TF 0x100ull
#define FL_DF 0x400ull
#define FL_RF 0x10000ull
#define FL_AC 0x40000ull
/* What a signal return may set: AC OF DF TF SF ZF AF PF CF RF. */
#define FL_FIX (FL_AC | 0x800 | FL_DF | FL_TF | 0x80 | 0x40 | 0x10 | 0x4 | 0x1 | FL_RF)
#define SS_AUTODISARM_FLAG (1u << 31)
#define USER_MAX 0x7fffffffffffull
#define FPSTATE_MAX 16384

static bool within_altstack(const struct task *t, uint64_t sp)
{
	return sp > t->altstack_sp && sp - t->altstack_sp <= t->altstack_size;
}

bool on_altstack(const struct task *t, uint64_t sp)
{
	/* With SS_AUTODISARM the stack is disarmed while a handler runs on it. */
	if ((unsigned)t->altstack_flags & SS_AUTODISARM_FLAG)
		return false;
	return within_altstack(t, sp);
}

static void altstack_reset(struct task *t)
{
	t->altstack_sp = t->altstack_size = 0;
	t->altstack_flags = SS_DISABLE;
}

int64_t do_sigaltstack(struct task *t, uint64_t sp, int flags, uint64_t size, uint64_t cur_sp)
{
	unsigned mode = (unsigned)flags & ~SS_AUTODISARM_FLAG;

	if (on_altstack(t, cur_sp))
		return -EPERM;
	if (mode != SS_DISABLE && mode != SS_ONSTACK && mode != 0)
		return -EINVAL;
	if (mode == SS_DISABLE) {
		size = sp = 0;
	} else if (size < 2048) { /* the kernel's MINSIGSTKSZ */
		return -ENOMEM;
	}
	t->altstack_sp = sp;
	t->altstack_size = size;
	t->altstack_flags = flags;
	return 0;
}

int signal_frame(struct task *t, int signo, const struct l_sigaction *act, const struct l_siginfo *info,
		 uint64_t saved_mask)
{
	struct guest_regs *r = plat_regs(t->host);
	struct l_rt_sigframe f;
	size_t fp_size = plat_fpstate_size();
	uint64_t sp = r->rsp - RED_ZONE, fp_at;
	bool nested = on_altstack(t, r->rsp), entering = false;
	uint8_t *fp;
	int ret;

	if (!(act->flags & SA_RESTORER_FLAG) || fp_size > FPSTATE_MAX)
		return -EFAULT;
	if ((act->flags & SA_ONSTACK) && t->altstack_size && !on_altstack(t, sp)) {
		sp = t->altstack_sp + t->altstack_size;
		entering = true;
	}
	fp_at = ALIGN_DOWN(sp - fp_size, 64);
	sp = ALIGN_DOWN(fp_at - sizeof f, 16) - 8;
	/* An alternate stack too small for the frame: Linux refuses rather than write below it. */
	if ((nested || entering) && !within_altstack(t, sp))
		return -EFAULT;

	memset(&f, 0, sizeof f);
	f.restorer = act->restorer;
	f.uc.flags = UC_FP_XSTATE | UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS;
	f.uc.stack.sp = t->altstack_sp;
	f.uc.stack.flags = t->altstack_flags;
	f.uc.stack.size = t->altstack_size;
	f.uc.regs = *r;
	f.uc.regs.cs = USER_CS;
	f.uc.regs.ss = USER_SS;
	f.uc.regs.gs = f.uc.regs.fs = 0;
	f.uc.regs.oldmask = saved_mask;
	f.uc.fpstate = fp_at;
	f.uc.sigmask = saved_mask;
	if (act->flags & SA_SIGINFO)
		f.info = *info;

	fp = malloc(fp_size);
	if (!fp)
		return -EFAULT;
	ret = plat_get_fpstate(t->host, fp, fp_size) < 0 ? -EFAULT : copy_out(uaddr(fp_at), fp, fp_size);
	free(fp);
	if (ret == 0)
		ret = copy_out(uaddr(sp), &f, sizeof f);
	if (ret)
		return -EFAULT;

	r->rdi = (uint64_t)signo;
	r->rsi = sp + offsetof(struct l_rt_sigframe, info);
	r->rdx = sp + offsetof(struct l_rt_sigframe, uc);
	r->rax = 0;
	r->rip = act->handler;
	r->rsp = sp;
	r->eflags &= ~(FL_DF | FL_RF | FL_TF);
	plat_set_fpstate(t->host, NULL, 0);
	plat_regs_changed(t->host);
	if ((unsigned)t->altstack_flags & SS_AUTODISARM_FLAG)
		altstack_reset(t);
	return 0;
}

static int restore_fpstate(struct task *t, uint64_t at)
{
	size_t size = plat_fpstate_size();
	uint8_t *fp;
	int ret;

	if (!at)
		return plat_set_fpstate(t->host, NULL, 0);
	if (size > FPSTATE_MAX)
		return -EFAULT;
	fp = calloc(1, size);
	if (!fp)
		return -EFAULT;
	/* A short frame (legacy 512 bytes only) is legal: what could be read is judged by the platform. */
	ret = copy_in_some(fp, uaddr(at), size) < 512 ? -EFAULT : plat_set_fpstate(t->host, fp, size);
	free(fp);
	return ret;
}

int64_t signal_frame_return(struct task *t)
{
	struct guest_regs *r = plat_regs(t->host), n;
	struct l_ucontext uc;
	uint64_t frame = r->rsp - 8, flags = r->eflags;
	struct l_siginfo info = {.signo = SIGSEGV, .code = L_SI_KERNEL};

	t->cur_nr = -1; /* the restored rax is no call result: never restarted */
	if (copy_in(&uc, uaddr(frame + offsetof(struct l_rt_sigframe, uc)), sizeof uc))
		goto bad;
	n = uc.regs;
	if (n.rip > USER_MAX)
		goto bad;
	/* DIFF: only the flat 64-bit segments; Linux would also return to 32-bit code. */
	if ((n.cs | 3) != USER_CS || ((uc.flags & UC_STRICT_RESTORE_SS) && (n.ss | 3) != USER_SS))
		goto bad;
	signal_set_mask(t, uc.sigmask);
	if (restore_fpstate(t, uc.fpstate) < 0)
		goto bad;
	n.cs = r->cs;
	n.ss = r->ss;
	n.fs = r->fs;
	n.gs = r->gs;
	n.eflags = (flags & ~FL_FIX) | (n.eflags & FL_FIX);
	n.err = r->err;
	n.trapno = r->trapno;
	n.cr2 = r->cr2;
	*r = n;
	plat_regs_changed(t->host);
	/* Errors are ignored, as in restore_altstack. */
	do_sigaltstack(t, uc.stack.sp, uc.stack.flags, uc.stack.size, r->rsp);
	return (int64_t)r->rax;
bad:
	signal_force_fault(t, SIGSEGV, &info);
	return (int64_t)r->rax;
}
