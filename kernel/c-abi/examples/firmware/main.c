/*
 * Ground under four wheels on a Cortex-M4F, from a terrain image in flash: proven before the loop starts, asked once a tick.
 * No system, no heap, no floating point but in the slope. Built from the repository's folder, and run in QEMU:
 *
 *   cargo rustc --profile library -p hardpan-c --crate-type staticlib --target thumbv7em-none-eabihf
 *   E=kernel/c-abi/examples/firmware; arm-none-eabi-gcc -std=c99 -O2 -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -ffreestanding -nostdlib -ffunction-sections -Wl,--gc-sections -Wl,-z,noexecstack -I kernel/c-abi/include -DIMAGE='"firmware-example/ramp.hpan"' -T $E/board.ld $E/main.c $E/board.c $E/image.S target/thumbv7em-none-eabihf/library/libhardpan_c.a -lgcc -o firmware
 *   qemu-system-arm -M mps2-an386 -display none -semihosting-config enable=on,target=native -kernel firmware
 *
 * Exit codes: 0 fine, 1 no image, 2 damaged or too many tiles.
 */
#include "board.h"

#include <hardpan.h>

/* Bytes of flash that a step of the proof reads, and tiles of the image at most. */
enum { STEP = 256, TILES = 512, WHEELS = 4, TICKS = 4 };

extern const unsigned char image[], image_end[];

static uint64_t view_room[80], verifier_room[80];
static unsigned char damage[TILES / 8];

static void refuse(int code, const char *what, hpan_error why) {
    put(what);
    put(hpan_error_text(why));
    put("\n");
    stop(code);
}

/* Prints a number of so many decimals, without zeros at its end. */
static void number(const char *name, int32_t v, int decimals) {
    char digits[16];
    int at = sizeof digits - 1;
    uint32_t rest = v < 0 ? -(uint32_t)v : (uint32_t)v;
    digits[at] = 0;
    for (int k = 0; k < decimals; k++, rest /= 10) {
        if (rest % 10 != 0 || digits[at] != 0) {
            digits[--at] = (char)('0' + rest % 10);
        }
    }
    if (digits[at] != 0) {
        digits[--at] = '.';
    }
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    put(name);
    put(v < 0 ? "-" : "");
    put(digits + at);
}

/* Thousandths of a number, and metres with 24 bits behind the point from millimetres. */
static int32_t thousandths(float v) { return (int32_t)(v * 1000 + (v < 0 ? -0.5f : 0.5f)); }
static int64_t metres(int64_t mm) { return mm * (1 << 24) / 1000; }

/* Whether every byte of the image is what was built. A watchdog can be fed between two steps. */
static void prove(hpan_view *view) {
    hpan_verifier *verifier;
    hpan_error error = hpan_verifier_start(verifier_room, sizeof verifier_room, view, &verifier);
    uint32_t where = 0;
    uint8_t done = 0;
    while (error == HPAN_OK && done == 0) {
        error = hpan_verifier_step(verifier, STEP, damage, sizeof damage, &done, &where);
    }
    if (error != HPAN_OK) {
        refuse(2, "the image is damaged: ", error);
    }
    hpan_verifier_close(verifier);
}

int main(void) {
    hpan_view *view;
    const hpan_error error = hpan_open(view_room, sizeof view_room, image, (size_t)(image_end - image), &view);
    if (error != HPAN_OK) {
        refuse(1, "no image: ", error);
    }
    prove(view);
    /* on a board this is the timer's interrupt; hubs in millimetres */
    for (int32_t tick = 0; tick < TICKS; tick++) {
        static const int32_t at[WHEELS][2] = {{0, 800}, {0, -800}, {-2600, 800}, {-2600, -800}};
        for (int32_t wheel = 0; wheel < WHEELS; wheel++) {
            hpan_answer answer;
            int64_t z;
            float slope[2], surface[3];
            hpan_closest_fixed(view, metres(68000 + 10000 * tick + at[wheel][0]), metres(at[wheel][1]), metres(7000), &answer);
            number("", tick, 0);
            number(" ", wheel, 0);
            if (answer.status != HPAN_FOUND) {
                put(": no ground\n");
                continue;
            }
            hpan_z_fixed(view, &answer.hit, &z);
            hpan_slope_f32(view, &answer.hit, slope);
            hpan_surface_f32(view, &answer, surface);
            number(": ", (int32_t)((z * 1000 + (1 << 23)) >> 24), 0);
            number(" mm, slope ", thousandths(slope[0]), 3);
            number(" ", thousandths(slope[1]), 3);
            number(", mu ", thousandths(surface[0]), 3);
            put("\n");
        }
    }
    hpan_close(view);
    return 0;
}
