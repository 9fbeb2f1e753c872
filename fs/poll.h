/* The engine under poll and select: registration of one sleeping task with many files. See poll.c. */
#ifndef WARD_FS_POLL_H
#define WARD_FS_POLL_H
#include "fs/vfs.h"

#define POLL_INLINE 8
struct poll_wq;
struct poll_entry {
	struct waiter w;
	struct poll_wq *wq;
	struct file *file; /* counted: keeps the queue alive while we are linked into it */
};
struct poll_chunk {
	struct poll_chunk *next;
	unsigned used;
	struct poll_entry entry[64];
};
struct poll_wq {
	struct poll_table pt;
	struct task_waiter tw; /* never linked: holds the task and the "fired" mark */
	struct file *cur;      /* file being polled, and the events its waiter wants */
	uint32_t key;
	unsigned used;
	int error;
	struct poll_entry first[POLL_INLINE];
	struct poll_chunk *more;
};
void poll_wq_init(struct poll_wq *wq);
void poll_wq_fini(struct poll_wq *wq);
/* Ready events of F; registers for EVENTS unless registration was switched off by poll_wq_ready. */
uint32_t poll_wq_file(struct poll_wq *wq, struct file *f, uint32_t events);
static inline void poll_wq_ready(struct poll_wq *wq)
{
	wq->pt.add = NULL;
}
/* Sleep until something fired: 0, -ETIMEDOUT, -ERESTARTSYS. */
int poll_wq_sleep(struct poll_wq *wq, uint64_t deadline);

/* Relative time to a CLOCK_MONOTONIC deadline; saturates. Never 0. */
uint64_t deadline_after(uint64_t ns);
/* A timespec of the guest: 0, -EFAULT, -EINVAL; nanoseconds, saturated. */
int timeout_in(uaddr_t ts, uint64_t *ns);

/* Temporary signal mask of ppoll, pselect6, epoll_pwait: SET NULL = nothing. After the sleep call sigmask_leave
 * with whether a signal interrupted it: then the old mask is restored only after delivery. */
int sigmask_enter(uaddr_t set, uint64_t size);
void sigmask_leave(bool interrupted);
#endif
