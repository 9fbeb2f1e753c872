/* Guest structures and numbers of clocks and timers. */
#ifndef WARD_ABI_TIME_H
#define WARD_ABI_TIME_H
#include <stdint.h>

struct l_timespec {
	int64_t sec, nsec;
};
struct l_timeval {
	int64_t sec, usec;
};
struct l_timezone {
	int32_t minuteswest, dsttime;
};
struct l_itimerspec {
	struct l_timespec interval, value;
};
struct l_itimerval {
	struct l_timeval interval, value;
};
struct l_sigevent {
	uint64_t value;
	int32_t signo, notify, tid;
	uint8_t pad[44];
};
_Static_assert(sizeof(struct l_sigevent) == 64, "sigevent");
_Static_assert(sizeof(struct l_itimerspec) == 32, "itimerspec");

enum {
	L_CLOCK_REALTIME, L_CLOCK_MONOTONIC, L_CLOCK_PROCESS_CPUTIME_ID, L_CLOCK_THREAD_CPUTIME_ID,
	L_CLOCK_MONOTONIC_RAW, L_CLOCK_REALTIME_COARSE, L_CLOCK_MONOTONIC_COARSE, L_CLOCK_BOOTTIME,
	L_CLOCK_REALTIME_ALARM, L_CLOCK_BOOTTIME_ALARM, L_CLOCK_TAI = 11
};
#define L_TIMER_ABSTIME 1u
enum { L_SIGEV_SIGNAL, L_SIGEV_NONE, L_SIGEV_THREAD, L_SIGEV_THREAD_ID = 4 };
enum { L_ITIMER_REAL, L_ITIMER_VIRTUAL, L_ITIMER_PROF };
#endif
