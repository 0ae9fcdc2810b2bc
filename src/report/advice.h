/* Advice: the rules of metrics/rules, applied to each kernel under its bound. Owns the list of
 * advice. */
#ifndef GPUPROF_REPORT_ADVICE_H
#define GPUPROF_REPORT_ADVICE_H

#include "report/bounds.h"
#include "report/sequences.h"
#include "report/tunings.h"

#include <stdbool.h>

struct gp_lines;

/* Below these shares of the whole GPU time neither a kernel nor a gain is worth a word. */
#define GP_ADVISED_SHARE 0.01
#define GP_ADVISED_GAIN 0.005

/* One piece of advice. A row of several grids is judged grid by grid: gains are added up where the
 * rule holds, evidence and text are those of the grid with the largest. */
struct gp_advice {
    const struct gp_row *row; /* NULL: about the program; of a sequence, its first kernel */
    const struct gp_sequence *sequence; /* NULL: it is about no sequence */
    const struct gp_rule *rule;
    size_t *groups;     /* of the row, for which the rule holds: the largest gain first */
    size_t group_count; /* 0: about the program */
    char *evidence, *text;
    double kernel_gain; /* share of the row's time that is saved, 0 to 1 */
    double gain;        /* share of the whole GPU time, struct gp_findings.seconds; of a rule that
                         * says so, of the time that the program ran */
    double rank;        /* by which it is sorted: gain, as a multiple of the GPU time */
    double grid_gain;   /* share of the time of the first of the groups; of a sequence, gain */
    bool up_to;         /* at most that */
    /* "file.cu:12", "at +0x1a0" without line information; "begins at file.cu:9": the kernel, where
     * the rule is about no line of it. NULL: not known. */
    char *where;
};

struct gp_advice_list {
    struct gp_advice *list; /* the largest gain first */
    size_t count, capacity;
};

/* The bounds of the rows and of their groups, in the order of struct gp_rows, and the advice. */
struct gp_findings {
    const struct gp_rules *rules;
    struct gp_bound *bounds;       /* of the rows */
    struct gp_bound *group_bounds; /* of the groups */
    struct gp_tunings tunings;
    struct gp_sequences sequences;
    double seconds; /* of all kernels, if each tuning ran in its fastest configuration */
    struct gp_advice_list advice;
};

/* Whether gains are shares of a clearly shorter time than that of all kernels, as tunings are taken
 * to run in their fastest configurations. */
bool gp_findings_assume_fastest(const struct gp_findings *f, const struct gp_rows *rows);

/* The subject of an advice, for which its evidence holds. `one` has room for its row. */
struct gp_subject gp_findings_subject(const struct gp_findings *f, const struct gp_rows *rows,
                                      const struct gp_advice *a, const struct gp_lines *lines,
                                      struct gp_row *one);

/* `lines` gives the counts of a row's instructions, NULL where none are known; may be NULL itself.
 * Returns true, or false when out of memory; free in both cases. */
bool gp_findings_make(struct gp_findings *f, const struct gp_rules *rules,
                      const struct gp_rows *rows,
                      const struct gp_lines *(*lines)(void *user, const struct gp_row *row),
                      void *user);
void gp_findings_free(struct gp_findings *f);

/* Appends "grid 24 (as 11 of the other 14): ", where a row has several grids: its evidence speaks
 * of the first. */
void gp_advice_grids(const struct gp_rows *rows, const struct gp_advice *a, struct gp_text *out);

/* "up to 41 %", "about 4.6 %". A bound is rounded up, or it would not hold. */
#define GP_GAIN_SIZE 24
void gp_gain_format(double gain, bool up_to, char out[GP_GAIN_SIZE]);

/* "the GPU time", or "the run": the whole of which the advice saves a share. */
const char *gp_gain_of(const struct gp_advice *a);

/* True for the kernels of libraries that come compiled: only the choices of their caller can
 * change. */
bool gp_is_library_kernel(const char *name);

#endif
