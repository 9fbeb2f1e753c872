/*
 * One printer per kind of argument (argkinds.def). Arguments in guest memory are read when the printer runs: at entry
 * for what the call reads, at return for what it writes. A pointer that cannot be read prints as its address.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "sentry/abi/misc.h"
#include "sentry/abi/time.h"
#include "sentry/base/util.h"
#include "sentry/platform/platform.h"
#include "sentry/task/task.h"
#include "sentry/trace/out.h"
#include "syscalls/table.h"

#define SHOWN_BYTES 32   /* of buffers */
#define SHOWN_PATH 512   /* of strings */
#define SHOWN_ITEMS 32   /* of argument vectors, poll sets */

/* --- reading guest memory ------------------------------------------------------------------------------------- */
static bool peek(void *dst, uint64_t addr, size_t size)
{
	if (!addr || !current->host || !current->mm)
		return false;
	return plat_window_peek(current->host, dst, addr, size) || copy_in(dst, uaddr(addr), size) == 0;
}
/* What stands at ADDR when the call was entered: never what the call itself has written. */
static bool peek_in(const struct trace_arg *a, void *dst, size_t size)
{
	if (!a->v || !current->host || !current->mm)
		return false;
	return a->at_exit ? peek(dst, a->v, size) : copy_in(dst, uaddr(a->v), size) == 0;
}
static void out_addr(struct trace_out *o, uint64_t v)
{
	if (v)
		out_fmt(o, "%#lx", v);
	else
		out_str(o, "NULL");
}
/* Has the call written its output? On failure strace shows the address. */
static bool written(const struct trace_arg *a)
{
	return !(a->result < 0 && a->result >= -4095);
}

static void out_guest_string(struct trace_out *o, uint64_t addr)
{
	char text[SHOWN_PATH + 1];
	size_t n = 0;

	/* Bytes up to the end of each page: the string may end just before memory that is not there. */
	while (addr && n < sizeof text) {
		size_t step = MIN(sizeof text - n, (size_t)(PAGE_DOWN(addr + n) + GUEST_PAGE_SIZE - (addr + n)));
		long got = copy_in_some(text + n, uaddr(addr + n), step);
		const char *end = got > 0 ? memchr(text + n, 0, (size_t)got) : NULL;

		if (end) {
			out_quoted(o, text, (size_t)(end - text));
			return;
		}
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	if (n <= SHOWN_PATH) {
		out_addr(o, addr);
		return;
	}
	out_quoted(o, text, SHOWN_PATH);
	out_str(o, "...");
}

static void out_guest_bytes(struct trace_out *o, uint64_t addr, uint64_t size)
{
	char bytes[SHOWN_BYTES] = {0};
	size_t n = MIN(size, sizeof bytes);

	if (n && !peek(bytes, addr, n)) {
		out_addr(o, addr);
		return;
	}
	out_quoted(o, bytes, n);
	if (size > n)
		out_str(o, "...");
}

/* --- numbers ------------------------------------------------------------------------------------------------------- */
#define PRINTER(name) static void print_##name(struct trace_out *o, const struct trace_arg *a)
PRINTER(dec)
{
	out_fmt(o, "%ld", (long)a->v);
}
PRINTER(udec)
{
	out_fmt(o, "%lu", a->v);
}
PRINTER(hex)
{
	out_fmt(o, a->v ? "%#lx" : "0", a->v);
}
PRINTER(oct)
{
	out_fmt(o, a->v ? "0%lo" : "000", a->v);
}
PRINTER(addr)
{
	out_addr(o, a->v);
}
PRINTER(fd)
{
	out_fmt(o, "%d", (int)a->v);
}
PRINTER(dirfd)
{
	if ((int)a->v == AT_FDCWD)
		out_str(o, "AT_FDCWD");
	else
		out_fmt(o, "%d", (int)a->v);
}
PRINTER(signo)
{
	out_signal(o, (int)a->v);
}

/* --- constants and flags ---------------------------------------------------------------------------------------------- */
#define CONST_PRINTER(printer, table)                                                              \
	PRINTER(printer)                                                                           \
	{                                                                                          \
		out_const(o, table, a->v);                                                         \
	}
#define FLAG_PRINTER(printer, table, zero)                                                         \
	PRINTER(printer)                                                                           \
	{                                                                                          \
		out_flags(o, table, (uint32_t)a->v, zero);                                         \
	}
CONST_PRINTER(whence, names_whence)
CONST_PRINTER(ioctl_cmd, names_ioctl)
CONST_PRINTER(fcntl_cmd, names_fcntl)
CONST_PRINTER(epoll_op, names_epoll_op)
CONST_PRINTER(itimer_which, names_itimer)
CONST_PRINTER(madvice, names_madvice)
CONST_PRINTER(prctl_op, names_prctl)
CONST_PRINTER(rlimit_res, names_rlimit)
CONST_PRINTER(sig_how, names_sig_how)
CONST_PRINTER(sock_family, names_family)
FLAG_PRINTER(at_flags, names_at_flags, NULL)
FLAG_PRINTER(prot, names_prot, "PROT_NONE")
FLAG_PRINTER(access_mode, names_access, "F_OK")
FLAG_PRINTER(efd_flags, names_efd, NULL)
FLAG_PRINTER(fd_flags, names_fd_flags, NULL)
FLAG_PRINTER(memfd_flags, names_memfd, NULL)
FLAG_PRINTER(flock_op, names_flock, NULL)
FLAG_PRINTER(mremap_flags, names_mremap, NULL)
FLAG_PRINTER(msync_flags, names_msync, NULL)
FLAG_PRINTER(rename_flags, names_rename, NULL)
FLAG_PRINTER(unlink_flags, names_unlink, NULL)
FLAG_PRINTER(wait_flags, names_wait, NULL)
PRINTER(map_flags)
{
	out_flags(o, names_map, (uint32_t)a->v, "MAP_FILE");
}
PRINTER(open_flags)
{
	out_open_flags(o, (unsigned)a->v);
}
static void out_clone_flags(struct trace_out *o, uint64_t flags, uint64_t signal)
{
	if (flags)
		out_flags(o, names_clone, flags, NULL);
	if (signal || !flags) {
		out_str(o, flags ? "|" : "");
		out_signal(o, (int)signal);
	}
}
PRINTER(clone_flags)
{
	out_clone_flags(o, a->v & ~0xfful, a->v & 0xff);
}
PRINTER(clone_args)
{
	uint64_t c[8]; /* flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls */

	if (!peek_in(a, c, sizeof c)) {
		out_addr(o, a->v);
		return;
	}
	out_str(o, "{flags=");
	out_flags(o, names_clone, c[0], NULL);
	out_str(o, ", exit_signal=");
	out_signal(o, (int)c[4]);
	out_fmt(o, ", stack=%#lx, stack_size=%#lx}", c[5], c[6]);
}
PRINTER(clockid)
{
	if ((int)a->v >= 0)
		out_const(o, names_clock, a->v);
	else
		out_fmt(o, "%d", (int)a->v);
}
PRINTER(futex_op)
{
	unsigned op = (unsigned)a->v;

	out_const(o, names_futex, op & 127);
	if (op & FUTEX_PRIVATE_FLAG)
		out_str(o, "_PRIVATE");
	if (op & FUTEX_CLOCK_REALTIME)
		out_str(o, "|FUTEX_CLOCK_REALTIME");
}
/* Of futex's last three arguments only those the operation has are decoded; the others are not looked at. */
static unsigned futex_cmd(const struct trace_arg *a)
{
	return (unsigned)a->args[1] & FUTEX_CMD_MASK;
}
static bool futex_has_second_word(unsigned cmd)
{
	return cmd == FUTEX_REQUEUE || cmd == FUTEX_CMP_REQUEUE || cmd == FUTEX_WAKE_OP ||
	       cmd == FUTEX_CMP_REQUEUE_PI || cmd == FUTEX_WAIT_REQUEUE_PI;
}
PRINTER(futex_timeout)
{
	unsigned cmd = futex_cmd(a);
	struct l_timespec t;

	if (cmd == FUTEX_REQUEUE || cmd == FUTEX_CMP_REQUEUE || cmd == FUTEX_WAKE_OP)
		out_fmt(o, "%d", (int)a->v);
	else if ((cmd == FUTEX_WAIT || cmd == FUTEX_WAIT_BITSET || cmd == FUTEX_LOCK_PI) &&
		 peek_in(a, &t, sizeof t))
		out_fmt(o, "{tv_sec=%ld, tv_nsec=%ld}", t.sec, t.nsec);
	else
		out_addr(o, a->v);
}
PRINTER(futex_addr2)
{
	out_addr(o, futex_has_second_word(futex_cmd(a)) ? a->v : 0);
}
PRINTER(futex_val3)
{
	unsigned cmd = futex_cmd(a);

	if (cmd == FUTEX_WAIT_BITSET || cmd == FUTEX_WAKE_BITSET || futex_has_second_word(cmd))
		out_fmt(o, "%#x", (unsigned)a->v);
	else
		out_str(o, "0");
}
PRINTER(sock_type)
{
	out_const(o, names_sock_type, a->v & 15);
	if ((unsigned)a->v & ~15u) {
		out_str(o, "|");
		out_flags(o, names_sock_flags, (unsigned)a->v & ~15u, NULL);
	}
}

/* --- strings and buffers ------------------------------------------------------------------------------------------------ */
PRINTER(path)
{
	out_guest_string(o, a->v);
}
PRINTER(in_buf)
{
	uint64_t size = a->i < 5 ? a->args[a->i + 1] : 0;

	if (a->i < 5 && arg_kind_desc(a->d->arg_kind[a->i + 1])->type_size == 4)
		size = (uint32_t)size;
	if (a->v)
		out_guest_bytes(o, a->v, size);
	else
		out_str(o, "NULL");
}
PRINTER(out_buf)
{
	if (a->v && a->at_exit && written(a))
		out_guest_bytes(o, a->v, (uint64_t)a->result);
	else
		out_addr(o, a->v);
}
PRINTER(argv)
{
	uint64_t p;
	unsigned n = 0;

	if (!a->v) {
		out_str(o, "NULL");
		return;
	}
	/* An environment is only counted, as strace does. */
	if (a->i > 0 && a->d->arg_kind[a->i - 1] == KIND_argv) {
		while (n < 4096 && peek(&p, a->v + 8ull * n, 8) && p)
			n++;
		out_fmt(o, "%#lx /* %u vars */", a->v, n);
		return;
	}
	out_str(o, "[");
	for (; peek(&p, a->v + 8ull * n, 8) && p; n++) {
		out_str(o, n ? ", " : "");
		if (n == SHOWN_ITEMS) {
			out_str(o, "...");
			break;
		}
		out_guest_string(o, p);
	}
	out_str(o, "]");
}

/* --- structures ---------------------------------------------------------------------------------------------------------- */
static void out_sigset(struct trace_out *o, uint64_t set)
{
	bool inverted = __builtin_popcountll(set) > 32, first = true;

	if (inverted)
		set = ~set;
	out_str(o, inverted ? "~[" : "[");
	for (int s = 1; s <= 64; s++)
		if (set >> (s - 1) & 1) {
			out_str(o, first ? "" : " ");
			if (s < 32)
				out_str(o, sigabbrev_np(s));
			else
				out_fmt(o, "RT_%d", s - 32);
			first = false;
		}
	out_str(o, "]");
}
PRINTER(in_sigset)
{
	uint64_t set;

	if (peek_in(a, &set, sizeof set))
		out_sigset(o, set);
	else
		out_addr(o, a->v);
}
PRINTER(out_sigset)
{
	if (written(a))
		print_in_sigset(o, a);
	else
		out_addr(o, a->v);
}
PRINTER(in_sigaction)
{
	struct l_sigaction sa;

	if (!peek_in(a, &sa, sizeof sa)) {
		out_addr(o, a->v);
		return;
	}
	out_str(o, "{sa_handler=");
	if (sa.handler <= 1)
		out_str(o, sa.handler ? "SIG_IGN" : "SIG_DFL");
	else
		out_fmt(o, "%#lx", sa.handler);
	out_str(o, ", sa_mask=");
	out_sigset(o, sa.mask);
	out_str(o, ", sa_flags=");
	out_flags(o, names_sa_flags, sa.flags, NULL);
	out_str(o, "}");
}
static void out_timespec(struct trace_out *o, const struct l_timespec *t)
{
	out_fmt(o, "{tv_sec=%ld, tv_nsec=%ld}", t->sec, t->nsec);
}
static void out_timeval(struct trace_out *o, const struct l_timeval *t)
{
	out_fmt(o, "{tv_sec=%ld, tv_usec=%ld}", t->sec, t->usec);
}
PRINTER(in_timespec)
{
	struct l_timespec t;

	if (peek_in(a, &t, sizeof t))
		out_timespec(o, &t);
	else
		out_addr(o, a->v);
}
PRINTER(in_timeval)
{
	struct l_timeval t;

	if (peek_in(a, &t, sizeof t))
		out_timeval(o, &t);
	else
		out_addr(o, a->v);
}
PRINTER(in_itimerspec)
{
	struct l_itimerspec t;

	if (!peek_in(a, &t, sizeof t)) {
		out_addr(o, a->v);
		return;
	}
	out_str(o, "{it_interval=");
	out_timespec(o, &t.interval);
	out_str(o, ", it_value=");
	out_timespec(o, &t.value);
	out_str(o, "}");
}
PRINTER(in_itimerval)
{
	struct l_itimerval t;

	if (!peek_in(a, &t, sizeof t)) {
		out_addr(o, a->v);
		return;
	}
	out_str(o, "{it_interval=");
	out_timeval(o, &t.interval);
	out_str(o, ", it_value=");
	out_timeval(o, &t.value);
	out_str(o, "}");
}
PRINTER(in_int)
{
	int v;

	if (peek_in(a, &v, sizeof v))
		out_fmt(o, "[%d]", v);
	else
		out_addr(o, a->v);
}
PRINTER(in_rlimit)
{
	struct l_rlimit r;
	uint64_t v[2];

	if (!peek_in(a, &r, sizeof r)) {
		out_addr(o, a->v);
		return;
	}
	v[0] = r.cur;
	v[1] = r.max;
	for (int i = 0; i < 2; i++) {
		out_str(o, i ? ", rlim_max=" : "{rlim_cur=");
		if (v[i] == L_RLIM_INFINITY)
			out_str(o, "RLIM64_INFINITY");
		else
			out_fmt(o, "%lu", v[i]);
	}
	out_str(o, "}");
}
PRINTER(in_stack)
{
	struct {
		uint64_t sp;
		int32_t flags, pad;
		uint64_t size;
	} ss;

	if (peek_in(a, &ss, sizeof ss))
		out_fmt(o, "{ss_sp=%#lx, ss_flags=%#x, ss_size=%lu}", ss.sp, (unsigned)ss.flags, ss.size);
	else
		out_addr(o, a->v);
}
PRINTER(in_siginfo)
{
	struct l_siginfo si;

	if (!peek_in(a, &si, sizeof si)) {
		out_addr(o, a->v);
		return;
	}
	out_siginfo(o, &si);
}
/* Those of outputs: the same, once the call has succeeded. */
#define OUT_PRINTER(out, in)                                                                       \
	PRINTER(out)                                                                               \
	{                                                                                          \
		if (written(a))                                                                    \
			print_##in(o, a);                                                          \
		else                                                                               \
			out_addr(o, a->v);                                                         \
	}
OUT_PRINTER(out_itimerspec, in_itimerspec)
OUT_PRINTER(out_itimerval, in_itimerval)
OUT_PRINTER(out_int, in_int)
OUT_PRINTER(out_rlimit, in_rlimit)
OUT_PRINTER(out_stack, in_stack)
OUT_PRINTER(out_siginfo, in_siginfo)
PRINTER(out_utsname)
{
	struct l_utsname u;

	if (!written(a) || !peek_in(a, &u, sizeof u)) {
		out_addr(o, a->v);
		return;
	}
	out_str(o, "{sysname=");
	out_quoted(o, u.sysname, strnlen(u.sysname, sizeof u.sysname));
	out_str(o, ", nodename=");
	out_quoted(o, u.nodename, strnlen(u.nodename, sizeof u.nodename));
	out_str(o, ", ...}");
}
/* An interrupted sleep writes its rest although it fails; anything else is as it was. */
PRINTER(out_timespec)
{
	bool rest = a->result == -EINTR || a->result == -ERESTART_RESTARTBLOCK;

	if ((written(a) || rest) && !(a->result == 0 && a->d->flags & SC_SLEEPS))
		print_in_timespec(o, a);
	else
		out_addr(o, a->v);
}
PRINTER(out_long)
{
	long v;

	if (written(a) && peek_in(a, &v, sizeof v))
		out_fmt(o, "[%ld]", v);
	else
		out_addr(o, a->v);
}
PRINTER(out_int2)
{
	int v[2];

	if (written(a) && peek_in(a, v, sizeof v))
		out_fmt(o, "[%d, %d]", v[0], v[1]);
	else
		out_addr(o, a->v);
}
PRINTER(out_wstatus)
{
	int v;

	if (!written(a) || a->result == 0 || !peek_in(a, &v, sizeof v)) {
		out_addr(o, a->v);
	} else if (WIFEXITED(v)) {
		out_fmt(o, "[{WIFEXITED(s) && WEXITSTATUS(s) == %d}]", WEXITSTATUS(v));
	} else if (WIFSTOPPED(v)) {
		out_str(o, "[{WIFSTOPPED(s) && WSTOPSIG(s) == ");
		out_signal(o, WSTOPSIG(v));
		out_str(o, "}]");
	} else if (WIFSIGNALED(v)) {
		out_str(o, "[{WIFSIGNALED(s) && WTERMSIG(s) == ");
		out_signal(o, WTERMSIG(v));
		out_str(o, WCOREDUMP(v) ? " && WCOREDUMP(s)}]" : "}]");
	} else {
		out_fmt(o, "[%#x]", (unsigned)v);
	}
}
PRINTER(out_stat)
{
	struct stat st; /* the guest's layout is the host's */

	if (!written(a) || !peek_in(a, &st, sizeof st)) {
		out_addr(o, a->v);
		return;
	}
	out_str(o, "{st_mode=");
	out_const(o, names_file_type, st.st_mode & S_IFMT);
	out_fmt(o, "|0%03o, ", st.st_mode & 07777);
	if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
		out_fmt(o, "st_rdev=%#lx, ...}", (unsigned long)st.st_rdev);
	else
		out_fmt(o, "st_size=%ld, ...}", (long)st.st_size);
}
PRINTER(pollfds)
{
	uint64_t count = (uint32_t)a->args[a->i + 1];
	struct pollfd p;

	if (!a->v || !count) {
		out_addr(o, a->v);
		return;
	}
	out_str(o, "[");
	for (uint64_t i = 0; i < count && peek(&p, a->v + i * sizeof p, sizeof p); i++) {
		out_str(o, i ? ", " : "");
		if (i == SHOWN_ITEMS) {
			out_str(o, "...");
			break;
		}
		out_fmt(o, "{fd=%d, events=", p.fd);
		out_flags(o, names_poll, (uint16_t)p.events, NULL);
		out_str(o, "}");
	}
	out_str(o, "]");
}

/* --- the table ------------------------------------------------------------------------------------------------------------- */
#define KIND(name, type, marshal, size, printer) [KIND_##name] = print_##printer,
static void (*const printers[KIND_COUNT])(struct trace_out *, const struct trace_arg *) = {
#include "syscalls/argkinds.def"
};

bool trace_arg_is_output(const struct syscall_desc *d, unsigned i)
{
	unsigned m = arg_kind_desc(d->arg_kind[i])->marshal;

	return m == ARG_BUF_OUT || m == ARG_FIX_OUT;
}

void trace_print_arg(struct trace_out *o, const struct syscall_desc *d, const uint64_t *args, unsigned i,
		     bool at_exit, int64_t result)
{
	const struct arg_kind_desc *k = arg_kind_desc(d->arg_kind[i]);
	struct trace_arg a = {.d = d, .args = args, .i = i, .v = args[i], .at_exit = at_exit, .result = result};

	if (k->type_size == 4)
		a.v = k->is_signed ? (uint64_t)(int64_t)(int32_t)args[i] : (uint32_t)args[i];
	printers[d->arg_kind[i]](o, &a);
}
