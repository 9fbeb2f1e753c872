/* variants: musl */
/* Directories: make, remove, list, rename, working directory, *at calls. */
#include "check.h"
#include <dirent.h>
#include <limits.h>

static int cmp(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list(const char *path)
{
	char *names[2000];
	int n = 0;
	DIR *d = opendir(path);
	struct dirent *e;

	NEED(d);
	while ((e = readdir(d)) && n < 2000)
		names[n++] = strdup(e->d_name);
	closedir(d);
	qsort(names, n, sizeof *names, cmp);
	printf("%s:", path);
	for (int i = 0; i < n; i++)
		if (i < 6 || i == n - 1)
			printf(" %s", names[i]);
	printf(" (%d)\n", n);
}

int main(void)
{
	char cwd[PATH_MAX], want[PATH_MAX];
	struct stat st;
	int d;

	CHECK(getcwd(want, sizeof want) != NULL);
	CHECK_EQ(mkdir("d", 0755), 0);
	CHECK_ERR(mkdir("d", 0755), EEXIST);
	CHECK_ERR(mkdir("no/d", 0755), ENOENT);
	CHECK_EQ(mkdir("d/e", 0700), 0);
	CHECK_ERR(rmdir("d"), ENOTEMPTY);
	CHECK_ERR(rmdir("nothing"), ENOENT);
	CHECK_ERR(unlink("d"), EISDIR);
	CHECK_ERR(rmdir("d/e/."), EINVAL);
	CHECK_ERR(rmdir("d/e/.."), ENOTEMPTY);
	CHECK_EQ(stat("d", &st), 0);
	CHECK_EQ(st.st_nlink, 3);
	CHECK_EQ(st.st_mode, S_IFDIR | 0755);
	CHECK_EQ(chdir("d/e"), 0);
	CHECK(getcwd(cwd, sizeof cwd) && !strncmp(cwd, want, strlen(want)) && !strcmp(cwd + strlen(want), "/d/e"));
	CHECK_ERR(raw2(SYS_getcwd, cwd, 2) < 0 ? (errno = (int)-raw2(SYS_getcwd, cwd, 2), -1) : 0, ERANGE);
	CHECK_EQ(chdir("../.."), 0);
	CHECK_ERR(chdir("nothing"), ENOENT);
	d = open("d", O_RDONLY | O_DIRECTORY);
	CHECK(d >= 0);
	CHECK_EQ(mkdirat(d, "f", 0711), 0);
	CHECK_EQ(fstatat(d, "f", &st, 0), 0);
	CHECK_EQ(fstatat(d, "", &st, AT_EMPTY_PATH), 0);
	CHECK_ERR(fstatat(d, "", &st, 0), ENOENT);
	CHECK_EQ(faccessat(d, "f", R_OK, 0), 0);
	int f = openat(d, "file", O_CREAT | O_WRONLY, 0644);
	CHECK(f >= 0);
	CHECK_ERR(fchdir(f), ENOTDIR);
	CHECK_ERR(openat(f, "x", O_RDONLY), ENOTDIR);
	CHECK_ERR(openat(4444, "x", O_RDONLY), EBADF);
	close(f);
	CHECK_ERR(read(d, cwd, 10), EISDIR);
	CHECK_EQ(fchdir(d), 0);
	CHECK_EQ(access("file", F_OK), 0);
	CHECK_EQ(chdir(".."), 0);
	list("d");
	CHECK_EQ(rename("d/file", "d/f/moved"), 0);
	CHECK_ERR(rename("d/file", "d/x"), ENOENT);
	CHECK_ERR(rename("d", "d/f/inside"), EINVAL);
	CHECK_ERR(rename("d/e", "d/f"), ENOTEMPTY);
	CHECK_ERR(rename("d/f/moved", "d/e"), EISDIR);
	CHECK_ERR(rename("d/e", "d/f/moved"), ENOTDIR);
	CHECK_EQ(rename("d/f", "d/e"), 0);
	CHECK_EQ(access("d/e/moved", F_OK), 0);
	CHECK_EQ(stat("d", &st), 0);
	CHECK_EQ(st.st_nlink, 3);
	f = open("a", O_CREAT | O_WRONLY, 0600);
	close(f);
	f = open("b", O_CREAT | O_WRONLY, 0600);
	close(f);
	CHECK_ERR(syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "b", 1 /* NOREPLACE */), EEXIST);
	CHECK_EQ(syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "d", 2 /* EXCHANGE */), 0);
	CHECK_EQ(stat("a", &st), 0);
	CHECK(S_ISDIR(st.st_mode));
	list("a");
	CHECK_EQ(mkdir("many", 0755), 0);
	for (int i = 0; i < 1000; i++) {
		char n[32];

		snprintf(n, sizeof n, "many/n%04d", i);
		f = open(n, O_CREAT | O_WRONLY, 0600);
		if (f < 0)
			CHECK(!"creating one of many");
		close(f);
	}
	list("many");
	/* a removed working directory */
	CHECK_EQ(mkdir("gone", 0755), 0);
	CHECK_EQ(chdir("gone"), 0);
	CHECK_EQ(rmdir("../gone"), 0);
	CHECK(getcwd(cwd, sizeof cwd) == NULL && errno == ENOENT);
	CHECK_ERR(open("x", O_CREAT | O_WRONLY, 0600), ENOENT);
	CHECK_EQ(chdir(want), 0);
	/* names at the limit */
	char name[300];
	memset(name, 'n', sizeof name);
	name[255] = 0;
	f = open(name, O_CREAT | O_WRONLY, 0600);
	CHECK(f >= 0);
	close(f);
	name[255] = 'n';
	name[256] = 0;
	CHECK_ERR(open(name, O_CREAT | O_WRONLY, 0600), ENAMETOOLONG);
	char *path = malloc(5000);
	for (int i = 0; i < 4999; i++)
		path[i] = i % 2 ? '/' : '.';
	path[4999] = 0;
	CHECK_ERR(open(path, O_RDONLY), ENAMETOOLONG);
	path[4095] = 0;
	f = open(path, O_RDONLY);
	CHECK(f >= 0);
	return check_done();
}
