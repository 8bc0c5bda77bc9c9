/* What a program may do wrong, each with its error: bad IMAGE BROKEN TILE, of which BROKEN is IMAGE with a flipped bit in that tile. */
#include "tool.h"
#include <hpan_vs.h>

static hpan_answer a;
static hpan_point p;
static hpan_options o;
static double d[8];
static float f[8];
static int64_t n;
static uint32_t u;
static uint8_t b;
static size_t s;
static char text[8];
static hpan_hit hits[2];
static hpan_layers_found found;
static hpan_cost cost;
static hpan_facts facts;
static hpan_material material;
static hpan_ground ground;

static void see(hpan_trace *t, void *user) {
    (void)t;
    (void)user;
}

/* Every function that takes a view, with one that is none. */
static void wrong_view(hpan_view *v, hpan_cursor *c, hpan_error e) {
    void *room = memory(hpan_verifier_align(), hpan_verifier_size());
    hpan_verifier *verifier = (hpan_verifier *)&n;
    EXPECT(hpan_close(v) == e);
    EXPECT(hpan_set_damage(v, NULL, 0) == e);
    EXPECT(hpan_get_facts(v, &facts) == e);
    EXPECT(hpan_get_identity(v, (uint8_t *)d) == e);
    EXPECT(hpan_get_bounds(v, d, d + 3) == e);
    EXPECT(hpan_get_options(v, &o) == e);
    EXPECT(hpan_get_material(v, 0, &material) == e);
    EXPECT(hpan_get_material_name(v, 0, text, sizeof text, &s) == e);
    EXPECT(hpan_find_material(v, "x", 1, &u) == e);
    EXPECT(hpan_get_source_name(v, 0, text, sizeof text, &s) == e);
    EXPECT(hpan_point_f64(v, 0, 0, 0, &p) == e && hpan_point_f32(v, 0, 0, 0, &p) == e && hpan_point_fixed(v, 0, 0, 0, &p) == e);
    EXPECT(hpan_steps(v, 1, &n) == e);
    EXPECT(hpan_closest(v, 0, 0, 0, &a) == e && hpan_closest_f32(v, 0, 0, 0, &a) == e);
    EXPECT(hpan_closest_fixed(v, 0, 0, 0, &a) == e && hpan_closest_at(v, &p, &a) == e);
    EXPECT(hpan_closest_with(v, 0, 0, 0, &o, &a) == e && hpan_closest_with_at(v, &p, &o, &a) == e);
    EXPECT(hpan_closest_costed(v, 0, 0, 0, &a, &cost) == e && hpan_closest_costed_at(v, &p, &a, &cost) == e);
    EXPECT(hpan_explain(v, 0, 0, 0, see, NULL, &a) == e);
    EXPECT(hpan_below(v, 0, 0, 0, &a) == e && hpan_below_at(v, &p, &a) == e);
    EXPECT(hpan_segment(v, 0, 0, 0, 1, &a) == e && hpan_segment_at(v, &p, 1, &a) == e);
    EXPECT(hpan_layers(v, 0, 0, hits, 2, &found) == e && hpan_layers_at(v, &p, hits, 2, &found) == e);
    EXPECT(hpan_closest_batch(v, d, 1, &a) == e && hpan_closest_batch_f32(v, f, 1, &a) == e);
    EXPECT(hpan_closest_batch_at(v, &p, 1, &a) == e);
    EXPECT(hpan_closest_cursor(v, c, 0, 0, 0, &a) == e && hpan_closest_cursor_f32(v, c, 0, 0, 0, &a) == e);
    EXPECT(hpan_closest_cursor_fixed(v, c, 0, 0, 0, &a) == e && hpan_closest_cursor_at(v, c, &p, &a) == e);
    EXPECT(hpan_z_f64(v, &a.hit, d) == e && hpan_z_fixed(v, &a.hit, &n) == e);
    EXPECT(hpan_slope_f64(v, &a.hit, d) == e && hpan_slope_f32(v, &a.hit, f) == e);
    EXPECT(hpan_normal_f64(v, &a.hit, d) == e && hpan_normal_f32(v, &a.hit, f) == e);
    EXPECT(hpan_surface_f64(v, &a, d) == e && hpan_surface_f32(v, &a, f) == e);
    EXPECT(hpan_get_ground(v, &a, &ground) == e);
    EXPECT(hpan_verifier_start(room, hpan_verifier_size(), v, &verifier) == e && verifier == NULL);
    EXPECT(hpan_vs_terrain_func_f64(0, 0, 0, d, d + 1, d + 2, d + 3, d + 4, v) == 0);
    free(room);
}

static void wrong_cursor(hpan_view *v, hpan_cursor *c, hpan_error e) {
    EXPECT(hpan_cursor_close(c) == e);
    EXPECT(hpan_closest_cursor(v, c, 0, 0, 0, &a) == e && hpan_closest_cursor_f32(v, c, 0, 0, 0, &a) == e);
    EXPECT(hpan_closest_cursor_fixed(v, c, 0, 0, 0, &a) == e && hpan_closest_cursor_at(v, c, &p, &a) == e);
}

static void wrong_verifier(hpan_verifier *v, hpan_error e) {
    EXPECT(hpan_verifier_close(v) == e && hpan_verifier_step(v, 1, NULL, 0, &b, &u) == e);
    EXPECT(hpan_verifier_damaged_sections(v, &u) == e && hpan_verifier_usable(v, &b) == e);
}

static void wrong_memory(const unsigned char *bytes, size_t length) {
    const size_t size = hpan_view_size();
    unsigned char *room = memory(hpan_view_align(), size + 8);
    hpan_view *v = (hpan_view *)&n;
    EXPECT(hpan_open(NULL, size, bytes, length, &v) == HPAN_ERROR_NULL && v == NULL);
    EXPECT(hpan_open(room + 1, size, bytes, length, &v) == HPAN_ERROR_ALIGNMENT && v == NULL);
    EXPECT(hpan_open(room, size - 1, bytes, length, &v) == HPAN_ERROR_ROOM && v == NULL);
    EXPECT(hpan_open(room, 0, bytes, length, &v) == HPAN_ERROR_ROOM);
    EXPECT(hpan_open(room, size, bytes, length, NULL) == HPAN_ERROR_NULL);
    EXPECT(hpan_open(room, size, NULL, length, &v) == HPAN_ERROR_NULL);
    EXPECT(hpan_open(room, size, bytes, SIZE_MAX, &v) == HPAN_ERROR_COUNT);
    /* misaligned, and cut short at every length that matters */
    EXPECT(hpan_open(room, size, bytes + 64, length - 64, &v) == HPAN_ERROR_IMAGE_ADDRESS);
    const size_t lengths[] = {0, 1, 127, 1023, 1024, length / 2, length - 1};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        unsigned char *part = memory(128, lengths[i] + 1);
        memcpy(part, bytes, lengths[i]);
        EXPECT(hpan_open(room, size, part, lengths[i], &v) == HPAN_ERROR_IMAGE_SHORT && v == NULL);
        EXPECT(hpan_open_verified(room, size, part, lengths[i], &v, NULL) == HPAN_ERROR_IMAGE_SHORT && v == NULL);
        free(part);
    }
    unsigned char *other = memory(128, length);
    memset(other, 0xFF, length);
    EXPECT(hpan_open(room, size, other, length, &v) == HPAN_ERROR_BLANK);
    memset(other, 'x', length);
    EXPECT(hpan_open(room, size, other, length, &v) == HPAN_ERROR_NOT_AN_IMAGE);
    memcpy(other, bytes, length);
    other[600] ^= 1;
    EXPECT(hpan_open(room, size, other, length, &v) == HPAN_ERROR_HEAD_DAMAGED);
    free(other);
    free(room);
}

static void wrong_arguments(hpan_view *v, const hpan_cursor *c) {
    (void)c;
    EXPECT(hpan_closest(v, 0, 0, 0, NULL) == HPAN_ERROR_NULL);
    EXPECT(hpan_closest(v, 0, 0, 0, (hpan_answer *)((char *)&a + 1)) == HPAN_ERROR_ALIGNMENT);
    EXPECT(hpan_closest_at(v, NULL, &a) == HPAN_ERROR_NULL);
    EXPECT(hpan_explain(v, 0, 0, 0, NULL, NULL, &a) == HPAN_ERROR_NULL);
    EXPECT(hpan_closest_with(v, 0, 0, 0, NULL, &a) == HPAN_ERROR_NULL);
    must(hpan_get_options(v, &o), "options");
    hpan_options bad = o;
    bad.fallback = 4;
    EXPECT(hpan_closest_with(v, 0, 0, 0, &bad, &a) == HPAN_ERROR_OPTION);
    bad = o;
    bad.near_steps = -1;
    EXPECT(hpan_closest_with(v, 0, 0, 0, &bad, &a) == HPAN_ERROR_OPTION);
    bad = o;
    bad.far_steps = INT64_MIN;
    EXPECT(hpan_closest_with(v, 0, 0, 0, &bad, &a) == HPAN_ERROR_OPTION);
    /* the largest windows are large, and no error */
    bad.near_steps = bad.far_steps = INT64_MAX;
    EXPECT(hpan_closest_with(v, 0, 0, 1e12, &bad, &a) == HPAN_OK);
    EXPECT(hpan_closest(v, NAN, 0, 0, &a) == HPAN_OK && a.status == HPAN_NOT_IN_IMAGE && a.hit.reach == HPAN_FALLBACK);
    EXPECT(hpan_closest_f32(v, 0, INFINITY, 0, &a) == HPAN_OK && a.status == HPAN_NOT_IN_IMAGE);
    EXPECT(hpan_segment(v, 0, 0, 5, NAN, &a) == HPAN_OK && a.status == HPAN_NO_GROUND);
    EXPECT(hpan_point_f64(v, 0, 0, NAN, &p) == HPAN_ERROR_POSITION);
    EXPECT(hpan_closest_at(v, &p, &a) == HPAN_OK && a.status == HPAN_NOT_IN_IMAGE);
    EXPECT(hpan_steps(v, INFINITY, &n) == HPAN_ERROR_POSITION && n == 0);
    /* a batch of none, and of too many to be meant */
    EXPECT(hpan_closest_batch(v, NULL, 0, NULL) == HPAN_OK);
    const size_t many[] = {(size_t)1 << 31, ((size_t)1 << 31) + 1, (size_t)-1, (size_t)-1 / 24, (size_t)-1 / 64 + 2};
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        EXPECT(hpan_closest_batch(v, d, many[i], &a) == HPAN_ERROR_COUNT);
        EXPECT(hpan_closest_batch_f32(v, f, many[i], &a) == HPAN_ERROR_COUNT);
        EXPECT(hpan_closest_batch_at(v, &p, many[i], &a) == HPAN_ERROR_COUNT);
        EXPECT(hpan_layers(v, 0, 0, hits, many[i], &found) == HPAN_ERROR_COUNT);
        EXPECT(hpan_find_material(v, "Asphalt", many[i], &u) == HPAN_ERROR_COUNT);
        EXPECT(hpan_set_damage(v, &b, many[i]) == HPAN_ERROR_COUNT);
    }
    EXPECT(hpan_closest_batch(v, NULL, 1, &a) == HPAN_ERROR_NULL && hpan_closest_batch(v, d, 1, NULL) == HPAN_ERROR_NULL);
    EXPECT(hpan_closest_batch(v, (double *)((char *)d + 1), 1, &a) == HPAN_ERROR_ALIGNMENT);
    EXPECT(hpan_set_damage(v, NULL, 1) == HPAN_ERROR_NULL);
    /* garbage in an answer gives numbers, and no crash */
    memset(&a, 0xCC, sizeof a);
    EXPECT(hpan_get_ground(v, &a, &ground) == HPAN_OK && hpan_normal_f32(v, &a.hit, f) == HPAN_OK);
    a.status = HPAN_FOUND;
    a.hit.normal[2] = INT64_MIN;
    EXPECT(hpan_get_ground(v, &a, &ground) == HPAN_OK && hpan_z_fixed(v, &a.hit, &n) == HPAN_OK);
}

static void strings(hpan_view *v) {
    /* without end: seven letters, and no zero behind them */
    const char name[] = {'A', 's', 'p', 'h', 'a', 'l', 't'};
    char *ending = memory(8, sizeof name);
    memcpy(ending, name, sizeof name);
    EXPECT(hpan_find_material(v, ending, sizeof name, &u) == HPAN_OK && u == 0);
    EXPECT(hpan_find_material(v, ending, sizeof name - 1, &u) == HPAN_ERROR_INDEX);
    EXPECT(hpan_find_material(v, NULL, 0, &u) == HPAN_ERROR_INDEX);
    EXPECT(hpan_find_material(v, NULL, 3, &u) == HPAN_ERROR_NULL);
    free(ending);
    /* of what is too long nothing is written */
    memset(text, '#', sizeof text);
    for (size_t room = 0; room < sizeof text; room++) {
        EXPECT(hpan_get_material_name(v, 0, text, room, &s) == HPAN_ERROR_ROOM && s == 8);
    }
    EXPECT(memcmp(text, "########", 8) == 0);
    EXPECT(hpan_get_material_name(v, 0, NULL, 0, &s) == HPAN_ERROR_ROOM && s == 8);
    EXPECT(hpan_get_material_name(v, 0, text, sizeof text, NULL) == HPAN_OK && memcmp(text, "Asphalt", 8) == 0);
    EXPECT(hpan_get_material_name(v, 0, NULL, sizeof text, NULL) == HPAN_ERROR_NULL);
    const uint32_t no[] = {1, 65535, 65536, UINT32_MAX};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        EXPECT(hpan_get_material_name(v, no[i], text, sizeof text, &s) == HPAN_ERROR_INDEX);
        EXPECT(hpan_get_source_name(v, no[i], text, sizeof text, &s) == HPAN_ERROR_INDEX);
        EXPECT(hpan_get_material(v, no[i], &material) == HPAN_ERROR_INDEX);
    }
    for (int32_t e = -3; e < 130; e++) {
        EXPECT(hpan_error_text(e) != NULL && strlen(hpan_error_text(e)) > 3);
    }
    EXPECT(strcmp(hpan_error_text(INT32_MIN), hpan_error_text(77)) == 0);
    EXPECT(strcmp(hpan_error_text(HPAN_ERROR_CLOSED), "the handle was closed") == 0);
}

/* All steps of a proof; how many there were. */
static int steps(hpan_view *v, uint8_t *bitmap, size_t length, hpan_error first, hpan_error last) {
    void *room = memory(hpan_verifier_align(), hpan_verifier_size());
    hpan_verifier *verifier;
    must(hpan_verifier_start(room, hpan_verifier_size(), v, &verifier), "verifier");
    EXPECT(hpan_verifier_usable(verifier, &b) == HPAN_OK && b == 0);
    EXPECT(hpan_verifier_step(verifier, 0, bitmap, length, &b, &u) == first && b == 0);
    hpan_error e = HPAN_OK;
    int count = 1;
    for (b = 0; b == 0; count++) {
        e = hpan_verifier_step(verifier, 256, bitmap, length, &b, &u);
        EXPECT(e == HPAN_OK || b == 1);
    }
    EXPECT(e == last);
    EXPECT(hpan_verifier_usable(verifier, &b) == HPAN_OK && b == 1);
    uint32_t sections;
    EXPECT(hpan_verifier_damaged_sections(verifier, &sections) == HPAN_OK && sections == 0);
    must(hpan_verifier_close(verifier), "close");
    wrong_verifier(verifier, HPAN_ERROR_CLOSED);
    free(room);
    return count;
}

static void damage(const char *path, uint32_t tile) {
    size_t length;
    void *bytes = load(path, &length);
    void *room = memory(hpan_view_align(), hpan_view_size());
    hpan_view *v;
    uint32_t where = 99;
    EXPECT(hpan_open_verified(room, hpan_view_size(), bytes, length, &v, &where) == HPAN_ERROR_TILE_DAMAGED);
    EXPECT(v == NULL && where == tile);
    v = opened(bytes, length);
    must(hpan_get_facts(v, &facts), "facts");
    uint8_t bitmap[16] = {0};
    EXPECT(facts.tiles <= 8 * sizeof bitmap);
    printf("%d\n", steps(v, bitmap, sizeof bitmap, HPAN_OK, HPAN_ERROR_TILE_DAMAGED));
    EXPECT(u == tile);
    for (uint32_t i = 0; i < 8 * sizeof bitmap; i++) {
        EXPECT((bitmap[i / 8] >> i % 8 & 1) == (i == tile));
    }
    /* of the four tiles about zero one answers that it is damaged, whoever asks */
    int damaged = 0, sound = 0;
    must(hpan_set_damage(v, bitmap, sizeof bitmap), "damage");
    for (int i = 0; i < 4; i++) {
        const double x = i % 2 ? 20 : -20, y = i < 2 ? 20 : -20;
        must(hpan_closest(v, x, y, 5, &a), "closest");
        damaged += a.status == HPAN_DAMAGED;
        sound += a.status == HPAN_FOUND;
        hpan_answer other;
        const double at[] = {x, y, 5};
        must(hpan_closest_batch(v, at, 1, &other), "batch");
        EXPECT(other.status == a.status && other.hit.z == a.hit.z);
    }
    EXPECT(damaged == 1 && sound == 3);
    must(hpan_close(v), "close");
    free(v);
    free(room);
    free(bytes);
}

int main(int count, char **arguments) {
    EXPECT(count == 4);
    size_t length;
    unsigned char *bytes = load(arguments[1], &length);
    wrong_memory(bytes, length);
    hpan_view *view = opened(bytes, length);
    void *room = memory(hpan_cursor_align(), hpan_cursor_size());
    hpan_cursor *cursor;
    EXPECT(hpan_cursor_start(room, hpan_cursor_size() - 1, &cursor) == HPAN_ERROR_ROOM && cursor == NULL);
    must(hpan_cursor_start(room, hpan_cursor_size(), &cursor), "cursor");
    wrong_arguments(view, cursor);
    strings(view);
    printf("%d\n", steps(view, NULL, 0, HPAN_OK, HPAN_OK));
    damage(arguments[2], (uint32_t)atoi(arguments[3]));
    /* null, foreign, misaligned, never opened */
    static int64_t nothing[128];
    wrong_view(NULL, cursor, HPAN_ERROR_NULL);
    wrong_view((hpan_view *)cursor, cursor, HPAN_ERROR_HANDLE);
    wrong_view((hpan_view *)nothing, cursor, HPAN_ERROR_HANDLE);
    wrong_view((hpan_view *)((char *)view + 1), cursor, HPAN_ERROR_HANDLE);
    wrong_view((hpan_view *)bytes, cursor, HPAN_ERROR_HANDLE);
    wrong_cursor(view, NULL, HPAN_ERROR_NULL);
    wrong_cursor(view, (hpan_cursor *)view, HPAN_ERROR_HANDLE);
    wrong_cursor(view, (hpan_cursor *)nothing, HPAN_ERROR_HANDLE);
    wrong_verifier(NULL, HPAN_ERROR_NULL);
    wrong_verifier((hpan_verifier *)view, HPAN_ERROR_HANDLE);
    /* stacks: of none, of too many, of what is neither */
    hpan_surface surfaces[HPAN_STACK_MOST + 1];
    memset(surfaces, 0, sizeof surfaces);
    void *stack_room = memory(hpan_stack_align(), hpan_stack_size());
    hpan_stack *stack;
    EXPECT(hpan_stack_start(stack_room, hpan_stack_size(), surfaces, 0, &stack) == HPAN_ERROR_COUNT && stack == NULL);
    EXPECT(hpan_stack_start(stack_room, hpan_stack_size(), surfaces, HPAN_STACK_MOST + 1, &stack) == HPAN_ERROR_COUNT);
    EXPECT(hpan_stack_start(stack_room, hpan_stack_size(), surfaces, 1, &stack) == HPAN_ERROR_INDEX);
    EXPECT(hpan_stack_start(stack_room, hpan_stack_size(), NULL, 1, &stack) == HPAN_ERROR_NULL);
    surfaces[0].view = (hpan_view *)cursor;
    EXPECT(hpan_stack_start(stack_room, hpan_stack_size(), surfaces, 1, &stack) == HPAN_ERROR_HANDLE);
    /* stale */
    must(hpan_cursor_close(cursor), "close");
    wrong_cursor(view, cursor, HPAN_ERROR_CLOSED);
    must(hpan_close(view), "close");
    wrong_view(view, cursor, HPAN_ERROR_CLOSED);
    surfaces[0].view = view;
    EXPECT(hpan_stack_start(stack_room, hpan_stack_size(), surfaces, 1, &stack) == HPAN_ERROR_CLOSED);
    free(stack_room);
    free(room);
    free(view);
    free(bytes);
    return 0;
}
