/* Host files outside the view: by name, through /proc, links, handles, devices and mounts. */
#include "escape.h"
#include <sys/mount.h>
#include <sys/sysmacros.h>

int main(int argc, char **argv)
{
	char path[5000];
	const char *roots[] = {"/proc/1/root", "/proc/self/root", "/proc/self/cwd/../../../../../..", "/proc/thread-self/root",
			       "/dev/fd/0/..", "/usr/..", "/usr/bin/../../../..", "/t/../..", "/t/../../../../../.."};
	const char *names[] = {"/etc/shadow", "/etc/gshadow", "/root/.bash_history", "/root/.ssh/id_rsa", "/proc/kcore", "/dev/mem",
			       "/dev/kmsg", "/dev/vda", "/dev/sda", "/proc/kallsyms", "/sys/kernel/debug/tracing/trace",
			       "/proc/1/mem", "/run/systemd/private", "/proc/sysrq-trigger"};

	NEED(argc > 2);
	TRY(try_file(argv[1]));
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		TRY(try_file(names[i]));
	for (unsigned i = 0; i < sizeof roots / sizeof *roots; i++)
		TRY({
			snprintf(path, sizeof path, "%s%s", roots[i], argv[1]);
			try_file(path);
		});
	TRY({
		snprintf(path, sizeof path, "/proc/%s/root%s", argv[2], argv[1]);
		try_file(path);
		snprintf(path, sizeof path, "/proc/%s/environ", argv[2]);
		try_file(path);
	});
	TRY({
		if (symlink(argv[1], "/tmp/link") == 0)
			try_file("/tmp/link");
		if (symlink("/../../../..", "/tmp/up") == 0) {
			snprintf(path, sizeof path, "/tmp/up%s", argv[1]);
			try_file(path);
		}
		if (link(argv[1], "/tmp/hard") == 0)
			try_file("/tmp/hard");
	});
	/* chroot and climb out: the working directory stays outside of the new root */
	TRY({
		int d = open("/", O_RDONLY);

		mkdir("/tmp/jail", 0755);
		if (d >= 0 && chroot("/tmp/jail") == 0 && fchdir(d) == 0) {
			for (int i = 0; i < 50; i++)
				if (chdir(".."))
					break;
			try_file(argv[1] + 1);
			if (chroot(".") == 0)
				try_file(argv[1]);
		}
	});
	/* device nodes and mounts of host devices */
	for (int major = 1; major < 260; major += major < 10 ? 1 : 62)
		TRY({
			if (mknod("/tmp/node", S_IFBLK | 0600, makedev(major, 0)) == 0)
				try_file("/tmp/node");
		});
	TRY({
		if (mknod("/tmp/mem", S_IFCHR | 0600, makedev(1, 1)) == 0)
			try_file("/tmp/mem");
	});
	TRY({
		mkdir("/tmp/m", 0755);
		if (mount("/dev/vda", "/tmp/m", "ext4", MS_RDONLY, NULL) == 0) {
			snprintf(path, sizeof path, "/tmp/m%s", argv[1]);
			try_file(path);
		}
		if (mount("/", "/tmp/m", NULL, MS_BIND, NULL) == 0) {
			snprintf(path, sizeof path, "/tmp/m%s", argv[1]);
			try_file(path);
		}
	});
	TRY({
		struct {
			struct file_handle h;
			char bytes[64];
		} h = {.h = {.handle_bytes = 8, .handle_type = 1}, .bytes = {2}};
		int fd = open_by_handle_at(open("/usr", O_RDONLY), &h.h, O_RDONLY);

		if (fd >= 0) {
			int s = openat(fd, argv[1] + 1, O_RDONLY);

			if (s >= 0)
				ESCAPED("open_by_handle_at reached the host's root");
		}
	});
	/* writing where the host would see it */
	TRY({
		int fd = open("/usr/bin/ward-escape-test", O_CREAT | O_WRONLY, 0755);

		(void)fd; /* allowed: the writable layer takes it; the runner looks at the host's */
	});
	return escape_done();
}
