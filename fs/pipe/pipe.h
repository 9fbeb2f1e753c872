/* Pipes: a ring of page buffers shared by the two ends; see pipe.c. */
#ifndef WARD_FS_PIPE_H
#define WARD_FS_PIPE_H
#include "fs/vfs.h"

#define PIPE_DEF_SLOTS 16
#define PIPE_MAX_SIZE (1024 * 1024)
#define PIPE_MIN_SOFT_SLOTS 2

struct pipe_buf {
	char *page;        /* owned */
	unsigned off, len;
	bool packet;       /* O_DIRECT: one write, never merged, the rest of a short read is dropped */
};
struct pipe {
	unsigned refs;     /* open files and the FIFO inode's pointer while one is open */
	unsigned readers, writers;
	unsigned r_counter, w_counter; /* opens so far: a FIFO opener waits for a change, not for a level */
	unsigned head, tail;           /* free-running; head - tail slots are in use */
	unsigned slots;                /* power of two */
	struct pipe_buf *ring;
	char *spare;                   /* one page kept so that ping-pong never allocates */
	bool busy;                     /* a copy to or from guest memory is under way (it may sleep) */
	struct waitq lock_q, rd_q, wr_q;
};
static inline unsigned pipe_used(const struct pipe *p)
{
	return p->head - p->tail;
}
static inline bool pipe_empty(const struct pipe *p)
{
	return p->head == p->tail;
}
static inline bool pipe_full(const struct pipe *p)
{
	return pipe_used(p) >= p->slots;
}
static inline struct pipe_buf *pipe_slot(struct pipe *p, unsigned i)
{
	return &p->ring[i & (p->slots - 1)];
}
struct pipe *file_pipe(struct file *f); /* NULL when F is no pipe */
/* Exclusive use of the ring across sleeps: 0 or -EINTR (dying). */
int pipe_lock(struct pipe *p);
void pipe_unlock(struct pipe *p);
/* With the lock held: a page for the next slot (NULL: no memory), appended by pipe_push; pipe_drop_tail frees the
 * oldest slot and wakes writers. */
char *pipe_page_alloc(struct pipe *p);
void pipe_page_free(struct pipe *p, char *page);
void pipe_push(struct pipe *p, char *page, unsigned off, unsigned len, bool packet);
void pipe_drop_tail(struct pipe *p);
/* Sleep until there is data (0 also at end of file: check pipe_empty) or room. -EAGAIN when NONBLOCK. Lock not held. */
int pipe_wait_readable(struct pipe *p, bool nonblock);
int pipe_wait_writable(struct pipe *p, bool nonblock); /* -EPIPE (and SIGPIPE) without readers */
extern unsigned pipe_max_size;
#endif
