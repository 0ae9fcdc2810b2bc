/* About how much of two sequences of numbers is alike, by a short sketch of each. */
#ifndef GPUPROF_BASE_SKETCH_H
#define GPUPROF_BASE_SKETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GP_SKETCH_BYTES 64
#define GP_SKETCH_TEXT (2 * GP_SKETCH_BYTES + 1)

struct gp_sketch {
    uint8_t least[GP_SKETCH_BYTES];
};

/* All zero where there are less than three numbers: no sketch. */
void gp_sketch_make(const uint16_t *numbers, size_t count, struct gp_sketch *sketch);

bool gp_sketch_is_known(const struct gp_sketch *sketch);

/* From 0 to 1: the runs of three numbers that both sequences have, divided by those that one of
 * them has. An estimate, with a standard error of 0.06 at the most. Both are known. */
double gp_sketch_likeness(const struct gp_sketch *a, const struct gp_sketch *b);

/* In hexadecimal, "" for none; false where the text is no such. */
void gp_sketch_write(const struct gp_sketch *sketch, char text[GP_SKETCH_TEXT]);
bool gp_sketch_read(const char *text, struct gp_sketch *sketch);

#endif
