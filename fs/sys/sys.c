/*
 * /sys as far as programs look: processors (glibc's and the JVM's count, lscpu), huge pages, an empty cgroup mount
 * point, and the directories that tools list. The machinery is procfs's.
 */
#include <stdio.h>
#include <string.h>
#include "fs/proc/proc.h"

#define TEXT(fn, text)                                                                             \
	static int fn(const struct pnode *n, struct strbuf *s)                                     \
	{                                                                                          \
		strbuf_puts(s, text);                                                              \
		return 0;                                                                          \
	}
#define RO(name, fn) {name, P_FILE, 0444, false, fn}
#define DIR(name, table) {name, P_DIR, 0555, .sub = table}

static int show_range(const struct pnode *n, struct strbuf *s)
{
	strbuf_printf(s, proc_ncpu > 1 ? "0-%u\n" : "0\n", proc_ncpu - 1);
	return 0;
}

static void hex_mask(struct strbuf *s, unsigned first, unsigned last)
{
	unsigned words = (proc_ncpu + 31) / 32;
	for (unsigned w = words; w-- > 0;) {
		unsigned v = 0;
		for (unsigned b = 0; b < 32; b++)
			if (w * 32 + b >= first && w * 32 + b <= last)
				v |= 1u << b;
		strbuf_printf(s, w == words - 1 ? "%x" : ",%08x", v);
	}
	strbuf_puts(s, "\n");
}

static int show_mask(const struct pnode *n, struct strbuf *s)
{
	hex_mask(s, 0, proc_ncpu - 1);
	return 0;
}

static int show_one_mask(const struct pnode *n, struct strbuf *s)
{
	hex_mask(s, (unsigned)n->number, (unsigned)n->number);
	return 0;
}

static int show_number(const struct pnode *n, struct strbuf *s)
{
	strbuf_printf(s, "%d\n", n->number);
	return 0;
}

static int show_kernel_max(const struct pnode *n, struct strbuf *s)
{
	strbuf_printf(s, "%u\n", proc_ncpu - 1);
	return 0;
}

TEXT(show_zero, "0\n")
TEXT(show_one, "1\n")
TEXT(show_empty, "\n")
TEXT(show_thp, "always [madvise] never\n")
TEXT(show_thp_size, "2097152\n")

static const struct pentry topology[] = {
	RO("core_id", show_number), RO("core_siblings", show_mask), RO("core_siblings_list", show_range),
	RO("physical_package_id", show_zero), RO("thread_siblings", show_one_mask),
	RO("thread_siblings_list", show_number), {0}};
static const struct pentry cpu_entries[] = {RO("online", show_one), DIR("topology", topology), {0}};
static const struct pentry cpu_dir = {.kind = P_DIR, .mode = 0755, .sub = cpu_entries};

static const struct pentry *find_cpu(const struct pnode *n, const char *name, struct pnode *child)
{
	if (strncmp(name, "cpu", 3))
		return NULL;
	long v = parse_number(name + 3);
	if (v < 0 || v >= (long)proc_ncpu)
		return NULL;
	child->number = (int)v;
	return &cpu_dir;
}

static bool next_cpu(const struct pnode *n, unsigned from, unsigned *number)
{
	*number = from;
	return from < proc_ncpu;
}

static const struct pentry cpu_top[] = {
	RO("isolated", show_empty), RO("kernel_max", show_kernel_max), RO("offline", show_empty), RO("online", show_range),
	RO("possible", show_range), RO("present", show_range), {0}};
static const struct pentry node0[] = {RO("cpulist", show_range), RO("cpumap", show_mask), {0}};
static const struct pentry node_top[] = {
	DIR("node0", node0), RO("has_cpu", show_zero), RO("online", show_zero), RO("possible", show_zero), {0}};
static const struct pentry none[] = {{0}};
static const struct pentry system_entries[] = {
	{"cpu", P_DIR, 0555, .sub = cpu_top, .find = find_cpu, .next = next_cpu, .prefix = "cpu"},
	DIR("node", node_top), {0}};
static const struct pentry devices[] = {DIR("system", system_entries), {0}};
static const struct pentry thp[] = {
	RO("defrag", show_thp), RO("enabled", show_thp), RO("hpage_pmd_size", show_thp_size), {0}};
static const struct pentry kernel_mm[] = {DIR("hugepages", none), DIR("transparent_hugepage", thp), {0}};
static const struct pentry kernel[] = {DIR("mm", kernel_mm), {0}};
static const struct pentry class_entries[] = {DIR("block", none), DIR("net", none), DIR("tty", none), {0}};
static const struct pentry fs_entries[] = {DIR("cgroup", none), {0}};
static const struct pentry top[] = {
	DIR("block", none), DIR("bus", none), DIR("class", class_entries), DIR("dev", none), DIR("devices", devices),
	DIR("firmware", none), DIR("fs", fs_entries), DIR("kernel", kernel), DIR("module", none), {0}};
static const struct pentry root = {.kind = P_DIR, .mode = 0555, .sub = top};

static int sysfs_statfs(struct superblock *sb, struct kstatfs *st)
{
	*st = (struct kstatfs){.type = 0x62656572, .bsize = 4096, .namelen = 255};
	return 0;
}
static const struct super_ops sysfs_super = {.statfs = sysfs_statfs};

struct superblock *sysfs_new(void)
{
	return ptree_new("sysfs", &root, &sysfs_super);
}
