/* The samples of a kernel as a tree: the kernel, the lines of its own, the lines of functions that
 * were inlined there, and so on to the innermost lines. Owns the nodes; names stay in the lines. */
#ifndef GPUPROF_REPORT_FLAME_H
#define GPUPROF_REPORT_FLAME_H

#include "report/lines.h"

#include <stdbool.h>

struct gp_flame_node {
    struct gp_frame frame; /* `file` NULL: the kernel, or an instruction whose line is not known */
    const char *function;  /* of such an instruction, and its offset; NULL: the kernel */
    uint64_t offset;
    uint64_t counts[GP_COUNT_KINDS]; /* of samples alone, those of its children included */
    size_t first, next;              /* its child with the most samples, its sibling; 0: none */
};

struct gp_flame {
    struct gp_flame_node *nodes; /* the first one is the kernel */
    size_t count;                /* 0: there are no samples */
    size_t capacity;
};

/* `lines` may be NULL. Returns true, or false when out of memory; free in both cases. It lives as
 * long as the lines. */
bool gp_flame_make(struct gp_flame *f, const struct gp_lines *lines);
void gp_flame_free(struct gp_flame *f);

#endif
