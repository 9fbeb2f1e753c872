/* /proc of oneself: what programs read there. */
#include "check.h"
#include <dirent.h>
#include <limits.h>
#include <sys/mman.h>

static char *slurp(const char *path)
{
	static char buf[200000];
	int fd = open(path, O_RDONLY);
	long n = 0, r;

	if (fd < 0)
		return NULL;
	while ((r = read(fd, buf + n, sizeof buf - 1 - n)) > 0)
		n += r;
	close(fd);
	buf[n] = 0;
	return buf;
}

int main(int argc, char **argv)
{
	char path[PATH_MAX], link[PATH_MAX], *s;
	struct stat st;

	(void)argc;
	snprintf(path, sizeof path, "/proc/%d/stat", getpid());
	s = slurp(path);
	NEED(s);
	CHECK_EQ(atoi(s), getpid());
	CHECK(strstr(s, "(proc) R "));
	s = slurp("/proc/self/status");
	NEED(s);
	CHECK(!strncmp(s, "Name:\tproc\n", 11));
	CHECK(strstr(s, "\nPid:\t") && strstr(s, "\nVmRSS:\t") && strstr(s, "\nThreads:\t1\n") && strstr(s, "\nUid:\t"));
	s = slurp("/proc/self/maps");
	NEED(s);
	CHECK(strstr(s, "[stack]") && strstr(s, "r-xp") && strstr(s, "/proc\n"));
	char *m = mmap(NULL, 3 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(m + 4096, 4096, PROT_NONE);
	s = slurp("/proc/self/maps");
	snprintf(path, sizeof path, "%lx-%lx ---p 00000000 00:00 0 ", (long)m + 4096, (long)m + 8192);
	CHECK(strstr(s, path));
	s = slurp("/proc/self/cmdline");
	NEED(s);
	CHECK(!strcmp(s, argv[0]));
	s = slurp("/proc/self/comm");
	CHECK(s && !strcmp(s, "proc\n"));
	ssize_t n = readlink("/proc/self/exe", link, sizeof link);
	CHECK(n > 5 && !memcmp(link + n - 5, "/proc", 5));
	NEED(getcwd(path, sizeof path));
	n = readlink("/proc/self/cwd", link, sizeof link);
	CHECK(n == (ssize_t)strlen(path) && !memcmp(link, path, n));
	CHECK(readlink("/proc/self/root", link, sizeof link) == 1 && link[0] == '/');
	n = readlink("/proc/self", link, sizeof link - 1);
	link[n > 0 ? n : 0] = 0;
	CHECK_EQ(atoi(link), getpid());
	/* descriptors */
	int fd = open("thefile", O_CREAT | O_RDWR, 0600), p[2];
	CHECK_EQ(write(fd, "abc", 3), 3);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	n = readlink(path, link, sizeof link);
	CHECK(n > 8 && !memcmp(link + n - 8, "/thefile", 8));
	int again = open(path, O_RDONLY);
	char b[4];
	CHECK(again >= 0 && read(again, b, 3) == 3 && !memcmp(b, "abc", 3));
	NEED(pipe(p) == 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", p[0]);
	n = readlink(path, link, sizeof link);
	CHECK(n > 6 && !memcmp(link, "pipe:[", 6));
	CHECK_EQ(stat(path, &st), 0);
	CHECK(S_ISFIFO(st.st_mode));
	DIR *d = opendir("/proc/self/fd");
	NEED(d);
	int count = 0;
	while (readdir(d))
		count++;
	closedir(d);
	CHECK_EQ(count, 2 + 3 + 4 + 1);
	s = slurp("/proc/self/fdinfo/1");
	CHECK(s && strstr(s, "flags:\t"));
	/* the whole machine's files */
	CHECK(slurp("/proc/meminfo") && strstr(slurp("/proc/meminfo"), "MemTotal:"));
	CHECK(slurp("/proc/cpuinfo") && strstr(slurp("/proc/cpuinfo"), "processor\t: 0"));
	CHECK(slurp("/proc/stat") && strstr(slurp("/proc/stat"), "cpu "));
	CHECK(slurp("/proc/uptime") && strchr(slurp("/proc/uptime"), '.'));
	CHECK(slurp("/proc/loadavg") && strchr(slurp("/proc/loadavg"), '/'));
	CHECK(slurp("/proc/mounts") && strstr(slurp("/proc/mounts"), " / "));
	CHECK(slurp("/proc/self/mountinfo") != NULL);
	CHECK(slurp("/proc/version") && strstr(slurp("/proc/version"), "Linux version"));
	CHECK(slurp("/proc/sys/kernel/ostype") && !strcmp(slurp("/proc/sys/kernel/ostype"), "Linux\n"));
	CHECK(slurp("/proc/sys/kernel/pid_max") && atoi(slurp("/proc/sys/kernel/pid_max")) > 1000);
	CHECK(slurp("/proc/filesystems") && strstr(slurp("/proc/filesystems"), "tmpfs"));
	CHECK_ERR(open("/proc/99999999/stat", O_RDONLY), ENOENT);
	CHECK_ERR(open("/proc/newfile", O_CREAT | O_RDWR, 0600), ENOENT);
	/* a child shows up and goes away */
	pid_t k = fork();
	if (k == 0)
		_exit(pause());
	snprintf(path, sizeof path, "/proc/%d/stat", k);
	CHECK(slurp(path) && strstr(slurp(path), "(proc)"));
	kill(k, SIGKILL);
	siginfo_t si;
	waitid(P_PID, k, &si, WEXITED | WNOWAIT);
	CHECK(slurp(path) && strstr(slurp(path), ") Z "));
	check_wait(k);
	CHECK(slurp(path) == NULL);
	return check_done();
}
