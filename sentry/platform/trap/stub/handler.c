/* Host signals in a stub: SIGSYS is a guest's system call, faults are the guest's own, HOST_KICK asks to come in. */
#include "stub.h"

#define IN(x, a, b) ((x) >= (u64)(a) && (x) < (u64)(b))

void stub_on_signal(int sig, struct stub_siginfo *si, struct stub_uc *uc)
{
	u64 rip = uc->gregs[R_RIP];

	if (IN(rip, STUB_BASE, STUB_END)) {
		/* Our own copy hit a bad guest address; anything else in here is a stub led astray by its guest. */
		if (IN(rip, stub_copy_begin, stub_copy_end))
			uc->gregs[R_RIP] = (u64)stub_copy_fixup;
		else if (IN(rip, stub_str_begin, stub_str_end))
			uc->gregs[R_RIP] = (u64)stub_str_fixup;
		else if (IN(rip, stub_xchg_begin, stub_xchg_end))
			uc->gregs[R_RIP] = (u64)stub_xchg_fixup;
		else if (sig != HOST_KICK)
			stub_die(124);
		return;
	}
	u32 slot = addr_slot((u64)uc), kind;
	struct mbox *m = slot_mbox(slot);

	for (int i = 0; i < 23; i++)
		m->regs[i] = uc->gregs[i];
	if (m->features & MBOX_FSGSBASE)
		__asm__ volatile("rdfsbase %0" : "=r"(m->fs_base));
	m->frame = (u64)uc;
	m->fpstate = uc->fpregs;
	if (sig == 31) {
		kind = MB_CALL;
		m->arch_ok = si->arch == 0xc000003e;
		m->nr = (u32)si->nr;
		m->args[0] = uc->gregs[R_RDI];
		m->args[1] = uc->gregs[R_RSI];
		m->args[2] = uc->gregs[R_RDX];
		m->args[3] = uc->gregs[R_R10];
		m->args[4] = uc->gregs[R_R8];
		m->args[5] = uc->gregs[R_R9];
		stub_stage(m);
	} else if (sig == HOST_KICK) {
		kind = MB_KICK;
		m->nstage = 0;
	} else {
		kind = MB_FAULT;
		m->nstage = 0;
		m->signo = sig;
		m->code = si->code;
		m->fault_addr = si->addr;
	}
	stub_serve(m, uc, kind);
}
