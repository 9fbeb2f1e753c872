/* SIGSYS itself: ignored, blocked, handled, forged frames. The next call must still be the sentry's or end the process. */
#include "escape.h"
#include "sentry/platform/trap/layout.h"
#include <sys/mman.h>

static void handler(int s)
{
	(void)s;
}

int main(int argc, char **argv)
{
	sigset_t all;

	NEED(argc > 2);
	sigfillset(&all);
	TRY({
		signal(SIGSYS, SIG_IGN);
		try_file(argv[1]);
	});
	TRY({
		signal(SIGSYS, handler);
		sigprocmask(SIG_BLOCK, &all, NULL);
		try_file(argv[1]);
	});
	TRY({
		sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
		try_file(argv[1]);
	});
	/* a frame of our own through the stub's door, with every host signal blocked */
	TRY({
		static uint64_t frame[200];

		for (unsigned i = 0; i < 200; i++)
			frame[i] = ~0ull;
		__asm__ volatile("mov %0,%%rsp; mov $15,%%eax; mov %1,%%r9; syscall; ud2" ::"r"(frame), "r"(COOKIE_OWN) : "r9", "rax");
	});
	TRY({
		/* the stub's pages are not the guest's to change */
		if (mprotect((void *)STUB_BASE, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) == 0)
			ESCAPED("mprotect of the stub");
		if (munmap((void *)STUB_BASE, 4096) == 0)
			ESCAPED("munmap of the stub");
		if (mmap((void *)AREA_BASE, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
			ESCAPED("mmap over the thread areas");
		if (mremap((void *)STUB_BASE, 4096, 8192, MREMAP_MAYMOVE) != MAP_FAILED)
			ESCAPED("mremap of the stub");
	});
	/* overwriting the own thread's area hurts only the process */
	TRY({
		memset((void *)(AREA_BASE + 64), 0xff, 4096);
		try_file(argv[1]);
	});
	IN_CHILD(0, execl("/bin/true", "true", NULL));
	if (check_failed)
		ESCAPED("the sandbox no longer runs programs");
	return escape_done();
}
