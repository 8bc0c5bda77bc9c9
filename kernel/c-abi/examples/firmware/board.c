/* QEMU's mps2-an386, a Cortex-M4F: start, console and end by semihosting. Put the start code of your chip here. */
#include "board.h"

#include <stdint.h>

extern uint32_t _stack, _data, _data_end, _data_load, _bss, _bss_end;
int main(void);
void start(void);

/* Vectors: stack, reset, and faults, which end the program. */
static void fault(void) { stop(99); }
__attribute__((section(".vectors"), used)) static void (*const vectors[])(void) = {
    (void (*)(void))(uintptr_t)&_stack, start, fault, fault, fault, fault, fault,
};

static uint32_t semihosting(uint32_t operation, const void *argument) {
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void put(const char *text) {
    static uint32_t console;
    if (console == 0) {
        const void *const open[] = {":tt", (const void *)4, (const void *)3}; /* stdout */
        console = semihosting(1, open);
    }
    uint32_t length = 0;
    while (text[length] != 0) {
        length++;
    }
    const uint32_t write[] = {console, (uint32_t)(uintptr_t)text, length};
    semihosting(5, write);
}

void stop(int code) {
    const uint32_t block[] = {0x20026, (uint32_t)code};
    semihosting(0x20, block);
    for (;;) {
    }
}

void start(void) {
    *(volatile uint32_t *)0xe000ed88 |= 0xf << 20; /* the FPU */
    __asm__ volatile("dsb\n isb" ::: "memory");
    uint32_t *from = &_data_load;
    for (uint32_t *to = &_data; to < &_data_end; to++) {
        *to = *from++;
    }
    for (uint32_t *to = &_bss; to < &_bss_end; to++) {
        *to = 0;
    }
    stop(main());
}
