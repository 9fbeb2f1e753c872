/* Recording of calls for --trace: filter, line buffer, output. */
#include "sentry/trace/trace.h"

bool trace_on;
