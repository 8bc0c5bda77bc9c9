// A whole car in one call, as a simulation asks each step: car IMAGE X Y YAW, yaw in degrees. The page kernel/docs/tyre.md explains it.
#include <hardpan.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <vector>

static void must(hpan_error error) {
    if (error != HPAN_OK) {
        throw std::runtime_error(hpan_error_text(error));
    }
}

// Memory at a multiple of 128, where images and handles may stand.
struct Memory {
    explicit Memory(std::size_t size) : space(size + 128), at(space.data()) {
        std::size_t left = space.size();
        std::align(128, size, at, left);
    }
    std::vector<unsigned char> space;
    void *at;
};

int main(int count, char **arguments) try {
    if (count != 5) {
        std::fprintf(stderr, "usage: car IMAGE X Y YAW\n");
        return 2;
    }
    std::ifstream file(arguments[1], std::ios::binary);
    const std::vector<char> read((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    Memory image(read.size()), handle(hpan_view_size());
    std::copy(read.begin(), read.end(), static_cast<char *>(image.at));
    hpan_view *view = nullptr;
    must(hpan_open(handle.at, hpan_view_size(), image.at, read.size(), &view));

    const double yaw = std::atof(arguments[4]) * std::acos(-1.0) / 180, c = std::cos(yaw), s = std::sin(yaw);
    const double place[2] = {std::atof(arguments[2]), std::atof(arguments[3])};
    const double wheels[4][2] = {{1.35, 0.8}, {1.35, -0.8}, {-1.35, 0.8}, {-1.35, -0.8}};
    hpan_ts_query query = {};
    auto stand = [&](hpan_body &body, double forward, double left, double z) {
        body.centre[0] = place[0] + c * forward - s * left;
        body.centre[1] = place[1] + s * forward + c * left;
        body.centre[2] = z;
        const double rows[3][3] = {{c, -s, 0}, {s, c, 0}, {0, 0, 1}};
        std::copy(&rows[0][0], &rows[0][0] + 9, &body.ori[0][0]);
    };
    stand(query.chassis, 0, 0, 0.5);
    for (int i = 0; i < 4; i++) {
        stand(query.wheels[i].body, wheels[i][0], wheels[i][1], 0.28);
        query.wheels[i].tyre.strips = HPAN_STRIPS;
    }
    // the corners of the floor
    query.point_count = 4;
    for (int i = 0; i < 4; i++) {
        const double at[3] = {wheels[i][0] * 1.3, wheels[i][1], -0.3};
        std::copy(at, at + 3, query.points[i].at);
    }

    // kept from step to step: what has no valid result keeps the last
    static hpan_ts_result result = {};
    must(hpan_ts_ask(view, &query, &result));
    for (int i = 0; i < 4; i++) {
        const hpan_contact_found &w = result.wheels[i];
        std::printf("wheel %d status %d height %.6f penetration %.6f mu %.2f\n", i, result.wheel_status[i], w.height, w.penetration, w.mu);
    }
    for (int i = 0; i < 4; i++) {
        std::printf("floor %d status %d clear %.6f\n", i, result.point_status[i], result.points[i].local_height);
    }
    return 0;
} catch (const std::exception &e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
}
