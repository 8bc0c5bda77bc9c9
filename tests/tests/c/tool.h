/* What the programs of these tests share: files as images, handles in memory of their own, answers as text. */
#ifndef TOOL_H
#define TOOL_H

#define _POSIX_C_SOURCE 200809L
#include <hardpan.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void must(hpan_error error, const char *what) {
    if (error != HPAN_OK) {
        fprintf(stderr, "%s: %s\n", what, hpan_error_text(error));
        exit(1);
    }
}

static inline void expect_(int holds, const char *what, int line) {
    if (!holds) {
        fprintf(stderr, "line %d: not %s\n", line, what);
        exit(1);
    }
}
#define EXPECT(holds) expect_(holds, #holds, __LINE__)

/* Memory of which a handle can be made. */
static inline void *memory(size_t align, size_t size) {
    void *to = NULL;
    if (posix_memalign(&to, align < sizeof(void *) ? sizeof(void *) : align, size) != 0) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    return to;
}

/* A whole file at a multiple of 128. */
static inline void *load(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(1);
    }
    *length = (size_t)ftell(file);
    rewind(file);
    void *bytes = memory(128, *length);
    if (fread(bytes, 1, *length, file) != *length) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(1);
    }
    fclose(file);
    return bytes;
}

/* An opened image; its memory is the handle's. */
static inline hpan_view *opened(const void *bytes, size_t length) {
    hpan_view *view = NULL;
    must(hpan_open(memory(hpan_view_align(), hpan_view_size()), hpan_view_size(), bytes, length, &view), "open");
    return view;
}

static inline uint64_t bits(double v) {
    uint64_t b;
    memcpy(&b, &v, sizeof b);
    return b;
}

static inline uint32_t bits_f32(float v) {
    uint32_t b;
    memcpy(&b, &v, sizeof b);
    return b;
}

static inline void print_hit(const hpan_hit *h) {
    printf(" %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %u %u %u %u %" PRIu32 " %" PRIu32 " %" PRIu32, h->z, h->normal[0],
           h->normal[1], h->normal[2], h->material, h->source, h->leaf, h->reach, h->place[0], h->place[1], h->place[2]);
}

static inline void print_answer(const char *name, const hpan_answer *a) {
    printf("%s %u", name, a->status);
    print_hit(&a->hit);
    printf("\n");
}

#endif
