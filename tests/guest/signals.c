/* Signals, frames, restarts, stops and waits: prints what it sees; native and ward output must be
 * equal. */
#define _GNU_SOURCE
#include <stdio.h>
#include <signal.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <setjmp.h>
static char alt[65536];
static volatile int n;
static sigjmp_buf jb;
static void h(int s, siginfo_t *i, void *u)
{
	ucontext_t *uc = u;
	char c;
	n++;
	double z = 1;
	for (int k = 0; k < 10; k++)
		z *= 1.5;
	printf("sig %d code %d onalt %d flags %lx fp %d z %f mask %d\n", s, i->si_code,
	       &c >= alt && &c < alt + 65536, uc->uc_flags,
	       ((unsigned *)uc->uc_mcontext.fpregs)[464 / 4] == 0x46505853, z,
	       sigismember(&uc->uc_sigmask, SIGUSR2));
}
static void seg(int s, siginfo_t *i, void *u)
{
	ucontext_t *uc = u;
	printf("segv %lx code %d trap %lld err %lld\n", (long)i->si_addr & 0xfff, i->si_code,
	       uc->uc_mcontext.gregs[REG_TRAPNO], uc->uc_mcontext.gregs[REG_ERR]);
	siglongjmp(jb, 1);
}
static void fpe(int s, siginfo_t *i, void *u)
{
	printf("fpe code %d\n", i->si_code);
	siglongjmp(jb, 1);
}
static volatile long cnt;
static void al(int s)
{
	cnt++;
}
static void *thr(void *a)
{
	sigset_t ss;
	sigemptyset(&ss);
	sigaddset(&ss, SIGRTMIN + 1);
	int sg;
	sigwait(&ss, &sg);
	printf("sigwait %d\n", sg - SIGRTMIN);
	return 0;
}
static void chld(int s, siginfo_t *i, void *u)
{
	printf("chld code %d status %d\n", i->si_code, i->si_status);
}
int main()
{
	setvbuf(stdout, 0, _IOLBF, 0);
	stack_t st = {.ss_sp = alt, .ss_size = sizeof alt};
	sigaltstack(&st, 0);
	struct sigaction a = {.sa_sigaction = h, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigaction(SIGUSR1, &a, 0);
	a.sa_flags = SA_SIGINFO | SA_RESTART;
	sigaction(SIGUSR2, &a, 0);
	raise(SIGUSR1);
	kill(getpid(), SIGUSR2);
	struct sigaction b = {.sa_sigaction = seg, .sa_flags = SA_SIGINFO};
	sigaction(SIGSEGV, &b, 0);
	sigaction(SIGBUS, &b, 0);
	if (!sigsetjmp(jb, 1))
		*(volatile int *)0x1234 = 1;
	char *p = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!sigsetjmp(jb, 1))
		*p = 1;
	if (!sigsetjmp(jb, 1))
		*(volatile char *)(0x8000000000000000ull);
	b.sa_sigaction = fpe;
	sigaction(SIGFPE, &b, 0);
	volatile int z = 0;
	if (!sigsetjmp(jb, 1))
		printf("%d\n", 1 / z);
	sigaction(SIGTRAP, &b, 0);
	if (!sigsetjmp(jb, 1))
		__asm__("int3");
	sigaction(SIGILL, &b, 0);
	if (!sigsetjmp(jb, 1))
		__asm__("ud2");
	/* fp under timer storm */
	signal(SIGALRM, al);
	struct itimerval it = {{0, 1000}, {0, 1000}};
	setitimer(ITIMER_REAL, &it, 0);
	double s = 0;
	for (long i = 1; i < 30000000; i++)
		s += 1.0 / i;
	memset(&it, 0, sizeof it);
	setitimer(ITIMER_REAL, &it, 0);
	printf("sum %.12f storm %d\n", s, cnt > 20);
	sigset_t ss, o;
	sigemptyset(&ss);
	sigaddset(&ss, SIGRTMIN + 1);
	pthread_sigmask(SIG_BLOCK, &ss, &o);
	pthread_t t;
	pthread_create(&t, 0, thr, 0);
	usleep(10000);
	union sigval v = {5};
	pthread_sigqueue(t, SIGRTMIN + 1, v);
	pthread_join(t, 0);
	sigaddset(&ss, SIGUSR1);
	sigprocmask(SIG_BLOCK, &ss, 0);
	raise(SIGUSR1);
	sigset_t pe;
	sigpending(&pe);
	printf("pending %d\n", sigismember(&pe, SIGUSR1));
	sigset_t em;
	sigemptyset(&em);
	int r = sigsuspend(&em);
	printf("suspend %d %d n %d\n", r, errno, n);
	sigprocmask(0, 0, &pe);
	printf("still blocked %d\n", sigismember(&pe, SIGUSR1));
	b.sa_sigaction = chld;
	b.sa_flags = SA_SIGINFO | SA_RESTART;
	sigaction(SIGCHLD, &b, 0);
	pid_t c = fork();
	if (!c) {
		usleep(20000);
		_exit(6);
	}
	int w;
	r = waitpid(c, &w, 0);
	printf("%d %d\n", r == c, w);
	c = fork();
	if (!c) {
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(c, &w, WUNTRACED);
	printf("%x\n", w);
	kill(c, SIGCONT);
	waitpid(c, &w, 0);
	printf("%x\n", w);
	signal(SIGCHLD, SIG_IGN);
	c = fork();
	if (!c)
		_exit(1);
	r = waitpid(c, &w, 0);
	printf("ign %d %d\n", r, errno);
	/* nanosleep across stop/cont */
	signal(SIGCHLD, SIG_DFL);
	c = fork();
	if (!c) {
		struct timeval t0, t1;
		gettimeofday(&t0, 0);
		r = usleep(300000);
		gettimeofday(&t1, 0);
		long d = (t1.tv_sec - t0.tv_sec) * 1000 + (t1.tv_usec - t0.tv_usec) / 1000;
		_exit(r == 0 && d >= 299 && d < 450 ? 0 : 1);
	}
	usleep(50000);
	kill(c, SIGSTOP);
	usleep(50000);
	kill(c, SIGCONT);
	waitpid(c, &w, 0);
	printf("nanosleep over stop %x\n", w);
	/* pipe read interrupted / restarted */
	int pf[2];
	pipe(pf);
	signal(SIGALRM, al);
	struct sigaction na = {.sa_handler = al};
	sigaction(SIGALRM, &na, 0);
	it.it_value.tv_usec = 50000;
	setitimer(ITIMER_REAL, &it, 0);
	char ch;
	r = read(pf[0], &ch, 1);
	printf("read %d %d\n", r, errno == EINTR);
	na.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &na, 0);
	it.it_value.tv_usec = 50000;
	setitimer(ITIMER_REAL, &it, 0);
	c = fork();
	if (!c) {
		usleep(150000);
		write(pf[1], "x", 1);
		_exit(0);
	}
	r = read(pf[0], &ch, 1);
	printf("read %d %c\n", r, ch);
	wait(&w);
	signal(SIGSEGV, SIG_DFL);
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, 0);
	c = fork();
	if (!c) {
		*(volatile int *)8 = 1;
	}
	waitpid(c, &w, 0);
	printf("blocked segv %x\n", w & 0x7f);
	c = vfork();
	if (!c) {
		execl("/bin/true", "true", (char *)0);
		_exit(127);
	}
	waitpid(c, &w, 0);
	printf("vfork exec %d\n", w);
	return 0;
}
