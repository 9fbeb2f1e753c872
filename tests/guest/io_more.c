/* sendfile, splice, tee, copy_file_range, memfd with seals, readahead and hints, O_DIRECT sized buffers. */
#include "check.h"
#include <sys/mman.h>
#include <sys/sendfile.h>

int main(void)
{
	char buf[200000], back[200000];
	int a = open("a", O_CREAT | O_RDWR, 0600), b = open("b", O_CREAT | O_RDWR, 0600), p[2], q[2], m;
	off_t off = 100;
	loff_t o1 = 0, o2 = 50;

	NEED(a >= 0 && b >= 0 && pipe(p) == 0 && pipe(q) == 0);
	for (unsigned i = 0; i < sizeof buf; i++)
		buf[i] = (char)(i * 31 >> 3);
	CHECK_EQ(write(a, buf, sizeof buf), sizeof buf);
	CHECK_EQ(pread(a, back, sizeof back, 0), sizeof back);
	CHECK(!memcmp(buf, back, sizeof buf));
	CHECK_EQ(sendfile(b, a, &off, 5000), 5000);
	CHECK_EQ(off, 5100);
	CHECK(pread(b, back, 6000, 0) == 5000 && !memcmp(back, buf + 100, 5000));
	CHECK_EQ(copy_file_range(a, &o1, b, &o2, 1000, 0), 1000);
	CHECK(o1 == 1000 && o2 == 1050);
	CHECK(pread(b, back, 1000, 50) == 1000 && !memcmp(back, buf, 1000));
	lseek(a, 0, SEEK_SET);
	CHECK_EQ(splice(a, NULL, p[1], NULL, 4096, 0), 4096);
	CHECK_EQ(tee(p[0], q[1], 4096, 0), 4096);
	CHECK(read(q[0], back, 4096) == 4096 && !memcmp(back, buf, 4096));
	o2 = 0;
	CHECK_EQ(splice(p[0], NULL, b, &o2, 4096, 0), 4096);
	CHECK(pread(b, back, 4096, 0) == 4096 && !memcmp(back, buf, 4096));
	CHECK_ERR(splice(a, NULL, b, NULL, 10, 0), EINVAL);
	CHECK_EQ(posix_fadvise(a, 0, 0, POSIX_FADV_SEQUENTIAL), 0);
	/* memfd */
	m = memfd_create("mem", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	NEED(m >= 0);
	CHECK_EQ(write(m, buf, 10000), 10000);
	char *s = mmap(NULL, 12288, PROT_READ | PROT_WRITE, MAP_SHARED, m, 0);
	CHECK(s != MAP_FAILED && !memcmp(s, buf, 10000));
	munmap(s, 12288);
	CHECK_EQ(fcntl(m, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK), 0);
	CHECK_ERR(write(m, "x", 1), EPERM);
	CHECK_ERR(ftruncate(m, 0), EPERM);
	CHECK_EQ(fcntl(m, F_GET_SEALS), F_SEAL_WRITE | F_SEAL_SHRINK);
	CHECK_ERR(fcntl(a, F_GET_SEALS), EINVAL);
	CHECK_EQ(lseek(a, 0, SEEK_DATA), 0);
	CHECK_EQ(lseek(a, 0, SEEK_HOLE), sizeof buf);
	return check_done();
}
