/* Calls that few programs make: kcmp, sysfs, ustat, signals by an open /proc/PID, termio, holes of small files, seals. */
#include "check.h"
#include <linux/fs.h>
#include <linux/kcmp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termio.h>

static long kcmp(pid_t a, pid_t b, int type, unsigned long x, unsigned long y)
{
	return syscall(SYS_kcmp, a, b, type, x, y);
}

static void compare(void)
{
	pid_t me = getpid();
	int fd = open("/dev/null", O_RDONLY), other = open("/dev/null", O_RDONLY), copy = dup(fd);

	CHECK_EQ(kcmp(me, me, KCMP_FILE, (unsigned long)fd, (unsigned long)copy), 0);
	CHECK(kcmp(me, me, KCMP_FILE, (unsigned long)fd, (unsigned long)other) > 0);
	CHECK_ERR(kcmp(me, me, KCMP_FILE, (unsigned long)fd, 999), EBADF);
	CHECK_ERR(kcmp(me, me, 99, 0, 0), EINVAL);
	CHECK_ERR(kcmp(me, 0x3fffffff, KCMP_VM, 0, 0), ESRCH);
	CHECK_EQ(kcmp(me, me, KCMP_VM, 0, 0), 0);
	IN_CHILD(0, {
		CHECK(kcmp(getpid(), me, KCMP_VM, 0, 0) > 0);
		CHECK_EQ(kcmp(getpid(), me, KCMP_FILE, (unsigned long)fd, (unsigned long)fd), 0);
	});
}

static void old_fs(void)
{
	char name[64];
	struct stat st;
	char u[64];

	long count = syscall(SYS_sysfs, 3, 0, 0);

	CHECK(count > 2);
	CHECK_EQ(syscall(SYS_sysfs, 2, 0L, name), 0);
	CHECK_EQ(syscall(SYS_sysfs, 1, name, 0), 0);
	CHECK_ERR(syscall(SYS_sysfs, 1, "no such type", 0), EINVAL);
	CHECK_ERR(syscall(SYS_sysfs, 2, count, name), EINVAL);
	CHECK_ERR(syscall(SYS_sysfs, 4, 0, 0), EINVAL);
	CHECK_EQ(stat("/proc", &st), 0);
	CHECK_EQ(syscall(SYS_ustat, (unsigned)st.st_dev, u), 0);
	CHECK_ERR(syscall(SYS_ustat, (unsigned)st.st_dev, -1L), EFAULT);
	CHECK_ERR(syscall(SYS_ustat, 0xfffffff0u, u), EINVAL);
}

static void by_directory(void)
{
	sigset_t set;
	int fd = open("/proc/self", O_RDONLY | O_DIRECTORY), null = open("/dev/null", O_RDONLY);

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	CHECK_EQ(syscall(SYS_pidfd_send_signal, fd, SIGUSR1, NULL, 0), 0);
	CHECK_EQ(sigtimedwait(&set, NULL, &(struct timespec){0, 0}), SIGUSR1);
	CHECK_ERR(syscall(SYS_pidfd_send_signal, null, SIGUSR1, NULL, 0), EBADF);
}

static void old_termio(void)
{
	int m = posix_openpt(O_RDWR | O_NOCTTY);
	struct termio t;

	CHECK_EQ(ioctl(m, TCGETA, &t), 0);
	CHECK_ERR(ioctl(m, TCGETA, NULL), EFAULT);
	t.c_lflag ^= ECHO;
	unsigned short want = t.c_lflag;
	CHECK_EQ(ioctl(m, TCSETA, &t), 0);
	memset(&t, 0, sizeof(t));
	CHECK_EQ(ioctl(m, TCGETA, &t), 0);
	CHECK_EQ(t.c_lflag, want);
}

static void holes(long at)
{
	int fd = open("holes", O_RDWR | O_CREAT | O_TRUNC, 0600);

	CHECK_EQ(pwrite(fd, "a", 1, 0), 1);
	CHECK_EQ(pwrite(fd, "b", 1, at), 1);
	CHECK_EQ(lseek(fd, 0, SEEK_DATA), 0);
	CHECK_EQ(lseek(fd, 0, SEEK_HOLE), 4096);
	CHECK_EQ(lseek(fd, 4096, SEEK_DATA), at);
	CHECK_EQ(lseek(fd, at, SEEK_HOLE), at + 1);
	CHECK_ERR(lseek(fd, at + 1, SEEK_DATA), ENXIO);
	close(fd);
}

static void seals(void)
{
	int fd = memfd_create("m", MFD_ALLOW_SEALING);
	char *p;

	CHECK_EQ(ftruncate(fd, 4096), 0);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK_ERR(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), EBUSY);
	munmap(p, 4096);
	CHECK_EQ(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
	p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	if (p != MAP_FAILED)
		CHECK(mprotect(p, 4096, PROT_READ | PROT_WRITE) < 0);
	p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	CHECK_EQ(mprotect(p, 4096, PROT_READ | PROT_WRITE), 0);
	p[0] = 1;
}

/* PROCMAP_QUERY (Linux 6.11): the mapping at an address. */
static void map_query(void)
{
	struct {
		uint64_t size, query_flags, query_addr, start, end, flags, page_size, offset, inode;
		uint32_t major, minor, name_size, build_id_size;
		uint64_t name, build_id;
	} q = {.size = sizeof(q)};
	char name[512];
	int fd = open("/proc/self/maps", O_RDONLY);

	q.query_addr = (uint64_t)(uintptr_t)&map_query;
	q.name = (uint64_t)(uintptr_t)name;
	q.name_size = sizeof(name);
	CHECK_EQ(ioctl(fd, _IOWR('f', 17, q), &q), 0);
	CHECK(q.start <= q.query_addr && q.query_addr < q.end);
	CHECK_EQ(q.flags, 5); /* read, execute */
	CHECK_EQ(q.page_size, 4096);
	CHECK_EQ(q.name_size, strlen(name) + 1);
	q.query_flags = 2;
	CHECK_ERR(ioctl(fd, _IOWR('f', 17, q), &q), ENOENT);
	q.query_flags = 64;
	CHECK_ERR(ioctl(fd, _IOWR('f', 17, q), &q), EINVAL);
	q.size = 8;
	CHECK_ERR(ioctl(fd, _IOWR('f', 17, q), &q), EINVAL);
	q.query_flags = 0;
	q.size = sizeof(q);
	q.query_addr = 0;
	CHECK_ERR(ioctl(fd, _IOWR('f', 17, q), &q), ENOENT);
	q.query_flags = 16;
	q.name_size = 1;
	CHECK_ERR(ioctl(fd, _IOWR('f', 17, q), &q), ENAMETOOLONG);
}

static int refused(long r, int error)
{
	return r < 0 && errno == error;
}

/* Append-only and immutable files. One check: who runs this natively may lack the right to make them. */
static void bound_files(void)
{
	int fd = open("bound", O_RDWR | O_CREAT, 0600), flags = 0, ok = 1;

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0) {
		flags |= FS_APPEND_FL;
		if (ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0) {
			ok = ok && refused(open("bound", O_WRONLY), EPERM) && refused(truncate("bound", 0), EPERM);
			ok = ok && refused(unlink("bound"), EPERM) && refused(link("bound", "other"), EPERM);
			ok = ok && open("bound", O_WRONLY | O_APPEND) >= 0;
			flags = (flags & ~FS_APPEND_FL) | FS_IMMUTABLE_FL;
			ok = ok && ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
			ok = ok && refused(open("bound", O_WRONLY | O_APPEND), EPERM) && refused(chmod("bound", 0), EPERM);
			ok = ok && refused(rename("bound", "other"), EPERM) && open("bound", O_RDONLY) >= 0;
			flags &= ~FS_IMMUTABLE_FL;
			ok = ok && ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0 && unlink("bound") == 0;
		}
	}
	CHECK(ok);
}

int main(void)
{
	compare();
	old_fs();
	by_directory();
	old_termio();
	holes(12288);
	holes(1 << 20);
	seals();
	map_query();
	bound_files();
	return check_done();
}
