/* devpts: numbers of pseudo-terminals and the file system that shows them. */
#ifndef WARD_FS_DEVPTS_H
#define WARD_FS_DEVPTS_H
struct tty;
int devpts_new_index(struct tty *t); /* lowest free number, or -ENOSPC */
void devpts_free_index(int index, struct tty *t);
#endif
