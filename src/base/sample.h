/* "first:N,every:M" or "auto": which launches of a kernel are measured. */
#ifndef GPUPROF_BASE_SAMPLE_H
#define GPUPROF_BASE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: every launch. */
struct gp_sample {
    uint64_t first; /* the first so many */
    uint64_t every; /* and of the later ones one in so many; 0: none */
    bool rarer;     /* of the later ones four, each time their number doubles */
};

/* The syntax of a rule, for messages. */
#define GP_SAMPLE_SYNTAX \
    "say first:N, every:M or first:N,every:M, with whole numbers from 1 to 1000000000, or auto"

/* The first launches that "auto" takes. */
#define GP_SAMPLE_FIRST 8

/* Reads "first:N", "every:M" or both with a comma between them; every:M alone begins with the first
 * launch. Or "auto": the first launches, and then ever fewer: 48 of 10000, 62 of 100000. False,
 * with the sample as it was, where the text is none of these. */
bool gp_sample_parse(const char *text, struct gp_sample *sample);

/* True when the launch that `before` others came before is to be measured. */
bool gp_sample_takes(const struct gp_sample *sample, uint64_t before);

#endif
