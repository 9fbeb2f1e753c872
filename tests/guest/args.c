/* variants: static musl static-pie */
/* What a program finds at its start: argv, environment, auxiliary vector, stack alignment, open descriptors. */
#include "check.h"
#include <elf.h>
#include <sys/auxv.h>

int main(int argc, char **argv, char **envp)
{
	int n = 0;

	CHECK_EQ(argc, 3);
	CHECK(!strcmp(argv[1], "one") && !strcmp(argv[2], "two words"));
	CHECK(argv[argc] == NULL);
	for (char **e = envp; *e; e++)
		n++;
	printf("PATH=%s\nHOME=%s\nTERM=%s\nLANG=%s\n%d variables\n", getenv("PATH"), getenv("HOME"), getenv("TERM"),
	       getenv("LANG"), n);
	CHECK_EQ(getauxval(AT_PAGESZ), 4096);
	CHECK_EQ(getauxval(AT_UID), getuid());
	CHECK_EQ(getauxval(AT_EUID), geteuid());
	CHECK_EQ(getauxval(AT_GID), getgid());
	CHECK_EQ(getauxval(AT_EGID), getegid());
	CHECK_EQ(getauxval(AT_SECURE), 0);
	CHECK_EQ(getauxval(AT_CLKTCK), 100);
	CHECK_EQ(getauxval(AT_PHENT), sizeof(Elf64_Phdr));
	CHECK(getauxval(AT_PHNUM) > 3 && getauxval(AT_PHDR) != 0 && getauxval(AT_ENTRY) != 0);
	CHECK(getauxval(AT_RANDOM) && getauxval(AT_HWCAP));
	CHECK(getauxval(AT_EXECFN) && strstr((char *)getauxval(AT_EXECFN), "args"));
	CHECK(getauxval(AT_PLATFORM) && !strcmp((char *)getauxval(AT_PLATFORM), "x86_64"));
	for (int fd = 0; fd < 3; fd++)
		CHECK(fcntl(fd, F_GETFD) == 0);
	for (int fd = 3; fd < 64; fd++)
		CHECK_ERR(fcntl(fd, F_GETFD), EBADF);
	return check_done();
}
