/* Which kernel of one side is which of the other, and in which configuration. */
#ifndef GPUPROF_CHECK_MATCH_H
#define GPUPROF_CHECK_MATCH_H

#include "base/text.h"
#include "check/side.h"

enum gp_match_kind {
    GP_MATCH_SAME,     /* kernel and configuration are the same */
    GP_MATCH_CHANGED,  /* the kernel is, the configuration is not */
    GP_MATCH_PROPOSED, /* it may be the same kernel under another name: nothing proves it */
    GP_MATCH_GONE,     /* b is NULL */
    GP_MATCH_NEW,      /* a is NULL */
};

/* By which two are paired, a bit mask. The first three are facts, where there is one choice. */
enum gp_paired_by {
    GP_BY_NAME = 1u << 0,
    GP_BY_HAND = 1u << 1,          /* the user says it */
    GP_BY_CODE = 1u << 2,          /* the same machine code, byte by byte */
    GP_BY_LINE = 1u << 3,          /* the same line of a file of the same name */
    GP_BY_LIKENESS = 1u << 4,      /* much of the machine code is alike */
    GP_BY_NAME_PARTS = 1u << 5,    /* the name is, but for parts that compilers change */
    GP_BY_CONFIGURATION = 1u << 6, /* the same configuration, launched as often */
};

/* Two whose operations are less alike are not paired for that. */
#define GP_MUCH_ALIKE 0.6

struct gp_match {
    enum gp_match_kind kind;
    const struct gp_side_kernel *a, *b;
    unsigned by;     /* all that holds of the two */
    double likeness; /* of the operations of their machine code, from 0 to 1; NAN: not known */
    bool chosen;     /* the closest of several that it could be, by grid, block and registers */
    bool elsewhere;  /* gone or new, but the other side has the kernel in other configurations */
};

/* Each subject of both (sorted) sides comes up in one match. One allocation, to be freed; NULL when
 * out of memory. */
struct gp_match *gp_match_sides(const struct gp_side *a, const struct gp_side *b, size_t *count);

/* Whether the two have different names. */
bool gp_match_is_renamed(const struct gp_match *match);

/* In steps of five, as it is an estimate. */
double gp_likeness_percent(double likeness);

/* Adds the reasons, of a renamed kernel: "the same machine code, the same source line (sum.cu:12)".
 */
void gp_match_add_reasons(const struct gp_match *match, struct gp_text *out);

#endif
