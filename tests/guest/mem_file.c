/* File mappings: shared and private, coherence with read and write, access modes, beyond the end, after unlink. */
#include "check.h"
#include <setjmp.h>
#include <sys/mman.h>

#define PG 4096ul
static sigjmp_buf env;
static volatile int got_sig;
static void on_fault(int sig)
{
	got_sig = sig;
	siglongjmp(env, 1);
}

int main(void)
{
	char buf[16];
	volatile char *s, *p, *s2;
	int fd = open("f", O_CREAT | O_RDWR, 0600), ro, wo;

	signal(SIGBUS, on_fault);
	NEED(fd >= 0 && ftruncate(fd, 3 * PG) == 0 && pwrite(fd, "hello", 5, 0) == 5);
	s = mmap(NULL, 3 * PG, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	p = mmap(NULL, 3 * PG, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	NEED(s != MAP_FAILED && p != MAP_FAILED);
	CHECK(!memcmp((char *)s, "hello", 5) && !memcmp((char *)p, "hello", 5));
	s[0] = 'J';
	CHECK(pread(fd, buf, 5, 0) == 5 && !memcmp(buf, "Jello", 5));
	CHECK_EQ(pwrite(fd, "W", 1, 1), 1);
	CHECK_EQ(s[1], 'W');
	p[2] = 'x';
	CHECK_EQ(s[2], 'l');
	CHECK_EQ(msync((void *)s, 3 * PG, MS_SYNC), 0);
	s2 = mmap(NULL, PG, PROT_READ, MAP_SHARED, fd, PG);
	NEED(s2 != MAP_FAILED);
	s[PG + 7] = 'q';
	CHECK_EQ(s2[7], 'q');
	CHECK(mmap(NULL, PG, PROT_READ, MAP_SHARED, fd, 5) == MAP_FAILED && errno == EINVAL);
	ro = open("f", O_RDONLY);
	CHECK(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED, ro, 0) == MAP_FAILED && errno == EACCES);
	s2 = mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_PRIVATE, ro, 0);
	CHECK(s2 != MAP_FAILED);
	s2[0] = 1;
	s2 = mmap(NULL, PG, PROT_READ, MAP_SHARED, ro, 0);
	CHECK(s2 != MAP_FAILED);
	CHECK_ERR(mprotect((void *)s2, PG, PROT_READ | PROT_WRITE), EACCES);
	wo = open("f", O_WRONLY);
	CHECK(mmap(NULL, PG, PROT_READ, MAP_PRIVATE, wo, 0) == MAP_FAILED && errno == EACCES);
	CHECK(mmap(NULL, PG, PROT_READ, MAP_PRIVATE, open(".", O_RDONLY), 0) == MAP_FAILED && errno == ENODEV);
	/* beyond the end of the file */
	CHECK_EQ(ftruncate(fd, PG), 0);
	got_sig = 0;
	if (!sigsetjmp(env, 1))
		(void)s[2 * PG];
	CHECK_EQ(got_sig, SIGBUS);
	CHECK_EQ(s[5], 0);
	CHECK_EQ(ftruncate(fd, 3 * PG), 0);
	CHECK_EQ(s[2 * PG], 0);
	/* the last page's tail reads as zero */
	CHECK_EQ(ftruncate(fd, PG + 10), 0);
	CHECK_EQ(s[PG + 11], 0);
	/* a mapping outlives name and descriptor, and is shared across fork */
	CHECK_EQ(unlink("f"), 0);
	close(fd);
	close(ro);
	close(wo);
	IN_CHILD(0, s[3] = 'c');
	CHECK_EQ(s[3], 'c');
	CHECK_EQ(munmap((void *)s, 3 * PG), 0);
	/* small file written first, then mapped, then grown */
	fd = open("g", O_CREAT | O_RDWR, 0600);
	CHECK_EQ(write(fd, "small", 5), 5);
	s = mmap(NULL, PG, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(!memcmp((char *)s, "small\0\0", 7));
	for (int i = 0; i < 50; i++)
		CHECK_EQ(write(fd, "0123456789abcdef", 16), 16);
	CHECK(!memcmp((char *)s + 5, "0123", 4));
	/* reading into a mapping of the same file, and a host file */
	int lib = open("/proc/self/exe", O_RDONLY);
	p = mmap(NULL, PG, PROT_READ, MAP_PRIVATE, lib, 0);
	NEED(p != MAP_FAILED);
	CHECK(!memcmp((char *)p, "\177ELF", 4));
	CHECK(pread(lib, buf, 16, 0) == 16 && !memcmp(buf, (char *)p, 16));
	return check_done();
}
