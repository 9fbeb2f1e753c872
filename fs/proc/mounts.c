/* /proc/PID/{mounts,mountinfo,mountstats}: the mount list as the reader sees it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include "fs/proc/proc.h"
#include "sentry/task/task.h"

static void escaped(struct strbuf *s, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (strchr(" \t\n\\#", text[i]) && text[i])
			strbuf_printf(s, "\\%03o", (unsigned char)text[i]);
		else
			strbuf_add(s, text + i, 1);
	}
}

static void options(struct strbuf *s, unsigned flags, bool ro)
{
	strbuf_puts(s, (flags & MS_RDONLY) || ro ? "ro" : "rw");
	if (flags & MS_NOSUID)
		strbuf_puts(s, ",nosuid");
	if (flags & MS_NODEV)
		strbuf_puts(s, ",nodev");
	if (flags & MS_NOEXEC)
		strbuf_puts(s, ",noexec");
	strbuf_puts(s, flags & MS_NOATIME ? ",noatime" : ",relatime");
}

enum format { MOUNTS, INFO, STATS };

static int show(const struct pnode *n, struct strbuf *s, enum format fmt)
{
	struct task *t = n->pid ? pnode_task(n) : current;
	if (!t)
		return -ESRCH;
	if (!t->fs)
		return -EINVAL;
	char *text = malloc(4096);
	if (!text)
		return -ENOMEM;
	struct mount *m;
	list_for_each(m, &mount_list, node) {
		struct path p = {.mnt = m, .dentry = m->root};
		long len = path_text(&p, &t->fs->root, text, 4096);
		if (len < 0 || text[0] != '/')
			continue; /* not below the reader's root */
		const char *src = m->source ? m->source : "none";
		switch (fmt) {
		case MOUNTS:
			escaped(s, src, strlen(src));
			strbuf_puts(s, " ");
			escaped(s, text, (size_t)len);
			strbuf_printf(s, " %s ", m->sb->fstype);
			options(s, m->flags, m->sb->readonly);
			strbuf_puts(s, " 0 0\n");
			break;
		case INFO:
			strbuf_printf(s, "%d %d %u:%u / ", m->id, m->parent ? m->parent->id : m->id,
				      (unsigned)(m->sb->dev >> 8 & 0xfff),
				      (unsigned)((m->sb->dev & 0xff) | (m->sb->dev >> 12 & 0xfff00)));
			escaped(s, text, (size_t)len);
			strbuf_puts(s, " ");
			options(s, m->flags, m->sb->readonly);
			strbuf_printf(s, " - %s ", m->sb->fstype);
			escaped(s, src, strlen(src));
			strbuf_puts(s, m->sb->readonly ? " ro\n" : " rw\n");
			break;
		case STATS:
			strbuf_puts(s, "device ");
			escaped(s, src, strlen(src));
			strbuf_puts(s, " mounted on ");
			escaped(s, text, (size_t)len);
			strbuf_printf(s, " with fstype %s\n", m->sb->fstype);
			break;
		}
	}
	free(text);
	return 0;
}

int show_mounts(const struct pnode *n, struct strbuf *s)
{
	return show(n, s, MOUNTS);
}

int show_mountinfo(const struct pnode *n, struct strbuf *s)
{
	return show(n, s, INFO);
}

int show_mountstats(const struct pnode *n, struct strbuf *s)
{
	return show(n, s, STATS);
}
