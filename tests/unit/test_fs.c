/*
 * The file layer beside the host's tmpfs: the same calls run natively in a scratch directory and on ward's tmpfs and
 * overlay, and results, errors, sizes, links and listings must agree. First a list of chosen cases, then random ones.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "syscalls/table.h"
#include "tests/lib/fsenv.c" /* fakes: link with -z muldefs, this file first */

static char scratch[] = "/dev/shm/ward-test-XXXXXX";
static char history[65536];

static void note(const char *name, const uint64_t *a, long n, long w)
{
	size_t used = strlen(history);

	if (used > sizeof(history) - 512)
		memmove(history, history + 32768, used - 32768 + 1), used -= 32768;
	snprintf(history + used, sizeof(history) - used, "%s %lx %lx %lx %lx %lx: native %ld ward %ld\n", name, a[0], a[1],
		 a[2], a[3], a[4], n, w);
}

static long native(int nr, const uint64_t a[6])
{
	long r = syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);

	return r < 0 ? -errno : r;
}

static long both(const char *name, int nr, int64_t (*fn)(), const uint64_t *a)
{
	long n = native(nr, a), w = fsenv_call(fn, a);

	note(name, a, n, w);
	cr_assert_eq(n, w, "%s(\"%s\"...): native %ld, ward %ld\n%s", name, a[0] > 4096 && a[0] < 1ull << 47 ? (char *)a[0] : "?",
		     n, w, history + (strlen(history) > 3000 ? strlen(history) - 3000 : 0));
	return n;
}
#define BOTH(name, ...) both(#name, SYS_##name, (int64_t (*)())sys_##name, (uint64_t[6]){__VA_ARGS__})

/* open, some writing, close: in both worlds. */
static void put(const char *path, int flags, int mode, const char *text, uint64_t off)
{
	long n = open(path, flags, mode), w;

	n = n < 0 ? -errno : n;
	w = sys_open(uaddr(A(path)), flags, (uint32_t)mode);
	cr_assert_eq(n < 0 ? n : 0, w < 0 ? w : 0, "open(\"%s\", %o): native %ld, ward %ld\n%s", path, flags, n, w, history);
	if (n < 0)
		return;
	long rn = text ? pwrite((int)n, text, strlen(text), (off_t)off) : 0;
	rn = rn < 0 ? -errno : rn;
	long rw = text ? sys_pwrite64((int)w, uaddr(A(text)), strlen(text), (int64_t)off) : 0;
	cr_assert_eq(rn, rw, "write %s: %ld %ld", path, rn, rw);
	close((int)n);
	cr_assert_eq(sys_close((int)w), 0);
}

static void same_stat(const char *path)
{
	struct stat n, w;

	memset(&n, 0, sizeof(n));
	memset(&w, 0, sizeof(w));
	long rn = lstat(path, &n) < 0 ? -errno : 0, rw = sys_lstat(uaddr(A(path)), uaddr(A(&w)));
	cr_assert_eq(rn, rw, "lstat %s: %ld %ld\n%s", path, rn, rw, history);
	if (rn)
		return;
	cr_assert_eq(n.st_mode, w.st_mode, "%s mode %o %o\n%s", path, n.st_mode, w.st_mode, history);
	cr_assert_eq(n.st_nlink, w.st_nlink, "%s nlink %lu %lu\n%s", path, n.st_nlink, w.st_nlink, history);
	if (!S_ISDIR(n.st_mode))
		cr_assert_eq(n.st_size, w.st_size, "%s size %lu %lu\n%s", path, n.st_size, w.st_size, history);
}

static void same_content(const char *path)
{
	static char a[300000], b[300000];
	int n = open(path, O_RDONLY | O_NONBLOCK);
	long w = sys_open(uaddr(A(path)), O_RDONLY | O_NONBLOCK, 0);

	if (n < 0)
		return;
	cr_assert(w >= 0);
	long rn = read(n, a, sizeof(a)), rw = sys_read((int)w, uaddr(A(b)), sizeof(b));
	close(n);
	sys_close((int)w);
	if (rn < 0)
		return;
	cr_assert_eq(rn, rw, "%s: %ld %ld\n%s", path, rn, rw, history + (strlen(history) > 3000 ? strlen(history) - 3000 : 0));
	cr_assert(!memcmp(a, b, (size_t)rn), "%s differs\n%s", path, history);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static unsigned list_names(bool native_side, const char *path, char names[][256])
{
	char buf[8192];
	unsigned count = 0;
	long fd = native_side ? open(path, O_RDONLY | O_DIRECTORY) : sys_open(uaddr(A(path)), O_RDONLY | O_DIRECTORY, 0), n;

	if (fd < 0)
		return 0;
	while ((n = native_side ? syscall(SYS_getdents64, fd, buf, sizeof(buf))
				: sys_getdents64((int)fd, uaddr(A(buf)), sizeof(buf))) > 0)
		for (long at = 0; at < n;) {
			struct dirent64 *d = (void *)(buf + at);

			snprintf(names[count++], 256, "%.250s:%u", d->d_name, d->d_type);
			at += d->d_reclen;
		}
	native_side ? close((int)fd) : (int)sys_close((int)fd);
	qsort(names, count, 256, by_name);
	return count;
}

static void same_list(const char *path)
{
	static char a[64][256], b[64][256];
	unsigned n = list_names(true, path, a), w = list_names(false, path, b);

	cr_assert_eq(n, w, "%s: %u %u entries\n%s", path, n, w, history);
	for (unsigned k = 0; k < n; k++)
		cr_assert_str_eq(a[k], b[k]);
}

static void begin(struct superblock *sb)
{
	umask(022);
	strcpy(scratch, "/dev/shm/ward-test-XXXXXX");
	cr_assert(mkdtemp(scratch));
	cr_assert_eq(chdir(scratch), 0);
	chmod(".", 0755);
	fsenv_start(sb);
}

static void end(void)
{
	char cmd[100];

	fsenv_stop();
	snprintf(cmd, sizeof(cmd), "rm -rf %s", scratch);
	cr_assert_eq(chdir("/"), 0);
	cr_assert_eq(system(cmd), 0);
}

static struct superblock *fresh(bool overlay)
{
	static const struct hostdir_entry none[] = {{.guest = "/etc/motd", .text = "hello\n"}};
	int error;

	return overlay ? overlay_new(hostdir_new(none, 0, &error), tmpfs_new(0, 0)) : tmpfs_new(0, 0);
}

static void chosen(void)
{
	char longname[300], longpath[4200], buf[4096];

	memset(longname, 'n', 299);
	longname[299] = 0;
	memset(longpath, '/', 4199);
	longpath[4199] = 0;
	BOTH(mkdir, A("d"), 0755);
	BOTH(mkdir, A("d"), 0755);
	BOTH(mkdir, A("d/"), 0755);
	BOTH(mkdir, A("d2/"), 01777);
	BOTH(mkdir, A("."), 0755);
	BOTH(mkdir, A(".."), 0755);
	BOTH(mkdir, A("/"), 0755);
	BOTH(mkdir, A("x/y"), 0755);
	BOTH(mkdir, A(""), 0755);
	BOTH(mkdir, A(longname), 0755);
	BOTH(mkdir, A(longpath), 0755);
	put("f", O_CREAT | O_WRONLY, 0644, "hello", 0);
	put("f", O_CREAT | O_EXCL | O_WRONLY, 0644, "hello", 0);
	put("f/", O_CREAT | O_WRONLY, 0644, NULL, 0);
	put("g/", O_CREAT | O_WRONLY, 0644, NULL, 0);
	put("f/x", O_CREAT | O_WRONLY, 0644, NULL, 0);
	put("d", O_WRONLY, 0, NULL, 0);
	put("d", O_CREAT, 0644, NULL, 0);
	put("d", O_CREAT | O_EXCL, 0644, NULL, 0);
	put(".", O_CREAT, 0644, NULL, 0);
	put(".", O_CREAT | O_EXCL, 0644, NULL, 0);
	put("f", O_DIRECTORY, 0, NULL, 0);
	put("f/", O_RDONLY, 0, NULL, 0);
	put("f/.", O_RDONLY, 0, NULL, 0);
	put("f/..", O_RDONLY, 0, NULL, 0);
	put("", O_RDONLY, 0, NULL, 0);
	BOTH(symlink, A("target"), A("dangling"));
	put("dangling", O_RDONLY, 0, NULL, 0);
	put("dangling", O_CREAT | O_EXCL | O_WRONLY, 0644, NULL, 0);
	put("dangling", O_CREAT | O_NOFOLLOW | O_WRONLY, 0644, NULL, 0);
	put("dangling", O_CREAT | O_WRONLY, 0600, "through", 0);
	same_stat("target");
	BOTH(symlink, A("loop2"), A("loop1"));
	BOTH(symlink, A("loop1"), A("loop2"));
	put("loop1", O_RDONLY, 0, NULL, 0);
	put("loop1", O_CREAT | O_WRONLY, 0644, NULL, 0);
	put("loop1", O_RDONLY | O_NOFOLLOW, 0, NULL, 0);
	put("loop1", O_PATH | O_NOFOLLOW, 0, NULL, 0);
	put("loop1", O_RDONLY | O_NOFOLLOW | O_DIRECTORY, 0, NULL, 0);
	BOTH(symlink, A("d/"), A("dl"));
	put("dl/new", O_CREAT | O_WRONLY, 0644, "x", 0);
	put("dl", O_CREAT | O_WRONLY, 0644, NULL, 0);
	put("dl", O_DIRECTORY, 0, NULL, 0);
	BOTH(symlink, A(""), A("empty"));
	BOTH(symlink, A("t"), A("s/"));
	BOTH(symlink, A("t"), A("d"));
	BOTH(mkdir, A("dangling2/"), 0755);
	BOTH(symlink, A("nothere"), A("dang"));
	BOTH(mkdir, A("dang"), 0755);
	BOTH(mkdir, A("dang/"), 0755);
	BOTH(rmdir, A("f"));
	BOTH(rmdir, A("d"));
	BOTH(rmdir, A("d/."));
	BOTH(rmdir, A("d/.."));
	BOTH(rmdir, A("/"));
	BOTH(rmdir, A("dl"));
	BOTH(rmdir, A("dl/"));
	BOTH(unlink, A("d"));
	BOTH(unlink, A("d/"));
	BOTH(unlink, A("f/"));
	BOTH(unlink, A("."));
	BOTH(unlink, A("nope"));
	BOTH(unlink, A("nope/"));
	BOTH(link, A("f"), A("f2"));
	BOTH(link, A("f"), A("f2"));
	BOTH(link, A("d"), A("dlink"));
	BOTH(link, A("dangling"), A("hardsym"));
	BOTH(link, A("f"), A("f3/"));
	BOTH(linkat, AT_FDCWD, A("dl"), AT_FDCWD, A("zz"), AT_SYMLINK_FOLLOW);
	same_stat("f");
	same_stat("hardsym");
	BOTH(rename, A("f"), A("f2"));
	same_stat("f");
	BOTH(rename, A("f"), A("d"));
	BOTH(rename, A("d"), A("f"));
	BOTH(rename, A("d"), A("d/sub"));
	BOTH(rename, A("d/new"), A("."));
	BOTH(rename, A("d/new"), A("d"));
	BOTH(rename, A("."), A("q"));
	BOTH(rename, A("f/"), A("q"));
	BOTH(rename, A("f"), A("q/"));
	BOTH(rename, A("d2"), A("d3/"));
	BOTH(rename, A("d3"), A("d"));
	BOTH(rename, A("nope"), A("q"));
	BOTH(renameat2, AT_FDCWD, A("f"), AT_FDCWD, A("f2"), RENAME_NOREPLACE);
	BOTH(renameat2, AT_FDCWD, A("f"), AT_FDCWD, A("d"), RENAME_EXCHANGE);
	same_stat("f");
	same_stat("d");
	BOTH(renameat2, AT_FDCWD, A("f"), AT_FDCWD, A("d"), RENAME_EXCHANGE);
	BOTH(renameat2, AT_FDCWD, A("f"), AT_FDCWD, A("d"), RENAME_EXCHANGE | RENAME_NOREPLACE);
	BOTH(readlink, A("dangling"), A(buf), 4);
	BOTH(readlink, A("dangling"), A(buf), 0);
	BOTH(readlink, A("f"), A(buf), 10);
	BOTH(readlink, A(""), A(buf), 10);
	BOTH(chmod, A("f"), 04755);
	BOTH(chmod, A("dangling"), 0600);
	BOTH(chown, A("f"), 5, 6);
	same_stat("f");
	BOTH(chmod, A("d"), 02775);
	BOTH(mkdir, A("d/setgid"), 0755);
	same_stat("d/setgid");
	BOTH(truncate, A("f"), 100000);
	BOTH(truncate, A("f"), -1);
	BOTH(truncate, A("d"), 1);
	BOTH(truncate, A("nope"), 1);
	same_content("f");
	BOTH(access, A("f"), R_OK | W_OK);
	BOTH(access, A("target"), X_OK);
	BOTH(access, A("d"), X_OK);
	BOTH(access, A("f"), 8);
	BOTH(access, A("f/x"), 0);
	BOTH(mknod, A("fifo"), S_IFIFO | 0644, 0);
	BOTH(mknod, A("m"), 0644, 0);
	BOTH(mknod, A("mm"), S_IFDIR | 0644, 0);
	BOTH(mknod, A("sock"), S_IFSOCK | 0644, 0);
	put("sock", O_RDONLY, 0, NULL, 0);
	put("sock", O_PATH, 0, NULL, 0);
	same_stat("fifo");
	BOTH(chdir, A("f"));
	BOTH(chdir, A("nope"));
	BOTH(chdir, A("d"));
	BOTH(getcwd, A(buf), 2);
	same_stat("../f");
	BOTH(rmdir, A("../d/setgid"));
	BOTH(chdir, A(".."));
	put(".", O_TMPFILE | O_RDWR, 0600, "x", 0);
	put(".", O_TMPFILE | O_RDONLY, 0600, NULL, 0);
	put("f", O_TMPFILE | O_RDWR, 0600, NULL, 0);
	BOTH(setxattr, A("f"), A("trusted.a"), A("v"), 1, 0);
	BOTH(setxattr, A("f"), A("trusted.a"), A("v"), 1, 1);
	BOTH(setxattr, A("f"), A("trusted.b"), A("v"), 1, 2);
	BOTH(getxattr, A("f"), A("trusted.a"), A(buf), 0);
	BOTH(getxattr, A("f"), A("trusted.c"), A(buf), 10);
	BOTH(getxattr, A("f"), A("nonsense"), A(buf), 10);
	BOTH(removexattr, A("f"), A("trusted.a"));
	BOTH(utimensat, AT_FDCWD, A("f"), 0, 0);
	BOTH(utimensat, AT_FDCWD, A("nope"), 0, 0);
	same_list(".");
	same_list("d");
}

Test(fs, chosen_cases_tmpfs)
{
	begin(fresh(false));
	chosen();
	end();
}

Test(fs, chosen_cases_overlay)
{
	begin(fresh(true));
	chosen();
	end();
}

static void random_calls(unsigned seed, unsigned rounds)
{
	static const char *const names[] = {"a", "b", "c", "d", "d/a", "d/b", "e", "e/a", "e/f", "e/f/a", "l", "d/l"};
	static const int open_flags[] = {O_CREAT | O_WRONLY, O_WRONLY, O_CREAT | O_EXCL | O_RDWR, O_WRONLY | O_TRUNC,
					 O_CREAT | O_WRONLY | O_APPEND, O_RDWR};
	static char text[70000];

	srand(seed);
	history[0] = 0;
	for (unsigned k = 0; k < rounds; k++) {
		const char *p = names[rand() % 12], *q = names[rand() % 12];

		snprintf(history + strlen(history), 64, "   %s %s:\n", p, q);
		switch (rand() % 13) {
		case 0:
		case 1:
			memset(text, 'a' + rand() % 26, sizeof(text));
			text[1 + rand() % (rand() % 8 ? 100 : 60000)] = 0;
			put(p, open_flags[rand() % 6] | O_NONBLOCK, 0640, text, (uint64_t)(rand() % (rand() % 4 ? 200 : 200000)));
			break;
		case 2:
		case 3:
			BOTH(mkdir, A(p), 0750);
			break;
		case 4:
			BOTH(rmdir, A(p));
			break;
		case 5:
			BOTH(unlink, A(p));
			break;
		case 6:
		case 7:
			BOTH(rename, A(p), A(q));
			break;
		case 8:
			BOTH(renameat2, AT_FDCWD, A(p), AT_FDCWD, A(q), rand() % 2 ? RENAME_EXCHANGE : RENAME_NOREPLACE);
			break;
		case 9:
			BOTH(link, A(p), A(q));
			break;
		case 10:
			BOTH(symlink, A(q), A(p));
			break;
		case 11:
			BOTH(truncate, A(p), (uint64_t)(rand() % (rand() % 4 ? 300 : 150000)));
			break;
		case 12:
			BOTH(chmod, A(p), 0700 | (uint64_t)(rand() % 64));
			break;
		}
		same_stat(p);
		same_stat(q);
		same_content(p);
		if (k % 16 == 0) {
			same_list(".");
			same_list("d");
			same_list("e");
		}
	}
}

Test(fs, random_tmpfs, .timeout = 60)
{
	for (unsigned s = 1; s <= 8; s++) {
		begin(fresh(false));
		random_calls(s, 1500);
		end();
	}
}

Test(fs, random_overlay, .timeout = 60)
{
	for (unsigned s = 1; s <= 8; s++) {
		begin(fresh(true));
		random_calls(s, 1500);
		end();
	}
}

/* The overlay with something below: a native copy of a small tree and an overlay over that tree must stay equal. */
Test(fs, overlay_over_host_files, .timeout = 60)
{
	for (unsigned s = 1; s <= 8; s++) {
		static char lower[] = "/dev/shm/ward-lower-XXXXXX";
		char cmd[300];
		int error;

		strcpy(lower, "/dev/shm/ward-lower-XXXXXX");
		cr_assert(mkdtemp(lower));
		chmod(lower, 0755);
		snprintf(cmd, sizeof(cmd), "cd %s && mkdir e d && echo one > a && echo two > d/a && head -c 90000 /dev/zero > b && "
			 "ln -s a l && ln -s a d/l && echo x > e/f", lower);
		cr_assert_eq(system(cmd), 0);
		struct hostdir_entry e = {.guest = "/", .host = lower};
		begin(overlay_new(hostdir_new(&e, 1, &error), tmpfs_new(0, 0)));
		snprintf(cmd, sizeof(cmd), "cp -a %s/. %s/", lower, scratch);
		cr_assert_eq(system(cmd), 0);
		same_list(".");
		/* Directories of the lower layer do not move: leave them where they are. */
		history[0] = 0;
		srand(s);
		static const char *const names[] = {"a", "b", "c", "d/a", "d/b", "d/l", "l", "e/f", "e/g"};
		for (unsigned k = 0; k < 600; k++) {
			const char *p = names[rand() % 9], *q = names[rand() % 9];

			snprintf(history + strlen(history), 64, "   %s %s:\n", p, q);
			switch (rand() % 8) {
			case 0:
				put(p, (rand() % 2 ? O_CREAT : 0) | O_WRONLY | O_NONBLOCK, 0600, "written", (uint64_t)(rand() % 9));
				break;
			case 1:
				BOTH(unlink, A(p));
				break;
			case 2:
				BOTH(rename, A(p), A(q));
				break;
			case 3:
				BOTH(link, A(p), A(q));
				break;
			case 4:
				BOTH(symlink, A(q), A(p));
				break;
			case 5:
				BOTH(truncate, A(p), (uint64_t)(rand() % 100));
				break;
			case 6:
				BOTH(chmod, A(p), 0700 | (uint64_t)(rand() % 64));
				break;
			case 7:
				rand() % 2 ? BOTH(mkdir, A(p), 0700) : BOTH(rmdir, A(p));
				break;
			}
			same_stat(p);
			same_content(p);
			same_content(q);
			if (k % 8 == 0) {
				same_list(".");
				same_list("d");
				same_list("e");
			}
		}
		BOTH(unlink, A("d/a")), BOTH(unlink, A("d/b")), BOTH(unlink, A("d/l"));
		BOTH(rmdir, A("d"));
		BOTH(mkdir, A("d"), 0755);
		same_list("d");
		end();
		snprintf(cmd, sizeof(cmd), "rm -rf %s", lower);
		cr_assert_eq(system(cmd), 0);
	}
}

/* An ordinary user among files of others: modes, sticky and set-group-ID directories, set-user-ID files. */
static void become(bool user)
{
	if (!user) {
		cr_assert_eq(seteuid(0), 0);
		cr_assert_eq(setegid(0), 0);
	} else {
		cr_assert_eq(setegid(1000), 0);
		cr_assert_eq(seteuid(1000), 0);
	}
	fsenv_cred.fsuid = fsenv_cred.euid = fsenv_cred.fsgid = fsenv_cred.egid = user ? 1000 : 0;
	fsenv_cred.cap_effective = user ? 0 : CAP_FULL_SET;
}

static void permissions(unsigned seed)
{
	static const char *const names[] = {"a", "b", "own", "d/a", "d/b", "st/a", "st/own", "sg/a", "no/a", "d", "st", "no", "own/x"};
	static const int open_flags[] = {O_RDONLY, O_WRONLY, O_RDWR, O_WRONLY | O_TRUNC, O_CREAT | O_WRONLY, O_RDONLY | O_NOATIME};

	srand(seed);
	history[0] = 0;
	BOTH(chmod, A("."), 0777);
	BOTH(mkdir, A("d"), 0755);
	BOTH(mkdir, A("st"), 0755), BOTH(chmod, A("st"), 01777);
	BOTH(mkdir, A("sg"), 0755), BOTH(chown, A("sg"), 1000, 77), BOTH(chmod, A("sg"), 02777);
	BOTH(mkdir, A("no"), 0700);
	BOTH(mkdir, A("own"), 0700), BOTH(chown, A("own"), 1000, 1000);
	for (int k = 0; k < 9; k++) {
		put(names[k], O_CREAT | O_WRONLY, 0600, "text", 0);
		BOTH(chown, A(names[k]), (uint64_t)(rand() % 2 * 1000), (uint64_t)(rand() % 2 * 1000));
		BOTH(chmod, A(names[k]), (uint64_t)(rand() % 07777));
	}
	become(true);
	for (int k = 0; k < 800; k++) {
		const char *p = names[rand() % 13], *q = names[rand() % 13];

		snprintf(history + strlen(history), 64, "   %s %s:\n", p, q);
		switch (rand() % 11) {
		case 0:
		case 1:
			put(p, open_flags[rand() % 6], rand() % 07777, rand() % 2 ? "other" : NULL, 2);
			break;
		case 2:
			BOTH(chmod, A(p), (uint64_t)(rand() % 07777));
			break;
		case 3:
			BOTH(chown, A(p), rand() % 2 ? 1000 : -1ull, (uint64_t)(rand() % 3 ? 1000 : rand() % 2 * 77));
			break;
		case 4:
			BOTH(rename, A(p), A(q));
			break;
		case 5:
			BOTH(unlink, A(p));
			break;
		case 6:
			rand() % 2 ? BOTH(mkdir, A(p), (uint64_t)(rand() % 07777)) : BOTH(rmdir, A(p));
			break;
		case 7:
			BOTH(truncate, A(p), (uint64_t)(rand() % 9));
			break;
		case 8:
			BOTH(faccessat2, AT_FDCWD, A(p), (uint64_t)(rand() % 8), AT_EACCESS);
			break;
		case 9: {
			struct timespec t[2] = {{5, 5}, {6, 6}};

			BOTH(utimensat, AT_FDCWD, A(p), rand() % 2 ? A(t) : 0, 0);
			break;
		}
		case 10:
			BOTH(renameat2, AT_FDCWD, A(p), AT_FDCWD, A(q), RENAME_EXCHANGE);
			break;
		}
		same_stat(p);
		same_stat(q);
	}
	become(false);
}

Test(fs, permissions_of_an_ordinary_user, .timeout = 60)
{
	for (unsigned s = 1; s <= 16; s++) {
		begin(fresh(s % 2));
		permissions(s);
		end();
	}
}

Test(fs, limits_and_holes)
{
	static char buf[1 << 20];

	fsenv_start(tmpfs_new(1 << 20, 8));
	memset(buf, 1, sizeof(buf));
	long fd = sys_open(uaddr(A("f")), O_CREAT | O_RDWR, 0644);
	cr_assert(fd >= 0);
	cr_assert_eq(sys_pwrite64((int)fd, uaddr(A(buf)), 4096, 1ll << 40), 4096);
	cr_assert_eq(sys_lseek((int)fd, 0, SEEK_DATA), 1ll << 40);
	cr_assert_eq(sys_lseek((int)fd, 1ll << 40, SEEK_HOLE), (1ll << 40) + 4096);
	cr_assert_eq(sys_pread64((int)fd, uaddr(A(buf)), 4096, 1ll << 30), 4096);
	cr_assert_eq(buf[100], 0);
	long n = sys_pwrite64((int)fd, uaddr(A(buf)), sizeof(buf), 0);
	cr_assert_eq(n, (1 << 20) - 4096, "%ld", n);
	cr_assert_eq(sys_pwrite64((int)fd, uaddr(A(buf)), 4096, 2 << 20), -ENOSPC);
	cr_assert_eq(sys_fallocate((int)fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 8192), 0);
	cr_assert_eq(sys_pwrite64((int)fd, uaddr(A(buf)), 4096, 2 << 20), 4096);
	cr_assert_eq(sys_ftruncate((int)fd, 0), 0);
	cr_assert_eq(sys_fallocate((int)fd, 0, 0, 1 << 20), 0);
	cr_assert_eq(sys_fallocate((int)fd, 0, 0, 2 << 20), -ENOSPC);
	for (int k = 0; k < 6; k++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", k);
		cr_assert_eq(sys_mkdir(uaddr(A(name)), 0755), 0);
	}
	cr_assert_eq(sys_mkdir(uaddr(A("more")), 0755), -ENOSPC);
	/* A further link counts as an inode, and gives it back by unlink and by a rename over it. */
	cr_assert_eq(sys_link(uaddr(A("f")), uaddr(A("l"))), -ENOSPC);
	for (int k = 0; k < 3; k++) {
		cr_assert_eq(sys_rmdir(uaddr(A(k ? "g" : "n0"))), k ? -ENOENT : 0);
		cr_assert_eq(sys_link(uaddr(A("f")), uaddr(A("l"))), 0);
		cr_assert_eq(sys_link(uaddr(A("f")), uaddr(A("m"))), -ENOSPC);
		cr_assert_eq(sys_unlink(uaddr(A("l"))), 0);
	}
	cr_assert_eq(sys_mkdir(uaddr(A("more")), 0755), 0);
	fsenv_stop();
}

Test(fs, pool_over_all_tmpfs)
{
	static char buf[1 << 20], target[4000];
	long made = 0;

	tmpfs_set_pool(1 << 20);
	fsenv_start(tmpfs_new(1ull << 40, 1ull << 40));
	long fd = sys_open(uaddr(A("f")), O_CREAT | O_RDWR, 0644);
	cr_assert_eq(sys_pwrite64((int)fd, uaddr(A(buf)), sizeof(buf), 0), 1 << 20);
	cr_assert_eq(sys_pwrite64((int)fd, uaddr(A(buf)), 4096, 1 << 20), -ENOSPC);
	cr_assert_eq(sys_ftruncate((int)fd, 0), 0);
	cr_assert_eq(sys_pwrite64((int)fd, uaddr(A(buf)), 4096, 1 << 20), 4096);
	/* What link targets take is bounded too. */
	memset(target, 'x', sizeof(target) - 1);
	for (char name[32]; made < 100000; made++) {
		snprintf(name, sizeof(name), "s%ld", made);
		if (sys_symlink(uaddr(A(target)), uaddr(A(name))) == -ENOSPC)
			break;
	}
	cr_assert(made > 100 && made < 2000, "%ld", made);
	cr_assert_eq(sys_unlink(uaddr(A("s0"))), 0);
	cr_assert_eq(sys_symlink(uaddr(A(target)), uaddr(A("s0"))), 0);
	fsenv_stop();
	tmpfs_set_pool(0);
}

Test(fs, hundred_thousand_names, .timeout = 20)
{
	char name[16], buf[32768];
	unsigned seen = 0;

	fsenv_start(fresh(true));
	for (int k = 0; k < 100000; k++) {
		snprintf(name, sizeof(name), "%d", k);
		long fd = sys_open(uaddr(A(name)), O_CREAT | O_WRONLY, 0644);
		cr_assert(fd >= 0, "%ld", fd);
		sys_close((int)fd);
	}
	long fd = sys_open(uaddr(A(".")), O_RDONLY, 0), n;
	while ((n = sys_getdents64((int)fd, uaddr(A(buf)), sizeof(buf))) > 0)
		for (long at = 0; at < n; at += ((struct dirent64 *)(buf + at))->d_reclen, seen++)
			;
	cr_assert_eq(seen, 100002);
	sys_close((int)fd);
	for (int k = 0; k < 100000; k++) {
		snprintf(name, sizeof(name), "%d", k);
		cr_assert_eq(sys_unlink(uaddr(A(name))), 0);
	}
	fsenv_stop();
}
