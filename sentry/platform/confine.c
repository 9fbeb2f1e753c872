/*
 * The sentry's walls. Landlock comes first, so that the zygote and every stub inherit it; the allow-list comes last.
 */
#include "sentry/platform/confine.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>
#include "confine_filter.h"
#include "sentry/base/log.h"
#include "sentry/base/util.h"
#include "sentry/config.h"
#include "sentry/features.h"

/* Own copies of the UAPI: the build host's headers may be older than the running kernel. */
struct landlock_ruleset {
	uint64_t handled_access_fs, handled_access_net, scoped;
};
struct landlock_beneath {
	uint64_t allowed_access;
	int32_t parent_fd;
} __attribute__((packed));
#define LL_EXECUTE 1ull
#define LL_READ_FILE 4ull
#define LL_READ_DIR 8ull
/* Files, directories and symbolic links: read, write, make, remove, rename between directories, truncate. */
#define LL_HELPER(abi) (2ull | LL_READ_FILE | LL_READ_DIR | 1ull << 4 | 1ull << 5 | 1ull << 7 | 1ull << 8 | 1ull << 12 | \
			((abi) >= 2 ? 1ull << 13 : 0) | ((abi) >= 3 ? 1ull << 14 : 0))
#define LL_SCOPE_ABSTRACT_UNIX 1ull
#define LL_SCOPE_SIGNAL 2ull
#define LL_RULE_PATH_BENEATH 1

static int landlock_create(const struct landlock_ruleset *r, size_t size, unsigned flags)
{
	return (int)syscall(SYS_landlock_create_ruleset, r, size, flags);
}

int confine_landlock_abi(void)
{
	int abi = feature_off("landlock") ? 0 : landlock_create(NULL, 0, 1);

	return abi < 0 ? 0 : abi;
}

/* Every right that this ABI knows: what is handled and not granted is denied. */
static struct landlock_ruleset handled(int abi)
{
	struct landlock_ruleset r = {.handled_access_fs = (1ull << 13) - 1};

	if (abi >= 2)
		r.handled_access_fs |= 1ull << 13; /* REFER */
	if (abi >= 3)
		r.handled_access_fs |= 1ull << 14; /* TRUNCATE */
	if (abi >= 4)
		r.handled_access_net = 3;          /* bind and connect of TCP */
	if (abi >= 5)
		r.handled_access_fs |= 1ull << 15; /* IOCTL_DEV */
	if (abi >= 6)
		r.scoped = LL_SCOPE_ABSTRACT_UNIX | LL_SCOPE_SIGNAL;
	return r;
}

static int landlock_allow(int ruleset, const char *path)
{
	struct landlock_beneath b = {.allowed_access = LL_READ_FILE | LL_EXECUTE};
	struct stat st;
	int rc;

	b.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (b.parent_fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!fstat(b.parent_fd, &st) && S_ISDIR(st.st_mode))
		b.allowed_access |= LL_READ_DIR;
	rc = (int)syscall(SYS_landlock_add_rule, ruleset, LL_RULE_PATH_BENEATH, &b, 0);
	rc = rc < 0 ? -errno : 0;
	close(b.parent_fd);
	return rc;
}

static int landlock_enforce(const struct confine_path *paths, unsigned count, struct err *e)
{
	int abi = confine_landlock_abi(), fd, rc = 0;
	struct landlock_ruleset r = handled(abi);

	if (!abi) {
		log_info("wall missing: no Landlock on this kernel; file access is limited by the call filter alone");
		return 0;
	}
	if (abi < 6)
		log_info("wall partly missing: Landlock ABI %d cannot scope signals and abstract sockets", abi);
	fd = landlock_create(&r, abi >= 6 ? sizeof r : abi >= 4 ? 16 : 8, 0);
	if (fd < 0)
		return err_set(e, WARD_EXIT_ERROR, "Landlock: cannot make a rule set: %s", strerror(errno));
	for (unsigned i = 0; !rc && i < count; i++) {
		rc = landlock_allow(fd, paths[i].path);
		if (rc)
			err_set(e, WARD_EXIT_ERROR, "Landlock: %s: %s", paths[i].path, strerror(-rc));
	}
	if (!rc && syscall(SYS_landlock_restrict_self, fd, 0)) {
		rc = -errno;
		err_set(e, WARD_EXIT_ERROR, "Landlock: cannot enforce: %s", strerror(errno));
	}
	close(fd);
	return rc ? -1 : 0;
}

static void drop_capabilities(void)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct keep[2] = {{0}};

	/* Root's sandboxes show directories of the host that other users own, as root sees them; Landlock says which.
	 * Stubs have nothing: the zygote's exec finds an empty bounding set. */
	if (geteuid() == 0)
		keep[0].effective = keep[0].permitted = 1u << CAP_DAC_READ_SEARCH;

	for (int cap = 0; cap < 64; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) && errno == EINVAL)
			break;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capset, &h, keep))
		log_info("wall missing: capabilities could not be dropped: %s", strerror(errno));
}

int confine_process(const struct confine_path *paths, unsigned count, struct err *e)
{
	struct rlimit zero = {0, 0};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return err_set(e, WARD_EXIT_ERROR, "no_new_privs: %s", strerror(errno));
	setrlimit(RLIMIT_CORE, &zero);
	drop_capabilities();
	return landlock_enforce(paths, count, e);
}

int confine_helper(const int *dirs, unsigned count, struct err *e)
{
	struct sock_fprog prog = {ARRAY_COUNT(confine_helper_calls), (struct sock_filter *)confine_helper_calls};
	struct rlimit zero = {0, 0};
	int abi = confine_landlock_abi(), fd;
	struct landlock_ruleset r = handled(abi);

	setrlimit(RLIMIT_CORE, &zero);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return err_set(e, WARD_EXIT_ERROR, "no_new_privs: %s", strerror(errno));
	if (abi) {
		fd = landlock_create(&r, abi >= 6 ? sizeof r : abi >= 4 ? 16 : 8, 0);
		if (fd < 0)
			return err_set(e, WARD_EXIT_ERROR, "Landlock: %s", strerror(errno));
		for (unsigned i = 0; i < count; i++) {
			struct landlock_beneath b = {.parent_fd = dirs[i], .allowed_access = LL_HELPER(abi)};

			if (syscall(SYS_landlock_add_rule, fd, LL_RULE_PATH_BENEATH, &b, 0))
				return err_set(e, WARD_EXIT_ERROR, "Landlock: %s", strerror(errno));
		}
		if (syscall(SYS_landlock_restrict_self, fd, 0))
			return err_set(e, WARD_EXIT_ERROR, "Landlock: %s", strerror(errno));
		close(fd);
	}
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog))
		return err_set(e, WARD_EXIT_ERROR, "cannot install a helper's call filter: %s", strerror(errno));
	return 0;
}

/* WARD_CONFINE=trap: name the call in one line and go on with ENOSYS. Development only. */
static void on_sigsys(int sig, siginfo_t *info, void *context)
{
	log_error("the sentry's filter refused host call %d", info->si_syscall);
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = -ENOSYS;
}

int confine_calls(struct err *e)
{
	const char *mode = getenv("WARD_CONFINE");
	struct sock_fprog prog = {ARRAY_COUNT(confine_kill), (struct sock_filter *)confine_kill};

	if (mode && !strcmp(mode, "off")) {
		log_warn("WARD_CONFINE=off: the sentry runs without its call filter");
		return 0;
	}
	if (mode && (!strcmp(mode, "log") || !strcmp(mode, "trap"))) {
		struct sigaction sa = {.sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO};

		sigaction(SIGSYS, &sa, NULL);
		prog = (struct sock_fprog){ARRAY_COUNT(confine_trap), (struct sock_filter *)confine_trap};
	}
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog))
		return err_set(e, WARD_EXIT_ERROR,
			       "cannot install the sentry's call filter: %s; the kernel must have seccomp filters",
			       strerror(errno));
	return 0;
}
