#include "base/sketch.h"

#include <stdio.h>
#include <string.h>

#define RUN 3 /* numbers */

/* The last steps of MurmurHash3: each bit of the answer depends on each bit of the key. */
static uint64_t mix(uint64_t key)
{
    key = (key ^ key >> 33) * UINT64_C(0xff51afd7ed558ccd);
    key = (key ^ key >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return key ^ key >> 33;
}

/* MinHash (Broder): of each of 64 orders of all runs the sketch has the first one. In two sequences
 * it is the same with a probability that is their likeness. A byte of it is enough: by chance one
 * in 256 is equal. */
void gp_sketch_make(const uint16_t *numbers, size_t count, struct gp_sketch *sketch)
{
    uint64_t least[GP_SKETCH_BYTES];
    memset(sketch, 0, sizeof(*sketch));
    if (count < RUN)
        return;
    memset(least, 0xff, sizeof(least));
    for (size_t i = 0; i + RUN <= count; i++) {
        const uint64_t run =
            (uint64_t)numbers[i] << 32 | (uint64_t)numbers[i + 1] << 16 | (uint64_t)numbers[i + 2];
        for (size_t order = 0; order < GP_SKETCH_BYTES; order++) {
            const uint64_t rank = mix(run ^ (order + 1) << 48);
            least[order] = rank < least[order] ? rank : least[order];
        }
    }
    /* Not the highest byte: the least of many ranks begins with zeros. */
    for (size_t order = 0; order < GP_SKETCH_BYTES; order++)
        sketch->least[order] = (uint8_t)least[order];
}

bool gp_sketch_is_known(const struct gp_sketch *sketch)
{
    static const struct gp_sketch none;
    return memcmp(sketch, &none, sizeof(none)) != 0;
}

double gp_sketch_likeness(const struct gp_sketch *a, const struct gp_sketch *b)
{
    size_t same = 0;
    for (size_t i = 0; i < GP_SKETCH_BYTES; i++)
        same += a->least[i] == b->least[i];
    return (double)same / GP_SKETCH_BYTES;
}

void gp_sketch_write(const struct gp_sketch *sketch, char text[GP_SKETCH_TEXT])
{
    text[0] = '\0';
    for (size_t i = 0; gp_sketch_is_known(sketch) && i < GP_SKETCH_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", sketch->least[i]);
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool gp_sketch_read(const char *text, struct gp_sketch *sketch)
{
    const size_t length = strlen(text);
    memset(sketch, 0, sizeof(*sketch));
    if (length != 0 && length != 2 * GP_SKETCH_BYTES)
        return false;
    for (size_t i = 0; i < length / 2; i++) {
        int high = digit_of(text[2 * i]), low = digit_of(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        sketch->least[i] = (uint8_t)(16 * high + low);
    }
    return true;
}
