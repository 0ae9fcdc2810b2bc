/* The counts of a kernel's instructions, line by line. Owns the list.
 *
 * An instruction counts for the innermost line it comes from, and in the inclusive counts of that
 * line and of each call through which it was inlined (once, where a call is inlined in itself). So
 * the lines' own counts sum up to those of all instructions. */
#ifndef GPUPROF_REPORT_BY_LINE_H
#define GPUPROF_REPORT_BY_LINE_H

#include "report/lines.h"

#include <stdbool.h>

#define GP_MOST_CHAINS 3

struct gp_line_counts {
    const char *directory, *file; /* file "": instructions whose line is not known */
    unsigned line;
    unsigned instructions; /* of the code that come from it, innermost */
    uint64_t own[GP_COUNT_KINDS], inclusive[GP_COUNT_KINDS];
    unsigned in_code[GP_WEIGHT_COUNT]; /* instructions of the weights of gp_lines_in_code */
    /* Through which calls its code was inlined: "a.cu:12 in f, a.cu:30"; the first ones. */
    char *chains[GP_MOST_CHAINS];
    size_t chain_count;
    bool has_more_chains;
};

struct gp_by_line {
    struct gp_line_counts *list; /* by directory, file and line; those not known first */
    size_t count;
};

/* true, or false when out of memory; free in both cases. */
bool gp_by_line_make(struct gp_by_line *b, const struct gp_lines *lines);
void gp_by_line_free(struct gp_by_line *b);

/* Adds the frames from the second on: "a.cu:12 in f, a.cu:30", the innermost call first. */
void gp_chain_text(const struct gp_frame *frames, size_t count, struct gp_text *out);

/* The line's own weight: of the mean launch, or that of its code. */
double gp_line_weight(const struct gp_line_counts *line, enum gp_weight weight, uint64_t launches);

/* The weight that a set of counts gives, as gp_lines_weigh, of the mean launch. */
double gp_weigh_counts(const uint64_t counts[GP_COUNT_KINDS], enum gp_weight weight,
                       uint64_t launches);

#endif
