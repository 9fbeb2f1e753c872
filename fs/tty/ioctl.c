/* Requests on terminals: termios, window size, job control, flushing, pseudo-terminal control. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include "fs/tty/internal.h"
#include "sentry/base/util.h"
#include "sentry/task/task.h"

#define L_TCGETS2 0x802c542au
#define L_TCSETS2 0x402c542bu
#define L_TCSETSW2 0x402c542cu
#define L_TCSETSF2 0x402c542du
#define L_TIOCGPTPEER 0x5441u
#define L_TIOCGEXCL 0x80045440u
#define L_TIOCGPKT 0x80045438u
#define L_TIOCGPTLCK 0x80045439u

static bool is_current_tty(const struct tty *t)
{
	struct pgrp *pg = current->tg->pgrp;
	return pg && pg->session->tty == t;
}

static int64_t set_termios(struct tty *t, uaddr_t arg, size_t size, bool flush)
{
	struct l_termios2 n = t->tio;
	if (copy_in(&n, arg, size))
		return -EFAULT;
	if (flush)
		ldisc_flush_in(t);
	ldisc_set_termios(t, &n);
	tty_out_ready(t);
	return 0;
}

/* The older, shorter form: modes of 16 bits, 8 control characters. */
struct l_termio {
	uint16_t iflag, oflag, cflag, lflag;
	uint8_t line, cc[8], pad;
};
_Static_assert(sizeof(struct l_termio) == 18, "termio");

static int64_t get_termio(const struct tty *t, uaddr_t arg)
{
	struct l_termio o = {.iflag = (uint16_t)t->tio.iflag, .oflag = (uint16_t)t->tio.oflag,
			     .cflag = (uint16_t)t->tio.cflag, .lflag = (uint16_t)t->tio.lflag, .line = t->tio.line};
	memcpy(o.cc, t->tio.cc, sizeof o.cc);
	return copy_out_obj(arg, o);
}

static uint32_t low(uint32_t old, uint16_t now)
{
	return (old & 0xffff0000u) | now;
}

static int64_t set_termio(struct tty *t, uaddr_t arg, bool flush)
{
	struct l_termios2 n = t->tio;
	struct l_termio o;
	if (copy_in_obj(o, arg))
		return -EFAULT;
	n.iflag = low(n.iflag, o.iflag);
	n.oflag = low(n.oflag, o.oflag);
	n.cflag = low(n.cflag, o.cflag);
	n.lflag = low(n.lflag, o.lflag);
	n.line = o.line;
	memcpy(n.cc, o.cc, sizeof o.cc);
	if (flush)
		ldisc_flush_in(t);
	ldisc_set_termios(t, &n);
	tty_out_ready(t);
	return 0;
}

static int64_t set_pgrp(struct tty *t, uaddr_t arg)
{
	int pgid;
	if (!is_current_tty(t))
		return -ENOTTY;
	if (copy_in_obj(pgid, arg))
		return -EFAULT;
	if (pgid < 0)
		return -EINVAL;
	struct pgrp *pg = pgrp_find(pgid);
	if (!pg)
		return -ESRCH;
	if (pg->session != current->tg->pgrp->session)
		return -EPERM;
	tty_set_fg(t, pg);
	return 0;
}

static int64_t flush(struct tty *t, bool master, unsigned long which)
{
	if (which > TCIOFLUSH)
		return -EINVAL;
	/* Input of one side is output of the other. */
	if ((which != TCOFLUSH) == !master || which == TCIOFLUSH)
		ldisc_flush_in(t);
	if ((which != TCIFLUSH) == !master || which == TCIOFLUSH)
		ldisc_flush_out(t);
	return 0;
}

static int64_t flow(struct tty *t, unsigned long what)
{
	switch (what) {
	case TCOOFF:
		t->stopped = true;
		return 0;
	case TCOON:
		t->stopped = false;
		waitq_wake(&t->wr_q, EPOLLOUT | EPOLLWRNORM);
		return 0;
	case TCIOFF:
	case TCION:
		return 0;
	default:
		return -EINVAL;
	}
}

static int64_t put_int(uaddr_t arg, int v)
{
	return copy_out_obj(arg, v);
}

/* Requests that change the terminal: a background process is stopped first. */
static bool changes(unsigned cmd)
{
	switch (cmd) {
	case TCSETS:
	case TCSETSW:
	case TCSETSF:
	case TCSETA:
	case TCSETAW:
	case TCSETAF:
	case L_TCSETS2:
	case L_TCSETSW2:
	case L_TCSETSF2:
	case TIOCSPGRP:
	case TCFLSH:
	case TCXONC:
	case TCSBRK:
	case TCSBRKP:
		return true;
	}
	return false;
}

static int64_t job_ioctl(struct tty *t, bool master, unsigned cmd, uaddr_t arg)
{
	switch (cmd) {
	case TIOCGPGRP:
		if (!master && !is_current_tty(t))
			return -ENOTTY;
		return put_int(arg, t->fg ? t->fg->pgid : 0);
	case TIOCSPGRP:
		return set_pgrp(t, arg);
	case TIOCGSID:
		if (!master && !is_current_tty(t))
			return -ENOTTY;
		return t->session ? put_int(arg, t->session->sid) : -ENOTTY;
	case TIOCSCTTY:
		return master ? -EIO : tty_set_controlling(t, arg.a == 1);
	case TIOCNOTTY:
		if (!is_current_tty(t))
			return -ENOTTY;
		/* DIFF: a process that does not lead keeps its session's terminal. */
		if (current->tg->pgrp->session->sid == current->tg->pid)
			tty_give_up(t, current->tg->pgrp->session);
		return 0;
	}
	return -ENOTTY;
}

int64_t tty_ioctl(struct tty *t, bool master, unsigned cmd, uint64_t a)
{
	uaddr_t arg = uaddr(a);
	if (!master && changes(cmd)) {
		int r = tty_job_control(t, SIGTTOU);
		if (r)
			return r;
	}
	switch (cmd) {
	case TCGETS:
		return copy_out(arg, &t->tio, L_TERMIOS_SIZE);
	case TCGETA:
		return get_termio(t, arg);
	case TCSETA:
	case TCSETAW:
	case TCSETAF:
		return set_termio(t, arg, cmd == TCSETAF);
	case L_TCGETS2:
		return copy_out(arg, &t->tio, sizeof t->tio);
	case TCSETS:
	case TCSETSW:
	case TCSETSF:
		return set_termios(t, arg, L_TERMIOS_SIZE, cmd == TCSETSF);
	case L_TCSETS2:
	case L_TCSETSW2:
	case L_TCSETSF2:
		return set_termios(t, arg, sizeof t->tio, cmd == L_TCSETSF2);
	case TIOCGWINSZ:
		return copy_out(arg, &t->win, sizeof t->win);
	case TIOCSWINSZ: {
		struct l_winsize w;
		if (copy_in_obj(w, arg))
			return -EFAULT;
		tty_set_winsize(t, &w);
		return 0;
	}
	case TIOCGPGRP:
	case TIOCSPGRP:
	case TIOCGSID:
	case TIOCSCTTY:
	case TIOCNOTTY:
		return job_ioctl(t, master, cmd, arg);
	case FIONREAD:
		return put_int(arg, master ? (int)tty_output_pending(t) : (int)ldisc_available(t));
	case TIOCOUTQ:
		return put_int(arg, 0); /* a pty's driver holds nothing back */
	case TCFLSH:
		return flush(t, master, a);
	case TCXONC:
		return flow(t, a);
	case TCSBRK:
	case TCSBRKP:
	case TIOCSBRK:
	case TIOCCBRK:
		return 0;
	case TIOCEXCL:
		t->exclusive = true;
		return 0;
	case TIOCNXCL:
		t->exclusive = false;
		return 0;
	case L_TIOCGEXCL:
		return put_int(arg, t->exclusive);
	case TIOCGETD:
		return put_int(arg, 0); /* N_TTY */
	case TIOCSETD: {
		int d;
		if (copy_in_obj(d, arg))
			return -EFAULT;
		return d ? -EINVAL : 0;
	}
	case TIOCSTI:
		return -EIO; /* as with dev.tty.legacy_tiocsti=0 */
	case TIOCGSOFTCAR:
		return put_int(arg, 0);
	case TIOCCONS:
		return -EPERM;
	}
	if (!master)
		return -ENOTTY;
	switch (cmd) {
	case TIOCGPTN:
		return put_int(arg, t->index);
	case TIOCSPTLCK: {
		int on;
		if (copy_in_obj(on, arg))
			return -EFAULT;
		t->locked = on != 0;
		return 0;
	}
	case L_TIOCGPTLCK:
		return put_int(arg, t->locked);
	case TIOCPKT: {
		int on;
		if (copy_in_obj(on, arg))
			return -EFAULT;
		if (on && !t->packet)
			t->pkt_status = 0;
		t->packet = on != 0;
		return 0;
	}
	case L_TIOCGPKT:
		return put_int(arg, t->packet);
	case TIOCSIG:
		if (a < 1 || a > L_NSIG)
			return -EINVAL;
		tty_signal_fg(t, (int)a);
		return 0;
	case L_TIOCGPTPEER: {
		/* No lock is looked at here, as on Linux. */
		bool locked = t->locked;
		t->locked = false;
		struct file *f = tty_open_slave(t, (int)a & ~O_CLOEXEC);
		t->locked = locked;
		if (!f)
			return -ENOMEM;
		int fd = fd_install(f, 0, a & O_CLOEXEC);
		if (fd < 0)
			file_put(f);
		return fd;
	}
	}
	return -ENOTTY;
}
