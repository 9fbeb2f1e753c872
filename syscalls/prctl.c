/* prctl and arch_prctl: attributes of the process and of the thread. */
#include "syscalls/table.h"
#include "sentry/mm/mm.h"
#include "sentry/platform/platform.h"
#include "sentry/task/task.h"
#include "sentry/base/util.h"
#include <asm/prctl.h>
#include <linux/prctl.h>
#include <linux/securebits.h>

/* Options newer than the headers of the build machine. */
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif
#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_GET_MDWE 66
#endif

/* The platform lets the guest ask its own host thread; this answers where a call site was redirected to us. */
__attribute__((weak)) uint64_t plat_get_fs_base(struct plat_thread *t);

static int64_t set_name(uaddr_t src)
{
	char name[sizeof current->comm] = "";

	/* A name longer than 15 bytes is cut; the copy stops at its NUL. */
	if (copy_in_str(name, src, sizeof name - 1) == -EFAULT)
		return -EFAULT;
	name[sizeof name - 1] = 0;
	memset(current->comm, 0, sizeof current->comm);
	memcpy(current->comm, name, strnlen(name, sizeof name));
	return 0;
}

static int64_t change_bounding(unsigned cap)
{
	struct cred *n;

	if (!capable(CAP_SETPCAP))
		return -EPERM;
	if (cap >= 41)
		return -EINVAL;
	n = cred_dup(current->cred);
	if (!n)
		return -ENOMEM;
	n->cap_bounding &= ~(1ull << cap);
	cred_commit(current, n);
	return 0;
}

static int64_t change_ambient(unsigned long op, unsigned long cap)
{
	const struct cred *c = current->cred;
	struct cred *n;

	if (op == PR_CAP_AMBIENT_CLEAR_ALL ? cap != 0 : cap >= 41)
		return -EINVAL;
	if (op == PR_CAP_AMBIENT_IS_SET)
		return c->cap_ambient >> cap & 1;
	if (op == PR_CAP_AMBIENT_RAISE && (!(c->cap_permitted & c->cap_inheritable & 1ull << cap) ||
					   (c->securebits & SECBIT_NO_CAP_AMBIENT_RAISE)))
		return -EPERM;
	n = cred_dup(c);
	if (!n)
		return -ENOMEM;
	switch (op) {
	case PR_CAP_AMBIENT_RAISE:
		n->cap_ambient |= 1ull << cap;
		break;
	case PR_CAP_AMBIENT_LOWER:
		n->cap_ambient &= ~(1ull << cap);
		break;
	case PR_CAP_AMBIENT_CLEAR_ALL:
		n->cap_ambient = 0;
		break;
	default:
		cred_put(n);
		return -EINVAL;
	}
	cred_commit(current, n);
	return 0;
}

static int64_t set_securebits(unsigned bits)
{
	unsigned old = current->cred->securebits;
	struct cred *n;

	/* Locked bits stay, locks cannot be undone (cap_task_prctl). */
	if (((old & SECURE_ALL_LOCKS) >> 1 & (old ^ bits)) || ((old & SECURE_ALL_LOCKS) & ~bits) ||
	    (bits & ~(SECURE_ALL_LOCKS | SECURE_ALL_BITS)) || !capable(CAP_SETPCAP))
		return -EPERM;
	n = cred_dup(current->cred);
	if (!n)
		return -ENOMEM;
	n->securebits = bits;
	cred_commit(current, n);
	return 0;
}

static int64_t set_keepcaps(unsigned long on)
{
	unsigned old = current->cred->securebits;
	struct cred *n;

	if (on > 1)
		return -EINVAL;
	if (old & SECBIT_KEEP_CAPS_LOCKED)
		return -EPERM;
	n = cred_dup(current->cred);
	if (!n)
		return -ENOMEM;
	n->securebits = on ? old | SECBIT_KEEP_CAPS : old & ~SECBIT_KEEP_CAPS;
	cred_commit(current, n);
	return 0;
}

static int64_t out_int(uaddr_t at, int v)
{
	return copy_out_obj(at, v);
}

int64_t sys_prctl(int option, unsigned long a2, unsigned long a3, unsigned long a4, unsigned long a5)
{
	struct task *t = current;
	bool rest = a3 || a4 || a5;

	switch (option) {
	case PR_SET_NAME:
		return set_name(uaddr(a2));
	case PR_GET_NAME:
		return copy_out(uaddr(a2), t->comm, sizeof t->comm);
	case PR_SET_PDEATHSIG:
		if (a2 > L_NSIG)
			return -EINVAL;
		t->pdeath_signal = (int)a2;
		return 0;
	case PR_GET_PDEATHSIG:
		return out_int(uaddr(a2), t->pdeath_signal);
	case PR_GET_DUMPABLE:
		return t->tg->dumpable;
	case PR_SET_DUMPABLE:
		if (a2 > 1)
			return -EINVAL;
		t->tg->dumpable = a2;
		return 0;
	case PR_SET_NO_NEW_PRIVS:
		if (a2 != 1 || rest)
			return -EINVAL;
		t->no_new_privs = true;
		return 0;
	case PR_GET_NO_NEW_PRIVS:
		return a2 || rest ? -EINVAL : t->no_new_privs;
	case PR_SET_CHILD_SUBREAPER:
		t->tg->is_subreaper = a2 != 0;
		return 0;
	case PR_GET_CHILD_SUBREAPER:
		return out_int(uaddr(a2), t->tg->is_subreaper);
	case PR_SET_KEEPCAPS:
		return set_keepcaps(a2);
	case PR_GET_KEEPCAPS:
		return !!(t->cred->securebits & SECBIT_KEEP_CAPS);
	case PR_SET_SECUREBITS:
		return set_securebits((unsigned)a2);
	case PR_GET_SECUREBITS:
		return t->cred->securebits;
	case PR_CAPBSET_READ:
		return a2 < 41 ? (int64_t)(t->cred->cap_bounding >> a2 & 1) : -EINVAL;
	case PR_CAPBSET_DROP:
		return change_bounding(a2 > 64 ? 64 : (unsigned)a2);
	case PR_CAP_AMBIENT:
		return a4 || a5 ? -EINVAL : change_ambient(a2, a3);
	case PR_SET_TIMERSLACK:
		t->timer_slack = (long)a2 <= 0 ? t->default_slack : a2;
		return 0;
	case PR_GET_TIMERSLACK:
		return (int64_t)t->timer_slack;
	case PR_GET_TIMING:
		return PR_TIMING_STATISTICAL;
	case PR_SET_TIMING:
		return a2 == PR_TIMING_STATISTICAL ? 0 : -EINVAL;
	case PR_GET_TID_ADDRESS:
		return copy_out_obj(uaddr(a2), t->clear_tid.a);
	case PR_GET_THP_DISABLE:
		return a2 || rest ? -EINVAL : 0;
	case PR_SET_VMA:
		/* Names of anonymous memory are advice for /proc/PID/maps only; Linux built without answers EINVAL. */
		return -EINVAL;
	case PR_TASK_PERF_EVENTS_DISABLE:
	case PR_TASK_PERF_EVENTS_ENABLE:
		return -EINVAL;
	case PR_GET_SECCOMP:
	case PR_SET_SECCOMP:
		/* As a kernel without filters. */
		return -EINVAL;
	case PR_GET_TSC:
		return out_int(uaddr(a2), PR_TSC_ENABLE);
	case PR_GET_MDWE:
		return a2 || rest ? -EINVAL : 0;
	case PR_MCE_KILL:
	case PR_MCE_KILL_GET:
		return -EINVAL;
	default:
		return -EINVAL;
	}
}

int64_t sys_arch_prctl(unsigned code, uint64_t addr)
{
	struct task *t = current;
	uint64_t base;

	switch (code) {
	case ARCH_SET_FS:
		/* An address no program may have: as the kernel above TASK_SIZE_MAX. */
		if (addr > 0x7ffffffff000ull)
			return -EPERM;
		return plat_set_fs_base(t->host, addr);
	case ARCH_GET_FS:
		if (!plat_get_fs_base)
			return -EINVAL;
		base = plat_get_fs_base(t->host);
		return copy_out_obj(uaddr(addr), base);
	/* DIFF: the GS base belongs to the platform. */
	case ARCH_SET_GS:
	case ARCH_GET_GS:
		return -EINVAL;
	case ARCH_GET_CPUID:
		return 1;
	case ARCH_SET_CPUID:
		return -ENODEV;
	default:
		return -EINVAL;
	}
}
