/* The terminal of `-t`: bytes between the sandbox's console tty and a stream to the process outside that relays them. */
#ifndef WARD_CONSOLE_H
#define WARD_CONSOLE_H
#include <stdint.h>

struct console;
struct tty;
/* STREAM is a non-blocking socket, taken over. NULL: no memory (STREAM is closed). */
struct console *console_new(int stream, uint16_t rows, uint16_t cols);
struct tty *console_tty(struct console *c);
void console_winsize(struct console *c, uint16_t rows, uint16_t cols);
/* The program is gone: what it wrote goes out (bounded wait), the terminal hangs up. */
void console_free(struct console *c);
#endif
