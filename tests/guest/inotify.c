/* inotify: events of a watched directory and file. */
#include "check.h"
#include <sys/inotify.h>

static void show(int fd)
{
	char buf[4096] __attribute__((aligned(8)));
	long n = read(fd, buf, sizeof buf);

	for (char *p = buf; n > 0 && p < buf + n;) {
		struct inotify_event *e = (void *)p;

		printf("%x %s%s\n", e->mask, e->len ? e->name : "-", e->cookie ? " cookie" : "");
		p += sizeof *e + e->len;
	}
	printf("--\n");
}

int main(void)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), f, wd, wf;
	char b[8];

	NEED(fd >= 0 && mkdir("d", 0755) == 0);
	wd = inotify_add_watch(fd, "d", IN_ALL_EVENTS & ~(IN_OPEN | IN_ACCESS | IN_CLOSE_NOWRITE));
	CHECK_EQ(wd, 1);
	CHECK_ERR(inotify_add_watch(fd, "none", IN_CREATE), ENOENT);
	CHECK_ERR(read(fd, b, 8), EAGAIN);
	f = open("d/x", O_CREAT | O_WRONLY, 0600);
	CHECK_EQ(write(f, "1", 1), 1);
	close(f);
	show(fd);
	CHECK_EQ(rename("d/x", "d/y"), 0);
	CHECK_EQ(mkdir("d/sub", 0755), 0);
	CHECK_EQ(unlink("d/y"), 0);
	show(fd);
	CHECK_EQ(inotify_rm_watch(fd, wd), 0);
	show(fd);
	CHECK_ERR(inotify_rm_watch(fd, wd), EINVAL);
	f = open("g", O_CREAT | O_WRONLY, 0600);
	wf = inotify_add_watch(fd, "g", IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF);
	CHECK_EQ(wf, 2);
	CHECK_EQ(write(f, "1", 1), 1);
	CHECK_EQ(fchmod(f, 0644), 0);
	close(f);
	unlink("g");
	show(fd);
	return check_done();
}
