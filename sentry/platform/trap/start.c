/*
 * Start of the platform: what the kernel offers, the zygote, the listener. The zygote is a static program of our
 * own in a sealed memfd; it filters itself before it forks and hands us the listener over a socket.
 */
#include "sentry/platform/trap/trap.h"
#include "sentry/base/host.h"
#include "sentry/base/log.h"
#include "sentry/loop.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

bool feature_off(const char *name);
extern const char stub_elf[], stub_elf_end[];
extern const struct loop_hook spin_hook;

int listener_fd = -1;
bool have_vmread = true, have_waitkill = true, have_syncwake = true, have_fsgsbase;
struct plat_thread *zygote;

static uint64_t vvar_size, vdso_size, vvar_part[4];
static unsigned vvar_parts;

/* Where the kernel put vvar and vDSO relative to each other; the same in every process of this boot. */
static void find_vdso(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	uint64_t last_end = 0;

	if (!f || feature_off("vdso")) {
		if (f)
			fclose(f);
		return;
	}
	while (fgets(line, sizeof line, f)) {
		unsigned long a, b;

		if (sscanf(line, "%lx-%lx", &a, &b) != 2)
			continue;
		if (strstr(line, "[vvar")) {
			if (vvar_parts == 4 || (vvar_parts && a != last_end))
				break;
			vvar_part[vvar_parts++] = b - a;
			vvar_size += b - a;
			last_end = b;
		} else if (strstr(line, "[vdso]")) {
			if (a == last_end && vvar_size + (b - a) <= VDSO_SPAN)
				vdso_size = b - a;
			break;
		}
	}
	fclose(f);
	if (!vdso_size)
		vvar_parts = vvar_size = 0;
}

uint64_t plat_vdso_addr(void)
{
	return vdso_size ? VDSO_BASE + vvar_size : 0;
}

int plat_init(struct err *e)
{
	struct seccomp_notif_sizes sizes;
	unsigned action = SECCOMP_RET_USER_NOTIF;

	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0)
		return err_set(e, 125,
			       "this kernel lacks seccomp user notification (needed: Linux 5.15 or later, "
			       "CONFIG_SECCOMP_FILTER): %s",
			       strerror(errno));
	if (sizes.seccomp_notif != sizeof(struct seccomp_notif) ||
	    sizes.seccomp_notif_resp != sizeof(struct seccomp_notif_resp))
		return err_set(e, 125, "this kernel's seccomp notifications have another size than ward knows: "
				       "build ward against its headers");
	find_vdso();
	have_waitkill = !feature_off("waitkill");
	have_syncwake = !feature_off("syncwake");
	have_vmread = !feature_off("vmread");
	have_fsgsbase = (getauxval(AT_HWCAP2) & 2) && !feature_off("fsgsbase"); /* HWCAP2_FSGSBASE */
	spin_init();
	return 0;
}

static void zygote_child(int stub_fd, int mbox_fd, int sock, uint64_t filter_flags)
{
	char text[4 + 4][20];
	char *argv[10] = {"ward-stub"}, *envp[] = {NULL};
	unsigned n = 0;
	struct rlimit rl = {8 << 20, RLIM_INFINITY};
	sigset_t none;
	struct sched_param sp = {0};

	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	personality(ADDR_NO_RANDOMIZE); /* may be refused: the zygote moves what it needs anyway */
	if (getrlimit(RLIMIT_STACK, &rl) == 0) {
		rl.rlim_cur = rl.rlim_max < (8 << 20) ? rl.rlim_max : 8 << 20;
		setrlimit(RLIMIT_STACK, &rl);
	}
	rl.rlim_cur = rl.rlim_max = 0;
	setrlimit(RLIMIT_CORE, &rl);
	sched_setscheduler(0, SCHED_BATCH, &sp);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	/* Numbers 0 and 1 are what the stub expects; sources must not be in the way. */
	int a = fcntl(mbox_fd, F_DUPFD, 10), b = fcntl(sock, F_DUPFD, 10), c = fcntl(stub_fd, F_DUPFD, 10);

	dup2(a, STUB_FD_MBOX);
	dup2(b, STUB_FD_SOCKET);
	dup2(c, 2);
	close_range(3, ~0u, 0);
	fcntl(2, F_SETFD, FD_CLOEXEC);
	const uint64_t values[3] = {vvar_size, vdso_size, filter_flags};

	for (int i = 0; i < 3; i++) {
		snprintf(text[n], sizeof text[n], "%lx", (unsigned long)values[i]);
		argv[1 + n] = text[n];
		n++;
	}
	for (unsigned i = 0; i < vvar_parts; i++) {
		snprintf(text[n], sizeof text[n], "%lx", (unsigned long)vvar_part[i]);
		argv[1 + n] = text[n];
		n++;
	}
	argv[1 + n] = NULL;
	syscall(SYS_execveat, 2, "", argv, envp, AT_EMPTY_PATH);
	_exit(113);
}

/* The listener, or -errno of the filter's installation, or -EPIPE when the zygote died. */
static int receive_listener(int sock)
{
	int status = 0;
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = {&status, sizeof status};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			     .msg_controllen = sizeof control};
	ssize_t n;

	do
		n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != sizeof status)
		return -EPIPE;
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	if (!c || c->cmsg_type != SCM_RIGHTS)
		return status < 0 ? status : -EPIPE;
	int fd;

	memcpy(&fd, CMSG_DATA(c), sizeof fd);
	return fd;
}

static int try_zygote(int stub_fd, uint64_t flags, struct err *e)
{
	struct plat_as *as = as_alloc();
	struct plat_thread *z = as ? thread_new(as, 0) : NULL;
	int sock[2];

	if (!z || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sock) < 0)
		return err_set(e, 125, "cannot set up the first mailbox: %s", strerror(errno));
	pid_t pid = fork();

	if (pid < 0)
		return err_set(e, 125, "cannot start the zygote: fork: %s", strerror(errno));
	if (pid == 0)
		zygote_child(stub_fd, as->mbox_fd, sock[1], flags);
	close(sock[1]);
	int fd = receive_listener(sock[0]);

	close(sock[0]);
	if (fd >= 0) {
		as_set_pid(as, pid);
		thread_set_tid(z, pid);
		listener_fd = fd;
		zygote = z;
		return 0;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return fd;
}

static void on_sigchld(struct loop_source *s, uint32_t events)
{
	struct signalfd_siginfo si[16];

	while (read(s->fd, si, sizeof si) == sizeof si)
		;
	reap_children();
}
static struct loop_source sigchld = {.fn = on_sigchld};

int plat_start(struct err *e)
{
	int stub_fd = memfd_create("ward-stub", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	size_t size = (size_t)(stub_elf_end - stub_elf);
	sigset_t set;

	if (stub_fd < 0 || write(stub_fd, stub_elf, size) != (ssize_t)size)
		return err_set(e, 125, "cannot write the stub to memory: %s", strerror(errno));
	fcntl(stub_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigchld.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (sigchld.fd < 0 || loop_watch(&sigchld, EPOLLIN) < 0)
		return err_set(e, 125, "signalfd: %s", strerror(errno));

	uint64_t flags = SECCOMP_FILTER_FLAG_NEW_LISTENER |
			 (have_waitkill ? SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV : 0);
	int r = try_zygote(stub_fd, flags, e);

	if (r == -EINVAL && have_waitkill) {
		have_waitkill = false;
		r = try_zygote(stub_fd, SECCOMP_FILTER_FLAG_NEW_LISTENER, e);
	}
	close(stub_fd);
	if (e->exit_code)
		return -1;
	if (r == -EBUSY)
		return err_set(e, 125, "another seccomp supervisor already listens above this process, and the kernel allows "
				       "one: run ward outside of it");
	if (r < 0)
		return err_set(e, 125, "the zygote did not start: %s", strerror(-r));
	notif_sync(true);
	if (notif_init() < 0)
		return err_set(e, 125, "cannot watch the seccomp listener");
	char probe;
	struct iovec l = {&probe, 1}, rv = {(void *)STUB_BASE, 1};

	if (have_vmread && syscall(SYS_process_vm_readv, zygote->tid, &l, 1ul, &rv, 1ul, 0ul) != 1) {
		have_vmread = false;
		log_info("process_vm_readv is not permitted here: the stub copies instead (slower)");
	}
	loop_set_hook(&spin_hook);
	return 0;
}

void plat_shutdown(void)
{
	spaces_kill_all();
}
