/* Resource limits of a new first process, and what each real uid holds against its limits. */
#include "sentry/task/task.h"
#include "sentry/base/util.h"
#include <stdlib.h>
#include <sys/resource.h>

static struct list users = LIST_INIT(users);

struct user_count *user_count_get(uid_t uid)
{
	struct user_count *u;

	list_for_each(u, &users, node) {
		if (u->uid == uid) {
			u->refs++;
			return u;
		}
	}
	u = calloc(1, sizeof *u);
	if (!u)
		return NULL;
	u->refs = 1;
	u->uid = uid;
	list_add(&users, &u->node);
	return u;
}

void user_count_put(struct user_count *u)
{
	if (!u || --u->refs)
		return;
	list_del(&u->node);
	free(u);
}

void rlimit_init(struct l_rlimit rlim[L_RLIM_NLIMITS])
{
	static const struct {
		uint64_t cur, max;
	} def[L_RLIM_NLIMITS] = {
	    [RLIMIT_CPU] = {L_RLIM_INFINITY, L_RLIM_INFINITY},
	    [RLIMIT_FSIZE] = {L_RLIM_INFINITY, L_RLIM_INFINITY},
	    [RLIMIT_DATA] = {L_RLIM_INFINITY, L_RLIM_INFINITY},
	    [RLIMIT_STACK] = {8ull << 20, L_RLIM_INFINITY},
	    [RLIMIT_CORE] = {0, L_RLIM_INFINITY},
	    [RLIMIT_RSS] = {L_RLIM_INFINITY, L_RLIM_INFINITY},
	    [RLIMIT_NPROC] = {30000, 30000},
	    [RLIMIT_NOFILE] = {1024, 65536},
	    [RLIMIT_MEMLOCK] = {8ull << 20, 8ull << 20},
	    [RLIMIT_AS] = {L_RLIM_INFINITY, L_RLIM_INFINITY},
	    [RLIMIT_LOCKS] = {L_RLIM_INFINITY, L_RLIM_INFINITY},
	    [RLIMIT_SIGPENDING] = {30000, 30000},
	    [RLIMIT_MSGQUEUE] = {819200, 819200},
	    [RLIMIT_NICE] = {0, 0},
	    [RLIMIT_RTPRIO] = {0, 0},
	    [RLIMIT_RTTIME] = {L_RLIM_INFINITY, L_RLIM_INFINITY},
	};

	for (unsigned i = 0; i < L_RLIM_NLIMITS; i++)
		rlim[i] = (struct l_rlimit){def[i].cur, def[i].max};
}
