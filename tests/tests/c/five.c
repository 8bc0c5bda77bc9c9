/* The callback at one place: five IMAGE < x, y, z as doubles. Prints what it returns and the five outputs, which were 0xCC bytes. */
#include "tool.h"
#include <hpan_vs.h>

int main(int count, char **arguments) {
    EXPECT(count == 2);
    size_t length;
    void *bytes = load(arguments[1], &length);
    hpan_view *view = opened(bytes, length);
    double p[3];
    EXPECT(fread(p, sizeof p, 1, stdin) == 1);
    HPAN_VS_REAL out[5];
    memset(out, 0xCC, sizeof out);
    const hpan_vs_terrain_t function = hpan_vs_terrain_func;
    const int found = function((HPAN_VS_REAL)p[0], (HPAN_VS_REAL)p[1], (HPAN_VS_REAL)p[2], &out[0], &out[1], &out[2], &out[3], &out[4], view);
    printf("%d", found);
    for (int i = 0; i < 5; i++) {
        printf(" %.17g", (double)out[i]);
    }
    printf("\n");
    must(hpan_close(view), "close");
    free(view);
    free(bytes);
    return 0;
}
