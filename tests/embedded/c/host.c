/* The program of hashes here: host IMAGE QUERIES. */
#define _POSIX_C_SOURCE 200809L
#include "hash.h"

#include <stdio.h>
#include <stdlib.h>

void put(const char *text) { fputs(text, stdout); }
void stop(int code) { exit(code); }
size_t stack(void (*call)(void)) {
    call();
    return 0;
}

static void *load(const char *path) {
    FILE *file = fopen(path, "rb");
    void *bytes = NULL;
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        exit(2);
    }
    const size_t length = (size_t)ftell(file);
    rewind(file);
    if (posix_memalign(&bytes, 128, length) != 0 || fread(bytes, 1, length, file) != length) {
        exit(2);
    }
    fclose(file);
    return bytes;
}

int main(int count, char **arguments) {
    if (count != 3) {
        return 2;
    }
    void *image = load(arguments[1]), *queries = load(arguments[2]);
    hash_all(image, queries, 0);
    free(image);
    free(queries);
    return 0;
}
