/* From a guest's call to its handler: table look-up, counters, tracing. */
#ifndef WARD_SYSCALLS_DISPATCH_H
#define WARD_SYSCALLS_DISPATCH_H
#include <stdint.h>

struct task;

/* Serve call NR (-1: int 0x80 or x32) of T = current. The result for the register, -errno, or a kernel-internal
 * -ERESTART*, which the run loop turns into a restart or EINTR. */
int64_t dispatch(struct task *t, int nr, const uint64_t args[6]);

struct call_count {
	uint64_t calls, errors;
};
/* Counters of NR (0 <= NR < SYSCALL_MAX); NR -1: calls without a number in the table. */
const struct call_count *dispatch_count(int nr);
#endif
