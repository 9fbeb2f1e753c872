/*
 * The machinery of procfs and sysfs: inodes from table entries, content made by show() into a buffer per open file.
 * Linux makes most of these files one page at a time; here a file is made whole at offset 0, so that one reader sees
 * one consistent state. The dentries are not cached: every walk asks again whether the process still exists.
 */
#include "fs/proc/proc.h"
#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "sentry/base/util.h"
#include "sentry/task/task.h"

#define STORE_MAX 4096

long parse_number(const char *name)
{
	long v = 0;
	if (!*name || (*name == '0' && name[1]))
		return -1;
	for (; *name; name++) {
		if (*name < '0' || *name > '9' || v > INT32_MAX / 10 - 1)
			return -1;
		v = v * 10 + (*name - '0');
	}
	return v;
}

struct task *pnode_task(const struct pnode *n)
{
	if (n->tid)
		return task_find(n->tid);
	struct tgroup *tg = tgroup_find(n->pid);
	return tg ? tg->leader : NULL;
}

bool proc_may_access(const struct task *t)
{
	const struct cred *c = current->cred, *o = t->cred;
	if (t->tg == current->tg || cred_has(c, CAP_SYS_PTRACE))
		return true;
	return t->tg->dumpable && c->fsuid == o->uid && c->fsuid == o->euid && c->fsuid == o->suid &&
	       c->fsgid == o->gid && c->fsgid == o->egid && c->fsgid == o->sgid;
}

static int access_check(const struct pnode *n)
{
	if (!n->pid)
		return 0;
	struct task *t = pnode_task(n);
	if (!t)
		return -ESRCH;
	return n->e->owner_only && !proc_may_access(t) ? -EACCES : 0;
}

/* --- files --------------------------------------------------------------------------------------------------------- */
struct popen {
	struct strbuf text;
	bool made;
};

static long p_read(struct file *f, struct uio *u, uint64_t *pos)
{
	struct pnode *n = f->inode->priv;
	struct popen *o = f->priv;
	if (!o->made || *pos == 0) {
		struct strbuf s = {0};
		int r = n->e->show ? n->e->show(n, &s) : -EINVAL;
		if (!r && s.failed)
			r = -ENOMEM;
		if (r) {
			strbuf_free(&s);
			return r;
		}
		strbuf_free(&o->text);
		o->text = s;
		o->made = true;
	}
	if (*pos >= o->text.size)
		return 0;
	long n_done = uio_put(u, o->text.data + *pos, MIN(u->resid, o->text.size - (size_t)*pos));
	if (n_done > 0)
		*pos += (uint64_t)n_done;
	return n_done;
}

static long p_write(struct file *f, struct uio *u, uint64_t *pos)
{
	struct pnode *n = f->inode->priv;
	char text[STORE_MAX];
	if (!n->e->store)
		return -EINVAL;
	size_t size = MIN(u->resid, sizeof text - 1);
	long got = uio_get(u, text, size);
	if (got < 0)
		return got;
	text[got] = 0;
	long r = n->e->store(n, text, (size_t)got);
	if (r > 0)
		*pos += (uint64_t)r;
	return r;
}

static void p_release(struct file *f)
{
	struct popen *o = f->priv;
	if (!o)
		return;
	strbuf_free(&o->text);
	free(o);
}

static int64_t p_llseek(struct file *f, int64_t off, int whence)
{
	int64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? (int64_t)f->pos : -1;
	if (base < 0 || base + off < 0)
		return -EINVAL;
	f->pos = (uint64_t)(base + off);
	return (int64_t)f->pos;
}

static int64_t p_ioctl(struct file *f, unsigned cmd, uint64_t arg)
{
	struct pnode *n = f->inode->priv;

	return n->e->ioctl ? n->e->ioctl(n, cmd, arg) : -ENOTTY;
}

static const struct file_ops file_fops = {
	.read = p_read, .write = p_write, .llseek = p_llseek, .ioctl = p_ioctl, .release = p_release};

/* --- directories ----------------------------------------------------------------------------------------------------- */
static uint64_t node_ino(const struct pnode *n)
{
	/* Stable while the system runs: the entry and the numbers decide. Never 0. */
	uint64_t h = (uintptr_t)n->e >> 3;
	h = (h * 31 + (unsigned)n->pid) * 31 + (unsigned)n->tid;
	h = (h * 31 + (unsigned)n->number) * 0x9e3779b97f4a7c15ull;
	return (h >> 32) | 1ull << 32;
}

static uint32_t entry_mode(const struct pentry *e)
{
	switch (e->kind) {
	case P_DIR:
		return S_IFDIR | e->mode;
	case P_FILE:
		return S_IFREG | e->mode;
	default:
		return S_IFLNK | e->mode;
	}
}

/* Directory positions: 0 ".", 1 "..", then sub[], then dynamic numbers from DYN upwards. */
#define DYN 1024
static int p_iterate(struct file *f, struct dir_emit *d)
{
	struct pnode *n = f->inode->priv;
	int r = access_check(n);
	if (r)
		return r == -ESRCH ? -ENOENT : r;
	for (; f->pos < 2; f->pos++)
		if (!d->emit(d, f->pos ? ".." : ".", f->pos + 1, f->inode->ino, DT_DIR, f->pos + 1))
			return 0;
	unsigned count = 0;
	while (n->e->sub && n->e->sub[count].name)
		count++;
	for (; f->pos < 2 + count; f->pos++) {
		const struct pentry *e = &n->e->sub[f->pos - 2];
		struct pnode child = {.e = e, .pid = n->pid, .tid = n->tid, .number = n->number};
		if (!d->emit(d, e->name, strlen(e->name), node_ino(&child), entry_mode(e) >> 12, f->pos + 1))
			return 0;
	}
	if (!n->e->next)
		return 0;
	unsigned number = f->pos < DYN ? 0 : (unsigned)(f->pos - DYN);
	while (n->e->next(n, number, &number)) {
		char name[32];
		snprintf(name, sizeof name, "%s%u", n->e->prefix ? n->e->prefix : "", number);
		struct pnode child = {.pid = n->pid, .tid = n->tid, .number = n->number};
		const struct pentry *e = n->e->find(n, name, &child);
		child.e = e;
		if (e && !d->emit(d, name, strlen(name), node_ino(&child), entry_mode(e) >> 12, DYN + number + 1ull))
			return 0;
		number++;
		f->pos = DYN + number;
	}
	return 0;
}

static const struct file_ops dir_fops = {.iterate = p_iterate};

bool proc_file_pid(const struct file *f, pid_t *pid)
{
	const struct pnode *n = f->ops == &dir_fops ? f->inode->priv : NULL;

	if (!n || n->e != &proc_pid_dir)
		return false;
	*pid = n->pid;
	return true;
}

static struct inode *node_inode(struct superblock *sb, const struct pnode *from);

static int p_lookup(struct inode *dir, const char *name, struct inode **out)
{
	struct pnode *n = dir->priv;
	int r = access_check(n);
	if (r)
		return r == -ESRCH ? -ENOENT : r;
	struct pnode child = {.pid = n->pid, .tid = n->tid, .number = n->number};
	const struct pentry *e;
	for (e = n->e->sub; e && e->name; e++)
		if (!strcmp(e->name, name))
			break;
	if (!e || !e->name)
		e = n->e->find ? n->e->find(n, name, &child) : NULL;
	if (!e)
		return -ENOENT;
	child.e = e;
	*out = node_inode(dir->sb, &child);
	return *out ? 0 : -ENOMEM;
}

static long p_readlink(struct inode *i, char *buf, size_t size)
{
	struct pnode *n = i->priv;
	int r = access_check(n);
	if (r)
		return r == -ESRCH ? -ENOENT : r;
	if (n->e->kind == P_LINK) {
		struct strbuf s = {0};
		r = n->e->show(n, &s);
		long len = r ? r : s.failed ? -ENOMEM : (long)MIN(s.size, size);
		if (len > 0)
			memcpy(buf, s.data, (size_t)len);
		strbuf_free(&s);
		return len;
	}
	struct path p;
	r = n->e->follow(n, &p);
	if (r)
		return r;
	char *text = malloc(4096);
	long len = text ? path_text(&p, &current->fs->root, text, 4096) : -ENOMEM;
	if (len > 0) {
		len = (long)MIN((size_t)len, size);
		memcpy(buf, text, (size_t)len);
	}
	free(text);
	path_put(&p);
	return len;
}

static int p_follow(struct inode *i, struct path *out)
{
	struct pnode *n = i->priv;
	int r = access_check(n);
	if (r)
		return r == -ESRCH ? -ENOENT : r;
	return n->e->follow(n, out);
}

static int p_open(struct inode *i, struct file *f)
{
	struct pnode *n = i->priv;
	int r = access_check(n);
	if (r)
		return r == -ESRCH ? -ENOENT : r;
	if (n->e->kind == P_DIR) {
		f->ops = &dir_fops;
		return 0;
	}
	struct popen *o = calloc(1, sizeof *o);
	if (!o)
		return -ENOMEM;
	f->ops = &file_fops;
	f->priv = o;
	f->seekable = true;
	return 0;
}

static int p_getattr(struct inode *i, struct kstat *st)
{
	struct pnode *n = i->priv;
	inode_getattr_generic(i, st);
	st->blocks = 0;
	if (n->pid) {
		struct task *t = pnode_task(n);
		if (!t)
			return -ENOENT;
		st->uid = t->cred->euid;
		st->gid = t->cred->egid;
	}
	return 0;
}

static int p_setattr(struct inode *i, const struct iattr *a)
{
	/* O_TRUNC on files that are written to is fine; everything else is fixed. */
	return a->valid & (ATTR_MODE | ATTR_UID | ATTR_GID) ? -EPERM : 0;
}

static void p_evict(struct inode *i)
{
	free(i->priv);
}

/* Absent names are no negative entries here: whoever would make one finds that it does not exist. */
static int p_create(struct inode *dir, const char *name, uint32_t mode, struct inode **out)
{
	return -ENOENT;
}
static int p_symlink(struct inode *dir, const char *name, const char *target, struct inode **out)
{
	return -ENOENT;
}
static const struct inode_ops dir_iops = {
	.create = p_create, .mkdir = p_create, .symlink = p_symlink,
	.lookup = p_lookup, .open = p_open, .getattr = p_getattr, .setattr = p_setattr, .evict = p_evict};
static const struct inode_ops file_iops = {
	.open = p_open, .getattr = p_getattr, .setattr = p_setattr, .evict = p_evict};
static const struct inode_ops link_iops = {.readlink = p_readlink, .getattr = p_getattr, .evict = p_evict};
static const struct inode_ops magic_iops = {
	.readlink = p_readlink, .follow = p_follow, .getattr = p_getattr, .evict = p_evict};

static struct inode *node_inode(struct superblock *sb, const struct pnode *from)
{
	struct pnode *n = malloc(sizeof *n);
	if (!n)
		return NULL;
	*n = *from;
	struct inode *i = inode_new(sb, entry_mode(n->e));
	if (!i) {
		free(n);
		return NULL;
	}
	static const struct inode_ops *const ops[] = {
		[P_FILE] = &file_iops, [P_DIR] = &dir_iops, [P_LINK] = &link_iops, [P_MAGIC] = &magic_iops};
	i->ino = node_ino(n);
	i->ops = ops[n->e->kind];
	i->priv = n;
	if (n->e->kind == P_DIR)
		i->nlink = 2;
	struct task *t = n->pid ? pnode_task(n) : NULL;
	if (t) {
		i->uid = t->cred->euid;
		i->gid = t->cred->egid;
	}
	return i;
}

struct superblock *ptree_new(const char *fstype, const struct pentry *root, const struct super_ops *ops)
{
	struct superblock *sb = super_new(fstype, ops);
	if (!sb)
		return NULL;
	struct pnode n = {.e = root};
	struct inode *i = node_inode(sb, &n);
	sb->root = i ? dentry_root(sb, i) : NULL;
	if (!sb->root) {
		super_put(sb);
		return NULL;
	}
	sb->root->nocache = true;
	return sb;
}
