/* Guest structures of uname, sysinfo and adjtimex. */
#ifndef WARD_ABI_MISC_H
#define WARD_ABI_MISC_H
#include <stdint.h>

struct l_utsname {
	char sysname[65], nodename[65], release[65], version[65], machine[65], domainname[65];
};
_Static_assert(sizeof(struct l_utsname) == 390, "utsname");

struct l_sysinfo {
	int64_t uptime;
	uint64_t loads[3];
	uint64_t totalram, freeram, sharedram, bufferram, totalswap, freeswap;
	uint16_t procs, pad;
	uint64_t totalhigh, freehigh;
	uint32_t mem_unit, tail;
};
_Static_assert(sizeof(struct l_sysinfo) == 112, "sysinfo");

struct l_timex {
	uint32_t modes, pad0;
	int64_t offset, freq, maxerror, esterror;
	int32_t status, pad1;
	int64_t constant, precision, tolerance, sec, usec, tick, ppsfreq, jitter;
	int32_t shift, pad2;
	int64_t stabil, jitcnt, calcnt, errcnt, stbcnt;
	int32_t tai, reserved[11];
};
_Static_assert(sizeof(struct l_timex) == 208, "timex");
#endif
