/* Hard and symbolic links, their limits and O_NOFOLLOW, O_PATH. */
#include "check.h"

int main(void)
{
	struct stat a, b;
	char buf[64];
	int fd = open("f", O_CREAT | O_RDWR, 0600);

	NEED(fd >= 0 && write(fd, "data", 4) == 4);
	CHECK_EQ(link("f", "g"), 0);
	CHECK_ERR(link("f", "g"), EEXIST);
	CHECK_ERR(link("none", "h"), ENOENT);
	CHECK_EQ(stat("f", &a), 0);
	CHECK_EQ(stat("g", &b), 0);
	CHECK(a.st_ino == b.st_ino && a.st_dev == b.st_dev);
	CHECK_EQ(b.st_nlink, 2);
	CHECK_EQ(unlink("f"), 0);
	CHECK_EQ(stat("g", &b), 0);
	CHECK_EQ(b.st_nlink, 1);
	CHECK_EQ(symlink("g", "s"), 0);
	CHECK_ERR(symlink("g", "s"), EEXIST);
	CHECK_ERR(symlink("", "e"), ENOENT);
	CHECK_EQ(readlink("s", buf, sizeof buf), 1);
	CHECK_ERR(readlink("g", buf, sizeof buf), EINVAL);
	CHECK_ERR(readlink("s", buf, 0), EINVAL);
	CHECK_EQ(lstat("s", &a), 0);
	CHECK(S_ISLNK(a.st_mode) && a.st_size == 1);
	CHECK_EQ(stat("s", &a), 0);
	CHECK(a.st_ino == b.st_ino);
	CHECK_ERR(open("s", O_RDONLY | O_NOFOLLOW), ELOOP);
	CHECK_EQ(symlink("loop2", "loop1"), 0);
	CHECK_EQ(symlink("loop1", "loop2"), 0);
	CHECK_ERR(stat("loop1", &a), ELOOP);
	CHECK_ERR(open("loop1/x", O_RDONLY), ELOOP);
	CHECK_EQ(symlink("missing", "dangling"), 0);
	CHECK_ERR(stat("dangling", &a), ENOENT);
	CHECK_ERR(open("dangling", O_CREAT | O_EXCL | O_RDWR, 0600), EEXIST);
	fd = open("dangling", O_CREAT | O_RDWR, 0600);
	CHECK(fd >= 0);
	CHECK_EQ(stat("missing", &a), 0);
	CHECK_EQ(mkdir("d", 0755), 0);
	CHECK_EQ(symlink("d", "sd"), 0);
	CHECK_EQ(symlink("../g", "d/up"), 0);
	CHECK_EQ(stat("sd/up", &a), 0);
	CHECK(a.st_ino == b.st_ino);
	CHECK_EQ(lstat("sd/", &a), 0);
	CHECK(S_ISDIR(a.st_mode));
	CHECK_ERR(rmdir("sd"), ENOTDIR);
	CHECK_ERR(link("d", "hard"), EPERM);
	CHECK_EQ(linkat(AT_FDCWD, "s", AT_FDCWD, "slink", 0), 0);
	CHECK_EQ(lstat("slink", &a), 0);
	CHECK(S_ISLNK(a.st_mode));
	CHECK_EQ(linkat(AT_FDCWD, "s", AT_FDCWD, "flink", AT_SYMLINK_FOLLOW), 0);
	CHECK_EQ(lstat("flink", &a), 0);
	CHECK(S_ISREG(a.st_mode) && a.st_nlink == 2);
	fd = open("g", O_PATH);
	CHECK(fd >= 0);
	CHECK_ERR(read(fd, buf, 1), EBADF);
	CHECK_EQ(fstat(fd, &a), 0);
	fd = open("s", O_PATH | O_NOFOLLOW);
	CHECK(fd >= 0);
	CHECK_EQ(fstat(fd, &a), 0);
	CHECK(S_ISLNK(a.st_mode));
	CHECK_EQ(readlinkat(fd, "", buf, sizeof buf), 1);
	/* forty links are followed, one more is not */
	char n1[8], n2[8];
	CHECK_EQ(symlink("g", "c0"), 0);
	for (int i = 1; i <= 40; i++) {
		snprintf(n1, sizeof n1, "c%d", i);
		snprintf(n2, sizeof n2, "c%d", i - 1);
		if (symlink(n2, n1))
			CHECK(!"symlink of the chain");
	}
	CHECK_EQ(stat("c39", &a), 0);
	CHECK_ERR(stat("c40", &a), ELOOP);
	return check_done();
}
