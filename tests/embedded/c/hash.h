/* What the program of hashes needs from where it runs, beside a console and an end. */
#ifndef HASH_H
#define HASH_H

#include "board.h" /* of kernel/c-abi/examples/firmware */

#include <stddef.h>
#include <stdint.h>

/* Bytes of stack below here that a call writes to. */
size_t stack(void (*call)(void));

void hash_all(const void *image, const void *queries, int stacks);

#endif
