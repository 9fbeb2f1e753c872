/* Switches that hide host features; parsed once, before the environment is wiped. */
#include "sentry/features.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char list[512];
static bool parsed;

bool feature_off(const char *name)
{
	size_t n = strlen(name);

	if (!parsed) {
		const char *v = getenv("WARD_FEATURES");

		snprintf(list, sizeof list, "%s", v ? v : "");
		parsed = true;
	}
	for (const char *p = list; *p;) {
		size_t m = strcspn(p, ",");

		if (*p == '-' && m == n + 1 && !memcmp(p + 1, name, n))
			return true;
		p += m + (p[m] == ',');
	}
	return false;
}
