/* variants: musl */
/* Character devices. */
#include "check.h"
#include <sys/mman.h>
#include <sys/random.h>

int main(void)
{
	char a[64], b[64];
	int fd = open("/dev/null", O_RDWR);

	NEED(fd >= 0);
	CHECK_EQ(write(fd, a, 64), 64);
	CHECK_EQ(read(fd, a, 64), 0);
	CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
	close(fd);
	fd = open("/dev/zero", O_RDWR);
	memset(a, 1, 64);
	CHECK_EQ(read(fd, a, 64), 64);
	CHECK(a[0] == 0 && a[63] == 0);
	CHECK_EQ(write(fd, a, 64), 64);
	volatile char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	CHECK(p != MAP_FAILED && p[5000] == 0);
	close(fd);
	fd = open("/dev/full", O_RDWR);
	CHECK_ERR(write(fd, a, 1), ENOSPC);
	CHECK_EQ(read(fd, a, 64), 64);
	close(fd);
	fd = open("/dev/urandom", O_RDONLY);
	CHECK_EQ(read(fd, a, 64), 64);
	CHECK_EQ(read(fd, b, 64), 64);
	CHECK(memcmp(a, b, 64) != 0);
	close(fd);
	CHECK_EQ(getrandom(a, 64, 0), 64);
	CHECK_EQ(getrandom(b, 64, GRND_NONBLOCK), 64);
	CHECK(memcmp(a, b, 64) != 0);
	CHECK_ERR(getrandom(a, 64, 0x100), EINVAL);
	CHECK_EQ(access("/dev/fd/0", F_OK), 0);
	CHECK_EQ(access("/dev/stdin", F_OK), 0);
	struct stat st;
	CHECK_EQ(stat("/dev/shm", &st), 0);
	CHECK_EQ(st.st_mode & 07777, 01777);
	fd = shm_open("/ward-test-shm", O_CREAT | O_EXCL | O_RDWR, 0600);
	CHECK(fd >= 0);
	CHECK_EQ(ftruncate(fd, 4096), 0);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(p != MAP_FAILED);
	p[0] = 5;
	CHECK_EQ(shm_unlink("/ward-test-shm"), 0);
	fd = open("/dev/tty", O_RDWR);
	CHECK(fd >= 0 || errno == ENXIO);
	CHECK_EQ(isatty(0), 0);
	return check_done();
}
