/*
 * Four wheels a millisecond, as a rig asks: loop_1khz IMAGE [SECONDS]. The page kernel/docs/hil.md explains it.
 *
 * The image is mapped, proven, locked in memory and touched before the loop; the thread gets real-time priority where that is
 * allowed. Then it drives to and fro across the image at 30 m/s, and prints how long the four wheels took. At the end it asks
 * at random places after all caches were emptied: what the first tick after a long pause costs.
 */
#define _DEFAULT_SOURCE
#define _POSIX_C_SOURCE 200809L
#include <hardpan.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { WHEELS = 4, PERIOD = 1000000, COLD = 200, TRIES = 3, BUCKETS = 32 };

/* More than the caches of one processor: what is read in between takes the image out of them. */
static const size_t SWEEP = (size_t)64 << 20;

/* Handles and all else that the loop touches, in memory that is never given back. */
static union {
    unsigned char bytes[1024];
    long double aligned;
} view_room, cursor_room[WHEELS];

static const hpan_view *view;
static hpan_cursor *cursors[WHEELS];
static double low[3], high[3];

static void must(hpan_error error, const char *what) {
    if (error != HPAN_OK) {
        fprintf(stderr, "error: %s: %s\n", what, hpan_error_text(error));
        exit(1);
    }
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Maps a file, whole and at once. */
static const unsigned char *map(const char *path, size_t *length) {
    struct stat s;
    const int file = open(path, O_RDONLY);
    if (file < 0 || fstat(file, &s) != 0 || s.st_size == 0) {
        fprintf(stderr, "error: %s: %s\n", path, errno != 0 ? strerror(errno) : "empty");
        exit(1);
    }
    *length = (size_t)s.st_size;
    void *bytes = mmap(NULL, *length, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (bytes == MAP_FAILED) {
        fprintf(stderr, "error: %s: %s\n", path, strerror(errno));
        exit(1);
    }
    return bytes;
}

/* Locks memory and takes real-time priority; where the system refuses, says so and goes on. */
static void real_time(void) {
    struct sched_param priority;
    memset(&priority, 0, sizeof priority);
    priority.sched_priority = 80;
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
        printf("warning: memory is not locked (%s): ulimit -l, or CAP_IPC_LOCK\n", strerror(errno));
    }
    if (sched_setscheduler(0, SCHED_FIFO, &priority) != 0) {
        printf("warning: no real-time priority (%s): ulimit -r, or CAP_SYS_NICE\n", strerror(errno));
    }
}

/* New cursors, which know no place yet. */
static void start_cursors(void) {
    for (int i = 0; i < WHEELS; i++) {
        must(hpan_cursor_start(&cursor_room[i], sizeof cursor_room[i], &cursors[i]), "cursor");
    }
}

/* One vehicle at a place: four wheels, asked and converted. Returns a sum, so that nothing is left out. */
static double tick(double x, double y) {
    static const double at[WHEELS][2] = {{0, 0.8}, {0, -0.8}, {-2.7, 0.8}, {-2.7, -0.8}};
    double sum = 0;
    for (int i = 0; i < WHEELS; i++) {
        hpan_answer answer;
        hpan_ground ground;
        hpan_closest_cursor(view, cursors[i], x + at[i][0], y + at[i][1], high[2] + 1, &answer);
        hpan_get_ground(view, &answer, &ground);
        sum += ground.z + ground.dzdx + ground.dzdy + ground.mu;
    }
    return sum;
}

static int by_size(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Prints one row; the times are sorted by it. */
static void row(const char *name, int64_t *ns, size_t count) {
    qsort(ns, count, sizeof *ns, by_size);
    printf("%-38s %8lld %8lld %8lld %8lld\n", name, (long long)ns[count / 2], (long long)ns[count * 99 / 100],
           (long long)ns[count * 999 / 1000], (long long)ns[count - 1]);
}

/* Prints how many times lie below each power of two. */
static void histogram(const int64_t *ns, size_t count) {
    size_t buckets[BUCKETS] = {0};
    int last = 0;
    for (size_t i = 0; i < count; i++) {
        int b = 0;
        while (b < BUCKETS - 1 && ns[i] >= (int64_t)1 << b) {
            b++;
        }
        buckets[b]++;
        last = b > last ? b : last;
    }
    int first = 0;
    while (buckets[first] == 0) {
        first++;
    }
    for (int b = first; b <= last; b++) {
        printf("  below %8lld ns %8zu ", (long long)1 << b, buckets[b]);
        for (size_t bar = 0; bar * count < buckets[b] * 50; bar++) {
            putchar('#');
        }
        putchar('\n');
    }
}

int main(int count, char **arguments) {
    const double seconds = count == 3 ? atof(arguments[2]) : 10;
    if (count < 2 || count > 3 || !(seconds > 0 && seconds <= 3600)) {
        fprintf(stderr, "usage: loop_1khz IMAGE [SECONDS, at most 3600]\n");
        return 2;
    }
    size_t length;
    const unsigned char *bytes = map(arguments[1], &length);
    /* proven before the loop: then the stated bound holds, and no answer is of a flipped bit */
    hpan_view *opened;
    uint32_t where = 0;
    int64_t began = now();
    must(hpan_open_verified(&view_room, sizeof view_room, bytes, length, &opened, &where), arguments[1]);
    view = opened;
    hpan_facts facts;
    must(hpan_get_facts(view, &facts), "facts");
    printf("%s: %llu triangles, %zu bytes, proven in %.1f ms; at most %u lines and %u tests a wheel\n", arguments[1],
           (unsigned long long)facts.triangles, length, (double)(now() - began) / 1e6, facts.bound.lines, facts.bound.tests);
    must(hpan_get_bounds(view, low, high), "bounds");
    start_cursors();

    const size_t ticks = (size_t)(seconds * 1e9 / PERIOD) + 1;
    int64_t *took = calloc(ticks, sizeof *took), *late = calloc(ticks, sizeof *late), cold[COLD], least[COLD];
    volatile unsigned char *sweep = malloc(SWEEP);
    if (took == NULL || late == NULL || sweep == NULL) {
        fprintf(stderr, "error: no memory\n");
        return 1;
    }
    real_time();
    /* every page once, so that none is fetched within the loop */
    volatile unsigned sum = 0;
    for (size_t i = 0; i < length; i += 4096) {
        sum += bytes[i];
    }
    memset(took, 1, ticks * sizeof *took);
    memset(late, 1, ticks * sizeof *late);
    for (size_t i = 0; i < SWEEP; i += 64) {
        sweep[i] = (unsigned char)i;
    }

    volatile double all = 0;
    const double width = high[0] - low[0], depth = high[1] - low[1];
    int64_t next = now() + PERIOD;
    for (size_t i = 0; i < ticks; i++, next += PERIOD) {
        const struct timespec until = {(time_t)(next / 1000000000), (long)(next % 1000000000)};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
        }
        const int64_t start = now();
        /* to and fro along the diagonal, 30 mm a tick */
        const double way = 0.03 * (double)i / (width > 1 ? width : 1), part = way - 2 * (double)(long long)(way / 2);
        const double along = part < 1 ? part : 2 - part;
        all += tick(low[0] + along * width, low[1] + along * depth);
        took[i] = now() - start;
        late[i] = start - next;
    }

    uint64_t seed = 1;
    for (int i = 0; i < COLD; i++) {
        double place[2];
        for (int k = 0; k < 2; k++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            place[k] = (double)(seed >> 11) / 9007199254740992.0;
        }
        /* the least of some tries is what the image costs, without what else the machine did; cursors forget the place */
        for (int k = 0; k < TRIES; k++) {
            start_cursors();
            for (size_t byte = 0; byte < SWEEP; byte += 64) {
                sum += sweep[byte];
            }
            const int64_t start = now();
            all += tick(low[0] + place[0] * width, low[1] + place[1] * depth);
            const int64_t time = now() - start;
            cold[i] = k == 0 ? time : cold[i];
            least[i] = k == 0 || time < least[i] ? time : least[i];
        }
    }

    /* the same on every machine, and by any other way to ask the same places */
    printf("sum of all heights, slopes and frictions: %.17g\n", all);
    printf("%-38s %8s %8s %8s %8s\n", "ns", "p50", "p99", "p99.9", "worst");
    row("four wheels, 1 kHz, cursors", took, ticks);
    row("four wheels, cold caches", cold, COLD);
    row("four wheels, cold caches, best of 3", least, COLD);
    row("the loop woke late by", late, ticks);
    printf("four wheels, cold caches, worst: %.1f us of 1000; of places tried thrice %.1f us\n", (double)cold[COLD - 1] / 1000,
           (double)least[COLD - 1] / 1000);
    histogram(took, ticks);
    for (int i = 0; i < WHEELS; i++) {
        must(hpan_cursor_close(cursors[i]), "close");
    }
    must(hpan_close(opened), "close");
    free((void *)sweep);
    free(took);
    free(late);
    munmap((void *)bytes, length);
    return 0;
}
