/*
 * System V IPC: what the three kinds of object share. An id is sequence * IPC_SLOTS + slot, so that an id of a
 * removed object names nothing even when its slot was used again. Objects are counted: a sleeper keeps its object and
 * sees `dead` after IPC_RMID.
 */
#ifndef WARD_IPC_IPC_H
#define WARD_IPC_IPC_H
#include <linux/ipc.h>
#include <asm/ipcbuf.h>
#include <stdbool.h>
#include <stdint.h>
#include "sentry/base/strbuf.h"

#define IPC_SLOTS 32768
#ifndef S_IRUGO
#define S_IRUGO 0444
#define S_IWUGO 0222
#define S_IXUGO 0111
#endif

struct tgroup;
struct ipc_object {
	unsigned refs;          /* the table's one and every sleeper's */
	int id, slot;
	bool dead;              /* out of the table: EIDRM for sleepers */
	int key;
	uint32_t uid, gid, cuid, cgid, mode;
	uint16_t seq;
};
struct ipc_table {
	struct ipc_object **slot;
	unsigned cap, count, max;
	int high;               /* highest slot in use, -1: none */
	uint16_t seq;
	unsigned next;          /* where the search for a free slot starts: cyclic as Linux, ids come back late */
	void (*free)(struct ipc_object *);
};

/* What a xxxget call asks for. */
struct ipc_get {
	int key, flags;
	uint64_t size;
	struct ipc_object *(*make)(const struct ipc_get *g, int *error);         /* refs 1, not in the table */
	int (*check)(const struct ipc_object *o, const struct ipc_get *g);       /* an existing one: 0 or -errno */
};
int64_t ipc_get(struct ipc_table *t, const struct ipc_get *g);
/* The object of ID or NULL: borrowed. */
struct ipc_object *ipc_find(struct ipc_table *t, int id);
struct ipc_object *ipc_at(struct ipc_table *t, int index); /* of the SLOT, for the STAT commands */
void ipc_put(struct ipc_table *t, struct ipc_object *o);
/* Out of the table: the id names nothing any more. */
void ipc_remove(struct ipc_table *t, struct ipc_object *o);
bool ipc_allowed(const struct ipc_object *o, int flags);   /* ipcperms: FLAGS are S_IRUGO, S_IWUGO */
bool ipc_owner(const struct ipc_object *o);                /* may IPC_SET and IPC_RMID */
void ipc_fill(struct ipc64_perm *p, const struct ipc_object *o);
int ipc_set(struct ipc_object *o, const struct ipc64_perm *p); /* 0 or -EINVAL */
int64_t ipc_seconds(void);

extern struct ipc_table sem_table, shm_table, msg_table;
/* The last task of TG leaves: its semaphore adjustments are taken back. */
void sem_exit(struct tgroup *tg);
/* The text of /proc/sysvipc/{shm,sem,msg}. */
int shm_show(struct strbuf *s);
int sem_show(struct strbuf *s);
int msg_show(struct strbuf *s);
#endif
