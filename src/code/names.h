/* Which cubins of an image have which functions, by hashes of their names: a question for one
 * function need not unpack the cubins that do not have it. Owns the hashes, of which all images
 * together have a bounded number; beyond it, any cubin may have any function. One thread at a
 * time. */
#ifndef GPUPROF_CODE_NAMES_H
#define GPUPROF_CODE_NAMES_H

#include "code/parts.h"

#include <stdint.h>

/* All zero knows no cubin. */
struct gp_names {
    struct gp_cubin_names {
        uint32_t *hashes;
        size_t count, room;
        bool are_all; /* of that cubin */
    } * cubins;
    size_t count;
};

/* Notes the functions of a cubin. */
void gp_names_note(struct gp_names *names, const struct gp_part *cubin);

/* False where the cubin does not have the function. */
bool gp_names_may_have(const struct gp_names *names, size_t cubin, const char *function);

void gp_names_drop(struct gp_names *names);

#endif
