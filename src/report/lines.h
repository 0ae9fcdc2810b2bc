/* The counts of one kernel's instructions, and where in the source they stand. Belongs to
 * report/sources. */
#ifndef GPUPROF_REPORT_LINES_H
#define GPUPROF_REPORT_LINES_H

#include "code/line_table.h"
#include "code/products.h"
#include "profile/code_counts.h"
#include "report/rules.h"

struct gp_lines {
    struct gp_code_counts source;
    void *cubin; /* NULL: not known */
    size_t cubin_size;
    struct gp_line_table *table; /* NULL: `no_lines` says why */
    const char *no_lines;
    struct gp_waits *waits;       /* NULL: it was not sampled */
    struct gp_products *products; /* in the kernel's code; NULL: not known */
    bool hidden;                  /* folders and text of the source are not to be shown */
};

/* The count of that in one launch of the kernel, in the mean; for `local`, `fp64`, `matrix`,
 * `conversions`, `barriers`, `fences`, `two_sides`, `multiply_adds`, `products`,
 * `plain_products`, `halves` and `scalar_halves`, how many such instructions its code has; for
 * waits, their share of all samples, 0 to 1. NAN: it was not counted, or the code is not known. */
double gp_lines_total(const struct gp_lines *lines, enum gp_weight weight);

/* True for a weight that is found in the code: its count is one of instructions, not of launches.
 */
bool gp_lines_in_code(enum gp_weight weight);

/* True for a wait. */
bool gp_lines_is_wait(enum gp_weight weight);

/* Whether the instruction at offset `at` of a function's code is of that weight. */
bool gp_lines_code_has(const struct gp_lines *lines, const void *code, size_t size, size_t at,
                       enum gp_weight weight);

/* The line that has most of that: "file.cu:12"; "file.cu:12 (header.h:34)" where that was inlined
 * from another file; "at +0x1a0", from the kernel's begin, where there is no line information.
 * "file.cu:12 and 2 more lines" where as many instructions of the code are in each. Of a wait with
 * a cause, the line of the cause, with that of the wait where it is another one: "file.cu:12,
 * waited for at file.cu:14". False where nothing is known. */
bool gp_lines_heaviest(const struct gp_lines *lines, enum gp_weight weight, struct gp_text *out);

/* The source of the kernel's first instruction, in the file of the kernel itself: its path as
 * the compiler has it, to be freed. NULL where there is no line information. */
char *gp_lines_begin(const struct gp_lines *lines, unsigned *line);

/* An instruction's count of that, of all launches. */
uint64_t gp_lines_weigh(const struct gp_instruction_counts *counts, enum gp_weight weight);

/* The machine code of one of the kernel's functions; NULL where it is not there. */
const void *gp_lines_code(const struct gp_lines *lines, const char *function, size_t *size);

#endif
