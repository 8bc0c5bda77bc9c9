/* What the program of hashes needs from where it runs. */
#ifndef BOARD_H
#define BOARD_H

#include <stddef.h>
#include <stdint.h>

/* Prints a text. */
void put(const char *text);
/* Ends the program. */
void stop(int code);
/* Bytes of stack below here that a call writes to. */
size_t stack(void (*call)(void));

void hash_all(const void *image, const void *queries, int stacks);

#endif
