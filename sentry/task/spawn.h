/* Start a process from outside the guest: pid 1 of the sandbox, or what `ward exec` asks for. */
#ifndef WARD_TASK_SPAWN_H
#define WARD_TASK_SPAWN_H
#include <stdint.h>
#include <sys/types.h>

struct file;
struct tty;
struct cred;

#define SPAWN_CWD 0x10000
struct spawn_request {
	char *const *argv;         /* NULL-terminated, argv[0] looked up in PATH of envp when it has no '/' */
	char *const *envp;
	const char *cwd;           /* absolute, inside the sandbox */
	struct cred *cred;         /* counted: taken over */
	struct file *stdio[3];     /* counted references, taken over; NULL = closed */
	struct tty *tty;           /* controlling terminal or NULL */
	/* Called in the loop once when the process is gone (or never started): STATUS is a wait status;
	 * ERROR 0, or -ENOENT / -EACCES / -ENOEXEC ... when the program could not be started; less SPAWN_CWD when it was
	 * CWD that could not be entered. */
	void (*done)(void *arg, int status, int error);
	/* Called in the starting task once when the program's exec succeeded. May be NULL. */
	void (*started)(void *arg);
	void *arg;
};
/* Queues the start; returns the pid or -errno. pid 1 is the first process ever spawned. */
pid_t task_spawn(struct spawn_request *r);
#endif
