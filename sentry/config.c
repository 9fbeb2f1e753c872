/* Defaults and the parsers of option values. */
#include "sentry/config.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sentry/base/util.h"

void config_defaults(struct config *c)
{
	memset(c, 0, sizeof *c);
	snprintf(c->hostname, sizeof c->hostname, "ward");
	c->disk = 2ull << 30;
	c->pids = 4096;
	c->platform = "auto";
}

int config_parse_size(const char *opt, const char *text, uint64_t *out, struct err *e)
{
	static const char units[] = "KMGT";
	char *end;
	unsigned shift = 0;
	unsigned long long n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || errno)
		goto bad;
	if (*end) {
		const char *u = strchr(units, toupper((unsigned char)*end));

		if (u) {
			shift = 10 * (unsigned)(u - units + 1);
			end++;
			if (*end == 'i')
				end++;
		}
		if (*end == 'B' || *end == 'b')
			end++;
	}
	if (*end || n == 0 || n > (UINT64_MAX >> 1 >> shift))
		goto bad;
	*out = (uint64_t)n << shift;
	return 0;
bad:
	return err_set(e, WARD_EXIT_ERROR, "%s: '%s' is not a size: give a number with K, M, G or T, as in %s 512M", opt,
		       text, opt);
}

int config_parse_seconds(const char *opt, const char *text, double *out, struct err *e)
{
	char *end;
	double d;

	d = strtod(text, &end);
	if (end == text || *end || !isfinite(d) || d <= 0 || d > 1e9)
		return err_set(e, WARD_EXIT_ERROR, "%s: '%s' is not a time: give seconds above 0, as in %s 2.5", opt, text,
			       opt);
	*out = d;
	return 0;
}

int config_parse_count(const char *opt, const char *text, unsigned max, unsigned *out, struct err *e)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end || errno || n == 0 || n > max)
		return err_set(e, WARD_EXIT_ERROR, "%s: '%s' is not a number from 1 to %u", opt, text, max);
	*out = (unsigned)n;
	return 0;
}

int config_parse_user(const char *text, uid_t *uid, gid_t *gid, struct err *e)
{
	unsigned long u, g;
	char *end;

	errno = 0;
	u = strtoul(text, &end, 10);
	g = u;
	if (!isdigit((unsigned char)text[0]) || errno)
		goto bad;
	if (*end == ':') {
		if (!isdigit((unsigned char)end[1]))
			goto bad;
		g = strtoul(end + 1, &end, 10);
	}
	if (*end || errno || u >= UINT32_MAX || g >= UINT32_MAX)
		goto bad;
	*uid = (uid_t)u;
	*gid = (gid_t)g;
	return 0;
bad:
	return err_set(e, WARD_EXIT_ERROR, "--user: '%s' is not UID or UID:GID: give numbers, as in --user 1000:1000", text);
}

int config_check_name(const char *text, struct err *e)
{
	size_t n = strlen(text);

	if (n == 0 || n > 63 || !isalnum((unsigned char)text[0]))
		goto bad;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("._-", text[i]))
			goto bad;
	return 0;
bad:
	return err_set(e, WARD_EXIT_ERROR, "name '%.80s': use 1 to 63 letters, digits, '.', '_' or '-', a letter or digit first",
		       text);
}

int config_check_env(const char *text, struct err *e)
{
	const char *eq = strchr(text, '=');

	if (!eq || eq == text)
		return err_set(e, WARD_EXIT_ERROR, "--env: '%.80s' is not NAME=VALUE", text);
	return 0;
}

int config_check_guest_path(const char *opt, const char *text, struct err *e)
{
	const char *p = text;

	if (*p != '/' || strlen(p) >= 4096)
		return err_set(e, WARD_EXIT_ERROR, "%s: '%.200s' must be an absolute path inside the sandbox", opt, text);
	while (*p) {
		size_t n;

		while (*p == '/')
			p++;
		n = strcspn(p, "/");
		if (n > 255 || (n == 2 && !memcmp(p, "..", 2)))
			return err_set(e, WARD_EXIT_ERROR, "%s: '%.200s' must have no '..' and no name above 255 bytes", opt,
				       text);
		p += n;
	}
	return 0;
}

int config_split_pair(const char *opt, const char *text, char **src, char **dst, struct err *e)
{
	const char *colon = strrchr(text, ':');

	if (!colon || colon == text || !colon[1])
		return err_set(e, WARD_EXIT_ERROR, "%s: '%.200s' is not SRC:DST", opt, text);
	*src = strndup(text, (size_t)(colon - text));
	*dst = strdup(colon + 1);
	if (!*src || !*dst)
		return err_set(e, WARD_EXIT_ERROR, "%s: out of memory", opt);
	return 0;
}

int config_parse_bind(const char *text, struct config_bind *out, struct err *e)
{
	char *copy = strdup(text), *colon;

	out->rw = false;
	out->sock = out->root = -1;
	if (!copy)
		return err_set(e, WARD_EXIT_ERROR, "--bind: out of memory");
	colon = strrchr(copy, ':');
	if (colon && (!strcmp(colon, ":rw") || !strcmp(colon, ":ro"))) {
		out->rw = !strcmp(colon, ":rw");
		*colon = 0;
	}
	if (config_split_pair("--bind", copy, &out->src, &out->dst, e))
		return -1;
	free(copy);
	return config_check_guest_path("--bind", out->dst, e);
}

const char *config_home(uid_t uid)
{
	return uid == 0 ? "/root" : "/home/user";
}

/* Index of NAME's entry among COUNT entries, or COUNT. */
static unsigned env_find(char *const *env, unsigned count, const char *entry)
{
	size_t n = strcspn(entry, "=") + 1;
	unsigned i;

	for (i = 0; i < count; i++)
		if (!strncmp(env[i], entry, n))
			break;
	return i;
}

/* The host's TERM is a name for the guest's terminfo lookup: letters, digits and a few signs only. */
static const char *term_name(bool tty)
{
	const char *t = tty ? getenv("TERM") : NULL;
	size_t n = t ? strlen(t) : 0;

	if (n == 0 || n > 40)
		return "dumb";
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)t[i]) && !strchr("+-._", t[i]))
			return "dumb";
	return t;
}

char **config_guest_env(uid_t uid, bool tty, const char *const *extra, unsigned count)
{
	char **env = calloc(count + 5, sizeof *env);
	unsigned n = 0;

	if (!env)
		return NULL;
	env[n++] = strdup("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	if (asprintf(&env[n++], "HOME=%s", config_home(uid)) < 0)
		env[n - 1] = NULL;
	if (asprintf(&env[n++], "TERM=%s", term_name(tty)) < 0)
		env[n - 1] = NULL;
	env[n++] = strdup("LANG=C.UTF-8");
	for (unsigned i = 0; i < n; i++)
		if (!env[i])
			return NULL;
	for (unsigned i = 0; i < count; i++) {
		unsigned at = env_find(env, n, extra[i]);

		env[at] = strdup(extra[i]);
		if (!env[at])
			return NULL;
		if (at == n)
			n++;
	}
	return env;
}
