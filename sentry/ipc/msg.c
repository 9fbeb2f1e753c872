/* System V message queues. Every message is charged to the sandbox while it is queued. */
#include "sentry/ipc/ipc.h"
#include "sentry/base/util.h"
#include "sentry/mm/mm.h"
#include "sentry/task/task.h"
#include "syscalls/table.h"
#include <errno.h>
#include <linux/msg.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MSG_MAX 8192
#define MSG_MNB 16384
#define MSG_HDRS 32
#ifndef MSG_STAT_ANY
#define MSG_STAT_ANY 13
#endif

struct msg {
	struct list node;
	int64_t type;
	size_t size;
	char text[];
};
struct msg_queue {
	struct ipc_object o;
	int64_t stime, rtime, ctime;
	uint64_t bytes, count, limit;
	pid_t lspid, lrpid;
	struct list msgs;
	struct waitq senders, receivers;
};

static int64_t msg_pages(const struct msg *m)
{
	return (int64_t)(PAGE_UP(sizeof *m + m->size) / GUEST_PAGE_SIZE);
}

static void msg_free(struct msg *m)
{
	if (m)
		mm_account(NULL, -msg_pages(m));
	free(m);
}

static struct msg *msg_new(size_t size)
{
	struct msg *m = malloc(sizeof *m + size);

	if (!m)
		return NULL;
	m->size = size;
	if (mm_account(NULL, msg_pages(m)) < 0) {
		free(m);
		return NULL;
	}
	return m;
}

static void queue_free(struct ipc_object *o)
{
	struct msg_queue *q = container_of(o, struct msg_queue, o);
	struct msg *m, *next;

	list_for_each_safe(m, next, &q->msgs, node)
		msg_free(m);
	free(q);
}
struct ipc_table msg_table = {.max = IPC_SLOTS - 768, .high = -1, .free = queue_free};

static struct msg_queue *queue_find(int id)
{
	struct ipc_object *o = ipc_find(&msg_table, id);

	return o ? container_of(o, struct msg_queue, o) : NULL;
}

static struct ipc_object *queue_make(const struct ipc_get *g, int *error)
{
	struct msg_queue *q = calloc(1, sizeof *q);

	*error = -ENOMEM;
	if (!q)
		return NULL;
	q->o.refs = 1;
	q->limit = MSG_MNB;
	q->ctime = ipc_seconds();
	list_init(&q->msgs);
	waitq_init(&q->senders);
	waitq_init(&q->receivers);
	return &q->o;
}

int64_t sys_msgget(int key, int flags)
{
	struct ipc_get g = {.key = key, .flags = flags, .make = queue_make};

	return ipc_get(&msg_table, &g);
}

/* Asleep on WAIT with a reference held: 0 to look again, or the call's error. */
static int queue_sleep(struct msg_queue *q, struct waitq *wait)
{
	int r = wait_on(wait, 0);

	if (q->o.dead)
		return -EIDRM;
	return r < 0 ? -ERESTARTNOHAND : 0;
}

static int send(struct msg_queue *q, struct msg *m, int flags)
{
	for (;;) {
		int r;

		if (!ipc_allowed(&q->o, S_IWUGO))
			return -EACCES;
		if (q->bytes + m->size <= q->limit && q->count + 1 <= q->limit)
			break;
		if (flags & IPC_NOWAIT)
			return -EAGAIN;
		r = queue_sleep(q, &q->senders);
		if (r < 0)
			return r;
	}
	list_add_tail(&q->msgs, &m->node);
	q->bytes += m->size;
	q->count++;
	q->lspid = current->tg->pid;
	q->stime = ipc_seconds();
	waitq_wake(&q->receivers, 0);
	return 0;
}

int64_t sys_msgsnd(int id, uaddr_t msgp, size_t size, int flags)
{
	struct msg_queue *q;
	struct msg *m;
	int64_t type;
	int r;

	if (copy_in_obj(type, msgp) < 0)
		return -EFAULT;
	if (size > MSG_MAX || id < 0 || type < 1)
		return -EINVAL;
	m = msg_new(size);
	if (!m)
		return -ENOMEM;
	m->type = type;
	r = copy_in(m->text, uaddr_add(msgp, sizeof type), size);
	q = queue_find(id);
	if (r == 0 && !q)
		r = -EINVAL;
	if (r == 0) {
		q->o.refs++;
		r = send(q, m, flags);
		ipc_put(&msg_table, &q->o);
	}
	if (r < 0)
		msg_free(m);
	return r;
}

/* The message that TYPE and FLAGS ask for, or NULL. */
static struct msg *pick(struct msg_queue *q, int64_t type, int flags)
{
	struct msg *m, *best = NULL;
	int64_t n = 0, most;

	if (type < 0 && !(flags & MSG_COPY)) {
		most = type == INT64_MIN ? INT64_MAX : -type;
		list_for_each(m, &q->msgs, node)
			if (m->type <= most && (!best || m->type < best->type))
				best = m;
		return best;
	}
	list_for_each(m, &q->msgs, node) {
		if (flags & MSG_COPY ? n++ == type
				     : !type || (m->type == type) == !(flags & MSG_EXCEPT))
			return m;
	}
	return NULL;
}

static int64_t deliver(const struct msg *m, uaddr_t msgp, size_t size)
{
	size_t n = MIN(m->size, size);

	if (copy_out_obj(msgp, m->type) < 0 || copy_out(uaddr_add(msgp, sizeof m->type), m->text, n) < 0)
		return -EFAULT;
	return (int64_t)n;
}

static int64_t receive(struct msg_queue *q, uaddr_t msgp, size_t size, int64_t type, int flags)
{
	struct msg *m;
	int64_t r;

	for (;;) {
		if (!ipc_allowed(&q->o, S_IRUGO))
			return -EACCES;
		m = pick(q, type, flags);
		if (m)
			break;
		if (flags & IPC_NOWAIT)
			return -ENOMSG;
		r = queue_sleep(q, &q->receivers);
		if (r < 0)
			return r;
	}
	if (size < m->size && !(flags & MSG_NOERROR))
		return -E2BIG;
	if (flags & MSG_COPY)
		return deliver(m, msgp, size);
	/* Off the queue before the copy, as Linux: a bad address loses it. */
	list_del(&m->node);
	q->bytes -= m->size;
	q->count--;
	q->lrpid = current->tg->pid;
	q->rtime = ipc_seconds();
	waitq_wake(&q->senders, 0);
	r = deliver(m, msgp, size);
	msg_free(m);
	return r;
}

int64_t sys_msgrcv(int id, uaddr_t msgp, size_t size, long type, int flags)
{
	struct msg_queue *q;
	int64_t r;

	if (id < 0 || (int64_t)size < 0)
		return -EINVAL;
	if ((flags & MSG_COPY) && ((flags & MSG_EXCEPT) || !(flags & IPC_NOWAIT)))
		return -EINVAL;
	q = queue_find(id);
	if (!q)
		return -EINVAL;
	q->o.refs++;
	r = receive(q, msgp, size, type, flags);
	ipc_put(&msg_table, &q->o);
	return r;
}

static int64_t msg_stat(struct ipc_object *o, int cmd, uaddr_t buf)
{
	struct msg_queue *q = container_of(o, struct msg_queue, o);
	struct msqid64_ds ds = {0};

	if (cmd != MSG_STAT_ANY && !ipc_allowed(o, S_IRUGO))
		return -EACCES;
	ipc_fill(&ds.msg_perm, o);
	ds.msg_stime = q->stime;
	ds.msg_rtime = q->rtime;
	ds.msg_ctime = q->ctime;
	ds.msg_cbytes = q->bytes;
	ds.msg_qnum = q->count;
	ds.msg_qbytes = q->limit;
	ds.msg_lspid = q->lspid;
	ds.msg_lrpid = q->lrpid;
	if (copy_out_obj(buf, ds) < 0)
		return -EFAULT;
	return cmd == IPC_STAT ? 0 : o->id;
}

static int64_t msg_info(int cmd, uaddr_t buf)
{
	struct msginfo i = {.msgpool = (int)(msg_table.max * (MSG_MNB / 1024)), .msgmap = MSG_MNB, .msgmax = MSG_MAX,
			    .msgmnb = MSG_MNB, .msgmni = (int)msg_table.max, .msgssz = 16, .msgtql = MSG_MNB,
			    .msgseg = 0xffff};

	if (cmd == MSG_INFO) {
		uint64_t bytes = 0, count = 0;

		for (int n = 0; n <= msg_table.high; n++) {
			struct ipc_object *o = msg_table.slot[n];

			if (o) {
				bytes += container_of(o, struct msg_queue, o)->bytes;
				count += container_of(o, struct msg_queue, o)->count;
			}
		}
		i.msgpool = (int)msg_table.count;
		i.msgmap = (int)MIN(count, (uint64_t)INT_MAX);
		i.msgtql = (int)MIN(bytes, (uint64_t)INT_MAX);
	}
	return copy_out_obj(buf, i) < 0 ? -EFAULT : MAX(msg_table.high, 0);
}

static int msg_set(struct msg_queue *q, const struct msqid64_ds *ds)
{
	int r;

	if (ds->msg_qbytes > MSG_MNB && !capable(CAP_SYS_RESOURCE))
		return -EPERM;
	r = ipc_set(&q->o, &ds->msg_perm);
	if (r < 0)
		return r;
	q->limit = ds->msg_qbytes;
	q->ctime = ipc_seconds();
	/* Rights or room may have changed for those that sleep. */
	waitq_wake(&q->receivers, 0);
	waitq_wake(&q->senders, 0);
	return 0;
}

int64_t sys_msgctl(int id, int cmd, uaddr_t buf)
{
	struct msqid64_ds ds;
	struct ipc_object *o;
	struct msg_queue *q;

	if (id < 0 || cmd < 0)
		return -EINVAL;
	switch (cmd) {
	case IPC_INFO:
	case MSG_INFO:
		return msg_info(cmd, buf);
	case MSG_STAT:
	case MSG_STAT_ANY:
		o = ipc_at(&msg_table, id);
		return o ? msg_stat(o, cmd, buf) : -EINVAL;
	case IPC_STAT:
		o = ipc_find(&msg_table, id);
		return o ? msg_stat(o, cmd, buf) : -EINVAL;
	case IPC_SET:
		if (copy_in_obj(ds, buf) < 0)
			return -EFAULT;
		break;
	case IPC_RMID:
		break;
	default:
		return -EINVAL;
	}
	q = queue_find(id);
	if (!q)
		return -EINVAL;
	if (!ipc_owner(&q->o))
		return -EPERM;
	if (cmd == IPC_SET)
		return msg_set(q, &ds);
	q->o.refs++;
	ipc_remove(&msg_table, &q->o);
	waitq_wake(&q->receivers, 0);
	waitq_wake(&q->senders, 0);
	ipc_put(&msg_table, &q->o);
	return 0;
}

int msg_show(struct strbuf *b)
{
	strbuf_puts(b, "       key      msqid perms      cbytes       qnum lspid lrpid   uid   gid  cuid  cgid"
		       "      stime      rtime      ctime\n");
	for (int n = 0; n <= msg_table.high; n++) {
		struct ipc_object *o = msg_table.slot[n];
		struct msg_queue *q = o ? container_of(o, struct msg_queue, o) : NULL;

		if (q)
			strbuf_printf(b,
				      "%10d %10d  %4o  %10lu %10lu %5u %5u %5u %5u %5u %5u %10llu %10llu %10llu\n",
				      o->key, o->id, o->mode, (unsigned long)q->bytes, (unsigned long)q->count,
				      (unsigned)q->lspid, (unsigned)q->lrpid, o->uid, o->gid, o->cuid, o->cgid,
				      (unsigned long long)q->stime, (unsigned long long)q->rtime,
				      (unsigned long long)q->ctime);
	}
	return 0;
}
