/*
 * The stub's own language: calls with the cookies, which the guest can read in the stub's text. They must be refused, or
 * kill this process, unless the sentry has just ordered exactly them.
 */
#include "escape.h"
#include "sentry/platform/trap/layout.h"
#include <sched.h>
#include <sys/mman.h>

#define ORDER COOKIE_ORDER
#define HI(c) ((long)((uint64_t)(c) << 32))

static void refused(const char *what, long r)
{
	/* -ENOSYS and other errors are right; so is the answer of an ordinary guest call that ignores the cookie */
	if (r >= 0)
		ESCAPED("%s gave %ld", what, r);
}

int main(int argc, char **argv)
{
	static char stack[65536];
	char *target = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)argc;
	(void)argv;
	for (int fd = 0; fd < 40; fd++)
		TRY(refused("mmap order of a host descriptor",
			    raw6(SYS_mmap, (long)target, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, HI(COOKIE_ORDER_HI) | fd, 0)));
	TRY(refused("anonymous executable mmap order", raw6(SYS_mmap, 0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS,
							    HI(COOKIE_ORDER_HI) | 0xffffffff, 0)));
	TRY(refused("mprotect order on the stub", raw6(SYS_mprotect, STUB_BASE, 4096, 7, 0, 0, ORDER)));
	TRY(refused("munmap order on the stub", raw6(SYS_munmap, STUB_BASE, 4096, 0, 0, 0, ORDER)));
	TRY(refused("mremap order", raw6(SYS_mremap, (long)target, 4096, 8192, 1, 0, ORDER)));
	TRY(refused("madvise order", raw6(SYS_madvise, (long)target, 4096, 4, 0, 0, ORDER)));
	for (int fd = 0; fd < 20; fd++)
		TRY(refused("close order", raw6(SYS_close, fd, 0, 0, 0, 0, ORDER) == 0 && fd > 2 ? 0 : -1));
	TRY({
		long r = raw6(SYS_clone, CLONE_VM | SIGCHLD, (long)(stack + sizeof stack), 0, 0, 0, ORDER);

		if (r == 0)
			for (;;)
				__asm__ volatile("pause"); /* a host process nobody ordered */
		refused("clone order", r);
	});
	TRY(refused("new user namespace by clone order", raw6(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0, ORDER)));
	TRY(refused("setns", raw2(SYS_setns, 3, 0)));
	TRY(refused("bpf", raw3(SYS_bpf, 0, target, 64)));
	TRY(refused("io_uring_setup", raw2(SYS_io_uring_setup, 8, target)));
	TRY(refused("userfaultfd", raw1(SYS_userfaultfd, 0)));
	TRY(refused("perf_event_open", raw6(SYS_perf_event_open, (long)target, 0, -1, -1, 0, 0)));
	TRY(refused("init_module", raw3(SYS_init_module, target, 10, "")));
	TRY(refused("reboot", raw4(SYS_reboot, 0xfee1dead, 672274793, 0x12345678, 0)));
	/* the doorbell without a request, twice, then with a mailbox full of noise */
	TRY({
		for (int i = 0; i < 100; i++)
			raw6(DOORBELL_NR, RING_REQUEST, 0, 0, 0, 0, COOKIE_OWN);
	});
	TRY({
		for (int i = 0; i < 10; i++)
			raw6(DOORBELL_NR, RING_HELLO, i, i, i, i, COOKIE_OWN);
	});
	for (unsigned seed = 1; seed < 12; seed++)
		TRY({
			srand(seed);
			for (unsigned i = 0; i < MBOX_SIZE; i++)
				((volatile char *)MBOX_BASE)[i] = (char)rand();
			for (int i = 0; i < 20; i++)
				raw6(DOORBELL_NR, RING_REQUEST, 0, 0, 0, 0, COOKIE_OWN);
			raw0(SYS_getpid);
		});
	/* calls that leave by the stub's own syscall instruction get no more than ours */
	TRY({
		const unsigned char *text = (void *)STUB_BASE;

		for (unsigned i = 0; i < 0x3000; i++)
			if (text[i] == 0x0f && text[i + 1] == 0x05 && text[i + 2] == 0xc3) {
				long r;

				__asm__ volatile("call *%1"
						 : "=a"(r)
						 : "r"(text + i), "a"(SYS_open), "D"(argv[1]), "S"(0), "d"(0)
						 : "rcx", "r11", "memory");
				if (r >= 0)
					ESCAPED("open by the stub's instruction gave %ld", r);
			}
	});
	/* the sandbox is still well */
	IN_CHILD(0, execl("/bin/true", "true", NULL));
	if (check_failed)
		ESCAPED("the sandbox no longer runs programs");
	return escape_done();
}
