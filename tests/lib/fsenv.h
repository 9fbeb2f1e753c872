/*
 * A fake task over the real file layer, for unit tests: guest memory is the test's own, the caller is root with all
 * capabilities, nothing ever sleeps. fsenv_start mounts SB as "/" and makes it root and cwd.
 */
#ifndef WARD_TEST_FSENV_H
#define WARD_TEST_FSENV_H
#include "fs/vfs.h"
#include "sentry/task/task.h"

extern struct cred fsenv_cred;
extern struct tgroup fsenv_tg;
void fsenv_start(struct superblock *sb); /* takes the reference over */
void fsenv_stop(void);                   /* drops everything; a sanitizer then sees what leaks */
/* The handler FN (sys_x) with plain words as arguments: on x86-64 a uaddr_t is passed as one. */
#define WARD(fn, ...) fsenv_call((int64_t (*)())(fn), (uint64_t[6]){__VA_ARGS__})
int64_t fsenv_call(int64_t (*fn)(), const uint64_t a[6]);
#define A(p) ((uint64_t)(uintptr_t)(p))
#endif
