/*
 * The sandbox's tree: a read-only host view (or a directory) under a writable layer in memory, then proc, sys, dev
 * and the binds.
 */
#include <errno.h>
#include <stdio.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fs/gofer/gofer.h"
#include "fs/vfs.h"
#include "sentry/base/log.h"
#include "sentry/base/util.h"
#include "sentry/boot.h"
#include "sentry/config.h"
#include "sentry/kernel.h"

/* Whole trees of the host that programs need; nothing else of the host can be named from inside. */
static const char *const host_trees[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
static const char *const host_etc[] = {
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf", "/etc/ca-certificates.conf", "/etc/ca-certificates", "/etc/locale.alias",
    "/etc/localtime", "/etc/timezone", "/etc/mime.types", "/etc/magic", "/etc/magic.mime",
    "/etc/protocols", "/etc/services", "/etc/rpc", "/etc/ethertypes", "/etc/bash.bashrc",
    "/etc/profile", "/etc/inputrc", "/etc/terminfo", "/etc/debian_version", "/etc/os-release",
    "/etc/lsb-release", "/etc/perl", "/etc/python3", "/etc/python3.11", "/etc/python3.12",
    "/etc/python3.13", "/etc/shells", "/etc/host.conf", "/etc/gai.conf", "/etc/login.defs",
    "/etc/fonts", "/etc/skel", "/etc/java-17-openjdk", "/etc/java-21-openjdk",
    "/etc/emacs", "/etc/vim", "/etc/R", "/etc/ImageMagick-6", "/etc/nanorc", "/etc/lynx", "/etc/wgetrc",
};

#define VIEW_MAX 96
static struct hostdir_entry view[VIEW_MAX];
static unsigned view_count;

static void view_add(const char *guest, const char *host, const char *text, const char *target)
{
	if (view_count < VIEW_MAX)
		view[view_count++] = (struct hostdir_entry){guest, host, text, target};
}

/* A host entry as it is: a symbolic link stays one (its target is text, resolved inside). */
static void view_add_host(const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return;
	if (S_ISLNK(st.st_mode)) {
		char target[4096];
		ssize_t n = readlink(path, target, sizeof target - 1);

		if (n <= 0)
			return;
		target[n] = 0;
		view_add(path, NULL, NULL, strdup(target));
	} else if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) {
		view_add(path, path, NULL, NULL);
	}
}

static const char *format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static const char *format(const char *fmt, ...)
{
	char *s;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		s = NULL;
	va_end(ap);
	return s;
}

static void view_add_synthetic(const struct config *c)
{
	const char *user = "", *group = "";

	if (c->uid && c->uid != 65534)
		user = format("user:x:%u:%u:user:/home/user:/bin/sh\n", c->uid, c->gid);
	if (c->gid && c->gid != 65534)
		group = format("user:x:%u:\n", c->gid);
	view_add("/etc/passwd", NULL,
		 format("root:x:0:0:root:/root:/bin/bash\n"
			"daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
			"bin:x:2:2:bin:/bin:/usr/sbin/nologin\n"
			"www-data:x:33:33:www-data:/var/www:/usr/sbin/nologin\n%s"
			"nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n", user), NULL);
	view_add("/etc/group", NULL,
		 format("root:x:0:\ndaemon:x:1:\nbin:x:2:\nsys:x:3:\nadm:x:4:\ntty:x:5:\ndisk:x:6:\nmail:x:8:\n"
			"www-data:x:33:\nutmp:x:43:\nstaff:x:50:\nusers:x:100:\n%snogroup:x:65534:\n", group), NULL);
	view_add("/etc/hosts", NULL,
		 format("127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n127.0.1.1\t%s\n", c->hostname),
		 NULL);
	view_add("/etc/hostname", NULL, format("%s\n", c->hostname), NULL);
	view_add("/etc/resolv.conf", NULL, "# no name server: the sandbox has no network\n", NULL);
	view_add("/etc/nsswitch.conf", NULL,
		 "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nnetworks: files\nprotocols: files\n"
		 "services: files\nethers: files\nrpc: files\n", NULL);
	view_add("/etc/fstab", NULL, "", NULL);
	view_add("/etc/mtab", NULL, NULL, "/proc/self/mounts");
}

const struct hostdir_entry *boot_host_view(unsigned *count)
{
	*count = view_count;
	return view;
}

static int base(const struct path *at, const char *path, struct path *out)
{
	return path_lookup_from(at, path, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, out);
}

int boot_mkdirs(const char *path, uint32_t mode)
{
	struct path dir = vfs_root;
	char part[4096];
	int rc = 0;

	path_get(&dir);
	for (const char *p = path; !rc && *p;) {
		size_t n;
		struct path next;

		while (*p == '/')
			p++;
		n = strcspn(p, "/");
		if (!n)
			break;
		if (n > 255 || n >= sizeof part) {
			rc = -ENAMETOOLONG;
			break;
		}
		memcpy(part, p, n);
		part[n] = 0;
		rc = base(&dir, part, &next);
		if (rc == -ENOENT) {
			rc = vfs_mkdir(&dir, part, p[n + strspn(p + n, "/")] ? 0755 : mode);
			if (!rc)
				rc = base(&dir, part, &next);
		}
		if (!rc) {
			path_put(&dir);
			dir = next;
		}
		p += n;
	}
	path_put(&dir);
	return rc;
}

/* A file system everybody may create files in, as /dev/shm is. */
static struct superblock *sticky(struct superblock *sb)
{
	if (sb)
		sb->root->inode->mode |= 01777;
	return sb;
}

static int mount_at(struct superblock *sb, const char *dst, unsigned flags, const char *source, struct err *e)
{
	struct path at;
	int rc = sb ? boot_mkdirs(dst, 0755) : -ENOMEM;

	if (!rc)
		rc = base(&vfs_root, dst, &at);
	if (!rc) {
		rc = mount_add(sb, &at, flags, source);
		path_put(&at);
	}
	if (sb)
		super_put(sb);
	return rc ? err_set(e, WARD_EXIT_ERROR, "cannot mount %s at %s: %s", source, dst, strerror(-rc)) : 0;
}

static struct superblock *host_tree(const char *guest, const char *host, int *error)
{
	struct hostdir_entry one = {.guest = guest, .host = host};

	return hostdir_new(&one, 1, error);
}

static int mount_root(struct config *c, struct err *e)
{
	struct superblock *lower, *upper, *root;
	int error = 0, rc;

	if (c->rootfs) {
		lower = host_tree("/", c->rootfs, &error);
	} else {
		for (unsigned i = 0; i < ARRAY_COUNT(host_trees); i++)
			view_add_host(host_trees[i]);
		for (unsigned i = 0; i < ARRAY_COUNT(host_etc); i++)
			view_add_host(host_etc[i]);
		view_add_synthetic(c);
		lower = hostdir_new(view, view_count, &error);
	}
	if (!lower)
		return err_set(e, WARD_EXIT_ERROR, "--rootfs %s: %s", c->rootfs ? c->rootfs : "host", strerror(abs(error)));
	tmpfs_set_pool(c->disk + c->memory);
	upper = tmpfs_new(c->disk, 0);
	root = upper ? overlay_new(lower, upper) : NULL;
	if (!root)
		return err_set(e, WARD_EXIT_ERROR, "root file system: out of memory");
	rc = mount_add(root, NULL, 0, "overlay");
	super_put(root);
	return rc ? err_set(e, WARD_EXIT_ERROR, "root file system: %s", strerror(-rc)) : 0;
}

/* Directories every program expects; those of a --rootfs directory are left as they are. */
static int make_dirs(const struct config *c, struct err *e)
{
	static const struct {
		const char *path;
		uint32_t mode;
	} dirs[] = {
	    {"/tmp", 01777}, {"/root", 0700}, {"/home", 0755}, {"/run", 0755}, {"/run/lock", 01777}, {"/mnt", 0755},
	    {"/opt", 0755}, {"/srv", 0755}, {"/var", 0755}, {"/var/tmp", 01777}, {"/var/lib", 0755},
	    {"/var/cache", 0755}, {"/var/log", 0755}, {"/var/spool", 0755},
	};
	const char *home = config_home(c->uid);
	struct path p;

	for (unsigned i = 0; i < ARRAY_COUNT(dirs); i++) {
		int rc = boot_mkdirs(dirs[i].path, dirs[i].mode);

		if (rc)
			return err_set(e, WARD_EXIT_ERROR, "cannot make %s in the sandbox: %s", dirs[i].path, strerror(-rc));
	}
	if (c->uid && !boot_mkdirs(home, 0700) && !base(&vfs_root, home, &p)) {
		struct iattr a = {.valid = ATTR_UID | ATTR_GID, .uid = c->uid, .gid = c->gid};

		vfs_setattr(&p, &a);
		path_put(&p);
	}
	return 0;
}

static int mount_one_bind(const struct config *c, struct config_bind *b, struct err *e)
{
	struct superblock *sb;
	int error = 0;

	sb = b->rw ? gofer_new(b->sock, b->root, c->uid, c->gid, &error) : host_tree("/", b->src, &error);
	if (!sb)
		return err_set(e, WARD_EXIT_ERROR, "--bind %s: %s", b->src, strerror(abs(error)));
	return mount_at(sb, b->dst, (b->rw ? 0 : MS_RDONLY) | MS_NOSUID | MS_NODEV, b->src, e);
}

#ifdef WARD_WIP
__attribute__((weak)) struct superblock *devpts_new(void)
{
	return tmpfs_new(4096, 0);
}
#endif

int boot_mounts(struct config *c, struct err *e)
{
	if (mount_root(c, e) || make_dirs(c, e))
		return -1;
	if (mount_at(proc_new(), "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "proc", e) ||
	    mount_at(sysfs_new(), "/sys", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, "sysfs", e) ||
	    mount_at(devfs_new(), "/dev", MS_NOSUID, "udev", e) ||
	    mount_at(devpts_new(), "/dev/pts", MS_NOSUID | MS_NOEXEC, "devpts", e) ||
	    mount_at(sticky(tmpfs_new(c->disk, 0)), "/dev/shm", MS_NOSUID | MS_NODEV, "tmpfs", e))
		return -1;
	for (unsigned i = 0; i < c->bind_count; i++)
		if (mount_one_bind(c, &c->bind[i], e))
			return -1;
	return 0;
}
