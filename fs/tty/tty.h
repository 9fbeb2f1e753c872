/*
 * Terminals: a line discipline (N_TTY) between a master side and a slave side. The master is either a /dev/ptmx
 * descriptor of the guest or the kernel itself (`ward run -t`), which relays to the command's terminal.
 */
#ifndef WARD_FS_TTY_H
#define WARD_FS_TTY_H
#include "fs/vfs.h"

struct pgrp;
struct session;

struct l_winsize {
	uint16_t rows, cols, xpixel, ypixel;
};
struct l_termios2 { /* TCGETS2; TCGETS is its first 36 bytes */
	uint32_t iflag, oflag, cflag, lflag;
	uint8_t line;
	uint8_t cc[19];
	uint32_t ispeed, ospeed;
};
_Static_assert(sizeof(struct l_termios2) == 44, "termios2");
#define L_TERMIOS_SIZE 36

#define TTY_BUF 4096 /* N_TTY_BUF_SIZE: input not yet read; one canonical line is at most this long */
#define TTY_OUT 8192 /* output not yet taken by the master */

/* One terminal. refs: open files of either side, the session it controls, devpts, the kernel's console. */
struct tty {
	unsigned refs;
	int index;                 /* pts number */
	struct l_termios2 tio;
	struct l_winsize win;
	struct session *session;   /* whose controlling terminal it is; not counted (cleared by session end) */
	struct pgrp *fg;           /* foreground group; counted */
	unsigned slaves, masters;  /* open files of each side */
	bool kernel_master;        /* the master is the kernel: never closes until tty_hangup */
	bool locked;               /* TIOCSPTLCK: the slave cannot be opened */
	bool slave_seen;           /* a slave was open once: master reads EIO after the last one closes */
	unsigned hangups;          /* open slave files of an earlier generation (file->pos) are hung up */
	bool stopped;              /* XOFF from input */
	bool packet;               /* TIOCPKT */
	uint8_t pkt_status;
	bool exclusive;
	struct waitq rd_q;         /* slave readers: input, hang-up */
	struct waitq wr_q;         /* slave writers: room */
	struct waitq m_q;          /* master: output to read, room for input, hang-up */

	/* Input ring after the line discipline: bytes plus a mark per byte. */
	uint8_t in[TTY_BUF];
	uint8_t eol[TTY_BUF / 8];  /* bit: the byte ends a line (newline, EOL, EOF mark) */
	uint8_t eofm[TTY_BUF / 8]; /* bit: the byte is an EOF mark, not data */
	unsigned in_head, in_tail; /* free-running */
	unsigned canon_head;       /* input up to here is readable in canonical mode */
	unsigned lines;            /* marks between tail and canon_head */
	bool lnext;
	unsigned column;           /* of the cursor, for tabs and erasing */

	uint8_t out[TTY_OUT];      /* what the master reads */
	unsigned out_head, out_tail;
	uint32_t uid;              /* owner of the pts node */
	uint32_t mode;
	struct ktime time;

	/* The kernel as master: told that output is there or that the slave side changed. May be NULL. */
	void (*on_output)(struct tty *, void *arg);
	void *arg;
};

struct tty *tty_get(struct tty *t);
void tty_put(struct tty *t);
/* For `ward run -t` and `ward exec -t`: a pseudo-terminal whose master is the kernel. It gets a pts number, so that
 * /dev/pts/N names it. WIN may be NULL. ON_OUTPUT is called (in any context, must not sleep) when output is waiting.
 * NULL: no memory. */
struct tty *tty_new_console(const struct l_winsize *win, void (*on_output)(struct tty *, void *arg), void *arg);
/* The slave side as an open file (for spawn_request.stdio): refs 1, NULL: no memory. */
struct file *tty_open_slave(struct tty *t, int flags);
/* Bytes typed: how many were taken (the rest when tty_input_room says so). Processes signals and echo. */
size_t tty_input(struct tty *t, const void *buf, size_t size);
size_t tty_input_room(const struct tty *t);
/* Take output: bytes copied, 0 when none. */
size_t tty_output(struct tty *t, void *buf, size_t size);
size_t tty_output_pending(const struct tty *t);
/* New window size: SIGWINCH to the foreground group when it changed. */
void tty_set_winsize(struct tty *t, const struct l_winsize *w);
/* The master is gone: SIGHUP and SIGCONT to the session, reads return 0, writes EIO. */
void tty_hangup(struct tty *t);

/* --- the line discipline (ldisc.c) ---------------------------------------------------------------------------------- */
void ldisc_reset(struct tty *t);                          /* sane termios, empty buffers */
void ldisc_receive(struct tty *t, uint8_t c);             /* one byte from the master */
bool ldisc_readable(const struct tty *t, bool poll);      /* would a read return now? */
unsigned ldisc_available(const struct tty *t);            /* FIONREAD */
/* Take input for a reader of SIZE bytes: bytes moved; *END: a line or an EOF mark ended it. */
size_t ldisc_take(struct tty *t, uint8_t *buf, size_t size, bool *end);
/* Output of the program through OPOST: false (nothing done) when there is no room. */
bool ldisc_out(struct tty *t, uint8_t c);
void ldisc_set_termios(struct tty *t, const struct l_termios2 *n);
void ldisc_flush_in(struct tty *t);
void ldisc_flush_out(struct tty *t);
void tty_out_ready(struct tty *t);                        /* tell the master that there is output */
void tty_signal_fg(struct tty *t, int signo);

/* --- sessions (sentry/task) -------------------------------------------------------------------------------------- */
/* The session leader of S exits: its terminal loses the session; the foreground group gets SIGHUP and SIGCONT. */
void tty_session_leader_exit(struct session *s);
/* S is about to be freed: it must not control a terminal any more. */
void tty_session_gone(struct session *s);
/* Make T the controlling terminal of current's session: TIOCSCTTY and open without O_NOCTTY. 0 or -EPERM. */
int tty_set_controlling(struct tty *t, bool steal);
/* The same for a session made by task_spawn: T controls S with PG in the foreground. */
void tty_attach_session(struct tty *t, struct session *s, struct pgrp *pg);
/* Number for /proc/PID/stat (new_encode_dev), 0 when S has none. */
unsigned tty_nr(const struct session *s);
/* Foreground group for /proc/PID/stat: -1 when there is none. */
int tty_fg_pgid(const struct session *s);

/* --- device nodes and devpts ---------------------------------------------------------------------------------------- */
#define TTY_MAX 256
struct tty *tty_by_index(unsigned index); /* borrowed or NULL */
int ptmx_open(struct inode *i, struct file *f);
int pts_open(struct inode *i, struct file *f, unsigned index);
int tty_open_current(struct inode *i, struct file *f); /* /dev/tty */
int tty_open_console_node(struct inode *i, struct file *f); /* /dev/console: the sandbox's first terminal */
struct tty *file_tty(struct file *f, bool *master);    /* borrowed or NULL */
#endif
