/*
 * System V semaphores. An operation list is applied as a whole or not at all; who cannot go on sleeps on the array's
 * queue and tries again after every change. SEM_UNDO adjustments belong to the process.
 * DIFF: Linux shares them by CLONE_SYSVSEM, which threads always set and processes never do.
 */
#include "sentry/ipc/ipc.h"
#include "sentry/base/util.h"
#include "sentry/mm/mm.h"
#include "sentry/task/task.h"
#include "sentry/time/clock.h"
#include "sentry/loop.h"
#include "syscalls/table.h"
#include <errno.h>
#include <linux/sem.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SEM_MSL 32000
#define SEM_OPM 500
#define SEM_VMX 32767
#define SEM_TOTAL (SEM_MSL * 32) /* of all arrays in the sandbox */
#ifndef SEM_STAT_ANY
#define SEM_STAT_ANY 20
#endif

struct sem {
	int value;
	pid_t pid;
};
struct sem_undo {
	struct list node;
	struct tgroup *tg;      /* compared only; sem_exit takes the entry out */
	int16_t adj[];
};
struct sem_waiter {
	struct list node;
	unsigned num;
	bool zero;
};
struct sem_array {
	struct ipc_object o;
	unsigned count;
	int64_t otime, ctime;
	struct waitq q;
	struct list undos, waiters;
	int64_t pages;          /* charged to the sandbox */
	struct sem sem[];
};
static unsigned sem_used;

static int64_t pages_of(size_t size)
{
	return (int64_t)(PAGE_UP(size) / GUEST_PAGE_SIZE);
}

static void undo_free(struct sem_array *a, struct sem_undo *u)
{
	mm_account(NULL, -pages_of(sizeof *u + a->count * sizeof u->adj[0]));
	list_del(&u->node);
	free(u);
}

static void sem_free(struct ipc_object *o)
{
	struct sem_array *a = container_of(o, struct sem_array, o);

	while (!list_empty(&a->undos))
		undo_free(a, list_first(&a->undos, struct sem_undo, node));
	mm_account(NULL, -a->pages);
	sem_used -= a->count;
	free(a);
}
struct ipc_table sem_table = {.max = IPC_SLOTS - 768, .high = -1, .free = sem_free};

static struct sem_array *sem_find(int id)
{
	struct ipc_object *o = ipc_find(&sem_table, id);

	return o ? container_of(o, struct sem_array, o) : NULL;
}

static struct ipc_object *sem_make(const struct ipc_get *g, int *error)
{
	size_t size = sizeof(struct sem_array) + g->size * sizeof(struct sem);
	struct sem_array *a;

	*error = -EINVAL;
	if (!g->size)
		return NULL;
	*error = -ENOSPC;
	if (sem_used + g->size > SEM_TOTAL)
		return NULL;
	*error = -ENOMEM;
	if (mm_account(NULL, pages_of(size)) < 0)
		return NULL;
	a = calloc(1, size);
	if (!a) {
		mm_account(NULL, -pages_of(size));
		return NULL;
	}
	a->o.refs = 1;
	a->count = (unsigned)g->size;
	a->pages = pages_of(size);
	a->ctime = ipc_seconds();
	waitq_init(&a->q);
	list_init(&a->undos);
	list_init(&a->waiters);
	sem_used += a->count;
	return &a->o;
}

static int sem_check(const struct ipc_object *o, const struct ipc_get *g)
{
	return g->size > container_of(o, struct sem_array, o)->count ? -EINVAL : 0;
}

int64_t sys_semget(int key, int count, int flags)
{
	struct ipc_get g = {.key = key, .flags = flags, .size = (uint64_t)count, .make = sem_make,
			    .check = sem_check};

	if (count < 0 || count > SEM_MSL)
		return -EINVAL;
	return ipc_get(&sem_table, &g);
}

static struct sem_undo *undo_find(struct sem_array *a, const struct tgroup *tg, bool make)
{
	size_t size = sizeof(struct sem_undo) + a->count * sizeof(int16_t);
	struct sem_undo *u;

	list_for_each(u, &a->undos, node)
		if (u->tg == tg)
			return u;
	if (!make || mm_account(NULL, pages_of(size)) < 0)
		return NULL;
	u = calloc(1, size);
	if (!u) {
		mm_account(NULL, -pages_of(size));
		return NULL;
	}
	u->tg = current->tg;
	list_add(&a->undos, &u->node);
	return u;
}

void sem_exit(struct tgroup *tg)
{
	for (int n = 0; n <= sem_table.high; n++) {
		struct ipc_object *o = sem_table.slot[n];
		struct sem_array *a = o ? container_of(o, struct sem_array, o) : NULL;
		struct sem_undo *u = a ? undo_find(a, tg, false) : NULL;

		if (!u)
			continue;
		for (unsigned i = 0; i < a->count; i++) {
			if (!u->adj[i])
				continue;
			/* Cut to the range, as Linux does. */
			a->sem[i].value = MAX(0, MIN(SEM_VMX, a->sem[i].value + u->adj[i]));
			a->sem[i].pid = tg->pid;
		}
		a->otime = ipc_seconds();
		undo_free(a, u);
		waitq_wake(&a->q, 0);
	}
}

/* 0: done; 1: has to wait for operation *AT; -errno. */
static int sem_try(struct sem_array *a, const struct sembuf *op, unsigned count, struct sem_undo *u, unsigned *at)
{
	unsigned i;
	int r = 0;

	for (i = 0; i < count; i++) {
		struct sem *s = &a->sem[op[i].sem_num];
		int adj = u && (op[i].sem_flg & SEM_UNDO) ? u->adj[op[i].sem_num] - op[i].sem_op : 0;

		if ((!op[i].sem_op && s->value) || s->value + op[i].sem_op < 0) {
			*at = i;
			r = 1;
			break;
		}
		if (s->value + op[i].sem_op > SEM_VMX || adj < -SEM_VMX - 1 || adj > SEM_VMX) {
			r = -ERANGE;
			break;
		}
		s->value += op[i].sem_op;
		if (op[i].sem_flg & SEM_UNDO)
			u->adj[op[i].sem_num] = (int16_t)adj;
	}
	if (r == 0) {
		for (i = 0; i < count; i++)
			a->sem[op[i].sem_num].pid = current->tg->pid;
		return 0;
	}
	while (i-- > 0) {
		a->sem[op[i].sem_num].value -= op[i].sem_op;
		if (op[i].sem_flg & SEM_UNDO)
			u->adj[op[i].sem_num] += op[i].sem_op;
	}
	return r;
}

static int sem_run(struct sem_array *a, const struct sembuf *op, unsigned count, bool undo, bool alters,
		   uint64_t deadline)
{
	for (;;) {
		struct sem_undo *u = undo ? undo_find(a, current->tg, true) : NULL;
		struct sem_waiter w;
		unsigned at;
		int r;

		if (undo && !u)
			return -ENOMEM;
		r = sem_try(a, op, count, u, &at);
		if (r == 0) {
			a->otime = ipc_seconds();
			if (alters)
				waitq_wake(&a->q, 0);
		}
		if (r <= 0)
			return r;
		if (op[at].sem_flg & IPC_NOWAIT)
			return -EAGAIN;
		w.num = op[at].sem_num;
		w.zero = !op[at].sem_op;
		list_add(&a->waiters, &w.node);
		r = wait_on(&a->q, deadline);
		list_del(&w.node);
		if (a->o.dead)
			return -EIDRM;
		if (r == -ETIMEDOUT)
			return -EAGAIN;
		if (r < 0)
			return -EINTR;
	}
}

static int64_t do_semop(int id, uaddr_t ops, unsigned count, uint64_t deadline)
{
	struct sembuf op[SEM_OPM];
	bool undo = false, alters = false;
	struct sem_array *a;
	int r;

	if (copy_in(op, ops, count * sizeof op[0]) < 0)
		return -EFAULT;
	a = sem_find(id);
	if (!a)
		return -EINVAL;
	for (unsigned i = 0; i < count; i++) {
		if (op[i].sem_num >= a->count)
			return -EFBIG;
		undo |= (op[i].sem_flg & SEM_UNDO) != 0;
		alters |= op[i].sem_op != 0;
	}
	if (!ipc_allowed(&a->o, alters ? S_IWUGO : S_IRUGO))
		return -EACCES;
	a->o.refs++;
	r = sem_run(a, op, count, undo, alters, deadline);
	ipc_put(&sem_table, &a->o);
	return r;
}

int64_t sys_semtimedop(int id, uaddr_t ops, unsigned count, uaddr_t timeout)
{
	uint64_t deadline = 0;
	struct l_timespec ts;

	if (!uaddr_null(timeout) && copy_in_obj(ts, timeout) < 0)
		return -EFAULT;
	if (count > SEM_OPM)
		return -E2BIG;
	if (count < 1 || id < 0)
		return -EINVAL;
	if (!uaddr_null(timeout)) {
		if (!timespec_valid(&ts))
			return -EINVAL;
		deadline = ns_add(now_mono_ns(), timespec_ns(&ts));
	}
	return do_semop(id, ops, count, deadline);
}

int64_t sys_semop(int id, uaddr_t ops, unsigned count)
{
	return sys_semtimedop(id, ops, count, uaddr(0));
}

static int64_t sem_stat(struct sem_array *a, int cmd, uaddr_t buf)
{
	struct semid64_ds ds = {0};

	if (cmd != SEM_STAT_ANY && !ipc_allowed(&a->o, S_IRUGO))
		return -EACCES;
	ipc_fill(&ds.sem_perm, &a->o);
	ds.sem_otime = a->otime;
	ds.sem_ctime = a->ctime;
	ds.sem_nsems = a->count;
	if (copy_out_obj(buf, ds) < 0)
		return -EFAULT;
	return cmd == IPC_STAT ? 0 : a->o.id;
}

static int64_t sem_info(int cmd, uaddr_t buf)
{
	struct seminfo i = {.semmap = SEM_TOTAL, .semmni = (int)sem_table.max, .semmns = SEM_TOTAL,
			    .semmnu = SEM_TOTAL, .semmsl = SEM_MSL, .semopm = SEM_OPM, .semume = SEM_OPM,
			    .semusz = 20, .semvmx = SEM_VMX, .semaem = SEM_VMX};

	if (cmd == SEM_INFO) {
		i.semusz = (int)sem_table.count;
		i.semaem = (int)sem_used;
	}
	return copy_out_obj(buf, i) < 0 ? -EFAULT : MAX(sem_table.high, 0);
}

/* All values in or out. */
static int64_t sem_all(struct sem_array *a, bool set, uaddr_t buf)
{
	uint16_t *v = calloc(a->count, sizeof *v);
	struct sem_undo *u;
	int64_t r = 0;

	if (!v)
		return -ENOMEM;
	if (!set) {
		for (unsigned i = 0; i < a->count; i++)
			v[i] = (uint16_t)a->sem[i].value;
		r = copy_out(buf, v, a->count * sizeof *v);
		goto out;
	}
	r = copy_in(v, buf, a->count * sizeof *v);
	for (unsigned i = 0; r == 0 && i < a->count; i++)
		if (v[i] > SEM_VMX)
			r = -ERANGE;
	if (r < 0)
		goto out;
	for (unsigned i = 0; i < a->count; i++) {
		a->sem[i].value = v[i];
		a->sem[i].pid = current->tg->pid;
	}
	list_for_each(u, &a->undos, node)
		memset(u->adj, 0, a->count * sizeof u->adj[0]);
	a->ctime = ipc_seconds();
	waitq_wake(&a->q, 0);
out:
	free(v);
	return r;
}

static int64_t sem_set(struct sem_array *a, unsigned num, int value)
{
	struct sem_undo *u;

	if (num >= a->count)
		return -EINVAL;
	if (!ipc_allowed(&a->o, S_IWUGO))
		return -EACCES;
	list_for_each(u, &a->undos, node)
		u->adj[num] = 0;
	a->sem[num].value = value;
	a->sem[num].pid = current->tg->pid;
	a->ctime = ipc_seconds();
	waitq_wake(&a->q, 0);
	return 0;
}

static int64_t sem_one(struct sem_array *a, unsigned num, int cmd)
{
	struct sem_waiter *w;
	int64_t n = 0;

	if (num >= a->count)
		return -EINVAL;
	if (cmd == GETVAL)
		return a->sem[num].value;
	if (cmd == GETPID)
		return a->sem[num].pid;
	list_for_each(w, &a->waiters, node)
		n += w->num == num && w->zero == (cmd == GETZCNT);
	return n;
}

static int64_t sem_owner(int id, int cmd, uaddr_t buf)
{
	struct semid64_ds ds;
	struct sem_array *a;
	int r;

	if (cmd == IPC_SET && copy_in_obj(ds, buf) < 0)
		return -EFAULT;
	a = sem_find(id);
	if (!a)
		return -EINVAL;
	if (!ipc_owner(&a->o))
		return -EPERM;
	if (cmd == IPC_SET) {
		r = ipc_set(&a->o, &ds.sem_perm);
		if (r == 0)
			a->ctime = ipc_seconds();
		return r;
	}
	a->o.refs++;
	ipc_remove(&sem_table, &a->o);
	waitq_wake(&a->q, 0);
	ipc_put(&sem_table, &a->o);
	return 0;
}

int64_t sys_semctl(int id, int num, int cmd, uint64_t arg)
{
	struct sem_array *a;
	struct ipc_object *o;

	if (id < 0)
		return -EINVAL;
	switch (cmd) {
	case IPC_INFO:
	case SEM_INFO:
		return sem_info(cmd, uaddr(arg));
	case SEM_STAT:
	case SEM_STAT_ANY:
		o = ipc_at(&sem_table, id);
		return o ? sem_stat(container_of(o, struct sem_array, o), cmd, uaddr(arg)) : -EINVAL;
	case IPC_SET:
	case IPC_RMID:
		return sem_owner(id, cmd, uaddr(arg));
	case SETVAL:
		if ((int)arg < 0 || (int)arg > SEM_VMX)
			return -ERANGE;
		break;
	case IPC_STAT:
	case GETALL:
	case SETALL:
	case GETVAL:
	case GETPID:
	case GETNCNT:
	case GETZCNT:
		break;
	default:
		return -EINVAL;
	}
	a = sem_find(id);
	if (!a)
		return -EINVAL;
	if (cmd == IPC_STAT)
		return sem_stat(a, cmd, uaddr(arg));
	if (cmd == SETVAL)
		return sem_set(a, (unsigned)num, (int)arg);
	if (!ipc_allowed(&a->o, cmd == SETALL ? S_IWUGO : S_IRUGO))
		return -EACCES;
	if (cmd == GETALL || cmd == SETALL)
		return sem_all(a, cmd == SETALL, uaddr(arg));
	return sem_one(a, (unsigned)num, cmd);
}

int sem_show(struct strbuf *b)
{
	strbuf_puts(b, "       key      semid perms      nsems   uid   gid  cuid  cgid      otime      ctime\n");
	for (int n = 0; n <= sem_table.high; n++) {
		struct ipc_object *o = sem_table.slot[n];
		struct sem_array *a = o ? container_of(o, struct sem_array, o) : NULL;

		if (a)
			strbuf_printf(b, "%10d %10d  %4o %10u %5u %5u %5u %5u %10llu %10llu\n", o->key, o->id,
				      o->mode, a->count, o->uid, o->gid, o->cuid, o->cgid,
				      (unsigned long long)a->otime, (unsigned long long)a->ctime);
	}
	return 0;
}
