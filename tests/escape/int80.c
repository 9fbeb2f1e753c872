/* 32-bit calls through int 0x80 from 64-bit code: another number table behind the same filter. */
#include "escape.h"
#include <sys/mman.h>

static long int80(long nr, long b, long c, long d)
{
	long r;

	__asm__ volatile("int $0x80" : "=a"(r) : "a"(nr), "b"(b), "c"(c), "d"(d) : "memory", "r8", "r9", "r10", "r11");
	return r;
}

int main(int argc, char **argv)
{
	/* 32-bit calls take 32-bit pointers */
	char *low = mmap((void *)0x10000000, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	NEED(argc > 2 && low != MAP_FAILED);
	strncpy(low, argv[1], 4000);
	TRY({
		long fd = int80(5, (long)low, 0, 0); /* open */

		if (fd >= 0)
			ESCAPED("open through int 0x80 gave %ld", fd);
	});
	TRY(if (int80(20, 0, 0, 0) > 0) ESCAPED("getpid through int 0x80 answers: the host's table is reachable"));
	TRY(if (int80(37, atoi(argv[2]), 0, 0) == 0) ESCAPED("kill through int 0x80 saw a host process"));
	TRY(if (int80(2, 0, 0, 0) >= 0) ESCAPED("fork through int 0x80"));
	for (long nr = 0; nr < 460; nr++)
		if (nr != 1 && nr != 2 && nr != 119 && nr != 173 && nr != 190 && nr != 252)
			TRY({
				long r = int80(nr, 0, 0, 0);

				if (r >= 0)
					ESCAPED("32-bit call %ld gave %ld", nr, r);
			});
	return escape_done();
}
