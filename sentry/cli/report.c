/* The end record of a run: JSON for programs, a few lines for people. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sentry/cli/cli.h"
#include "sentry/cli/monitor.h"

const char *outcome_name(enum outcome o)
{
	static const char *const names[] = {"none", "exited", "signaled", "timed_out", "out_of_memory", "killed",
					    "sandbox_lost", "never_started"};

	return names[o];
}

int report_write(const struct config *c, const struct result *r)
{
	json_t *j = json_pack("{s:s, s:i, s:i, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:I}", "outcome", outcome_name(r->outcome),
			      "code", r->code, "exit_code", r->exit_code, "start_time", (double)r->start_real_ns / 1e9,
			      "wall_seconds", (double)r->wall_ns / 1e9, "boot_seconds", (double)r->boot_ns / 1e9,
			      "cpu_seconds", (double)r->cpu_ns / 1e9, "peak_memory_bytes",
			      (json_int_t)r->counters.peak_bytes, "peak_rss_bytes", (json_int_t)r->peak_rss_bytes, "calls",
			      (json_int_t)r->counters.calls, "processes", (json_int_t)r->counters.processes,
			      "memory_refusals", (json_int_t)r->counters.mem_refused);
	char *tmp = NULL;
	int rc = -1;

	if (j && r->text[0])
		json_object_set_new(j, "message", json_stringn_nocheck(r->text, strlen(r->text)));
	if (j && c->name)
		json_object_set_new(j, "name", json_string(c->name));
	/* The file appears whole or not at all. */
	if (j && asprintf(&tmp, "%s.%d.tmp", c->report, getpid()) > 0) {
		rc = json_dump_file(j, tmp, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
		if (!rc)
			rc = rename(tmp, c->report);
		if (rc)
			unlink(tmp);
	}
	if (rc)
		cli_line("--report %s: cannot write: %s", c->report, strerror(errno));
	json_decref(j);
	free(tmp);
	return rc;
}

void stats_print(const struct config *c, const struct result *r)
{
	fprintf(stderr, "ward: %s %d, wall %.3f s, boot %.3f s, cpu %.3f s, %llu calls, %llu processes, peak %.1f MiB\n",
		outcome_name(r->outcome), r->code, (double)r->wall_ns / 1e9, (double)r->boot_ns / 1e9,
		(double)r->cpu_ns / 1e9, (unsigned long long)r->counters.calls,
		(unsigned long long)r->counters.processes, (double)r->counters.peak_bytes / 1048576);
}
