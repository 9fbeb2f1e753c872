/* Text of one trace line and the constants' names. Shared by the files of sentry/trace. */
#ifndef WARD_TRACE_OUT_H
#define WARD_TRACE_OUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_LINE_SIZE 2048
struct trace_out {
	char buf[TRACE_LINE_SIZE];
	size_t len;
	bool full; /* something did not fit: the line ends in "..." */
};
void out_str(struct trace_out *o, const char *s);
void out_fmt(struct trace_out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* N bytes in quotes, C-escaped: nothing a guest wrote reaches a terminal raw. */
void out_quoted(struct trace_out *o, const void *bytes, size_t n);

/* Names of constants: ended by name NULL. */
struct const_name {
	uint64_t value;
	const char *name;
};
/* The name of VALUE, or a number in hex (PREFIX as in strace's comment is left out). */
void out_const(struct trace_out *o, const struct const_name *t, uint64_t value);
/* A set of flags "A|B|0x80"; ZERO is printed for none (NULL: "0"). Entries of more bits come first in T. */
void out_flags(struct trace_out *o, const struct const_name *t, uint64_t value, const char *zero);
void out_signal(struct trace_out *o, int signo);
struct l_siginfo;
void out_siginfo(struct trace_out *o, const struct l_siginfo *si);
void out_open_flags(struct trace_out *o, unsigned flags);

extern const struct const_name names_at_flags[], names_prot[], names_map[], names_clone[], names_whence[],
    names_clock[], names_futex[], names_ioctl[], names_fcntl[], names_access[], names_efd[], names_fd_flags[],
    names_memfd[], names_epoll_op[], names_flock[], names_itimer[], names_madvice[], names_mremap[], names_msync[],
    names_prctl[], names_rename[], names_rlimit[], names_sig_how[], names_family[], names_sock_type[],
    names_sock_flags[], names_unlink[], names_wait[], names_sa_flags[], names_poll[], names_file_type[];

/* Print argument I of call D; RESULT is looked at only AT_EXIT. */
struct syscall_desc;
struct trace_arg {
	const struct syscall_desc *d;
	const uint64_t *args;
	unsigned i;
	uint64_t v; /* cut to its C type and sign- or zero-extended */
	bool at_exit;
	int64_t result;
};
void trace_print_arg(struct trace_out *o, const struct syscall_desc *d, const uint64_t *args, unsigned i,
		     bool at_exit, int64_t result);
/* Must argument I wait for the return because the call writes it? */
bool trace_arg_is_output(const struct syscall_desc *d, unsigned i);
#endif
