/* variants: static musl */
/* Regular files: open modes, positions, append, truncate, holes, vectors. */
#include "check.h"
#include <sys/uio.h>

int main(void)
{
	char buf[64];
	int fd, fd2;
	struct stat st;

	CHECK_ERR(open("nofile", O_RDONLY), ENOENT);
	CHECK_ERR(open("", O_RDONLY), ENOENT);
	CHECK_ERR(open("/", O_WRONLY), EISDIR);
	fd = open("f", O_RDWR | O_CREAT | O_EXCL, 0644);
	NEED(fd >= 0);
	CHECK_EQ(fd, 3);
	CHECK_ERR(open("f", O_RDWR | O_CREAT | O_EXCL, 0644), EEXIST);
	CHECK_ERR(open("f/x", O_RDONLY), ENOTDIR);
	CHECK_ERR(open("f", O_RDONLY | O_DIRECTORY), ENOTDIR);
	CHECK_EQ(write(fd, "hello world", 11), 11);
	CHECK_EQ(lseek(fd, 0, SEEK_CUR), 11);
	CHECK_EQ(lseek(fd, -5, SEEK_END), 6);
	CHECK_EQ(read(fd, buf, sizeof buf), 5);
	CHECK(!memcmp(buf, "world", 5));
	CHECK_EQ(read(fd, buf, 1), 0);
	CHECK_ERR(lseek(fd, -1, SEEK_SET), EINVAL);
	CHECK_ERR(lseek(fd, 0, 99), EINVAL);
	CHECK_EQ(pread(fd, buf, 5, 0), 5);
	CHECK(!memcmp(buf, "hello", 5));
	CHECK_ERR(pread(fd, buf, 5, -1), EINVAL);
	CHECK_EQ(pwrite(fd, "J", 1, 0), 1);
	CHECK_EQ(lseek(fd, 0, SEEK_CUR), 11);
	CHECK_EQ(ftruncate(fd, 100000), 0);
	CHECK_EQ(fstat(fd, &st), 0);
	CHECK_EQ(st.st_size, 100000);
	CHECK_EQ(st.st_mode, S_IFREG | 0644);
	CHECK_EQ(pread(fd, buf, 4, 50000), 4);
	CHECK(!memcmp(buf, "\0\0\0\0", 4));
	CHECK_EQ(pread(fd, buf, 10, 99995), 5);
	CHECK_ERR(ftruncate(fd, -1), EINVAL);
	CHECK_EQ(truncate("f", 5), 0);
	CHECK_EQ(pread(fd, buf, 10, 0), 5);
	CHECK(!memcmp(buf, "Jello", 5));
	/* shrinking and growing again must show zeros, not old bytes */
	CHECK_EQ(ftruncate(fd, 2), 0);
	CHECK_EQ(ftruncate(fd, 5), 0);
	CHECK_EQ(pread(fd, buf, 10, 0), 5);
	CHECK(!memcmp(buf, "Je\0\0\0", 5));
	fd2 = open("f", O_WRONLY | O_APPEND);
	CHECK_EQ(write(fd2, "END", 3), 3);
	CHECK_EQ(lseek(fd2, 0, SEEK_CUR), 8);
	CHECK_ERR(read(fd2, buf, 1), EBADF);
	CHECK_EQ(pread(fd, buf, 10, 5), 3);
	CHECK(!memcmp(buf, "END", 3));
	close(fd2);
	fd2 = open("f", O_RDONLY);
	CHECK_ERR(write(fd2, "x", 1), EBADF);
	CHECK_ERR(ftruncate(fd2, 0), EINVAL);
	close(fd2);
	CHECK_ERR(close(fd2), EBADF);
	CHECK_ERR(read(fd2, buf, 1), EBADF);
	fd2 = open("f", O_RDWR | O_TRUNC);
	CHECK_EQ(fstat(fd2, &st), 0);
	CHECK_EQ(st.st_size, 0);
	{
		struct iovec v[3] = {{"abc", 3}, {"", 0}, {"defg", 4}};
		char x[2], y[10];
		struct iovec r[2] = {{x, 2}, {y, 10}};

		CHECK_EQ(writev(fd2, v, 3), 7);
		CHECK_EQ(preadv(fd2, r, 2, 0), 7);
		CHECK(!memcmp(x, "ab", 2) && !memcmp(y, "cdefg", 5));
		CHECK_EQ(pwritev(fd2, v, 1, 4), 3);
		CHECK_ERR(syscall(SYS_writev, fd2, v, -1), EINVAL);
		CHECK_EQ(writev(fd2, v, 0), 0);
		CHECK_ERR(syscall(SYS_writev, fd2, v, 1025), EINVAL);
	}
	/* an unlinked file lives while it is open */
	CHECK_EQ(unlink("f"), 0);
	CHECK_ERR(stat("f", &st), ENOENT);
	CHECK_EQ(pread(fd2, buf, 10, 0), 7);
	CHECK_EQ(fstat(fd2, &st), 0);
	CHECK_EQ(st.st_nlink, 0);
	close(fd);
	close(fd2);
	/* large file: data on both sides of every size the file may change its storage at */
	fd = open("big", O_RDWR | O_CREAT, 0600);
	for (int i = 0; i < 300; i++) {
		char block[1000];

		memset(block, i, sizeof block);
		if (write(fd, block, sizeof block) != sizeof block)
			CHECK(!"write of a block");
	}
	for (int i = 0; i < 300; i += 7) {
		char c = 0;

		if (pread(fd, &c, 1, i * 1000 + 999) != 1 || c != (char)i)
			CHECK(!"byte read back");
	}
	CHECK_EQ(lseek(fd, 1ll << 32, SEEK_SET), 1ll << 32);
	CHECK_EQ(write(fd, "x", 1), 1);
	CHECK_EQ(lseek(fd, 0, SEEK_END), (1ll << 32) + 1);
	CHECK_EQ(fallocate(fd, 0, 0, 10), 0);
	CHECK_EQ(fsync(fd), 0);
	CHECK_EQ(fdatasync(fd), 0);
	close(fd);
	unlink("big");
	fd = open(".", O_TMPFILE | O_RDWR, 0600);
	CHECK(fd >= 0);
	CHECK_EQ(write(fd, "t", 1), 1);
	return check_done();
}
