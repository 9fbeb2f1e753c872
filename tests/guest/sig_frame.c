/* variants: static */
/* The frame: registers seen and changed by handlers, vector state kept, asynchronous delivery into running code. */
#include "check.h"
#include <sys/resource.h>
#include <sys/time.h>
#include <ucontext.h>

static volatile int hits;
static volatile int stop;

static void skip(int s, siginfo_t *si, void *p)
{
	ucontext_t *uc = p;

	CHECK_EQ(s, SIGSEGV);
	CHECK(si->si_addr == (void *)0x1234);
	CHECK_EQ(uc->uc_mcontext.gregs[REG_CR2], 0x1234);
	CHECK_EQ(uc->uc_mcontext.gregs[REG_TRAPNO], 14);
	CHECK_EQ(uc->uc_mcontext.gregs[REG_RBX], 0x1122334455667788);
	uc->uc_mcontext.gregs[REG_RAX] = 99;
	uc->uc_mcontext.gregs[REG_RIP] += 2; /* mov (%rcx),%eax */
	hits++;
}
static void ill(int s, siginfo_t *si, void *p)
{
	ucontext_t *uc = p;

	CHECK_EQ(s, SIGILL);
	CHECK(si->si_addr == (void *)uc->uc_mcontext.gregs[REG_RIP]);
	uc->uc_mcontext.gregs[REG_RIP] += 2;
	hits++;
}
static void fpe(int s, siginfo_t *si, void *p)
{
	ucontext_t *uc = p;

	CHECK(s == SIGFPE && si->si_code == FPE_INTDIV);
	uc->uc_mcontext.gregs[REG_RIP] += 2;
	hits++;
}
static void trap(int s, siginfo_t *si, void *p)
{
	(void)p;
	CHECK(s == SIGTRAP && si->si_code == SI_KERNEL);
	hits++;
}
static void tick(int s)
{
	/* spoil the vector registers: the frame must bring them back */
	__asm__ volatile("pcmpeqb %%xmm0,%%xmm0; pcmpeqb %%xmm5,%%xmm5; pcmpeqb %%xmm15,%%xmm15" ::: "xmm0", "xmm5",
			 "xmm15");
	(void)s;
	if (++hits >= 20)
		stop = 1;
}

int main(void)
{
	struct sigaction sa = {.sa_flags = SA_SIGINFO};
	long rax, rbx = 0x1122334455667788;

	sa.sa_sigaction = skip;
	sigaction(SIGSEGV, &sa, NULL);
	__asm__ volatile("mov %2,%%rbx; mov $0x1234,%%ecx; mov (%%rcx),%%eax; mov %%rbx,%1"
			 : "=a"(rax), "+r"(rbx)
			 : "r"(rbx)
			 : "rbx", "rcx", "memory");
	CHECK_EQ(hits, 1);
	CHECK_EQ(rax, 99);
	sa.sa_sigaction = ill;
	sigaction(SIGILL, &sa, NULL);
	__asm__ volatile("ud2");
	CHECK_EQ(hits, 2);
	sa.sa_sigaction = fpe;
	sigaction(SIGFPE, &sa, NULL);
	__asm__ volatile("xor %%edx,%%edx; xor %%ecx,%%ecx; mov $1,%%eax; div %%ecx" ::: "eax", "ecx", "edx");
	CHECK_EQ(hits, 3);
	sa.sa_sigaction = trap;
	sigaction(SIGTRAP, &sa, NULL);
	__asm__ volatile("int3");
	CHECK_EQ(hits, 4);
	/* a timer interrupts a loop that makes no call and keeps values in vector and general registers */
	struct itimerval it = {{0, 2000}, {0, 2000}};
	hits = 0;
	signal(SIGALRM, tick);
	setitimer(ITIMER_REAL, &it, NULL);
	long bad = 0;
	while (!stop) {
		uint64_t out[2], a = 0x0123456789abcdef, b = 0xfedcba9876543210, ra, rb;

		__asm__ volatile("movq %4,%%xmm0; movq %5,%%xmm15; movq %%xmm0,%%xmm5; mov %4,%%r12; mov %5,%%r13;"
				 "mov $20000,%%ecx; 1: dec %%ecx; jnz 1b;"
				 "movq %%xmm5,%0; movq %%xmm15,%1; mov %%r12,%2; mov %%r13,%3"
				 : "=m"(out[0]), "=m"(out[1]), "=m"(ra), "=m"(rb)
				 : "r"(a), "r"(b)
				 : "rcx", "r12", "r13", "xmm0", "xmm5", "xmm15", "cc", "memory");
		if (out[0] != a || out[1] != b || ra != a || rb != b)
			bad++;
	}
	it.it_value.tv_usec = it.it_interval.tv_usec = 0;
	setitimer(ITIMER_REAL, &it, NULL);
	CHECK_EQ(bad, 0);
	/* a call keeps every register but rax, rcx and r11 */
	uint64_t r[8];
	register uint64_t *p __asm__("r14") = r;
	__asm__ volatile("push %%rbp; mov $1,%%ebx; mov $2,%%edi; mov $3,%%esi; mov $4,%%edx; mov $5,%%r8d; mov $6,%%r9d;"
			 "mov $7,%%r10d; mov $8,%%r12d; mov $39,%%eax; syscall;"
			 "mov %%rbx,0(%0); mov %%rdi,8(%0); mov %%rsi,16(%0); mov %%rdx,24(%0); mov %%r8,32(%0);"
			 "mov %%r9,40(%0); mov %%r10,48(%0); mov %%r12,56(%0); pop %%rbp"
			 :
			 : "r"(p)
			 : "rax", "rbx", "rcx", "rdx", "rdi", "rsi", "r8", "r9", "r10", "r11", "r12", "memory");
	for (int i = 0; i < 8; i++)
		CHECK_EQ(r[i], i + 1);
	/* faults without a handler kill with the right signal */
	signal(SIGSEGV, SIG_DFL);
	signal(SIGILL, SIG_DFL);
	struct rlimit none = {0, 0}; /* no core files from what follows */
	setrlimit(RLIMIT_CORE, &none);
	IN_CHILD(SIGSEGV, {
		*(volatile int *)0 = 1;
	});
	IN_CHILD(SIGILL, {
		__asm__ volatile("ud2");
	});
	/* a blocked fault kills all the same */
	IN_CHILD(SIGSEGV, {
		sigset_t m;

		sigfillset(&m);
		sigprocmask(SIG_BLOCK, &m, NULL);
		*(volatile int *)0 = 1;
	});
	return check_done();
}
