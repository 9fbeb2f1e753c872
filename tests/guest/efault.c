/* variants: static */
/* Bad addresses give EFAULT and do no harm; arguments' upper halves do not matter. */
#include "check.h"
#include <poll.h>
#include <sys/mman.h>
#include <sys/uio.h>

int main(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *edge = page + 4096;
	char *ro = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *bad[] = {(void *)8, (void *)0x7ffffffff000, (void *)-4096l, (void *)0x8000000000000000ul, edge};
	int p[2], fd;
	struct stat st;

	munmap(edge, 4096);
	fd = open("f", O_CREAT | O_RDWR, 0600);
	NEED(fd >= 0 && pipe(p) == 0 && write(fd, "0123456789", 10) == 10);
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		long b = (long)bad[i];

		CHECK_EQ(raw3(SYS_write, fd, b, 5), -EFAULT);
		CHECK_EQ(raw4(SYS_pread64, fd, b, 5, 0), -EFAULT);
		CHECK_EQ(raw3(SYS_write, p[1], b, 5), -EFAULT);
		CHECK_EQ(raw2(SYS_stat, b, &st), -EFAULT);
		CHECK_EQ(raw2(SYS_stat, "f", b), -EFAULT);
		CHECK_EQ(raw3(SYS_open, b, 0, 0), -EFAULT);
		CHECK_EQ(raw2(SYS_nanosleep, b, 0), -EFAULT);
		CHECK_EQ(raw1(SYS_pipe, b), -EFAULT);
		CHECK_EQ(raw2(SYS_clock_gettime, 99, b), -EINVAL);
		CHECK_EQ(raw4(SYS_rt_sigaction, SIGUSR1, b, 0, 8), -EFAULT);
		CHECK_EQ(raw4(SYS_rt_sigprocmask, 0, b, 0, 8), -EFAULT);
		CHECK_EQ(raw3(SYS_poll, b, 1, 0), -EFAULT);
		CHECK_EQ(raw3(SYS_writev, fd, b, 1), -EFAULT);
		CHECK_EQ(raw3(SYS_execve, b, 0, 0), -EFAULT);
		CHECK_EQ(raw3(SYS_execve, "/bin/true", b, 0), -EFAULT);
		CHECK_EQ(raw3(SYS_getdents64, open(".", O_RDONLY), b, 4096), -EFAULT);
		CHECK_EQ(raw3(SYS_readlink, "/proc/self", b, 20), -EFAULT);
		CHECK_EQ(raw2(SYS_getcwd, b, 4096), -EFAULT);
		CHECK_EQ(raw1(SYS_uname, b), -EFAULT);
		CHECK_EQ(raw1(SYS_sysinfo, b), -EFAULT);
		CHECK_EQ(raw2(SYS_getrlimit, 0, b), -EFAULT);
	}
	CHECK_EQ(raw3(SYS_read, open("/dev/zero", O_RDONLY), ro, 16), -EFAULT);
	/* a buffer that runs over the edge: partial results where Linux gives them */
	memcpy(edge - 5, "abcde", 5);
	CHECK_EQ(raw3(SYS_write, p[1], edge - 5, 5), 5);
	CHECK_EQ(read(p[0], page, 5), 5);
	memcpy(edge - 2, "f", 2);
	CHECK_EQ(raw2(SYS_access, edge - 2, F_OK), 0);
	edge[-1] = 'x';
	CHECK_EQ(raw2(SYS_access, edge - 2, F_OK), -EFAULT);
	struct iovec v[2] = {{page, 5}, {(void *)8, 5}};
	CHECK_EQ(raw4(SYS_pwrite64, fd, page, 10, 0), 10);
	CHECK(writev(p[1], v, 2) == 5 || errno == EFAULT);
	/* poisoned upper halves of ints */
	CHECK_EQ(raw3(SYS_lseek, POISON(fd), 3, POISON(SEEK_SET)), 3);
	CHECK_EQ(raw1(SYS_close, POISON(99)), -EBADF);
	CHECK_EQ(raw2(SYS_dup2, POISON(fd), POISON(30)), 30);
	CHECK_EQ(raw3(SYS_fcntl, POISON(30), POISON(F_GETFD), 0), 0);
	int next = open("f", O_RDONLY) + 1;
	CHECK_EQ(raw4(SYS_openat, POISON(AT_FDCWD), "f", POISON(O_RDONLY), POISON(0)), next);
	CHECK_EQ(raw2(SYS_kill, POISON(getpid()), POISON(0)), 0);
	CHECK_EQ(raw0(SYS_getpid), getpid());
	CHECK_EQ(raw1(SYS_umask, POISON(022)) & ~0777, 0);
	CHECK_EQ(raw6(9999, 1, 2, 3, 4, 5, 6), -ENOSYS);
	CHECK_EQ(raw6(-1, 1, 2, 3, 4, 5, 6), -ENOSYS);
	CHECK_EQ(raw6(0xdeadbeef00000000ul | SYS_getpid, 0, 0, 0, 0, 0, 0), getpid());
	return check_done();
}
