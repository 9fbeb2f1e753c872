/*
 * The N_TTY line discipline: what happens to a byte between keyboard and program, and back. Follows termios(3) and
 * Linux's n_tty.c where they differ. Input lands in a ring with two marks per byte: "ends a line" and "is an EOF
 * mark"; in canonical mode a reader sees only complete lines.
 */
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include "fs/tty/tty.h"
#include "sentry/base/util.h"

#define IN(i) ((i) & (TTY_BUF - 1))
#define OUT(i) ((i) & (TTY_OUT - 1))
#define DISABLED 0 /* _POSIX_VDISABLE */

static bool bit(const uint8_t *map, unsigned i)
{
	return map[IN(i) / 8] >> (IN(i) % 8) & 1;
}
static void set_bit(uint8_t *map, unsigned i, bool on)
{
	uint8_t m = (uint8_t)(1u << (IN(i) % 8));
	if (on)
		map[IN(i) / 8] |= m;
	else
		map[IN(i) / 8] &= (uint8_t)~m;
}
static bool lflag(const struct tty *t, unsigned f)
{
	return t->tio.lflag & f;
}
static bool iflag(const struct tty *t, unsigned f)
{
	return t->tio.iflag & f;
}
static bool is_cc(const struct tty *t, uint8_t c, int which)
{
	return t->tio.cc[which] != DISABLED && t->tio.cc[which] == c;
}

void ldisc_reset(struct tty *t)
{
	t->tio = (struct l_termios2){
		.iflag = ICRNL | IXON, .oflag = OPOST | ONLCR, .cflag = B38400 | CS8 | CREAD,
		.lflag = ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN,
		.ispeed = 38400, .ospeed = 38400};
	uint8_t *cc = t->tio.cc;
	cc[VINTR] = 3;
	cc[VQUIT] = 28;
	cc[VERASE] = 127;
	cc[VKILL] = 21;
	cc[VEOF] = 4;
	cc[VMIN] = 1;
	cc[VSTART] = 17;
	cc[VSTOP] = 19;
	cc[VSUSP] = 26;
	cc[VREPRINT] = 18;
	cc[VDISCARD] = 15;
	cc[VWERASE] = 23;
	cc[VLNEXT] = 22;
}

/* --- output ---------------------------------------------------------------------------------------------------------- */
static unsigned out_room(const struct tty *t)
{
	return TTY_OUT - (t->out_head - t->out_tail);
}

static void put_raw(struct tty *t, uint8_t c)
{
	if (out_room(t))
		t->out[OUT(t->out_head++)] = c;
}

bool ldisc_out(struct tty *t, uint8_t c)
{
	unsigned o = t->tio.oflag;
	if (out_room(t) < 8) /* the widest expansion, a tab */
		return false;
	if (!(o & OPOST)) {
		put_raw(t, c);
		return true;
	}
	switch (c) {
	case '\n':
		if (o & ONLRET)
			t->column = 0;
		if (o & ONLCR) {
			t->column = 0;
			put_raw(t, '\r');
		}
		put_raw(t, '\n');
		return true;
	case '\r':
		if ((o & ONOCR) && !t->column)
			return true;
		if (o & OCRNL) {
			if (o & ONLRET)
				t->column = 0;
			put_raw(t, '\n');
			return true;
		}
		t->column = 0;
		put_raw(t, '\r');
		return true;
	case '\t': {
		unsigned n = 8 - (t->column & 7);
		t->column += n;
		if ((o & TABDLY) != XTABS) {
			put_raw(t, '\t');
			return true;
		}
		while (n--)
			put_raw(t, ' ');
		return true;
	}
	case '\b':
		if (t->column)
			t->column--;
		put_raw(t, c);
		return true;
	default:
		if (o & OLCUC)
			c = c >= 'a' && c <= 'z' ? (uint8_t)(c - 32) : c;
		/* A continuation byte of UTF-8 does not move the cursor. */
		if (c >= 32 && c != 127 && !((t->tio.iflag & IUTF8) && (c & 0xc0) == 0x80))
			t->column++;
		put_raw(t, c);
		return true;
	}
}

static bool is_ctl(uint8_t c)
{
	return c < 32 || c == 127;
}

/* DIFF: echo that finds the output full is dropped. */
static void echo(struct tty *t, uint8_t c)
{
	if (lflag(t, ECHOCTL) && is_ctl(c) && c != '\t' && c != '\n') {
		ldisc_out(t, '^');
		ldisc_out(t, c ^ 0x40);
	} else {
		ldisc_out(t, c);
	}
}

/* --- erasing ----------------------------------------------------------------------------------------------------------- */
static unsigned line_start(const struct tty *t)
{
	return t->canon_head;
}

/* Column at which the byte at I of the unfinished line stands, measured from the line's start. */
static unsigned width_before(const struct tty *t, unsigned end)
{
	unsigned w = 0;
	for (unsigned i = line_start(t); i != end; i++) {
		uint8_t c = t->in[IN(i)];
		if (c == '\t')
			w = (w | 7) + 1;
		else if (is_ctl(c))
			w += lflag(t, ECHOCTL) ? 2 : 0;
		else if (!(iflag(t, IUTF8) && (c & 0xc0) == 0x80))
			w++;
	}
	return w;
}

static void erase_one(struct tty *t)
{
	unsigned head = t->in_head;
	do
		head--;
	while (iflag(t, IUTF8) && head != line_start(t) && (t->in[IN(head)] & 0xc0) == 0x80);
	unsigned before = width_before(t, t->in_head), after = width_before(t, head);
	uint8_t c = t->in[IN(head)];
	t->in_head = head;
	if (!lflag(t, ECHO))
		return;
	if (!lflag(t, ECHOE)) {
		echo(t, t->tio.cc[VERASE]);
		return;
	}
	bool tab = c == '\t';
	for (unsigned n = before - after; n; n--) {
		ldisc_out(t, '\b');
		if (!tab) {
			ldisc_out(t, ' ');
			ldisc_out(t, '\b');
		}
	}
}

static bool word_char(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 128;
}

static void erase_word(struct tty *t)
{
	bool seen = false;
	while (t->in_head != line_start(t)) {
		bool word = word_char(t->in[IN(t->in_head - 1)]);
		if (seen && !word)
			return;
		seen |= word;
		erase_one(t);
	}
}

static void erase_line(struct tty *t)
{
	if (lflag(t, ECHO) && !(lflag(t, ECHOK) && lflag(t, ECHOKE) && lflag(t, ECHOE))) {
		t->in_head = line_start(t);
		echo(t, t->tio.cc[VKILL]);
		if (lflag(t, ECHOK))
			ldisc_out(t, '\n');
		return;
	}
	while (t->in_head != line_start(t))
		erase_one(t);
}

/* --- input -------------------------------------------------------------------------------------------------------------- */
void ldisc_flush_in(struct tty *t)
{
	t->in_tail = t->canon_head = t->in_head;
	t->lines = 0;
	t->lnext = false;
	waitq_wake(&t->m_q, EPOLLOUT | EPOLLWRNORM);
	if (t->packet)
		t->pkt_status |= TIOCPKT_FLUSHREAD;
}

void ldisc_flush_out(struct tty *t)
{
	t->out_tail = t->out_head;
	waitq_wake(&t->wr_q, EPOLLOUT | EPOLLWRNORM);
	if (t->packet)
		t->pkt_status |= TIOCPKT_FLUSHWRITE;
}

static void store(struct tty *t, uint8_t c, bool eol, bool eof)
{
	unsigned used = t->in_head - t->in_tail;
	/* The last place is for what ends a line, so that an overlong line can still be read. */
	if (used >= TTY_BUF || (used == TTY_BUF - 1 && lflag(t, ICANON) && !eol)) {
		if (iflag(t, IMAXBEL))
			ldisc_out(t, '\a');
		return;
	}
	t->in[IN(t->in_head)] = c;
	set_bit(t->eol, t->in_head, eol);
	set_bit(t->eofm, t->in_head, eof);
	t->in_head++;
	if (eol) {
		t->canon_head = t->in_head;
		t->lines++;
	}
	if (eol || !lflag(t, ICANON))
		waitq_wake(&t->rd_q, EPOLLIN | EPOLLRDNORM);
}

static void start_output(struct tty *t)
{
	if (!t->stopped)
		return;
	t->stopped = false;
	if (t->packet)
		t->pkt_status = (uint8_t)((t->pkt_status & ~TIOCPKT_STOP) | TIOCPKT_START);
	waitq_wake(&t->wr_q, EPOLLOUT | EPOLLWRNORM);
}

static void signal_char(struct tty *t, uint8_t c, int signo)
{
	if (!lflag(t, NOFLSH)) {
		ldisc_flush_in(t);
		ldisc_flush_out(t);
	}
	start_output(t);
	if (lflag(t, ECHO))
		echo(t, c);
	tty_signal_fg(t, signo);
}

static bool canonical_special(struct tty *t, uint8_t c)
{
	bool ext = lflag(t, IEXTEN), empty = t->in_head == line_start(t);
	if (is_cc(t, c, VERASE)) {
		if (!empty)
			erase_one(t);
		return true;
	}
	if (is_cc(t, c, VKILL)) {
		erase_line(t);
		return true;
	}
	if (ext && is_cc(t, c, VWERASE)) {
		erase_word(t);
		return true;
	}
	if (ext && is_cc(t, c, VLNEXT)) {
		t->lnext = true;
		if (lflag(t, ECHO) && lflag(t, ECHOCTL)) {
			ldisc_out(t, '^');
			ldisc_out(t, '\b');
		}
		return true;
	}
	if (ext && lflag(t, ECHO) && is_cc(t, c, VREPRINT)) {
		echo(t, c);
		ldisc_out(t, '\n');
		for (unsigned i = line_start(t); i != t->in_head; i++)
			echo(t, t->in[IN(i)]);
		return true;
	}
	if (c == '\n') {
		if (lflag(t, ECHO) || lflag(t, ECHONL))
			ldisc_out(t, '\n');
		store(t, c, true, false);
		return true;
	}
	if (is_cc(t, c, VEOF)) {
		store(t, c, true, true);
		return true;
	}
	if (is_cc(t, c, VEOL) || (ext && is_cc(t, c, VEOL2))) {
		if (lflag(t, ECHO))
			echo(t, c);
		store(t, c, true, false);
		return true;
	}
	return false;
}

void ldisc_receive(struct tty *t, uint8_t c)
{
	if (iflag(t, ISTRIP))
		c &= 0x7f;
	if (iflag(t, IUCLC) && lflag(t, IEXTEN) && c >= 'A' && c <= 'Z')
		c = (uint8_t)(c + 32);
	if (t->lnext) {
		t->lnext = false;
		if (lflag(t, ECHO))
			echo(t, c);
		store(t, c, false, false);
		return;
	}
	if (t->stopped && iflag(t, IXON) && iflag(t, IXANY) && !is_cc(t, c, VSTOP))
		start_output(t);
	if (iflag(t, IXON)) {
		if (is_cc(t, c, VSTART)) {
			start_output(t);
			return;
		}
		if (is_cc(t, c, VSTOP)) {
			t->stopped = true;
			if (t->packet)
				t->pkt_status = (uint8_t)((t->pkt_status & ~TIOCPKT_START) | TIOCPKT_STOP);
			return;
		}
	}
	if (lflag(t, ISIG)) {
		int signo = is_cc(t, c, VINTR) ? SIGINT : is_cc(t, c, VQUIT) ? SIGQUIT : is_cc(t, c, VSUSP) ? SIGTSTP : 0;
		if (signo) {
			signal_char(t, c, signo);
			return;
		}
	}
	if (c == '\r') {
		if (iflag(t, IGNCR))
			return;
		if (iflag(t, ICRNL))
			c = '\n';
	} else if (c == '\n' && iflag(t, INLCR)) {
		c = '\r';
	}
	if (lflag(t, ICANON)) {
		if (canonical_special(t, c))
			return;
	}
	if (lflag(t, ECHO)) {
		if (c == '\n')
			ldisc_out(t, '\n');
		else
			echo(t, c);
	}
	store(t, c, false, false);
}

unsigned ldisc_available(const struct tty *t)
{
	if (!lflag(t, ICANON))
		return t->in_head - t->in_tail;
	unsigned n = 0;
	for (unsigned i = t->in_tail; i != t->canon_head; i++)
		n += !bit(t->eofm, i);
	return n;
}

bool ldisc_readable(const struct tty *t, bool poll)
{
	if (lflag(t, ICANON))
		return t->canon_head != t->in_tail;
	unsigned want = poll && !t->tio.cc[VTIME] && t->tio.cc[VMIN] ? t->tio.cc[VMIN] : 1;
	return t->in_head - t->in_tail >= want;
}

size_t ldisc_take(struct tty *t, uint8_t *buf, size_t size, bool *end)
{
	bool canon = lflag(t, ICANON);
	unsigned limit = canon ? t->canon_head : t->in_head;
	size_t n = 0;
	*end = false;
	while (t->in_tail != limit && !*end) {
		unsigned i = t->in_tail;
		bool eol = bit(t->eol, i), eof = bit(t->eofm, i);
		if (!(canon && eof)) {
			if (n == size)
				break;
			buf[n++] = t->in[IN(i)];
		}
		t->in_tail++;
		if (eol && t->lines)
			t->lines--;
		*end = canon && eol;
		/* A full buffer just before the EOF mark takes the mark along, else the next read would return 0. */
		if (n == size && !*end && !(canon && t->in_tail != limit && bit(t->eofm, t->in_tail)))
			break;
	}
	if ((int)(t->canon_head - t->in_tail) < 0)
		t->canon_head = t->in_tail;
	return n;
}

void ldisc_set_termios(struct tty *t, const struct l_termios2 *n)
{
	unsigned old = t->tio.lflag, oi = t->tio.iflag;
	t->tio = *n;
	if ((old ^ n->lflag) & ICANON) {
		memset(t->eofm, 0, sizeof t->eofm);
		memset(t->eol, 0, sizeof t->eol);
		t->lines = 0;
		t->lnext = false;
		t->canon_head = t->in_tail;
		if ((n->lflag & ICANON) && t->in_head != t->in_tail) {
			/* What was typed before counts as one line, as in n_tty_set_termios. */
			set_bit(t->eol, t->in_head - 1, true);
			t->canon_head = t->in_head;
			t->lines = 1;
		}
		waitq_wake(&t->rd_q, EPOLLIN | EPOLLRDNORM);
	}
	if ((oi & IXON) && !(n->iflag & IXON))
		start_output(t);
	if (t->packet && ((oi ^ n->iflag) & IXON))
		t->pkt_status |= n->iflag & IXON ? TIOCPKT_DOSTOP : TIOCPKT_NOSTOP;
}
