/* Sequences: kernels whose launches follow each other directly in their stream, each of which reads
 * arrays that the one before it has just written or read. All of them are bound by memory, and each
 * element seems to need only its own, so that one kernel could do the work of all and keep the
 * elements in registers. Found in the successions of the summary. Owns the list.
 *
 * The first one may be a library's product of matrices, by any unit bound: the library can do
 * the work of the others in its epilogue, element by element, before it writes its result.
 *
 * Left out are: arrays that stay in L2; kernels that compute much, load elements more than once, as
 * stencils and products of matrices do, or exchange them between threads, but for sums; and those
 * that need a result of all of the kernel before. */
#ifndef GPUPROF_REPORT_SEQUENCES_H
#define GPUPROF_REPORT_SEQUENCES_H

#include "report/bounds.h"

#include <stdbool.h>

struct gp_lines;

/* A kernel of a sequence: a group of a row. */
struct gp_in_sequence {
    const struct gp_row *row;
    size_t group; /* of the row */
    double saved; /* seconds of its launches that would go, at most */
};

struct gp_sequence {
    struct gp_in_sequence *list; /* in their order; one: its launches follow each other */
    size_t count;
    double share; /* of the launches of its kernels that follow so, the least of them, 0 to 1 */
    double bytes; /* that need not come from memory again in one round */
    double saved; /* seconds, at most */
    size_t ready_made; /* kernels of libraries and frameworks */
    bool of_product;   /* the first one is a library's product of matrices */
};

struct gp_sequences {
    struct gp_sequence *list;
    size_t count;
    bool *has; /* by group of the rows: it is in one */
};

/* `bounds` has the bounds of all groups of `rows`. Returns true, or false when out of memory; free
 * in both cases. */
bool gp_sequences_find(struct gp_sequences *s, const struct gp_rules *rules,
                       const struct gp_rows *rows, const struct gp_bound *bounds,
                       const struct gp_lines *(*lines)(void *user, const struct gp_row *row),
                       void *user);
void gp_sequences_free(struct gp_sequences *s);

/* Appends the names of its kernels: "scale, add and relu". */
void gp_sequence_names(const struct gp_sequence *s, struct gp_text *out);

#endif
