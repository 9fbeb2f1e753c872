/* File attributes: modes, times, ownership, statx, access, umask. */
#include "check.h"
#include <sys/statfs.h>

int main(void)
{
	struct stat st;
	struct statx sx;
	struct statfs sf;
	int fd;

	umask(022);
	fd = open("f", O_CREAT | O_RDWR, 0666);
	NEED(fd >= 0);
	CHECK_EQ(fstat(fd, &st), 0);
	CHECK_EQ(st.st_mode, S_IFREG | 0644);
	CHECK_EQ(st.st_uid, geteuid());
	CHECK_EQ(umask(077), 022);
	CHECK_EQ(mkdir("d", 0777), 0);
	CHECK_EQ(stat("d", &st), 0);
	CHECK_EQ(st.st_mode, S_IFDIR | 0700);
	CHECK_EQ(chmod("f", 04711), 0);
	CHECK_EQ(stat("f", &st), 0);
	CHECK_EQ(st.st_mode, S_IFREG | 04711);
	CHECK_EQ(fchmod(fd, 0600), 0);
	CHECK_ERR(chmod("none", 0600), ENOENT);
	struct timespec ts[2] = {{1000000000, 123456789}, {1100000000, 987654321}};
	CHECK_EQ(utimensat(AT_FDCWD, "f", ts, 0), 0);
	CHECK_EQ(stat("f", &st), 0);
	CHECK_EQ(st.st_atim.tv_sec, 1000000000);
	CHECK_EQ(st.st_mtim.tv_sec, 1100000000);
	CHECK_EQ(st.st_mtim.tv_nsec, 987654321);
	ts[0].tv_nsec = UTIME_OMIT;
	ts[1].tv_nsec = UTIME_NOW;
	CHECK_EQ(futimens(fd, ts), 0);
	CHECK_EQ(stat("f", &st), 0);
	CHECK_EQ(st.st_atim.tv_sec, 1000000000);
	CHECK(llabs((long long)st.st_mtim.tv_sec - time(NULL)) < 5);
	ts[1].tv_nsec = 1000000000;
	CHECK_ERR(futimens(fd, ts), EINVAL);
	CHECK_EQ(statx(AT_FDCWD, "f", 0, STATX_BASIC_STATS, &sx), 0);
	CHECK_EQ(sx.stx_mode, S_IFREG | 0600);
	CHECK_EQ(sx.stx_ino, st.st_ino);
	CHECK((sx.stx_mask & STATX_BASIC_STATS) == STATX_BASIC_STATS);
	CHECK_ERR(statx(AT_FDCWD, "none", 0, STATX_BASIC_STATS, &sx), ENOENT);
	CHECK_EQ(access("f", R_OK | W_OK), 0);
	CHECK_ERR(access("f", X_OK), EACCES);
	CHECK_ERR(access("none", F_OK), ENOENT);
	CHECK_ERR(access("f", 99), EINVAL);
	CHECK_EQ(write(fd, "12345", 5), 5);
	CHECK_EQ(fstat(fd, &st), 0);
	CHECK_EQ(st.st_size, 5);
	CHECK(st.st_blksize == 4096);
	CHECK_EQ(stat("/dev/null", &st), 0);
	CHECK(S_ISCHR(st.st_mode) && st.st_rdev == 0x103);
	CHECK_EQ(stat("/proc/self", &st), 0);
	CHECK(S_ISDIR(st.st_mode));
	CHECK_EQ(lstat("/proc/self", &st), 0);
	CHECK(S_ISLNK(st.st_mode));
	CHECK_EQ(statfs("/proc", &sf), 0);
	CHECK_EQ(sf.f_type, 0x9fa0);
	CHECK_EQ(fstatfs(fd, &sf), 0);
	CHECK(sf.f_bsize == 4096 && sf.f_namelen == 255);
	if (geteuid() == 0) {
		CHECK_EQ(chown("f", 12, 34), 0);
		CHECK_EQ(stat("f", &st), 0);
		CHECK(st.st_uid == 12 && st.st_gid == 34);
		CHECK_EQ(chown("f", -1, 35), 0);
		CHECK_EQ(stat("f", &st), 0);
		CHECK(st.st_uid == 12 && st.st_gid == 35);
		CHECK_EQ(access("f", W_OK), 0);
	}
	CHECK_EQ(stat("/usr/bin/env", &st), 0);
	CHECK(S_ISREG(st.st_mode) && st.st_size > 1000 && (st.st_mode & 0111) == 0111);
	return check_done();
}
