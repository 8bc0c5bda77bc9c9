// Handles of C++: they close themselves, move and do not copy. handles IMAGE
#include <hardpan.hpp>
#include <hpan_vs.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

static_assert(!std::is_copy_constructible<hpan::View>::value, "a handle lies at one place");
static_assert(std::is_nothrow_move_constructible<hpan::View>::value, "its owner may move");

static void expect(bool holds, int line) {
    if (!holds) {
        std::fprintf(stderr, "line %d\n", line);
        std::exit(1);
    }
}
#define EXPECT(holds) expect(holds, __LINE__)

static int nothing(double, double, double, double *z, double *, double *, double *, double *, void *) {
    *z = -1;
    return 0;
}

int main(int count, char **arguments) {
    EXPECT(count == 2);
    std::FILE *file = std::fopen(arguments[1], "rb");
    EXPECT(file != nullptr);
    std::fseek(file, 0, SEEK_END);
    const std::size_t length = static_cast<std::size_t>(std::ftell(file));
    std::rewind(file);
    void *bytes = ::operator new(length, std::align_val_t(128), std::nothrow);
    EXPECT(bytes != nullptr && std::fread(bytes, 1, length, file) == length);
    std::fclose(file);

    hpan_answer answer;
    hpan_ground ground;
    {
        hpan::View view;
        EXPECT(!view && hpan_closest(view, 0, 0, 5, &answer) == HPAN_ERROR_NULL);
        EXPECT(view.open(bytes, 100) == HPAN_ERROR_IMAGE_SHORT && !view);
        EXPECT(view.open_verified(bytes, length) == HPAN_OK && view);
        hpan::View moved(std::move(view));
        EXPECT(!view && moved);
        hpan::Cursor cursors[4];
        for (hpan::Cursor &cursor : cursors) {
            EXPECT(cursor.start() == HPAN_OK);
            EXPECT(hpan_closest_cursor(moved, cursor, 0, 0, 5, &answer) == HPAN_OK && answer.status == HPAN_FOUND);
        }
        EXPECT(hpan_get_ground(moved, &answer, &ground) == HPAN_OK);
        std::printf("%.17g %.17g\n", ground.z, ground.mu);
        hpan::Verifier verifier;
        EXPECT(verifier.start(moved) == HPAN_OK);
        std::uint8_t done = 0;
        EXPECT(hpan_verifier_step(verifier, SIZE_MAX, nullptr, 0, &done, nullptr) == HPAN_OK && done == 1);
        hpan_surface surfaces[2] = {};
        surfaces[0].hpan_vs_function = nothing;
        surfaces[1].view = moved;
        hpan::Stack stack;
        EXPECT(stack.start(surfaces, 2) == HPAN_OK);
        hpan_stack *user = stack;
        double out[5];
        EXPECT(hpan_vs_terrain_func(0, 0, 5, &out[0], &out[1], &out[2], &out[3], &out[4], user) == 1 && out[0] == ground.z);
        view = std::move(moved);
        EXPECT(view && !moved);
        view.close();
        EXPECT(!view);
    }
    ::operator delete(bytes, std::align_val_t(128), std::nothrow);
    return 0;
}
