/* Credentials: immutable once installed. cred_dup, change the copy, install with cred_commit. */
#ifndef WARD_TASK_CRED_H
#define WARD_TASK_CRED_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct task;
struct cred {
	unsigned refs;
	uid_t uid, euid, suid, fsuid;
	gid_t gid, egid, sgid, fsgid;
	unsigned group_count;
	gid_t *groups;             /* owned */
	uint64_t cap_effective, cap_permitted, cap_inheritable, cap_bounding, cap_ambient;
	unsigned securebits;
};
#define CAP_FULL_SET ((1ull << 41) - 1)
enum {
	CAP_CHOWN = 0, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_FSETID, CAP_KILL, CAP_SETGID,
	CAP_SETUID, CAP_SETPCAP, CAP_LINUX_IMMUTABLE, CAP_NET_BIND_SERVICE, CAP_NET_BROADCAST, CAP_NET_ADMIN,
	CAP_NET_RAW, CAP_IPC_LOCK, CAP_IPC_OWNER, CAP_SYS_MODULE, CAP_SYS_RAWIO, CAP_SYS_CHROOT,
	CAP_SYS_PTRACE, CAP_SYS_PACCT, CAP_SYS_ADMIN, CAP_SYS_BOOT, CAP_SYS_NICE, CAP_SYS_RESOURCE,
	CAP_SYS_TIME, CAP_SYS_TTY_CONFIG, CAP_MKNOD, CAP_LEASE, CAP_AUDIT_WRITE, CAP_AUDIT_CONTROL,
	CAP_SETFCAP, CAP_MAC_OVERRIDE, CAP_MAC_ADMIN, CAP_SYSLOG, CAP_WAKE_ALARM, CAP_BLOCK_SUSPEND,
	CAP_AUDIT_READ, CAP_PERFMON, CAP_BPF, CAP_CHECKPOINT_RESTORE
};

struct cred *cred_new(uid_t uid, gid_t gid); /* root gets all capabilities, others none; NULL: no memory */
struct cred *cred_dup(const struct cred *c);
struct cred *cred_get(struct cred *c);
void cred_put(struct cred *c);
bool cred_has(const struct cred *c, int cap);
bool capable(int cap);                       /* current */
bool cred_in_group(const struct cred *c, gid_t gid); /* fsgid or supplementary */
void cred_commit(struct task *t, struct cred *c);    /* takes over the reference */
/* What T's credentials become when it executes a file of MODE, UID, GID (set-id bits without effect with NOSUID or
 * no_new_privs; no file capabilities). A new reference, or NULL: no memory. *SECURE: AT_SECURE. */
struct cred *cred_for_exec(const struct task *t, uint32_t mode, uid_t uid, gid_t gid, bool nosuid, bool *secure);
#endif
