/* Figures of a run for --stats. */
#ifndef WARD_TRACE_STATS_H
#define WARD_TRACE_STATS_H

/* Write the table of calls (count, errors, share) and the platform's counters to host descriptor FD. */
void stats_write(int fd);
#endif
