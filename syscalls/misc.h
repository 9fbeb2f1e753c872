/* What other parts show of the machine too (/proc/version, /proc/meminfo, /proc/sys/kernel). */
#ifndef WARD_SYSCALLS_MISC_H
#define WARD_SYSCALLS_MISC_H
#include <stdint.h>

#define WARD_UTS_RELEASE "6.12.0"
#define WARD_UTS_VERSION "#1 SMP PREEMPT_DYNAMIC ward"

/* Pages of memory the guest is told the machine has. */
uint64_t kernel_total_pages(void);
#endif
