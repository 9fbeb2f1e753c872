/*
 * The control socket of a detached sandbox: one SOCK_SEQPACKET socket NAME.sock in a directory of the user's, served by
 * its monitor. Requests and answers are struct control_msg packets.
 */
#ifndef WARD_CLI_SERVER_H
#define WARD_CLI_SERVER_H
#include <poll.h>
#include "sentry/base/err.h"
#include "sentry/control.h"

enum request {
	REQUEST_STATUS = 64, /* answer: a = 1 running, 0 finished; b = monitor's pid; c = start, seconds; text = program */
	REQUEST_EXEC,        /* like CONTROL_EXEC; answer DONE when the program ended */
	REQUEST_SIGNAL,      /* a = signal for the program of this connection's EXEC */
	REQUEST_WINSIZE,     /* a = rows, b = columns */
	REQUEST_WAIT,        /* answer DONE when process 1's program has ended */
	REQUEST_KILL,        /* a = signal for process 1; 0 = end the sandbox. answer OK */
	REQUEST_REMOVE,      /* a = 1: end it first. answer OK or REFUSED */
	ANSWER_OK,
	ANSWER_REFUSED,      /* text = why */
	ANSWER_DONE,         /* a = wait status, b = errno; after WAIT: c = exit code, text = line */
};

/* Directory of the sockets, made when missing and checked to be ours alone. 0 or -1. */
int server_dir(char *buf, size_t size, struct err *e);
/* Path of NAME's socket. 0 or -1. */
int server_path(const char *name, char *buf, size_t size, struct err *e);

struct monitor;
struct server;
#define SERVER_POLLFDS 65
/* Bind and listen. NULL with E (the name is taken, ...). */
struct server *server_open(const char *name, struct err *e);
unsigned server_prepare(const struct server *s, struct pollfd *p);
void server_serve(struct server *s, struct monitor *m, const struct pollfd *p);
/* A program started for a connection ended. */
void server_exec_done(struct server *s, uint32_t id, int64_t status, int64_t error);
/* Process 1's program ended (and the sentry is gone): answer who waits; outstanding programs were killed. */
void server_finished(struct server *s, const struct monitor *m);
bool server_removed(const struct server *s);
/* No record is to be kept: the server counts as removed. */
void server_forget(struct server *s);
void server_close(struct server *s);
#endif
