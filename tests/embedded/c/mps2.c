/* The program of hashes on the board of the firmware example in C; stack by paint. */
#include "hash.h"

__attribute__((noinline)) size_t stack(void (*call)(void)) {
    enum { DEPTH = 6144 };
    const uint32_t paint = 0xcccccccc;
    uintptr_t sp;
    __asm__ volatile("mov %0, sp" : "=r"(sp));
    volatile uint32_t *low = (volatile uint32_t *)(sp - DEPTH);
    for (int i = 0; i < DEPTH / 4; i++) {
        low[i] = paint;
    }
    call();
    for (int i = 0; i < DEPTH / 4; i++) {
        if (low[i] != paint) {
            if (i == 0) {
                stop(98);
            }
            return (size_t)(DEPTH - 4 * i);
        }
    }
    return 0;
}

int main(void) {
    hash_all((const void *)0x21000000, (const void *)0x21f00000, 1);
    return 0;
}
