/* The counts of a kernel's instructions, line by line. Owns the list.
 *
 * An instruction counts for the innermost line it comes from, and in the inclusive counts of that
 * line and of each call through which it was inlined (once, where a call is inlined in itself). So
 * the lines' own counts sum up to those of all instructions. */
#ifndef GPUPROF_REPORT_BY_LINE_H
#define GPUPROF_REPORT_BY_LINE_H

#include "report/lines.h"

struct gp_line_counts {
    const char *directory, *file; /* file "": instructions whose line is not known */
    unsigned line;
    unsigned instructions; /* of the code that come from it, innermost */
    uint64_t own[GP_COUNT_KINDS], inclusive[GP_COUNT_KINDS];
};

struct gp_by_line {
    struct gp_line_counts *list; /* by directory, file and line; those not known first */
    size_t count;
};

/* 0, or -1 when memory runs out; free in both cases. */
int gp_by_line_make(struct gp_by_line *b, const struct gp_lines *lines);
void gp_by_line_free(struct gp_by_line *b);

/* What a set of counts says of a weight, as gp_lines_weigh, of the mean launch. */
double gp_weigh_counts(const uint64_t counts[GP_COUNT_KINDS], enum gp_weight weight,
                       uint64_t launches);

#endif
