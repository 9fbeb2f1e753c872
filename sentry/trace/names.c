/* Names of the constants that arguments are made of. */
#include "sentry/trace/out.h"
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/memfd.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Missing in the C library's headers, or newer than they may be. */
#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif
#ifndef CLONE_DETACHED
#define CLONE_DETACHED 0x00400000
#endif
#define SA_RESTORER 0x04000000

#define N(x) {(uint64_t)(x), #x}
#define END {0, NULL}
const struct const_name names_at_flags[] = {
	N(AT_SYMLINK_NOFOLLOW), N(AT_SYMLINK_FOLLOW), N(AT_NO_AUTOMOUNT), N(AT_EMPTY_PATH),
	N(AT_EACCESS), N(AT_RECURSIVE), END
};
const struct const_name names_prot[] = {
	N(PROT_READ), N(PROT_WRITE), N(PROT_EXEC), N(PROT_GROWSDOWN), N(PROT_GROWSUP), END
};
const struct const_name names_map[] = {
	N(MAP_SHARED_VALIDATE), N(MAP_SHARED), N(MAP_PRIVATE), N(MAP_FIXED), N(MAP_ANONYMOUS),
	N(MAP_32BIT), N(MAP_GROWSDOWN), N(MAP_DENYWRITE), N(MAP_EXECUTABLE), N(MAP_LOCKED),
	N(MAP_NORESERVE), N(MAP_POPULATE), N(MAP_NONBLOCK), N(MAP_STACK), N(MAP_HUGETLB), N(MAP_SYNC),
	N(MAP_FIXED_NOREPLACE), END
};
const struct const_name names_clone[] = {
	N(CLONE_VM), N(CLONE_FS), N(CLONE_FILES), N(CLONE_SIGHAND), N(CLONE_PIDFD), N(CLONE_PTRACE),
	N(CLONE_VFORK), N(CLONE_PARENT), N(CLONE_THREAD), N(CLONE_NEWNS), N(CLONE_SYSVSEM),
	N(CLONE_SETTLS), N(CLONE_PARENT_SETTID), N(CLONE_CHILD_CLEARTID), N(CLONE_DETACHED),
	N(CLONE_UNTRACED), N(CLONE_CHILD_SETTID), N(CLONE_NEWCGROUP), N(CLONE_NEWUTS), N(CLONE_NEWIPC),
	N(CLONE_NEWUSER), N(CLONE_NEWPID), N(CLONE_NEWNET), N(CLONE_IO), END
};
const struct const_name names_whence[] = {
	N(SEEK_SET), N(SEEK_CUR), N(SEEK_END), N(SEEK_DATA), N(SEEK_HOLE), END
};
const struct const_name names_clock[] = {
	N(CLOCK_REALTIME), N(CLOCK_MONOTONIC), N(CLOCK_PROCESS_CPUTIME_ID), N(CLOCK_THREAD_CPUTIME_ID),
	N(CLOCK_MONOTONIC_RAW), N(CLOCK_REALTIME_COARSE), N(CLOCK_MONOTONIC_COARSE), N(CLOCK_BOOTTIME),
	N(CLOCK_REALTIME_ALARM), N(CLOCK_BOOTTIME_ALARM), N(CLOCK_TAI), END
};
const struct const_name names_futex[] = {
	N(FUTEX_WAIT), N(FUTEX_WAKE), N(FUTEX_FD), N(FUTEX_REQUEUE), N(FUTEX_CMP_REQUEUE),
	N(FUTEX_WAKE_OP), N(FUTEX_LOCK_PI), N(FUTEX_UNLOCK_PI), N(FUTEX_TRYLOCK_PI),
	N(FUTEX_WAIT_BITSET), N(FUTEX_WAKE_BITSET), N(FUTEX_WAIT_REQUEUE_PI), N(FUTEX_CMP_REQUEUE_PI),
	N(FUTEX_LOCK_PI2), END
};
const struct const_name names_ioctl[] = {
	N(TCGETS), N(TCSETS), N(TCSETSW), N(TCSETSF), N(TCSBRK), N(TCXONC), N(TCFLSH), N(TIOCEXCL),
	N(TIOCNXCL), N(TIOCSCTTY), N(TIOCGPGRP), N(TIOCSPGRP), N(TIOCOUTQ), N(TIOCGWINSZ),
	N(TIOCSWINSZ), N(FIONREAD), N(FIONBIO), N(TIOCNOTTY), N(TIOCGETD), N(TIOCGSID), N(TIOCGPTN),
	N(TIOCSPTLCK), N(TIOCGPTPEER), N(FIONCLEX), N(FIOCLEX), N(FIOASYNC), N(FIGETBSZ), N(FICLONE),
	N(FICLONERANGE), N(FS_IOC_GETFLAGS), N(FS_IOC_SETFLAGS), N(TIOCSTI), N(TIOCGPKT), N(TIOCPKT),
	END
};
const struct const_name names_fcntl[] = {
	N(F_DUPFD), N(F_GETFD), N(F_SETFD), N(F_GETFL), N(F_SETFL), N(F_GETLK), N(F_SETLK),
	N(F_SETLKW), N(F_SETOWN), N(F_GETOWN), N(F_SETSIG), N(F_GETSIG), N(F_SETOWN_EX),
	N(F_GETOWN_EX), N(F_OFD_GETLK), N(F_OFD_SETLK), N(F_OFD_SETLKW), N(F_SETLEASE), N(F_GETLEASE),
	N(F_NOTIFY), N(F_DUPFD_CLOEXEC), N(F_SETPIPE_SZ), N(F_GETPIPE_SZ), N(F_ADD_SEALS),
	N(F_GET_SEALS), END
};
const struct const_name names_access[] = {
	N(R_OK), N(W_OK), N(X_OK), END
};
const struct const_name names_efd[] = {
	N(EFD_SEMAPHORE), N(EFD_CLOEXEC), N(EFD_NONBLOCK), END
};
const struct const_name names_fd_flags[] = {
	N(O_CLOEXEC), N(O_NONBLOCK), N(O_DIRECT), N(O_APPEND), END
};
const struct const_name names_memfd[] = {
	N(MFD_CLOEXEC), N(MFD_ALLOW_SEALING), N(MFD_HUGETLB), END
};
const struct const_name names_epoll_op[] = {
	N(EPOLL_CTL_ADD), N(EPOLL_CTL_DEL), N(EPOLL_CTL_MOD), END
};
const struct const_name names_flock[] = {
	N(LOCK_SH), N(LOCK_EX), N(LOCK_UN), N(LOCK_NB), END
};
const struct const_name names_itimer[] = {
	N(ITIMER_REAL), N(ITIMER_VIRTUAL), N(ITIMER_PROF), END
};
const struct const_name names_madvice[] = {
	N(MADV_NORMAL), N(MADV_RANDOM), N(MADV_SEQUENTIAL), N(MADV_WILLNEED), N(MADV_DONTNEED),
	N(MADV_FREE), N(MADV_REMOVE), N(MADV_DONTFORK), N(MADV_DOFORK), N(MADV_MERGEABLE),
	N(MADV_UNMERGEABLE), N(MADV_HUGEPAGE), N(MADV_NOHUGEPAGE), N(MADV_DONTDUMP), N(MADV_DODUMP),
	N(MADV_WIPEONFORK), N(MADV_KEEPONFORK), N(MADV_COLD), N(MADV_PAGEOUT), N(MADV_POPULATE_READ),
	N(MADV_POPULATE_WRITE), END
};
const struct const_name names_mremap[] = {
	N(MREMAP_MAYMOVE), N(MREMAP_FIXED), N(MREMAP_DONTUNMAP), END
};
const struct const_name names_msync[] = {
	N(MS_ASYNC), N(MS_INVALIDATE), N(MS_SYNC), END
};
const struct const_name names_prctl[] = {
	N(PR_SET_PDEATHSIG), N(PR_GET_PDEATHSIG), N(PR_GET_DUMPABLE), N(PR_SET_DUMPABLE),
	N(PR_GET_KEEPCAPS), N(PR_SET_KEEPCAPS), N(PR_SET_NAME), N(PR_GET_NAME), N(PR_GET_SECCOMP),
	N(PR_SET_SECCOMP), N(PR_CAPBSET_READ), N(PR_CAPBSET_DROP), N(PR_GET_SECUREBITS),
	N(PR_SET_SECUREBITS), N(PR_SET_TIMERSLACK), N(PR_GET_TIMERSLACK), N(PR_SET_MM),
	N(PR_SET_CHILD_SUBREAPER), N(PR_GET_CHILD_SUBREAPER), N(PR_SET_NO_NEW_PRIVS),
	N(PR_GET_NO_NEW_PRIVS), N(PR_GET_TID_ADDRESS), N(PR_SET_THP_DISABLE), N(PR_GET_THP_DISABLE),
	N(PR_CAP_AMBIENT), N(PR_SET_PTRACER), N(PR_SET_VMA), END
};
const struct const_name names_rename[] = {
	N(RENAME_NOREPLACE), N(RENAME_EXCHANGE), N(RENAME_WHITEOUT), END
};
const struct const_name names_rlimit[] = {
	N(RLIMIT_CPU), N(RLIMIT_FSIZE), N(RLIMIT_DATA), N(RLIMIT_STACK), N(RLIMIT_CORE), N(RLIMIT_RSS),
	N(RLIMIT_NPROC), N(RLIMIT_NOFILE), N(RLIMIT_MEMLOCK), N(RLIMIT_AS), N(RLIMIT_LOCKS),
	N(RLIMIT_SIGPENDING), N(RLIMIT_MSGQUEUE), N(RLIMIT_NICE), N(RLIMIT_RTPRIO), N(RLIMIT_RTTIME),
	END
};
const struct const_name names_sig_how[] = {
	N(SIG_BLOCK), N(SIG_UNBLOCK), N(SIG_SETMASK), END
};
const struct const_name names_family[] = {
	N(AF_UNSPEC), N(AF_UNIX), N(AF_INET), N(AF_INET6), N(AF_NETLINK), N(AF_PACKET), N(AF_VSOCK),
	N(AF_ALG), END
};
const struct const_name names_sock_type[] = {
	N(SOCK_STREAM), N(SOCK_DGRAM), N(SOCK_RAW), N(SOCK_RDM), N(SOCK_SEQPACKET), END
};
const struct const_name names_sock_flags[] = {
	N(SOCK_CLOEXEC), N(SOCK_NONBLOCK), END
};
const struct const_name names_unlink[] = {
	N(AT_REMOVEDIR), END
};
const struct const_name names_wait[] = {
	N(WNOHANG), N(WSTOPPED), N(WEXITED), N(WCONTINUED), N(WNOWAIT), N(__WNOTHREAD), N(__WALL),
	N(__WCLONE), END
};
const struct const_name names_sa_flags[] = {
	N(SA_RESTORER), N(SA_NOCLDSTOP), N(SA_NOCLDWAIT), N(SA_SIGINFO), N(SA_ONSTACK), N(SA_RESTART),
	N(SA_NODEFER), N(SA_RESETHAND), END
};
const struct const_name names_poll[] = {
	N(POLLIN), N(POLLPRI), N(POLLOUT), N(POLLERR), N(POLLHUP), N(POLLNVAL), N(POLLRDHUP), END
};
const struct const_name names_file_type[] = {
	N(S_IFREG), N(S_IFDIR), N(S_IFCHR), N(S_IFBLK), N(S_IFIFO), N(S_IFLNK), N(S_IFSOCK), END
};
