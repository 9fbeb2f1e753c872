/* variants: static */
/* Anonymous memory: mmap, munmap, mprotect, mremap, madvise, brk, faults. */
#include "check.h"
#include <setjmp.h>
#include <sys/mman.h>

#define PG 4096ul
static sigjmp_buf env;
static volatile int got_sig, got_code;
static void *volatile got_addr;

static void on_fault(int sig, siginfo_t *si, void *uc)
{
	(void)uc;
	got_sig = sig;
	got_code = si->si_code;
	got_addr = si->si_addr;
	siglongjmp(env, 1);
}
#define FAULTS(stmt, code, addr)                                                                   \
	do {                                                                                       \
		got_sig = 0;                                                                       \
		if (!sigsetjmp(env, 1)) {                                                          \
			stmt;                                                                      \
		}                                                                                  \
		CHECK_EQ(got_sig, SIGSEGV);                                                        \
		CHECK_EQ(got_code, code);                                                          \
		CHECK(got_addr == (void *)(addr));                                                 \
	} while (0)

static char *anon(size_t n)
{
	return mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(void)
{
	struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	volatile char *p, *q;

	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
	p = anon(4 * PG);
	NEED(p != MAP_FAILED);
	for (unsigned i = 0; i < 4 * PG; i++)
		if (p[i])
			CHECK(!"fresh memory is zero");
	p[0] = 1;
	p[4 * PG - 1] = 2;
	CHECK_EQ(mprotect((void *)(p + PG), PG, PROT_READ), 0);
	CHECK_EQ(p[PG], 0);
	FAULTS(p[PG + 5] = 1, SEGV_ACCERR, p + PG + 5);
	CHECK_EQ(mprotect((void *)(p + PG), PG, PROT_NONE), 0);
	FAULTS((void)p[PG], SEGV_ACCERR, p + PG);
	CHECK_ERR(mprotect((void *)(p + 1), PG, PROT_READ), EINVAL);
	CHECK_EQ(munmap((void *)(p + 2 * PG), PG), 0);
	FAULTS(p[2 * PG] = 1, SEGV_MAPERR, p + 2 * PG);
	CHECK_ERR(mprotect((void *)p, 4 * PG, PROT_READ), ENOMEM);
	CHECK_EQ(munmap((void *)p, 4 * PG), 0);
	CHECK_EQ(munmap((void *)p, 4 * PG), 0);
	CHECK_ERR(munmap((void *)(p + 1), PG), EINVAL);
	CHECK_ERR(munmap((void *)p, 0), EINVAL);
	FAULTS(*(volatile int *)8 = 1, SEGV_MAPERR, 8);
	CHECK(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EINVAL);
	CHECK(mmap(NULL, PG, PROT_READ, MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EINVAL);
	CHECK(mmap(NULL, PG, PROT_READ, MAP_PRIVATE, 99, 0) == MAP_FAILED && errno == EBADF);
	CHECK(mmap(NULL, 1ul << 62, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == ENOMEM);
	/* fixed placement replaces, NOREPLACE does not */
	p = anon(3 * PG);
	p[PG] = 7;
	CHECK(mmap((void *)(p + PG), PG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
	      (void *)(p + PG));
	CHECK_EQ(p[PG], 0);
	CHECK(mmap((void *)p, PG, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED &&
	      errno == EEXIST);
	CHECK(mmap((void *)(p + 1), PG, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED &&
	      errno == EINVAL);
	/* mremap keeps the bytes */
	p[0] = 11;
	p[3 * PG - 1] = 12;
	q = mremap((void *)p, 3 * PG, 64 * PG, MREMAP_MAYMOVE);
	NEED(q != MAP_FAILED);
	CHECK(q[0] == 11 && q[3 * PG - 1] == 12 && q[63 * PG] == 0);
	CHECK(mremap((void *)q, 64 * PG, PG, 0) == (void *)q);
	FAULTS(q[PG] = 1, SEGV_MAPERR, q + PG);
	p = anon(PG);
	CHECK(mremap((void *)q, PG, PG, MREMAP_MAYMOVE | MREMAP_FIXED, p) == (void *)p);
	CHECK_EQ(p[0], 11);
	FAULTS((void)q[0], SEGV_MAPERR, q);
	CHECK(mremap((void *)q, PG, PG, 0) == MAP_FAILED && errno == EFAULT);
	/* DONTNEED gives zero pages */
	p[5] = 5;
	CHECK_EQ(madvise((void *)p, PG, MADV_DONTNEED), 0);
	CHECK_EQ(p[5], 0);
	CHECK_ERR(madvise((void *)p, PG, 12345), EINVAL);
	/* private memory is copied by fork, shared memory is not */
	q = mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	NEED(q != MAP_FAILED);
	p[0] = q[0] = 1;
	IN_CHILD(0, {
		CHECK(p[0] == 1 && q[0] == 1);
		p[0] = q[0] = 2;
	});
	CHECK(p[0] == 1 && q[0] == 2);
	/* brk */
	char *b = sbrk(0);
	CHECK(sbrk(10 * PG) == b);
	memset(b, 9, 10 * PG);
	CHECK(sbrk(0) == b + 10 * PG);
	CHECK(sbrk(-5 * (long)PG) != (void *)-1);
	FAULTS(b[9 * PG] = 1, SEGV_MAPERR, b + 9 * PG);
	CHECK(sbrk(5 * PG) != (void *)-1);
	CHECK_EQ(b[9 * PG], 0);
	/* executable memory */
	p = mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy((void *)p, "\xb8\x2a\x00\x00\x00\xc3", 6);
	CHECK_EQ(mprotect((void *)p, PG, PROT_READ | PROT_EXEC), 0);
	CHECK_EQ(((int (*)(void))p)(), 42);
	/* mincore, msync, mlock answer */
	unsigned char vec[1];
	CHECK_EQ(mincore((void *)p, PG, vec), 0);
	CHECK_EQ(munmap((void *)p, PG), 0);
	CHECK_ERR(mincore((void *)p, PG, vec), ENOMEM);
	return check_done();
}
