/* System V IPC and process_vm_readv: ids and keys, errors in Linux's order, attachments, undo, message types. */
#include "check.h"
#include <limits.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/uio.h>

union semarg {
	int val;
	struct semid_ds *buf;
	unsigned short *array;
};

static void reap(pid_t pid, int want)
{
	int status = -1;

	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(status == want);
}

static void shared_memory(void)
{
	struct shmid_ds ds;
	char *a, *b;
	pid_t pid;
	int id;

	CHECK_ERR(shmget(IPC_PRIVATE, 0, 0600 | IPC_CREAT), EINVAL);
	id = shmget(IPC_PRIVATE, 5000, 0600 | IPC_CREAT);
	CHECK(id >= 0);
	a = shmat(id, NULL, 0);
	b = shmat(id, NULL, SHM_RDONLY);
	CHECK(a != (void *)-1 && b != (void *)-1 && a != b);
	strcpy(a, "seen");
	CHECK(!strcmp(b, "seen"));
	CHECK_ERR(mprotect(b, 4096, PROT_READ | PROT_WRITE), EACCES);
	pid = fork();
	if (!pid) {
		CHECK(shmctl(id, IPC_STAT, &ds) == 0 && ds.shm_nattch == 4);
		strcpy(a, "child");
		_exit(check_failed);
	}
	reap(pid, 0);
	CHECK(!strcmp(b, "child"));
	CHECK(shmctl(id, IPC_STAT, &ds) == 0 && ds.shm_nattch == 2 && ds.shm_segsz == 5000);
	CHECK((long)shmat(id, a + 1, 0) == -1 && errno == EINVAL);
	CHECK((long)shmat(id, a, 0) == -1 && errno == EINVAL); /* taken */
	CHECK(shmctl(id, IPC_RMID, NULL) == 0);
	CHECK(shmctl(id, IPC_STAT, &ds) == 0 && ds.shm_perm.__key == IPC_PRIVATE);
	CHECK(shmdt(b) == 0);
	CHECK_ERR(shmdt(b), EINVAL);
	CHECK(shmdt(a) == 0);
	CHECK_ERR(shmctl(id, IPC_STAT, &ds), EINVAL);
}

static void semaphores(void)
{
	struct timespec soon = {0, 20000000};
	unsigned short all[2] = {3, 0};
	struct sembuf op[2];
	union semarg arg;
	pid_t pid;
	int id = semget(IPC_PRIVATE, 2, 0600 | IPC_CREAT);

	CHECK(id >= 0);
	CHECK_ERR(semget(IPC_PRIVATE, 0, 0600 | IPC_CREAT), EINVAL);
	arg.array = all;
	CHECK(semctl(id, 0, SETALL, arg) == 0);
	arg.val = 40000;
	CHECK_ERR(semctl(id, 0, SETVAL, arg), ERANGE);
	/* Both or none. */
	op[0] = (struct sembuf){0, -1, 0};
	op[1] = (struct sembuf){1, -1, IPC_NOWAIT};
	CHECK_ERR(semop(id, op, 2), EAGAIN);
	CHECK(semctl(id, 0, GETVAL) == 3);
	op[0] = (struct sembuf){2, 1, 0};
	CHECK_ERR(semop(id, op, 1), EFBIG);
	CHECK_ERR(semop(id, op, 0), EINVAL);
	CHECK_ERR(semop(id, op, 501), E2BIG);
	op[0] = (struct sembuf){0, -5, 0};
	CHECK_ERR(semtimedop(id, op, 1, &soon), EAGAIN);
	pid = fork();
	if (!pid) {
		op[0] = (struct sembuf){0, -2, SEM_UNDO};
		CHECK(semop(id, op, 1) == 0 && semctl(id, 0, GETVAL) == 1);
		_exit(check_failed);
	}
	reap(pid, 0);
	CHECK(semctl(id, 0, GETVAL) == 3); /* taken back at exit */
	pid = fork();
	if (!pid) {
		op[0] = (struct sembuf){1, -1, 0};
		CHECK_ERR(semop(id, op, 1), EIDRM);
		_exit(check_failed);
	}
	while (semctl(id, 1, GETNCNT) != 1)
		usleep(1000);
	CHECK(semctl(id, 0, IPC_RMID) == 0);
	reap(pid, 0);
	CHECK_ERR(semctl(id, 0, GETVAL), EINVAL);
}

static void messages(void)
{
	struct {
		long type;
		char text[32];
	} m = {2, "two"}, got;
	struct msqid_ds ds;
	int id = msgget(IPC_PRIVATE, 0600 | IPC_CREAT);

	CHECK(id >= 0);
	CHECK(msgsnd(id, &m, 4, 0) == 0);
	m.type = 1;
	strcpy(m.text, "one");
	CHECK(msgsnd(id, &m, 4, 0) == 0);
	m.type = 0;
	CHECK_ERR(msgsnd(id, &m, 4, 0), EINVAL);
	CHECK(msgctl(id, IPC_STAT, &ds) == 0 && ds.msg_qnum == 2);
	CHECK_ERR(msgrcv(id, &got, 2, 0, IPC_NOWAIT), E2BIG);
	CHECK(msgrcv(id, &got, sizeof got.text, -5, 0) == 4 && got.type == 1 && !strcmp(got.text, "one"));
	CHECK_ERR(msgrcv(id, &got, 4, 7, IPC_NOWAIT), ENOMSG);
	CHECK(msgrcv(id, &got, 2, 2, MSG_NOERROR) == 2 && got.text[0] == 't');
	CHECK(msgctl(id, IPC_RMID, NULL) == 0);
	CHECK_ERR(msgsnd(id, &got, 1, 0), EINVAL);
}

static void keys(void)
{
	const key_t key = 0x77617264;
	int id = msgget(key, 0600 | IPC_CREAT | IPC_EXCL);

	CHECK(id >= 0);
	CHECK_ERR(msgget(key, IPC_CREAT | IPC_EXCL), EEXIST);
	CHECK(msgget(key, 0) == id);
	CHECK(msgctl(id, IPC_RMID, NULL) == 0);
	CHECK_ERR(msgget(key, 0), ENOENT);
}

static void peer_memory(void)
{
	char secret[8192], copy[8192] = {0};
	struct iovec l[2] = {{copy, 100}, {copy + 100, 8092}}, r = {secret, sizeof secret};
	pid_t pid;
	int p[2];
	char c;

	memset(secret, 'p', sizeof secret);
	CHECK(pipe(p) == 0);
	pid = fork();
	if (!pid) {
		memset(secret, 'c', sizeof secret);
		CHECK(write(p[1], "x", 1) == 1);
		for (;;)
			pause();
	}
	CHECK(read(p[0], &c, 1) == 1);
	CHECK(process_vm_readv(pid, l, 2, &r, 1, 0) == 8192);
	CHECK(copy[0] == 'c' && copy[8191] == 'c' && secret[0] == 'p');
	CHECK(process_vm_writev(pid, l, 1, &r, 1, 0) == 100);
	CHECK_ERR(process_vm_readv(pid, l, 2, &r, 1, 1), EINVAL);
	r.iov_base = (void *)64;
	CHECK_ERR(process_vm_readv(pid, l, 2, &r, 1, 0), EFAULT);
	CHECK(kill(pid, SIGKILL) == 0);
	reap(pid, SIGKILL);
	CHECK_ERR(process_vm_readv(pid, l, 2, &r, 1, 0), ESRCH);
}

int main(void)
{
	shared_memory();
	semaphores();
	messages();
	keys();
	peer_memory();
	return check_done();
}
