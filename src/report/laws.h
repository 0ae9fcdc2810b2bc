/* How a value of a kernel follows from the number of its blocks: of launches that differ in their
 * grid alone, some are measured, and stand for the others. Pure. */
#ifndef GPUPROF_REPORT_LAWS_H
#define GPUPROF_REPORT_LAWS_H

#include <stddef.h>

enum gp_law_kind {
    GP_LAW_NONE,     /* fewer than two grids have a value */
    GP_LAW_CONSTANT, /* base */
    GP_LAW_LINEAR,   /* base + factor * blocks */
    GP_LAW_INVERSE,  /* base + factor / blocks */
    GP_LAW_BETWEEN,  /* on the line between the grids beside it */
};

struct gp_law {
    enum gp_law_kind kind;
    double base, factor;
    double error; /* how far a grid's value is off, where the others have made the law: the
                   * root of the mean square, relative to the values */
    const struct gp_law_point *points; /* of these grids, in the order of their blocks */
    size_t grids;
};

/* The mean value of a grid. */
struct gp_law_point {
    double blocks, value;
};

/* The kind whose error is least; a simpler one where that is not much worse. Puts the points into
 * the order of their blocks; they must outlive the law. */
struct gp_law gp_law_find(struct gp_law_point *points, size_t count);

/* The value at so many blocks; NAN without a law. */
double gp_law_value(const struct gp_law *law, double blocks);

/* How far that is off at most, in 95 of 100 cases, as a part of it: more outside of the grids that
 * have made the law. NAN without a law. */
double gp_law_error(const struct gp_law *law, double blocks);

#endif
