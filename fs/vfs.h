/*
 * The virtual file layer: superblock, inode, dentry, mount, open file description and descriptor table are
 * different objects with counted references. One path walk (namei.c) serves every call.
 * Reference rules: x_get/x_put; lookups return a counted reference; ops tables say who owns what.
 */
#ifndef WARD_FS_VFS_H
#define WARD_FS_VFS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "sentry/base/list.h"
#include "sentry/wait.h"
#include "sentry/mm/uaccess.h"

struct inode;
struct dentry;
struct superblock;
struct mount;
struct file;
struct cred;
struct vma;
struct task;
struct path;

struct ktime {
	int64_t sec;
	uint32_t nsec;
};

/* --- attributes ------------------------------------------------------------------------------------------ */
struct kstat {
	uint64_t ino, size, blocks; /* blocks in 512-byte units */
	uint32_t mode, nlink, uid, gid, blksize;
	uint64_t dev, rdev;         /* Linux's new_encode_dev form as stat(2) returns */
	struct ktime atime, mtime, ctime, btime;
};
#define ATTR_MODE 1u
#define ATTR_UID 2u
#define ATTR_GID 4u
#define ATTR_SIZE 8u
#define ATTR_ATIME 16u
#define ATTR_MTIME 32u
#define ATTR_CTIME 64u
#define ATTR_TOUCH 128u         /* the times are set to now: write permission is enough */
#define ATTR_KILL_PRIV 256u     /* clear set-user-ID and set-group-ID as chown, write and truncate do */
#define ATTR_FORCE 512u         /* kernel's own change: no permission check */
struct iattr {
	unsigned valid; /* ATTR_* */
	uint32_t mode, uid, gid;
	uint64_t size;
	struct ktime atime, mtime, ctime;
};
struct kstatfs {
	uint64_t type, bsize, blocks, bfree, bavail, files, ffree, namelen, flags, fsid;
};

/* --- superblock -------------------------------------------------------------------------------------------- */
struct super_ops {
	int (*statfs)(struct superblock *, struct kstatfs *);
	void (*destroy)(struct superblock *);
};
struct superblock {
	unsigned refs;
	uint64_t dev;               /* anonymous device number, unique per superblock */
	const char *fstype;         /* "tmpfs", "overlay", "proc", ... as /proc/mounts shows */
	const struct super_ops *ops;
	struct dentry *root;        /* counted */
	bool readonly;
	unsigned active;            /* mounts and stacked file systems on it: at 0 its tree is dropped */
	uint64_t next_ino;
	void *priv;
};
struct superblock *super_new(const char *fstype, const struct super_ops *ops); /* refs 1 */
struct superblock *super_get(struct superblock *);
void super_put(struct superblock *);
/* A user of the tree (a mount, an overlay). The last one gone, cached dentries and the root are dropped. */
void super_activate(struct superblock *);
void super_deactivate(struct superblock *);

/* --- inode ----------------------------------------------------------------------------------------------------- */
/* DIR and parent arguments are borrowed. Results in *out are counted references for the caller. 0 or -errno.
 * Names are (pointer, NUL-terminated), never "." or "..", at most 255 bytes. Permission checks on DIR were done. */
struct inode_ops {
	int (*lookup)(struct inode *dir, const char *name, struct inode **out); /* -ENOENT if absent */
	int (*create)(struct inode *dir, const char *name, uint32_t mode, struct inode **out);
	int (*mkdir)(struct inode *dir, const char *name, uint32_t mode, struct inode **out);
	int (*symlink)(struct inode *dir, const char *name, const char *target, struct inode **out);
	int (*mknod)(struct inode *dir, const char *name, uint32_t mode, uint64_t rdev, struct inode **out);
	int (*link)(struct inode *dir, const char *name, struct inode *target);
	int (*unlink)(struct inode *dir, const char *name, struct inode *victim);
	int (*rmdir)(struct inode *dir, const char *name, struct inode *victim);
	/* FLAGS: RENAME_NOREPLACE, RENAME_EXCHANGE. TARGET is the inode at the new name or NULL. */
	int (*rename)(struct inode *odir, const char *oname, struct inode *what, struct inode *ndir,
		      const char *nname, struct inode *target, unsigned flags);
	/* Target text into BUF (not terminated): its length or -errno. */
	long (*readlink)(struct inode *, char *buf, size_t size);
	/* Magic links (/proc/PID/fd/N, exe, cwd): the place itself, counted, instead of text. May be NULL. */
	int (*follow)(struct inode *, struct path *out);
	int (*getattr)(struct inode *, struct kstat *);  /* NULL: generic from the inode's fields */
	int (*setattr)(struct inode *, const struct iattr *); /* permission already checked */
	int (*setflags)(struct inode *, uint32_t flags); /* FS_IOC_SETFLAGS: store i->fsflags. NULL: -ENOTTY */
	int (*permission)(struct inode *, int mask);     /* NULL: generic by mode and cred; MAY_* */
	/* Make F (already filled with path, inode, flags) usable: set f->ops / f->priv. NULL: f->ops = i->fops. */
	int (*open)(struct inode *, struct file *f);
	long (*getxattr)(struct inode *, const char *name, void *buf, size_t size);
	int (*setxattr)(struct inode *, const char *name, const void *buf, size_t size, int flags);
	long (*listxattr)(struct inode *, char *buf, size_t size);
	int (*removexattr)(struct inode *, const char *name);
	int (*tmpfile)(struct inode *dir, uint32_t mode, struct inode **out); /* O_TMPFILE */
	void (*evict)(struct inode *);                   /* last reference gone: free priv and the inode's data */
};
#define MAY_EXEC 1
#define MAY_WRITE 2
#define MAY_READ 4

struct inode {
	unsigned refs;
	struct superblock *sb;      /* counted */
	uint64_t ino;
	uint32_t mode, uid, gid, nlink;
	uint32_t fsflags;           /* FS_*_FL; these two are kept to everywhere: */
#define INODE_IMMUTABLE 0x10u   /* FS_IMMUTABLE_FL */
#define INODE_APPEND 0x20u      /* FS_APPEND_FL */
	uint64_t size, rdev;
	uint64_t host_blocks;       /* space used on the host in 512-byte units; 0: as the size says */
	struct ktime atime, mtime, ctime, btime;
	const struct inode_ops *ops;
	const struct file_ops *fops;
	void *priv;
	struct list locks;          /* POSIX, OFD and flock locks: fs/locks.c */
	struct waitq lock_q;
	int read_count;             /* regular file: descriptions open for reading alone */
	struct lease *leases;       /* fs/lease.c */
	int write_count;            /* > 0 open for writing; < 0 being executed (ETXTBSY) */
	void *pipe;                 /* FIFO: the shared pipe while open */
	void *socket;               /* bound AF_UNIX socket (later) */
	struct list watches;        /* inotify (later) */
	/* As part of an overlay's upper layer: */
	struct inode *over;         /* the overlay's inode over this one while it lives (not counted) */
	uint64_t over_ino;          /* number of the lower inode it was copied from, 0 if none */
	bool over_opaque;           /* directory that hides the lower one of its name */
	struct inode *evict_next;
};
struct inode *inode_new(struct superblock *sb, uint32_t mode); /* refs 1, fresh ino, times now, nlink 1 */
struct inode *inode_get(struct inode *);
void inode_put(struct inode *);
void inode_getattr_generic(struct inode *, struct kstat *);
int inode_permission(struct inode *, int mask);                /* with current's fs ids */
int inode_permission_generic(struct inode *, int mask);
/* Owner of a new inode in DIR: fs ids of current, group and set-group-ID bit as a setgid directory gives them. */
void inode_init_owner(struct inode *, const struct inode *dir, uint32_t mode);
/* Store what setattr was asked for in the inode's fields (not the size). */
void inode_apply_attr(struct inode *, const struct iattr *);
bool inode_owner_or_capable(const struct inode *);
/* S_ISUID and S_ISGID bits of I that a write, truncation or chown clears. */
uint32_t inode_privs_to_drop(const struct inode *);
/* Refuse writers while the file is executed: -ETXTBSY when it is open for writing. */
int inode_deny_write(struct inode *);
void inode_allow_write(struct inode *);
struct ktime ktime_now(void);

/* --- dentry ------------------------------------------------------------------------------------------------------ */
struct dentry {
	unsigned refs;
	struct dentry *parent;      /* counted; root: itself (not counted) */
	struct superblock *sb;
	struct inode *inode;        /* counted; NULL = negative (cached absence) */
	struct list children, sibling, lru, hash;
	struct list mounts;         /* mounts on top of it */
	uint32_t name_hash;
	uint16_t name_size;
	bool dead;                  /* unlinked: shown as "(deleted)" */
	bool nocache;               /* dynamic file systems (proc): look up afresh each time */
	char *name;                 /* owned */
};
struct dentry *dentry_root(struct superblock *, struct inode *root); /* takes over the inode reference */
struct dentry *dentry_get(struct dentry *);
void dentry_put(struct dentry *);
/* An unhashed dentry for objects outside any tree: pipe:[N], anon_inode:[eventfd], /memfd:x (deleted). */
struct dentry *dentry_anon(struct inode *inode, const char *name);
/* Find or look up NAME in PARENT (a directory): counted, maybe negative; -errno through *out untouched. */
int dentry_lookup(struct dentry *parent, const char *name, struct dentry **out);
void dentry_instantiate(struct dentry *, struct inode *); /* takes over the inode reference */
void dentry_drop(struct dentry *);                        /* unlinked: leaves the cache, shown as deleted */
int dentry_move(struct dentry *d, struct dentry *ndir, const char *nname); /* -ENOMEM before any change */
int dentry_exchange(struct dentry *a, struct dentry *b);
void dentry_prune_super(struct superblock *);
void dentry_init(void);
void mount_cross(struct path *p);                         /* onto the topmost mount at P */
int mount_bind(const struct path *from, const struct path *at, unsigned flags, bool recursive);
int mount_remount(const struct path *at, unsigned flags);
int mount_pivot(const struct path *new_root, const struct path *put_old);

/* --- mounts and paths ------------------------------------------------------------------------------------------------ */
struct mount {
	unsigned refs;
	int id;
	struct mount *parent;       /* counted; NULL for the root mount */
	struct dentry *mountpoint;  /* in the parent; counted */
	struct dentry *root;        /* counted */
	struct superblock *sb;      /* counted */
	unsigned flags;             /* MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_NOATIME */
	struct list node, on_dentry; /* all mounts in order; dentry->mounts */
	char *source;               /* shown in /proc/mounts */
};
struct path {
	struct mount *mnt;          /* counted */
	struct dentry *dentry;      /* counted */
};
static inline bool path_equal(const struct path *a, const struct path *b)
{
	return a->mnt == b->mnt && a->dentry == b->dentry;
}
void path_get(const struct path *p);
void path_put(struct path *p);      /* also clears it */
struct mount *mount_get(struct mount *);
void mount_put(struct mount *);
/* Mount SB (its root) at PATH (NULL: the root of the sandbox). References are taken as needed. */
int mount_add(struct superblock *sb, const struct path *at, unsigned flags, const char *source);
int mount_remove(const struct path *at, int umount_flags);
extern struct list mount_list;      /* struct mount.node */
extern struct path vfs_root;        /* root of the sandbox */

/* Absolute path text as seen from ROOT (getcwd, /proc/self/fd): into BUF; length without NUL, or -ENAMETOOLONG.
 * Appends " (deleted)" for dead dentries; paths not under ROOT get "(unreachable)". */
long path_text(const struct path *p, const struct path *root, char *buf, size_t size);

/* --- path walk ---------------------------------------------------------------------------------------------------------- */
#define LOOKUP_FOLLOW 1u       /* follow a symlink in the last component */
#define LOOKUP_DIRECTORY 2u
#define LOOKUP_EMPTY 4u        /* AT_EMPTY_PATH */
#define LOOKUP_PARENT 8u
/* openat2 RESOLVE_* bits are passed shifted by 16: LOOKUP_RESOLVE(how.resolve) */
#define LOOKUP_RESOLVE(r) ((unsigned)(r) << 16)
/* Resolve NAME (kernel string) from DIRFD (AT_FDCWD or a descriptor of current). *OUT counted. */
int path_lookup(int dirfd, const char *name, unsigned flags, struct path *out);
/* Resolve from an explicit base. */
int path_lookup_from(const struct path *base, const char *name, unsigned flags, struct path *out);
/* Resolve the parent: *PARENT counted directory, *LAST points into NAME's copy in BUF (caller provides 4096). For
 * create-like calls. LAST_TYPE: 0 normal, 1 ".", 2 "..", 3 root. Trailing slashes: *TRAILING set. */
int path_lookup_parent(int dirfd, const char *name, unsigned flags, struct path *parent, char *last /*[256]*/,
		       int *last_type, bool *trailing);

/* Kernel-side operations shared by calls, loader, boot. All check permissions of current's cred. */
int vfs_create(const struct path *dir, const char *name, uint32_t mode, struct dentry **out);
int vfs_mkdir(const struct path *dir, const char *name, uint32_t mode);
int vfs_symlink(const struct path *dir, const char *name, const char *target);
int vfs_mknod(const struct path *dir, const char *name, uint32_t mode, uint64_t rdev);
int vfs_unlink(const struct path *dir, const char *name);
int vfs_rmdir(const struct path *dir, const char *name);
int vfs_link(const struct path *old, const struct path *dir, const char *name);
int vfs_rename(const struct path *odir, const char *oname, const struct path *ndir, const char *nname, unsigned flags);
int vfs_getattr(const struct path *p, struct kstat *st);
int vfs_setattr(const struct path *p, struct iattr *a);   /* owner, capability and read-only checks included */
int vfs_truncate(const struct path *p, uint64_t size);

/* --- open file descriptions -------------------------------------------------------------------------------------------- */
struct dir_emit {               /* getdents sink: returns false when full */
	bool (*emit)(struct dir_emit *, const char *name, size_t size, uint64_t ino, unsigned type, uint64_t next_pos);
};
struct poll_table;              /* NULL: only report */
struct file_ops {
	/* POS is f->pos for read/write, a copy for pread/pwrite; the op advances it. Bytes or -errno. May sleep
	 * (unless f->flags & O_NONBLOCK or u->nowait: -EAGAIN). */
	long (*read)(struct file *, struct uio *, uint64_t *pos);
	long (*write)(struct file *, struct uio *, uint64_t *pos);
	int (*iterate)(struct file *, struct dir_emit *); /* directories; starts at f->pos, sets it */
	int64_t (*llseek)(struct file *, int64_t off, int whence); /* NULL: generic by inode size; no_llseek: -ESPIPE */
	/* Ready events (EPOLL*); call poll_wait(pt, queue) for each queue that announces changes. NULL: always ready. */
	uint32_t (*poll)(struct file *, struct poll_table *pt);
	int64_t (*ioctl)(struct file *, unsigned cmd, uint64_t arg);   /* -ENOTTY if unknown; NULL: -ENOTTY */
	/* Host descriptor and offset for a mapping: *HOSTFD borrowed (valid while FILE lives); -ENODEV if NULL.
	 * -1 in *HOSTFD means map anonymous memory (/dev/zero). */
	int (*mmap)(struct file *, int prot, int flags, uint64_t off, uint64_t size, int *hostfd, uint64_t *hostoff);
	int (*fsync)(struct file *, bool datasync);                     /* NULL: 0 for files, -EINVAL for pipes */
	int (*fallocate)(struct file *, int mode, uint64_t off, uint64_t size); /* NULL: -EOPNOTSUPP */
	int (*flush)(struct file *);                                    /* every close(2) of a descriptor */
	void (*release)(struct file *);                                 /* last reference */
	int (*fdinfo)(struct file *, char *buf, size_t size);           /* extra lines of /proc/PID/fdinfo */
	int (*setfl)(struct file *, int flags);
	/* F_GETPIPE_SZ, F_SETPIPE_SZ, F_ADD_SEALS, F_GET_SEALS; NULL: -EBADF / -EINVAL as Linux. */
	int64_t (*fcntl)(struct file *, unsigned cmd, uint64_t arg);
};
struct file {
	unsigned refs;
	struct path path;           /* counted */
	struct inode *inode;        /* = path.dentry->inode at open; counted */
	int flags;                  /* O_* status flags and access mode, without O_CLOEXEC, O_CREAT ... */
	bool can_read, can_write;   /* false both for O_PATH */
	bool seekable;
	uint64_t pos;
	const struct file_ops *ops;
	void *priv;
	struct cred *cred;          /* counted: opener's */
	int owner_pid, owner_sig, owner_type; /* F_SETOWN, F_SETSIG: fs/fown.h */
	uint32_t owner_uid, owner_euid; /* of who named the owner */
	struct fasync *fasync;      /* O_ASYNC is on */
	struct list epitems;        /* epoll items watching it (fs/epoll.c) */
	bool counted_writer;        /* holds one of inode->write_count */
	bool counted_reader;        /* holds one of inode->read_count */
	bool has_locks;             /* took a flock or OFD lock once */
};
struct file *file_get(struct file *);
void file_put(struct file *);
/* Open an existing place: checks permission by FLAGS, calls ops->open. *OUT refs 1. */
int file_open_path(const struct path *p, int flags, struct file **out);
/* Open a program for execve: -EACCES unless a regular file on an exec mount with execute permission. */
int file_open_exec(const struct path *p, struct file **out);
/* Full open(2): create, truncate, O_TMPFILE, O_PATH. */
int file_open(int dirfd, const char *name, int flags, uint32_t mode, unsigned lookup_flags, struct file **out);
/* Anonymous file (pipe, eventfd): INODE reference is taken over. NAME as in /proc/self/fd. */
struct file *file_anon(struct inode *inode, const char *name, int flags, const struct file_ops *ops, void *priv);
struct inode *anon_inode(uint32_t mode); /* from the anonymous superblock */
long file_read_kernel(struct file *, void *buf, size_t size, uint64_t pos); /* full or short at end of file */
long file_write_kernel(struct file *, const void *buf, size_t size, uint64_t pos);
long no_dir_read(struct file *, struct uio *, uint64_t *); /* read of a directory: -EISDIR */
int64_t no_llseek(struct file *, int64_t, int);

/* Generic llseek over a size (SEEK_DATA and SEEK_HOLE treat the file as one extent). */
int64_t llseek_size(struct file *, int64_t off, int whence, uint64_t size);
/* Before a write at POS: shortens *COUNT to RLIMIT_FSIZE; -EFBIG and SIGXFSZ when nothing is left. */
int file_write_limit(uint64_t pos, uint64_t max, size_t *count);
/* Set-user-ID bits go when somebody without CAP_FSETID writes. */
int file_remove_privs(struct file *);
/* Read access: relatime, honouring O_NOATIME and MS_NOATIME. */
void file_accessed(struct file *);
/* A new description without operations: refs 1. PATH may be NULL; references are taken. */
struct file *file_alloc(const struct path *p, struct inode *inode, int flags);
/* A file over INODE that no path names, for stacked file systems: no permission check. */
int file_open_real(struct inode *, int flags, struct file **out);
/* FIFO, device and socket nodes of any file system. */
int file_open_special(struct inode *, struct file *f);

/* --- poll ------------------------------------------------------------------------------------------------------------------ */
struct poll_table {
	void (*add)(struct poll_table *, struct waitq *);
};
static inline void poll_wait(struct poll_table *pt, struct waitq *q)
{
	if (pt && pt->add)
		pt->add(pt, q);
}
uint32_t file_poll(struct file *, struct poll_table *pt); /* fs/poll.c */

/* --- descriptor table -------------------------------------------------------------------------------------------------------- */
struct fdtable {
	unsigned refs;
	unsigned cap;               /* slots allocated */
	struct file **slot;         /* counted references */
	uint64_t *cloexec;          /* bitmap */
	unsigned next_hint;
};
struct fdtable *fdtable_new(void);
struct fdtable *fdtable_dup(struct fdtable *);   /* fork without CLONE_FILES */
struct fdtable *fdtable_get(struct fdtable *);
void fdtable_put(struct fdtable *);
void fdtable_close_on_exec(struct fdtable *);
/* Lowest free descriptor >= MIN for FILE (reference taken over on success): fd, -EMFILE (RLIMIT_NOFILE), -ENOMEM. */
int fd_install(struct file *file, int min, bool cloexec);
/* Counted reference or NULL (EBADF). fd_get_rw also refuses O_PATH descriptors. */
struct file *fd_get(int fd);
struct file *fd_get_nopath(int fd);
struct file *fdtable_file(struct fdtable *, unsigned fd); /* counted or NULL */
int fd_close(int fd);
int fd_install_at(struct file *file, unsigned fd, bool cloexec); /* dup2: exactly FD; -EBADF beyond the limit */

/* --- locks: POSIX, open file description, flock (locks.c) ---------------------------------------------------------------------- */
struct flock;
int lock_fcntl(struct file *f, int cmd, struct flock *l); /* F_GETLK ... F_OFD_SETLKW; may sleep */
int lock_flock(struct file *f, int op);
void lock_release_posix(struct inode *i, const void *owner);  /* a close(2) of any descriptor of the file */
void lock_release_file(struct file *f);
void lock_inode_gone(struct inode *i);

/* --- snapshot of a directory: stable offsets for file systems that cannot seek (dirsnap.c) -------------------------------------- */
struct dirsnap;
struct dirsnap *dirsnap_new(void);
void dirsnap_free(struct dirsnap *);
int dirsnap_add(struct dirsnap *, const char *name, uint64_t ino, unsigned type); /* 0 or -ENOMEM */
void dirsnap_release(struct file *f);
int64_t dirsnap_llseek(struct file *f, int64_t off, int whence);
bool dirsnap_has(const struct dirsnap *, const char *name);
void dirsnap_emit(const struct dirsnap *, struct file *f, struct dir_emit *e);    /* from f->pos */

/* --- per-process file-system context ------------------------------------------------------------------------------------------- */
struct fs_context {
	unsigned refs;
	struct path root, cwd;
	uint32_t umask;
};
struct fs_context *fs_context_new(const struct path *root, const struct path *cwd); /* takes references */
struct fs_context *fs_context_dup(struct fs_context *);
struct fs_context *fs_context_get(struct fs_context *);
void fs_context_put(struct fs_context *);

/* --- file systems (constructors; refs 1; NULL/-errno on failure) -------------------------------------------------------------------- */
/* max_bytes 0: no limit; max_inodes 0: one for two pages of max_bytes, at least 4096. */
struct superblock *tmpfs_new(uint64_t max_bytes, uint64_t max_inodes);
/* What all tmpfs together may hold, memfds and the guest's own mounts included; 0 = no limit. */
void tmpfs_set_pool(uint64_t max_bytes);
struct superblock *overlay_new(struct superblock *lower, struct superblock *upper); /* takes references over */
struct hostdir_entry {          /* what of the host is visible, at which guest path */
	const char *guest;      /* absolute; parents are synthesised */
	const char *host;       /* absolute host path, or NULL for synthetic text in `text` / symlink in `target` */
	const char *text, *target;
};
struct superblock *hostdir_new(const struct hostdir_entry *e, unsigned count, int *error);
struct superblock *proc_new(void);
struct superblock *sysfs_new(void);
struct superblock *devfs_new(void);
struct superblock *devpts_new(void);
/* A host descriptor (stdin, stdout, stderr of the command) as a file. Takes the descriptor over. */
struct file *hostfile_new(int hostfd);
/* Both ends of a pipe. 0 or -errno. */
int pipe_new(struct file **rd, struct file **wr, int flags);

/* --- special files: what the core calls ------------------------------------------------------------------------------------------------ */
/* ops->open of a FIFO or a character device node found in any file system (i->ops->open NULL and the mode says so).
 * fifo_open may sleep until the other side opens. Block devices: -ENXIO. */
int fifo_open(struct inode *inode, struct file *f);
int chrdev_open(struct inode *inode, struct file *f);
/* fcntl F_GETPIPE_SZ and F_SETPIPE_SZ; -EBADF when F is no pipe. */
int64_t pipe_fcntl(struct file *f, int cmd, uint64_t arg);
/* file_put at the last reference, before release, when f->epitems is not empty: drops the items. */
void epoll_file_gone(struct file *f);
/* inotify (fs/inotify). Nothing is done while no watch exists. MASK: IN_*; NAME is a name in DIR. */
extern unsigned inotify_watches;
void inotify_event(struct inode *inode, uint32_t mask, uint32_t cookie, const char *name);
/* The inode's last link is gone: drops its watches (IN_DELETE_SELF, IN_IGNORED). */
void inotify_inode_gone(struct inode *inode);
void inotify_dentry_event(struct dentry *d, struct inode *inode, uint32_t mask); /* the parent's watchers, then its own */
void inotify_moved(struct inode *odir, const char *oname, struct inode *ndir, const char *nname, struct inode *moved);
static inline void notify_name(struct inode *dir, const char *name, uint32_t mask, bool is_dir)
{
	if (__builtin_expect(inotify_watches != 0, 0))
		inotify_event(dir, mask | (is_dir ? 0x40000000u : 0), 0, name);
}
static inline void notify_file(struct file *f, uint32_t mask)
{
	if (__builtin_expect(inotify_watches != 0, 0) && f->path.dentry)
		inotify_dentry_event(f->path.dentry, f->inode, mask);
}
/* memfd_create: an unlinked tmpfs file without size limit, named "/memfd:NAME"; SEALS is its initial seal set.
 * Implemented by tmpfs, which also enforces the seals (fcntl F_ADD_SEALS, F_GET_SEALS). */
int tmpfs_memfd_new(const char *name, int open_flags, unsigned seals, struct file **out);

/* Boot: initialise caches and the anonymous superblock. */
int vfs_init(void);
#endif
