/* flock and fcntl locks between processes. */
#include "check.h"
#include <sys/file.h>

static struct flock lk(int type, long start, long len)
{
	return (struct flock){.l_type = (short)type, .l_whence = SEEK_SET, .l_start = start, .l_len = len};
}

int main(void)
{
	int fd = open("f", O_CREAT | O_RDWR, 0600), fd2 = open("f", O_RDWR);
	struct flock l;

	NEED(fd >= 0 && fd2 >= 0);
	CHECK_EQ(flock(fd, LOCK_EX), 0);
	CHECK_ERR(flock(fd2, LOCK_EX | LOCK_NB), EAGAIN);
	CHECK_EQ(flock(fd, LOCK_SH), 0);
	CHECK_EQ(flock(fd2, LOCK_SH | LOCK_NB), 0);
	CHECK_EQ(flock(fd2, LOCK_UN), 0);
	CHECK_EQ(flock(fd, LOCK_EX), 0);
	pid_t c = fork();
	if (c == 0) {
		int own = open("f", O_RDWR);
		double t0 = check_now();

		CHECK_EQ(flock(own, LOCK_EX), 0);
		CHECK(check_now() - t0 >= 0.02);
		_exit(check_failed);
	}
	check_sleep_ms(40);
	flock(fd, LOCK_UN);
	CHECK_EQ(check_wait(c), 0);
	/* record locks belong to the process */
	l = lk(F_WRLCK, 10, 20);
	CHECK_EQ(fcntl(fd, F_SETLK, &l), 0);
	CHECK_EQ(fcntl(fd2, F_SETLK, &l), 0);
	pid_t me = getpid();
	IN_CHILD(0, {
		l = lk(F_WRLCK, 0, 0);
		CHECK_EQ(fcntl(fd, F_GETLK, &l), 0);
		CHECK(l.l_type == F_WRLCK && l.l_start == 10 && l.l_len == 20 && l.l_pid == me);
		l = lk(F_RDLCK, 29, 1);
		CHECK_ERR(fcntl(fd, F_SETLK, &l), EAGAIN);
		l = lk(F_WRLCK, 30, 10);
		CHECK_EQ(fcntl(fd, F_SETLK, &l), 0);
	});
	/* unlocking the middle leaves two */
	l = lk(F_UNLCK, 15, 5);
	CHECK_EQ(fcntl(fd, F_SETLK, &l), 0);
	IN_CHILD(0, {
		l = lk(F_WRLCK, 15, 5);
		CHECK_EQ(fcntl(fd, F_SETLK, &l), 0);
		l = lk(F_WRLCK, 14, 1);
		CHECK_ERR(fcntl(fd, F_SETLK, &l), EAGAIN);
		l = lk(F_WRLCK, 20, 1);
		CHECK_ERR(fcntl(fd, F_SETLK, &l), EAGAIN);
	});
	/* closing any descriptor of the file drops them all */
	close(fd2);
	IN_CHILD(0, {
		l = lk(F_WRLCK, 0, 0);
		CHECK_EQ(fcntl(fd, F_SETLK, &l), 0);
	});
	/* a waiting lock is granted when the holder dies */
	c = fork();
	if (c == 0) {
		l = lk(F_WRLCK, 0, 0);
		fcntl(fd, F_SETLK, &l);
		check_sleep_ms(60);
		_exit(0);
	}
	check_sleep_ms(30);
	l = lk(F_WRLCK, 0, 0);
	CHECK_EQ(fcntl(fd, F_SETLKW, &l), 0);
	CHECK_EQ(check_wait(c), 0);
	/* open file description locks */
	l = lk(F_UNLCK, 0, 0);
	fcntl(fd, F_SETLK, &l);
	fd2 = open("f", O_RDWR);
	l = lk(F_WRLCK, 0, 0);
	CHECK_EQ(fcntl(fd, F_OFD_SETLK, &l), 0);
	CHECK_ERR(fcntl(fd2, F_OFD_SETLK, &l), EAGAIN);
	return check_done();
}
