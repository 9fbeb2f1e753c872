/*
 * /proc/cpuinfo from the CPUID instruction, which the guest can execute anyway, and the number of processors the
 * sandbox may use. Nothing of the host's own file (frequency, microcode, topology) is passed on.
 */
#include <cpuid.h>
#include <string.h>
#include "fs/proc/proc.h"

struct flag {
	const char *name;
	unsigned leaf, reg, bit; /* reg: 0 eax 1 ebx 2 ecx 3 edx; leaf 7 means subleaf 0 */
};
#define D1(n, b) {n, 1, 3, b}
#define C1(n, b) {n, 1, 2, b}
#define B7(n, b) {n, 7, 1, b}
#define C7(n, b) {n, 7, 2, b}
#define DX(n, b) {n, 0x80000001u, 3, b}
#define CX(n, b) {n, 0x80000001u, 2, b}
static const struct flag flags[] = {
	D1("fpu", 0), D1("vme", 1), D1("de", 2), D1("pse", 3), D1("tsc", 4), D1("msr", 5), D1("pae", 6), D1("mce", 7),
	D1("cx8", 8), D1("apic", 9), D1("sep", 11), D1("mtrr", 12), D1("pge", 13), D1("mca", 14), D1("cmov", 15),
	D1("pat", 16), D1("pse36", 17), D1("clflush", 19), D1("mmx", 23), D1("fxsr", 24), D1("sse", 25), D1("sse2", 26),
	D1("ss", 27), D1("ht", 28), DX("syscall", 11), DX("nx", 20), DX("pdpe1gb", 26), DX("rdtscp", 27), DX("lm", 29),
	C1("pni", 0), C1("pclmulqdq", 1), C1("ssse3", 9), C1("fma", 12), C1("cx16", 13), C1("pcid", 17), C1("sse4_1", 19),
	C1("sse4_2", 20), C1("x2apic", 21), C1("movbe", 22), C1("popcnt", 23), C1("aes", 25), C1("xsave", 26), C1("avx", 28),
	C1("f16c", 29), C1("rdrand", 30), C1("hypervisor", 31), CX("lahf_lm", 0), CX("abm", 5), CX("sse4a", 6),
	CX("misalignsse", 7), CX("3dnowprefetch", 8), CX("xop", 11), CX("fma4", 16), CX("topoext", 22), B7("fsgsbase", 0),
	B7("bmi1", 3), B7("hle", 4), B7("avx2", 5), B7("smep", 7), B7("bmi2", 8), B7("erms", 9), B7("invpcid", 10),
	B7("rtm", 11), B7("avx512f", 16), B7("avx512dq", 17), B7("rdseed", 18), B7("adx", 19), B7("smap", 20),
	B7("avx512ifma", 21), B7("clflushopt", 23), B7("clwb", 24), B7("avx512cd", 28), B7("sha_ni", 29), B7("avx512bw", 30),
	B7("avx512vl", 31), C7("avx512vbmi", 1), C7("umip", 2), C7("pku", 3), C7("ospke", 4), C7("avx512_vbmi2", 6),
	C7("gfni", 8), C7("vaes", 9), C7("vpclmulqdq", 10), C7("avx512_vnni", 11), C7("avx512_bitalg", 12),
	C7("avx512_vpopcntdq", 14), C7("rdpid", 22), {"fsrm", 7, 3, 4}, {"amx_bf16", 7, 3, 22}, {"amx_tile", 7, 3, 24},
	{"amx_int8", 7, 3, 25},
};

static bool has_flag(const struct flag *f)
{
	unsigned r[4] = {0};
	if (!__get_cpuid_count(f->leaf, 0, &r[0], &r[1], &r[2], &r[3]))
		return false;
	return r[f->reg] >> f->bit & 1;
}

int show_cpuinfo(const struct pnode *n, struct strbuf *s)
{
	unsigned a = 0, b = 0, c = 0, d = 0;
	char vendor[13] = "", model[49] = "unknown";
	if (__get_cpuid(0, &a, &b, &c, &d)) {
		memcpy(vendor, &b, 4);
		memcpy(vendor + 4, &d, 4);
		memcpy(vendor + 8, &c, 4);
	}
	unsigned id = 0;
	__get_cpuid(1, &id, &b, &c, &d);
	unsigned family = id >> 8 & 15, mod = id >> 4 & 15;
	if (family == 6 || family == 15)
		mod |= (id >> 16 & 15) << 4;
	if (family == 15)
		family += id >> 20 & 255;
	for (unsigned i = 0; i < 3; i++) {
		unsigned r[4];
		if (__get_cpuid(0x80000002u + i, &r[0], &r[1], &r[2], &r[3]))
			memcpy(model + i * 16, r, 16);
	}
	const char *name = model + strspn(model, " ");
	unsigned bits = 0x3030;
	__get_cpuid(0x80000008u, &bits, &b, &c, &d);
	struct strbuf fl = {0};
	for (unsigned i = 0; i < sizeof flags / sizeof flags[0]; i++)
		if (has_flag(&flags[i]))
			strbuf_printf(&fl, " %s", flags[i].name);
	for (unsigned i = 0; i < proc_ncpu; i++) {
		strbuf_printf(s,
			      "processor\t: %u\nvendor_id\t: %s\ncpu family\t: %u\nmodel\t\t: %u\nmodel name\t: %s\n"
			      "stepping\t: %u\ncpu MHz\t\t: 2000.000\ncache size\t: 4096 KB\nphysical id\t: 0\n"
			      "siblings\t: %u\ncore id\t\t: %u\ncpu cores\t: %u\napicid\t\t: %u\ninitial apicid\t: %u\n"
			      "fpu\t\t: yes\nfpu_exception\t: yes\ncpuid level\t: %u\nwp\t\t: yes\nflags\t\t:",
			      i, vendor, family, mod, name, id & 15, proc_ncpu, i, proc_ncpu, i, i, a);
		if (fl.size)
			strbuf_add(s, fl.data, fl.size);
		strbuf_printf(s,
			      "\nbugs\t\t:\nbogomips\t: 4000.00\nclflush size\t: 64\ncache_alignment\t: 64\n"
			      "address sizes\t: %u bits physical, %u bits virtual\npower management:\n\n",
			      bits & 255, bits >> 8 & 255);
	}
	strbuf_free(&fl);
	return 0;
}
