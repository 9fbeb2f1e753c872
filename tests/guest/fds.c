/* variants: static */
/* The descriptor table: dup family, fcntl, close-on-exec, limits, sharing of the open file description. */
#include "check.h"
#include <sys/resource.h>

int main(int argc, char **argv)
{
	char c;
	int fd, d, p[2];

	if (argc > 1 && !strcmp(argv[1], "child")) {
		CHECK_EQ(fcntl(10, F_GETFD), 0);
		CHECK_ERR(fcntl(11, F_GETFD), EBADF);
		CHECK_ERR(fcntl(12, F_GETFD), EBADF);
		return check_failed;
	}
	fd = open("f", O_CREAT | O_RDWR, 0600);
	NEED(fd == 3 && write(fd, "abcdef", 6) == 6);
	d = dup(fd);
	CHECK_EQ(d, 4);
	CHECK_EQ(lseek(d, 0, SEEK_SET), 0);
	CHECK(read(fd, &c, 1) == 1 && c == 'a');
	CHECK(read(d, &c, 1) == 1 && c == 'b');
	CHECK_EQ(dup2(fd, 10), 10);
	CHECK_EQ(dup2(fd, fd), fd);
	CHECK_ERR(dup2(99, 10), EBADF);
	CHECK_ERR(dup2(99, 99), EBADF);
	CHECK_ERR(dup2(fd, -1), EBADF);
	CHECK_ERR(dup3(fd, fd, 0), EINVAL);
	CHECK_ERR(dup3(fd, 11, 12345), EINVAL);
	CHECK_EQ(dup3(fd, 11, O_CLOEXEC), 11);
	CHECK_EQ(fcntl(11, F_GETFD), FD_CLOEXEC);
	CHECK_EQ(fcntl(fd, F_DUPFD, 20), 20);
	CHECK_EQ(fcntl(fd, F_DUPFD_CLOEXEC, 20), 21);
	CHECK_EQ(fcntl(21, F_GETFD), FD_CLOEXEC);
	CHECK_EQ(fcntl(fd, F_DUPFD, 12), 12);
	CHECK_EQ(fcntl(12, F_SETFD, FD_CLOEXEC), 0);
	CHECK_EQ(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDWR);
	CHECK_EQ(fcntl(fd, F_SETFL, O_APPEND | O_NONBLOCK), 0);
	CHECK_EQ(fcntl(d, F_GETFL) & (O_APPEND | O_NONBLOCK), O_APPEND | O_NONBLOCK);
	CHECK_ERR(fcntl(99, F_GETFL), EBADF);
	CHECK_ERR(fcntl(fd, 9999), EINVAL);
	CHECK_ERR(fcntl(fd, F_DUPFD, -1), EINVAL);
	CHECK_EQ(pipe(p), 0);
	CHECK(p[0] == 5 && p[1] == 6);
	struct rlimit rl, small = {16, 1024};
	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &rl), 0);
	small.rlim_max = rl.rlim_max;
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &small), 0);
	while ((d = dup(fd)) >= 0)
		CHECK(d < 16);
	CHECK_EQ(errno, EMFILE);
	CHECK_ERR(dup2(fd, 16), EBADF);
	CHECK_ERR(fcntl(fd, F_DUPFD, 16), EINVAL);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &rl), 0);
	CHECK_EQ(close_range(13, 15, 0), 0);
	CHECK_ERR(fcntl(13, F_GETFD), EBADF);
	CHECK_EQ(fcntl(12, F_GETFD), FD_CLOEXEC);
	CHECK_EQ(fcntl(20, F_GETFD), 0);
	fflush(stdout);
	IN_CHILD(0, execl("/proc/self/exe", "fds", "child", NULL));
	/* offsets are shared across fork */
	lseek(fd, 0, SEEK_SET);
	IN_CHILD(0, CHECK(read(fd, &c, 1) == 1));
	CHECK_EQ(lseek(fd, 0, SEEK_CUR), 1);
	return check_done();
}
