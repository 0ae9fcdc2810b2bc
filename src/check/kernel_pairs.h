/* Which kernel of one side is which of the other, in any configuration. For match.c only. Owns the
 * lists of kernels. */
#ifndef GPUPROF_CHECK_KERNEL_PAIRS_H
#define GPUPROF_CHECK_KERNEL_PAIRS_H

#include "check/match.h"

/* All subjects of one name: a sorted side has them one behind the other. */
struct gp_named_kernel {
    const struct gp_side_kernel *subjects;
    size_t count;
    char *skeleton;
    struct gp_named_kernel *other; /* NULL: none was found */
    enum gp_paired_by by;          /* the first that led to the other one */
    bool chosen;                   /* among several */
    bool tried;                    /* in the step at hand */
};

struct gp_named_kernels {
    struct gp_named_kernel *list;
    size_t count;
};

/* By hand, by name, by machine code, by source line, by the likeness of code, in this order; but a
 * name with a number that a compiler gave counts less than the code. False when out of memory; free
 * both in any case. */
bool gp_kernels_pair(const struct gp_side *a, const struct gp_side *b,
                     struct gp_named_kernels *of_a, struct gp_named_kernels *of_b);
void gp_kernels_free(struct gp_named_kernels *kernels);

bool gp_has_same_code(const struct gp_side_kernel *a, const struct gp_side_kernel *b);
bool gp_has_same_line(const struct gp_side_kernel *a, const struct gp_side_kernel *b);

/* NAN where one of them is not known. */
double gp_code_likeness(const struct gp_side_kernel *a, const struct gp_side_kernel *b);

#endif
