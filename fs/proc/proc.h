/*
 * procfs: a tree of constant tables. Nodes are made at lookup and hold numbers, never pointers to tasks, so that a
 * node outlives its process harmlessly. sysfs uses the same machinery with tables of its own.
 */
#ifndef WARD_FS_PROC_H
#define WARD_FS_PROC_H
#include "fs/vfs.h"
#include "sentry/base/strbuf.h"

struct pnode;
enum pkind {
	P_FILE,    /* show, and perhaps store */
	P_DIR,     /* sub[] and perhaps dynamic names (list, find) */
	P_LINK,    /* text by show */
	P_MAGIC,   /* symlink followed by follow(); text is its path */
};
struct pentry {
	const char *name;
	enum pkind kind;
	uint16_t mode;      /* permission bits */
	bool owner_only;    /* like ptrace: only whom proc_may_access allows may open, list or follow */
	/* The whole content, made afresh whenever it is read from offset 0. 0 or -errno. */
	int (*show)(const struct pnode *n, struct strbuf *s);
	long (*store)(const struct pnode *n, const char *text, size_t size); /* bytes taken or -errno */
	int64_t (*ioctl)(const struct pnode *n, unsigned cmd, uint64_t arg); /* NULL: -ENOTTY */
	int (*follow)(const struct pnode *n, struct path *out);
	const struct pentry *sub; /* ended by an entry without name */
	/* Dynamic children: the entry and number for NAME, or NULL; and the listing, in rising numbers >= *FROM. */
	const struct pentry *(*find)(const struct pnode *n, const char *name, struct pnode *child);
	bool (*next)(const struct pnode *n, unsigned from, unsigned *number);
	const char *prefix; /* of dynamic names, before the number; NULL: none */
};
struct pnode {
	const struct pentry *e;
	pid_t pid; /* 0 outside /proc/PID */
	pid_t tid; /* 0: the process as a whole (its leader) */
	int number; /* fd, cpu ... */
};

struct superblock *ptree_new(const char *fstype, const struct pentry *root, const struct super_ops *ops);
/* F is an open /proc/PID directory: *PID is the process it was opened for. */
bool proc_file_pid(const struct file *f, pid_t *pid);
/* The task a node is about: borrowed, NULL when it is gone. */
struct task *pnode_task(const struct pnode *n);
/* May current look into T (ptrace_may_access, read)? */
bool proc_may_access(const struct task *t);
/* Decimal without sign or leading zero: the number, or -1. */
long parse_number(const char *name);

extern const struct pentry proc_root;
extern const struct pentry proc_pid_dir, proc_tid_dir; /* entries of /proc/PID and /proc/PID/task/TID */
extern const struct pentry proc_static[];              /* names of /proc that are no processes */
void proc_system_init(void);                           /* boot: reads processor count and the like once */
extern unsigned proc_ncpu;
extern const char *const proc_fs_types[]; /* ended by NULL; none needs a device */

/* mounts in three formats, shown for the root of task T */
int show_mounts(const struct pnode *n, struct strbuf *s);
int show_mountinfo(const struct pnode *n, struct strbuf *s);
int show_mountstats(const struct pnode *n, struct strbuf *s);
int show_cpuinfo(const struct pnode *n, struct strbuf *s);
int show_maps(const struct pnode *n, struct strbuf *s);
int64_t maps_ioctl(const struct pnode *n, unsigned cmd, uint64_t arg);
int show_smaps(const struct pnode *n, struct strbuf *s);
int show_smaps_rollup(const struct pnode *n, struct strbuf *s);
int show_status(const struct pnode *n, struct strbuf *s);
int show_stat(const struct pnode *n, struct strbuf *s);
int show_statm(const struct pnode *n, struct strbuf *s);
#endif
