/* The x32 numbers: bit 30 set, the same entry. */
#include "escape.h"

int main(int argc, char **argv)
{
	NEED(argc > 2);
	TRY({
		long fd = raw3(0x40000000 | SYS_open, argv[1], O_RDONLY, 0);

		if (fd >= 0)
			ESCAPED("x32 open gave %ld", fd);
	});
	TRY(if (raw2(0x40000000 | SYS_kill, atoi(argv[2]), 0) == 0) ESCAPED("x32 kill saw a host process"));
	TRY(if (raw0(0x40000000 | SYS_getpid) > 0) ESCAPED("x32 getpid answers"));
	TRY({
		for (long nr = 512; nr < 548; nr++)
			if (raw4(nr, 0, 0, 0, 0) >= 0 || raw4(0x40000000 | nr, 0, 0, 0, 0) >= 0)
				ESCAPED("x32-only call %ld answers", nr);
	});
	return escape_done();
}
