/*
 * Inside the `trap` platform: its objects and what the files offer each other.
 *   start.c   features, zygote          space.c  address spaces, threads, births, deaths
 *   run.c     requests and replies      order.c  operations the stub executes for us
 *   notif.c   the seccomp listener      spin.c   polling of recently active mailboxes
 *   mem.c     copies                    fpstate.c extended state in the stub's signal frame
 */
#ifndef WARD_TRAP_H
#define WARD_TRAP_H
#include "sentry/platform/platform.h"
#include "sentry/platform/trap/layout.h"
#include "sentry/base/list.h"

enum thread_state { THR_STOPPED, THR_RUNNING, THR_ORDERED, THR_COPY, THR_XCHG };

struct order {
	uint64_t nr, a[6];
	int hostfd;     /* mmap of a file: injected as STUB_FD_MAP; -1 otherwise */
	uint64_t token, slot;
};

struct plat_as {
	struct list hash;
	struct list threads;    /* plat_thread.node */
	pid_t pid;
	int mbox_fd;
	char *mbox;             /* MBOX_TOTAL bytes, shared with the stub */
	unsigned live;          /* plat_threads not yet exited */
	bool dead;              /* killed or reaped: every thread reports PLAT_DEAD */
	bool reaped;
	uint64_t slots[SLOT_COUNT / 64];
	struct list quarantine; /* slots whose host thread may still be leaving */
};

struct plat_thread {
	struct list node, hash;
	struct plat_as *as;
	uint32_t slot;
	pid_t tid;              /* 0 until its hello */
	struct mbox *m;
	uint32_t seq;           /* last request taken */
	bool answered;          /* the request `seq` has its reply (not PARK) */
	bool parked;
	enum thread_state state;
	struct fiber *fiber;    /* waits for the next event */
	bool event;
	/* the request, copied once */
	uint32_t kind;
	int nr;
	uint64_t args[6];
	int signo, code;
	uint64_t fault_addr, frame, fpstate, copy_done;
	struct guest_regs regs;
	unsigned nstage, nout;
	struct mbox_span stage[MBOX_SPANS], out[MBOX_SPANS];
	uint32_t out_off;
	/* the reply */
	bool regs_dirty, fp_reset, set_fs;
	uint64_t fs_base;
	int64_t result;
	/* doorbell that waits for an answer */
	bool ringing;
	uint64_t notif_id;
	/* orders in flight */
	struct order orders[MBOX_ORDERS];
	unsigned order_count, order_next;
	/* birth */
	uint64_t token;
	struct list birth;      /* on the list of expected hellos */
	bool is_process;
	/* spinning */
	bool active, kicked, after_order;
	unsigned active_index, cpu;
};

extern struct plat_stats stats;
extern int listener_fd;
extern bool have_vmread, have_waitkill, have_syncwake, have_fsgsbase;
extern struct plat_thread *zygote;
extern struct list births;

/* space.c */
struct plat_thread *thread_by_tid(pid_t tid);
struct plat_as *as_by_pid(pid_t pid);
struct plat_thread *thread_new(struct plat_as *as, uint32_t slot);
bool thread_is_leaving(pid_t tid);
void thread_set_tid(struct plat_thread *t, pid_t tid);
struct plat_as *as_alloc(void);
void as_set_pid(struct plat_as *as, pid_t pid);
/* A broken invariant: log WHY and kill the host process. */
void as_violation(struct plat_as *as, const char *why);
void reap_children(void);
void spaces_kill_all(void);

/* run.c */
void thread_publish(struct plat_thread *t, enum mbox_state st);
/* Look for a new request in T's mailbox: take it and run its fiber. True if there was one. */
bool thread_look(struct plat_thread *t);
void thread_wait_event(struct plat_thread *t);
void thread_answer_ring(struct plat_thread *t);

/* order.c */
/* Execute N orders in T's process; sleeps. 0, or the first failing order's -errno; -ESRCH when it died. */
int orders_run(struct plat_thread *t, const struct order *o, unsigned n);
int order_one(struct plat_thread *t, uint64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
	      uint64_t f, int hostfd);

/* notif.c */
int notif_init(void);
int notif_reply(uint64_t id, int error, bool cont);
void notif_sync(bool on);
int notif_addfd(uint64_t id, int fd, int as_fd);

/* spin.c */
void spin_init(void);
void spin_thread_runs(struct plat_thread *t);  /* its reply is about to be published as DONE */
void spin_thread_stops(struct plat_thread *t); /* a request of it was taken */
void spin_forget(struct plat_thread *t);

/* mem.c */
void outs_flush(struct plat_thread *t);
long stub_read(struct plat_thread *t, void *dst, uint64_t src, size_t size);       /* any address */
long stub_write(struct plat_thread *t, uint64_t dst, const void *src, size_t size);
#endif
