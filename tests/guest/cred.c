/* Credentials: ids, groups, set-id calls; what an unprivileged process may not. */
#include "check.h"
#include <grp.h>
#include <pwd.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>

int main(void)
{
	uid_t r, e, s;
	gid_t g[4];

	CHECK_EQ(getresuid(&r, &e, &s), 0);
	CHECK(r == getuid() && e == geteuid() && s == e);
	CHECK_EQ(getresgid(&r, &e, &s), 0);
	CHECK(r == getgid());
	CHECK(getpwuid(0) && !strcmp(getpwuid(0)->pw_name, "root"));
	CHECK(getgrgid(0) && !strcmp(getgrgid(0)->gr_name, "root"));
	CHECK(getpwnam("nobody") && getpwnam("nobody")->pw_uid == 65534);
	if (getuid() != 0)
		return check_done();
	IN_CHILD(0, {
		CHECK_EQ(setgroups(2, (gid_t[]){5, 6}), 0);
		CHECK_EQ(getgroups(4, g), 2);
		CHECK(g[0] == 5 && g[1] == 6);
		CHECK_EQ(setresgid(100, 100, 100), 0);
		CHECK_EQ(setresuid(1000, 1000, 1000), 0);
		CHECK(getuid() == 1000 && geteuid() == 1000 && getgid() == 100);
		CHECK_ERR(setuid(0), EPERM);
		CHECK_ERR(setresuid(0, -1, -1), EPERM);
		CHECK_ERR(setgroups(0, NULL), EPERM);
		CHECK_ERR(setgid(0), EPERM);
		CHECK_ERR(kill(getppid(), SIGUSR1), EPERM);
		CHECK_ERR(sethostname("x", 1), EPERM);
	});
	IN_CHILD(0, {
		CHECK_EQ(seteuid(1000), 0);
		CHECK(getuid() == 0 && geteuid() == 1000);
		CHECK_EQ(seteuid(0), 0);
		CHECK_EQ(geteuid(), 0);
	});
	/* permissions of files for others */
	int fd = open("secret", O_CREAT | O_RDWR, 0600);
	NEED(fd >= 0);
	chmod(".", 0755);
	mkdir("closed", 0700);
	close(open("closed/f", O_CREAT | O_RDWR, 0666));
	close(open("mine", O_CREAT | O_RDWR, 0600));
	CHECK_EQ(chown("mine", 1000, 1000), 0);
	CHECK_EQ(chmod("mine", 0400), 0);
	IN_CHILD(0, {
		CHECK_EQ(setgroups(0, NULL), 0);
		CHECK_EQ(setgid(1000), 0);
		CHECK_EQ(setuid(1000), 0);
		int cwd = open(".", O_PATH);
		if (cwd >= 0) {
			CHECK_ERR(openat(cwd, "secret", O_RDONLY), EACCES);
			CHECK_ERR(openat(cwd, "closed/f", O_RDONLY), EACCES);
			CHECK(openat(cwd, "mine", O_RDONLY) >= 0);
			CHECK_ERR(openat(cwd, "mine", O_WRONLY), EACCES);
			CHECK_EQ(fchmodat(cwd, "mine", 0600, 0), 0);
			CHECK(openat(cwd, "mine", O_WRONLY) >= 0);
			CHECK_ERR(fchmodat(cwd, "secret", 0666, 0), EPERM);
			CHECK_ERR(fchownat(cwd, "mine", 0, 0, 0), EPERM);
			CHECK_ERR(unlinkat(cwd, "secret", 0), EACCES);
			CHECK_ERR(openat(cwd, "new", O_CREAT | O_WRONLY, 0600), EACCES);
		}
	});
	return check_done();
}
