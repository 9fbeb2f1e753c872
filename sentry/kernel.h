/*
 * State of the sandbox as a whole: names, limits, counters, its end. One per sentry process.
 */
#ifndef WARD_KERNEL_H
#define WARD_KERNEL_H
#include <stdbool.h>
#include <stdint.h>

struct sandbox {
	char hostname[65], domainname[65];
	uint64_t boot_ns;           /* CLOCK_BOOTTIME at the start: uptime and start times are relative to it */
	uint64_t mem_limit_pages;   /* 0 = none */
	uint64_t mem_pages, mem_peak_pages;
	uint64_t disk_limit;        /* bytes of the writable layer, 0 = none */
	unsigned max_tasks;
	uint64_t calls, processes;  /* served calls, processes ever started */
	bool ending;                /* init is gone or a kill was asked for: nothing new starts */
	uint64_t mem_refused;       /* how often the memory limit refused pages */
};
extern struct sandbox sandbox;

/* What uname and /proc/version show: ward's level of the interface. */
#define WARD_UTS_RELEASE "6.12.0"
#define WARD_UTS_VERSION "#1 SMP PREEMPT_DYNAMIC ward"
/* Pages of memory the guest is told the machine has (sysinfo, /proc/meminfo). */
uint64_t kernel_total_pages(void);

struct config;
/* Take names and limits from C. */
void kernel_init(const struct config *c);
/* Charge (or give back) guest pages. 0, or -ENOMEM at the limit with nothing charged. */
int kernel_charge_pages(int64_t pages);
/* Process 1 is gone: every other process is killed, the result goes to the monitor, the loop stops. */
void kernel_init_exited(int wait_status);
#endif
