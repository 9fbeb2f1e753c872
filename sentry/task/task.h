/*
 * Tasks (guest threads), thread groups (processes), groups, sessions. One fiber per task runs task_main: explicit
 * states, the platform's events in, dispatch and signal delivery out.
 * Who may touch: everything here belongs to the one kernel thread; (c) = only the task itself changes it.
 */
#ifndef WARD_TASK_TASK_H
#define WARD_TASK_TASK_H
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "sentry/base/list.h"
#include "sentry/wait.h"
#include "sentry/loop.h"
#include "sentry/signal/signal.h"
#include "sentry/mm/uaccess.h"
#include "sentry/task/cred.h"

struct fiber;
struct mm;
struct fdtable;
struct fs_context;
struct plat_thread;
struct plat_event;
struct tty;
struct file;

enum task_state { TASK_RUNNING, TASK_IN_CALL, TASK_STOPPED, TASK_ZOMBIE, TASK_DEAD };

struct l_rlimit {
	uint64_t cur, max;
};
#define L_RLIM_INFINITY (~0ull)
#define L_RLIM_NLIMITS 16

/* A process. Counted; freed after it was reaped and the last task put it. */
struct tgroup {
	unsigned refs;
	pid_t pid;                 /* tgid */
	struct list tasks;         /* struct task.tg_node; leader first */
	unsigned live;             /* tasks not yet exited */
	struct task *leader;       /* stays as zombie until all threads are gone */
	struct tgroup *parent;     /* NULL for pid 1; not counted: children are re-parented before it dies */
	pid_t parent_tid;          /* thread of the parent that made it (for __WNOTHREAD) */
	struct list children, sibling;
	struct pgrp *pgrp;         /* counted */
	struct list pgrp_node;
	struct sigpending shared;  /* process-directed signals */
	struct sighand *sighand;   /* counted, shared with CLONE_SIGHAND */
	struct l_rlimit rlim[L_RLIM_NLIMITS];
	struct waitq child_q;      /* woken when a child changes state */
	struct waitq exit_q;       /* woken when this process becomes a zombie (pidfd) */
	int exit_signal;           /* to the parent at exit; SIGCHLD usually */
	int exit_code;             /* wait status, valid as zombie */
	bool exiting;              /* group exit under way: every task leaves at its next chance */
	bool zombie;
	bool is_subreaper, did_exec, dumpable;
	struct task *exec_task;    /* the task that waits for the others to leave (execve) */
	unsigned stopped_count;
	bool stopped;              /* job-control stop */
	int stop_signal;           /* reported by wait with WUNTRACED; 0 after reported */
	bool stop_reported, continued_pending;
	uint64_t utime_ns, stime_ns, cutime_ns, cstime_ns, start_ns;
	uint64_t maxrss_kb, cmaxrss_kb, minflt, cminflt;
	struct list timers;        /* POSIX timers, see sentry/time */
	struct timer kill_timer;   /* group exit: kills the host process when a thread does not come */
	int oom_score_adj;
	struct list hash, all;     /* by pid; every process in pid order */
	struct waitq exec_q;       /* execve waits here for the other threads to leave */
	bool unkillable;           /* pid 1: default-fatal signals of others inside are ignored */
	bool continued_notify;     /* the parent is to be told CLD_CONTINUED */
	void (*spawn_done)(void *arg, int status, int error); /* see sentry/task/spawn.h */
	void *spawn_arg;
	int spawn_error;
};

struct pgrp {
	unsigned refs;
	pid_t pgid;
	struct session *session;   /* counted */
	struct list members;       /* tgroup.pgrp_node */
	struct list hash;
};
struct session {
	unsigned refs;
	pid_t sid;
	struct tty *tty;           /* controlling terminal, counted by the tty layer */
	struct list hash;
};

struct task {
	unsigned refs;
	pid_t tid;
	struct tgroup *tg;         /* counted */
	struct list tg_node, hash;
	enum task_state state;
	struct fiber *fiber;
	struct plat_thread *host;  /* NULL once exited */
	struct mm *mm;             /* counted; NULL once exited */
	struct fdtable *files;     /* counted */
	struct fs_context *fs;     /* counted: cwd, root, umask */
	struct cred *cred;         /* counted, immutable: replace, never change in place */
	char comm[16];
	uint64_t sig_mask;         /* bit n-1 = signal n */
	uint64_t saved_mask;       /* to restore after sigsuspend-like calls */
	uint64_t real_blocked;     /* sigtimedwait: signals blocked but for the wait */
	bool restore_mask;
	struct sigpending pending; /* thread-directed */
	uint64_t altstack_sp, altstack_size;
	int altstack_flags;
	bool notify;               /* something to look at before returning to the guest (signal, stop, exit) */
	bool exiting;              /* this task must leave (group exit, exec by another thread) */
	int exit_code;
	uaddr_t clear_tid, robust_list;
	bool in_sleep, sleep_killable;
	int cur_nr;                /* (c) call being served, -1 otherwise */
	uint64_t cur_args[6];
	int64_t (*restart_fn)(struct task *); /* restart_syscall */
	uint64_t restart_data[4];
	struct waitq *vfork_done;  /* the parent's queue to wake at exec or exit; NULL if none */
	bool *vfork_flag;
	uint64_t ioprio;
	int nice, sched_policy, sched_prio;
	uint64_t cpu_mask;
	uint64_t calls;            /* statistics */
	uint64_t personality;
	int pdeath_signal;
	bool no_new_privs;
	uint64_t timer_slack, default_slack; /* the latter: the creator's at clone, what PR_SET_TIMERSLACK 0 goes back to */
	uint64_t sched_dl[3];      /* SCHED_DEADLINE: runtime, deadline, period */
	uint64_t start_ns;
	struct user_count *user;   /* counted: what its real uid holds (RLIMIT_NPROC, RLIMIT_SIGPENDING) */
};

extern struct task *current;       /* the task of the running fiber */

struct task *task_find(pid_t tid);     /* borrowed: valid until the caller sleeps; NULL if none */
struct tgroup *tgroup_find(pid_t pid); /* borrowed, zombies included */
struct pgrp *pgrp_find(pid_t pgid);
struct task *task_get(struct task *t);
void task_put(struct task *t);
struct tgroup *tgroup_get(struct tgroup *tg);
void tgroup_put(struct tgroup *tg);
/* Iterate all processes in pid order: the first with pid >= FROM, or NULL. Borrowed. */
struct tgroup *tgroup_next(pid_t from);
unsigned task_count(void);
/* Limits of the sandbox: --pids. */
void task_set_limit(unsigned max_tasks);

struct clone_args_k {              /* decoded clone/clone3/fork/vfork */
	uint64_t flags;            /* CLONE_*, without the exit signal */
	int exit_signal;
	uint64_t stack;            /* child's sp, 0 = the parent's */
	uint64_t tls;
	uaddr_t parent_tid, child_tid, pidfd;
	pid_t set_tid;             /* 0 = next free */
};
/* Child's tid or -errno. Sleeps. */
int64_t do_clone(const struct clone_args_k *a);
/* Leave: this task only, or the whole group with a wait status. The task stops at its next return to task_main. */
void task_exit(int code);
void tgroup_exit(struct tgroup *tg, int wait_status);
/* Start a process inside the sandbox from the kernel (pid 1, `ward exec`): the new task runs execve of ARGV
 * itself. See sentry/task/spawn.h for the request. */

/* The run loop: fn of every task's fiber. */
void task_main(void *task);

/* --- for execve (loader/, syscalls/exec.c) --------------------------------------------------------------------- */
/* Kill every other thread of current's process and wait for them; current becomes the leader (takes over the
 * tid). 0, or -EAGAIN (another exec or exit is under way), -EINTR (killed meanwhile: return it). Sleeps. */
int task_dethread(void);
/* After the new image stands and current->mm, ->host are the new ones: handlers to default, altstack off,
 * clear_tid and robust list forgotten, vfork parent woken, comm set to NAME, close-on-exec is the caller's. */
void task_exec_done(const char *name);
/* Wake the vfork parent, if any. */
void task_vfork_release(struct task *t);

/* --- inside sentry/task and sentry/signal ------------------------------------------------------------------------ */
struct user_count {                /* per real uid */
	unsigned refs;
	uid_t uid;
	unsigned tasks, signals;
	struct list node;
};
struct user_count *user_count_get(uid_t uid); /* counted, NULL: no memory */
void user_count_put(struct user_count *u);
/* Make T look at its flags soon: wakes an interruptible sleep (a killable one only if FATAL), or kicks the guest. */
void task_interrupt(struct task *t, bool fatal);
struct task *task_new(struct tgroup *tg);     /* refs 1, not linked; takes no reference of TG's tasks */
struct tgroup *tgroup_new(void);
void task_link(struct task *t);               /* into hash and thread group; T's first reference is the hash's */
void task_unlink(struct task *t);             /* out of both; drops that reference */
void tgroup_link(struct tgroup *tg);
void tgroup_release(struct tgroup *tg);       /* reap: out of every table; drops the table's reference */
void task_leave(struct task *t);              /* exit of current, on its own fiber */
/* pid numbers and the tables keyed by them (pid.c). */
pid_t pid_alloc(void);                        /* next free number or -EAGAIN */
bool pid_in_use(pid_t pid);
void pid_hash_task(struct task *t);
void pid_hash_tgroup(struct tgroup *tg);
void pid_hash_pgrp(struct pgrp *pg);
void pid_hash_session(struct session *s);
extern unsigned pid_max;
struct session *session_find(pid_t sid);
/* Process groups and sessions (pgrp.c). */
struct pgrp *pgrp_new(pid_t pgid, struct session *s); /* refs 1; takes a reference of S */
struct pgrp *pgrp_get(struct pgrp *pg);
void pgrp_put(struct pgrp *pg);
struct session *session_new(pid_t sid);
struct session *session_get(struct session *s);
void session_put(struct session *s);
void tgroup_set_pgrp(struct tgroup *tg, struct pgrp *pg); /* PG NULL: leave; takes its own reference */
/* No member has a parent in another group of the same session; IGNORE is not looked at. */
bool pgrp_is_orphaned(struct pgrp *pg, struct tgroup *ignore);
bool pgrp_has_stopped(struct pgrp *pg);
int64_t do_setsid(void);
/* Tell TG's parent about a stop or continue (CLD_STOPPED, CLD_CONTINUED) or its exit. */
void tgroup_notify_parent(struct tgroup *tg, int cld_code, int status);
void rlimit_init(struct l_rlimit rlim[L_RLIM_NLIMITS]);
static inline bool task_is_leader(const struct task *t)
{
	return t->tid == t->tg->pid;
}
#endif
