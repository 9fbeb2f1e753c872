/* Shared by the parts of fs/tty and fs/devpts only. */
#ifndef WARD_FS_TTY_INTERNAL_H
#define WARD_FS_TTY_INTERNAL_H
#include "fs/tty/tty.h"
struct tty *tty_alloc(void);     /* refs 1, numbered; NULL: no memory or no number left */
struct tty *tty_console(void);   /* borrowed or NULL */
void tty_set_fg(struct tty *t, struct pgrp *pg);
void tty_give_up(struct tty *t, struct session *s);
/* May current do this (SIGTTIN: read; SIGTTOU: write or change)? 0, -EIO, -ERESTARTSYS (the group was stopped). */
int tty_job_control(struct tty *t, int signo);
/* Make F a file of the slave side (takes a reference of T). */
void slave_attach(struct tty *t, struct file *f);
/* Requests common to both sides; MASTER: issued on the master. */
int64_t tty_ioctl(struct tty *t, bool master, unsigned cmd, uint64_t arg);
extern const struct file_ops slave_ops, master_ops;
#endif
