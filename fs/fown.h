/* Who is told about a file by signal (F_SETOWN, F_SETSIG, O_ASYNC), and leases (F_SETLEASE). */
#ifndef WARD_FS_FOWN_H
#define WARD_FS_FOWN_H
#include "fs/vfs.h"

/* Signal F's owner: CODE is POLL_IN ... as si_code, BAND the EPOLL* bits of si_band, FD becomes si_fd. */
void fown_signal(struct file *f, int fd, int code, uint32_t band);
/* F_SETOWN: TYPE F_OWNER_*; PID 0 clears. FORCE false: only if there is none. 0 or -ESRCH. */
int fown_set(struct file *f, int type, int pid, bool force);
/* O_ASYNC on or off; sets or clears the flag itself. 0 or -ENOMEM. */
int fown_async(struct file *f, int fd, bool on);
void fown_drop(struct file *f); /* at the last reference */

/* F_SETLEASE and F_GETLEASE. */
int lease_set(struct file *f, int fd, int type);
int lease_get(struct file *f);
/* Before INODE is opened with FLAGS (or truncated: O_WRONLY) leases in the way are broken: sleeps until they are
 * gone, at most lease_break_time. -EWOULDBLOCK with O_NONBLOCK, -ERESTARTSYS. */
int lease_break(struct inode *i, int flags);
void lease_drop(struct file *f); /* at the last reference */
extern unsigned lease_break_time; /* seconds */
#endif
