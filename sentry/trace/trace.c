/*
 * Recording of calls for --trace: filter, one line per call, output. Lines gather in a buffer that is written when
 * it is full, and a little later at the latest, so that a trace on a terminal keeps up with the program.
 */
#include "sentry/trace/trace.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sentry/base/host.h"
#include "sentry/base/util.h"
#include "sentry/config.h"
#include "sentry/loop.h"
#include "sentry/task/task.h"
#include "sentry/trace/out.h"
#include "syscalls/table.h"

#define BUFFER_SIZE (64u << 10)
#define FLUSH_AFTER_NS 10000000u
#define WRITE_PATIENCE_MS 1000

bool trace_on;
static bool wanted[SYSCALL_MAX];
static bool want_stray = true; /* calls without a number in the table */
static bool filtered;

static int out_fd = -1;
static char buffer[BUFFER_SIZE];
static size_t buffered;
static struct timer flush_timer;

struct trace_line {
	struct trace_out out;
	const struct syscall_desc *d;
	uint64_t args[6];
	unsigned next; /* first argument not yet printed */
};

/* --- filter ------------------------------------------------------------------------------------------------------- */
static bool set_class(const char *name, bool on)
{
	for (unsigned c = 0; c < CLASS_COUNT; c++) {
		if (strcmp(name, syscall_class_name(c)))
			continue;
		for (int nr = 0; nr < SYSCALL_MAX; nr++)
			if (syscall_desc(nr) && syscall_desc(nr)->class == c)
				wanted[nr] = on;
		return true;
	}
	return false;
}

static bool set_name(const char *name, bool on)
{
	const struct syscall_desc *d;

	if (!strcmp(name, "all")) {
		memset(wanted, on, sizeof wanted);
		want_stray = on;
		return true;
	}
	if (set_class(name, on))
		return true;
	d = syscall_find(name);
	if (d)
		wanted[d->nr] = on;
	return d != NULL;
}

int trace_parse_filter(const char *spec, struct err *e)
{
	char name[64];
	bool first = true;

	memset(wanted, true, sizeof wanted);
	want_stray = true;
	filtered = spec && *spec;
	while (spec && *spec) {
		size_t n = strcspn(spec, ",");
		bool on = *spec != '!';
		const char *word = spec + !on;

		n -= !on;
		if (*word == '%' && n) { /* strace's way of writing a class */
			word++;
			n--;
		}
		snprintf(name, sizeof name, "%.*s", (int)MIN(n, sizeof name - 1), word);
		if (first && on) {
			memset(wanted, false, sizeof wanted);
			want_stray = false;
		}
		first = false;
		if (n >= sizeof name || !set_name(name, on))
			return err_set(e, WARD_EXIT_ERROR,
				       "--trace: \"%s\" is neither a system call nor a class (file, desc, process, "
				       "signal, memory, ipc, network, time, cred, sched, misc); see `ward syscalls`",
				       name);
		spec = word + n;
		spec += *spec == ',';
	}
	return 0;
}

/* --- output -------------------------------------------------------------------------------------------------------- */
void trace_flush(void)
{
	size_t done = 0;

	timer_cancel(&flush_timer);
	while (done < buffered && out_fd >= 0) {
		long n = host_write(out_fd, buffer + done, buffered - done);

		if (n > 0) {
			done += (size_t)n;
		} else if (n == -EAGAIN) {
			struct pollfd p = {.fd = out_fd, .events = POLLOUT};

			/* Nobody reads: the rest is dropped, the sandbox goes on. */
			if (host_poll(&p, 1, WRITE_PATIENCE_MS) <= 0)
				break;
		} else if (n != -EINTR) {
			break;
		}
	}
	buffered = 0;
}

static void flush_due(struct timer *t)
{
	trace_flush();
}

static void emit(struct trace_out *o)
{
	if (o->full) {
		memcpy(o->buf + o->len, "...", 3);
		o->len += 3;
	}
	o->buf[o->len++] = '\n';
	if (buffered + o->len > sizeof buffer)
		trace_flush();
	memcpy(buffer + buffered, o->buf, o->len);
	buffered += o->len;
	if (!flush_timer.deadline && timer_arm(&flush_timer, now_mono_ns() + FLUSH_AFTER_NS) < 0)
		trace_flush();
}

void trace_start(int fd)
{
	if (!filtered) {
		memset(wanted, true, sizeof wanted);
		want_stray = true;
	}
	out_fd = fd;
	flush_timer.fn = flush_due;
	trace_on = true;
}

/* --- lines ----------------------------------------------------------------------------------------------------------- */
struct trace_line *trace_enter(struct task *t, int nr, const struct syscall_desc *d, const uint64_t args[6])
{
	struct trace_line *l;

	if (d ? !wanted[nr] : !want_stray)
		return NULL;
	l = malloc(sizeof *l);
	if (!l)
		return NULL;
	l->out.len = 0;
	l->out.full = false;
	l->d = d;
	l->next = 0;
	memcpy(l->args, args, sizeof l->args);
	if (!d || d->support == SUPPORT_NONE) {
		/* No row says what these are. */
		out_fmt(&l->out, "[pid %d] ", t->tid);
		if (d)
			out_str(&l->out, d->name);
		else
			out_fmt(&l->out, "syscall_%#x", (unsigned)nr);
		out_fmt(&l->out, "(%#lx, %#lx, %#lx, %#lx, %#lx, %#lx", args[0], args[1], args[2], args[3],
			args[4], args[5]);
		return l;
	}
	out_fmt(&l->out, "[pid %d] %s(", t->tid, d->name);
	for (; l->next < d->arg_count && !trace_arg_is_output(d, l->next); l->next++) {
		out_str(&l->out, l->next ? ", " : "");
		trace_print_arg(&l->out, d, l->args, l->next, false, 0);
	}
	return l;
}

static void print_result(struct trace_out *o, const struct syscall_desc *d, int64_t r)
{
	static const struct {
		int code;
		const char *text;
	} restart[] = {
	    {ERESTARTSYS, "ERESTARTSYS (To be restarted if SA_RESTART is set)"},
	    {ERESTARTNOINTR, "ERESTARTNOINTR (To be restarted)"},
	    {ERESTARTNOHAND, "ERESTARTNOHAND (To be restarted if no handler)"},
	    {ERESTART_RESTARTBLOCK, "ERESTART_RESTARTBLOCK (Interrupted by signal)"},
	};
	const char *name;

	for (unsigned i = 0; i < ARRAY_COUNT(restart); i++)
		if (r == -restart[i].code) {
			out_fmt(o, "? %s", restart[i].text);
			return;
		}
	if (r < 0 && r >= -4095) {
		name = strerrorname_np((int)-r);
		out_fmt(o, "-1 %s (%s)", name ? name : "E?", name ? strerrordesc_np((int)-r) : "unknown error");
	} else if (d && d->flags & SC_RET_ADDR) {
		out_fmt(o, "%#lx", (uint64_t)r);
	} else {
		out_fmt(o, "%ld", r);
	}
}

void trace_exit(struct task *t, struct trace_line *l, int64_t result)
{
	const struct syscall_desc *d = l->d;
	bool gone = t->exiting || (d && d->flags & SC_NORETURN);

	for (; d && l->next < d->arg_count; l->next++) {
		out_str(&l->out, l->next ? ", " : "");
		trace_print_arg(&l->out, d, l->args, l->next, true, gone ? -EINTR : result);
	}
	out_str(&l->out, ") = ");
	if (gone || (d && d->flags & SC_RAW))
		out_str(&l->out, "?");
	else
		print_result(&l->out, d, result);
	emit(&l->out);
	free(l);
}

void trace_signal(struct task *t, const struct l_siginfo *info)
{
	struct trace_out o = {.len = 0};

	out_fmt(&o, "[pid %d] --- ", t->tid);
	out_signal(&o, info->signo);
	out_str(&o, " ");
	out_siginfo(&o, info);
	out_str(&o, " ---");
	emit(&o);
}

void trace_end(struct task *t)
{
	struct trace_out o = {.len = 0};
	int status = t->tg->exiting ? t->tg->exit_code : (t->exit_code & 0xff) << 8;

	out_fmt(&o, "[pid %d] ", t->tid);
	if (status & 0x7f) {
		out_str(&o, "+++ killed by ");
		out_signal(&o, status & 0x7f);
		out_str(&o, " +++");
	} else {
		out_fmt(&o, "+++ exited with %d +++", status >> 8 & 0xff);
	}
	emit(&o);
}
