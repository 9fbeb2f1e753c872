/*
 * Terminal objects: life, the kernel's master side, sessions and job control. The files of both sides are in
 * slave.c and fs/devpts.
 *
 * Counting: open files, the session that a terminal controls and the kernel's console each hold a reference. The
 * circle tty -> foreground group -> session -> tty is cut when the session leader exits.
 */
#include "fs/tty/tty.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include "fs/devpts/devpts.h"
#include "fs/tty/internal.h"
#include "sentry/base/util.h"
#include "sentry/task/task.h"

struct tty *tty_get(struct tty *t)
{
	t->refs++;
	return t;
}

static struct tty *console; /* the first one: /dev/console; not counted */

static __attribute__((noinline)) void tty_free(struct tty *t)
{
	if (console == t)
		console = NULL;
	devpts_free_index(t->index, t);
	if (t->fg)
		pgrp_put(t->fg);
	free(t);
}

void tty_put(struct tty *t)
{
	if (!--t->refs)
		tty_free(t);
}

struct tty *tty_alloc(void)
{
	struct tty *t = calloc(1, sizeof *t);
	if (!t)
		return NULL;
	t->refs = 1;
	t->index = devpts_new_index(t);
	if (t->index < 0) {
		free(t);
		return NULL;
	}
	t->mode = 0620;
	waitq_init(&t->rd_q);
	waitq_init(&t->wr_q);
	waitq_init(&t->m_q);
	ldisc_reset(t);
	return t;
}

/* --- the kernel as master -------------------------------------------------------------------------------------------- */
struct tty *tty_new_console(const struct l_winsize *win, void (*on_output)(struct tty *, void *arg), void *arg)
{
	struct tty *t = tty_alloc();
	if (!t)
		return NULL;
	t->kernel_master = true;
	t->tio.iflag |= IUTF8;
	if (win)
		t->win = *win;
	t->on_output = on_output;
	t->arg = arg;
	if (!console)
		console = t;
	return t;
}

struct tty *tty_console(void)
{
	return console;
}

void tty_out_ready(struct tty *t)
{
	if (t->out_head == t->out_tail && !t->pkt_status)
		return;
	waitq_wake(&t->m_q, EPOLLIN | EPOLLRDNORM | (t->pkt_status ? EPOLLPRI : 0));
	if (t->on_output)
		t->on_output(t, t->arg);
}

size_t tty_input_room(const struct tty *t)
{
	/* Without a complete line to read, bytes beyond the buffer are dropped rather than waited for: the line could
	 * never be finished otherwise. */
	if ((t->tio.lflag & ICANON) && t->canon_head == t->in_tail)
		return TTY_BUF;
	return TTY_BUF - (t->in_head - t->in_tail);
}

size_t tty_input(struct tty *t, const void *buf, size_t size)
{
	const uint8_t *p = buf;
	size_t n = 0;
	while (n < size && tty_input_room(t))
		ldisc_receive(t, p[n++]);
	tty_out_ready(t);
	return n;
}

size_t tty_output_pending(const struct tty *t)
{
	return t->out_head - t->out_tail;
}

size_t tty_output(struct tty *t, void *buf, size_t size)
{
	uint8_t *p = buf;
	size_t n = MIN(size, (size_t)(t->out_head - t->out_tail));
	for (size_t i = 0; i < n; i++)
		p[i] = t->out[t->out_tail++ & (TTY_OUT - 1)];
	if (n)
		waitq_wake(&t->wr_q, EPOLLOUT | EPOLLWRNORM);
	return n;
}

void tty_signal_fg(struct tty *t, int signo)
{
	if (t->fg)
		signal_send_pgrp(t->fg, signo, NULL);
}

void tty_set_winsize(struct tty *t, const struct l_winsize *w)
{
	if (!memcmp(&t->win, w, sizeof *w))
		return;
	t->win = *w;
	tty_signal_fg(t, SIGWINCH);
}

/* --- sessions ----------------------------------------------------------------------------------------------------------- */
static void set_fg(struct tty *t, struct pgrp *pg)
{
	struct pgrp *old = t->fg;
	t->fg = pg ? pgrp_get(pg) : NULL;
	if (old)
		pgrp_put(old);
}

void tty_set_fg(struct tty *t, struct pgrp *pg)
{
	set_fg(t, pg);
}

/* S and T part. May free either. */
static void detach(struct tty *t, struct session *s)
{
	s->tty = NULL;
	t->session = NULL;
	set_fg(t, NULL);
	tty_put(t);
}

void tty_attach_session(struct tty *t, struct session *s, struct pgrp *pg)
{
	if (s->tty)
		detach(s->tty, s);
	if (t->session)
		detach(tty_get(t), t->session), tty_put(t);
	s->tty = tty_get(t);
	t->session = s;
	set_fg(t, pg);
}

int tty_set_controlling(struct tty *t, bool steal)
{
	struct session *s = current->tg->pgrp->session;
	bool leader = s->sid == current->tg->pid;
	if (leader && t->session == s)
		return 0;
	if (!leader || s->tty)
		return -EPERM;
	if (t->session && !(steal && capable(CAP_SYS_ADMIN)))
		return -EPERM;
	tty_attach_session(t, s, current->tg->pgrp);
	return 0;
}

static void end_generation(struct tty *t)
{
	t->hangups++;
	ldisc_flush_in(t);
	uint32_t ev = EPOLLIN | EPOLLOUT | EPOLLRDNORM | EPOLLWRNORM | EPOLLERR | EPOLLHUP;
	waitq_wake(&t->rd_q, ev);
	waitq_wake(&t->wr_q, ev);
	waitq_wake(&t->m_q, ev);
	if (t->on_output)
		t->on_output(t, t->arg);
}

static void signal_leader(struct session *s)
{
	struct tgroup *tg = tgroup_find(s->sid);
	if (!tg)
		return;
	signal_send_group(tg, SIGHUP, NULL);
	signal_send_group(tg, SIGCONT, NULL);
}

void tty_session_leader_exit(struct session *s)
{
	struct tty *t = s->tty;
	if (!t)
		return;
	tty_get(t);
	tty_signal_fg(t, SIGHUP);
	tty_signal_fg(t, SIGCONT);
	end_generation(t);
	if (s->tty == t)
		detach(t, s);
	tty_put(t);
}

void tty_session_gone(struct session *s)
{
	if (s->tty)
		detach(s->tty, s);
}

void tty_hangup(struct tty *t)
{
	tty_get(t);
	t->kernel_master = false;
	if (console == t)
		console = NULL;
	struct session *s = t->session;
	if (s) {
		signal_leader(s);
		if (s->tty == t && t->session == s)
			detach(t, s);
	}
	end_generation(t);
	tty_put(t);
}

/* TIOCNOTTY by the leader. */
void tty_give_up(struct tty *t, struct session *s)
{
	tty_get(t);
	tty_signal_fg(t, SIGHUP);
	tty_signal_fg(t, SIGCONT);
	detach(t, s);
	tty_put(t);
}

unsigned tty_nr(const struct session *s)
{
	return s->tty ? 136u << 8 | (unsigned)s->tty->index : 0;
}

int tty_fg_pgid(const struct session *s)
{
	return s->tty && s->tty->fg ? s->tty->fg->pgid : -1;
}

/* --- job control ---------------------------------------------------------------------------------------------------------- */
static bool quiet(int signo)
{
	return (current->sig_mask & SIGBIT(signo)) || current->tg->sighand->action[signo - 1].handler == 1;
}

int tty_job_control(struct tty *t, int signo)
{
	struct pgrp *pg = current->tg->pgrp;
	if (!pg || pg->session->tty != t || !t->fg || t->fg == pg)
		return 0;
	if (quiet(signo))
		return signo == SIGTTIN ? -EIO : 0;
	if (pgrp_is_orphaned(pg, NULL))
		return -EIO;
	signal_send_pgrp(pg, signo, NULL);
	return -ERESTARTSYS;
}
