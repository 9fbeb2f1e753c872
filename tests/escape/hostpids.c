/* Host processes: signals, ptrace, memory, pid descriptors, priorities. */
#include "escape.h"
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>

int main(int argc, char **argv)
{
	NEED(argc > 2);
	int victim = atoi(argv[2]);

	TRY(if (kill(victim, SIGTERM) == 0) ESCAPED("signalled a host process"));
	TRY(if (syscall(SYS_tgkill, victim, victim, SIGTERM) == 0) ESCAPED("tgkill of a host process"));
	TRY(if (syscall(SYS_rt_sigqueueinfo, victim, SIGTERM, &(siginfo_t){.si_code = SI_QUEUE}) == 0)
		    ESCAPED("queued a signal to a host process"));
	TRY(if (kill(-victim, SIGTERM) == 0) ESCAPED("signalled a host group"));
	TRY(if (syscall(SYS_pidfd_open, victim, 0) >= 0) ESCAPED("a pid descriptor of a host process"));
	TRY(if (ptrace(PTRACE_ATTACH, victim, 0, 0) == 0) ESCAPED("ptrace attach"));
	TRY(if (ptrace(PTRACE_SEIZE, victim, 0, 0) == 0) ESCAPED("ptrace seize"));
	TRY(if (getpriority(PRIO_PROCESS, victim) >= 0 && errno == 0 && setpriority(PRIO_PROCESS, victim, 5) == 0)
		    ESCAPED("changed a host process's priority"));
	TRY(if (prlimit(victim, RLIMIT_NOFILE, NULL, &(struct rlimit){0}) == 0) ESCAPED("read a host process's limits"));
	TRY({
		char b[16];
		struct iovec l = {b, 16}, r = {(void *)0x400000, 16};

		for (int pid = 1; pid < 40000; pid += pid < 50 ? 1 : 997)
			if (pid != getpid() && pid != getppid() && process_vm_readv(pid, &l, 1, &r, 1, 0) > 0)
				ESCAPED("read memory of process %d", pid);
	});
	/* every pid that exists is one of ours */
	TRY({
		int seen = 0;

		for (int pid = 1; pid < 40000; pid++)
			if (kill(pid, 0) == 0 || errno == EPERM)
				seen++;
		if (seen > 4)
			ESCAPED("%d processes are visible", seen);
	});
	/* everything that may be signalled is in the sandbox */
	TRY({
		signal(SIGUSR1, SIG_IGN);
		kill(-1, SIGUSR1);
	});
	return escape_done();
}
