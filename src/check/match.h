/* Which kernel of one side is which of the other. */
#ifndef GPUPROF_CHECK_MATCH_H
#define GPUPROF_CHECK_MATCH_H

#include "check/side.h"

enum gp_match_kind {
    GP_MATCH_SAME,     /* name and configuration are the same */
    GP_MATCH_CHANGED,  /* the name is, the configuration is not */
    GP_MATCH_PROPOSED, /* the names differ in template arguments, a hash or Triton's numbers only */
    GP_MATCH_GONE,     /* b is NULL */
    GP_MATCH_NEW,      /* a is NULL */
};

struct gp_match {
    enum gp_match_kind kind;
    const struct gp_subject *a, *b;
    bool chosen; /* the closest of several that it could be, by grid, block and registers */
};

/* Whether they have as many threads. */
bool gp_same_threads(const struct gp_subject *a, const struct gp_subject *b);

/* Each subject of both (sorted) sides comes up in one match. One allocation, to be freed; NULL when
 * out of memory. */
struct gp_match *gp_match_sides(const struct gp_side *a, const struct gp_side *b, size_t *count);

/* The name without the parts that a compiler may change from build to build: template arguments,
 * parameters, return type, hashes, numbers in names of Triton's kernels. To be freed; NULL when
 * out of memory. */
char *gp_name_skeleton(const char *name);

#endif
