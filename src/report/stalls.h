/* Why the warps of a kernel waited, and where: the samples of its instructions by reason and by
 * line. Owns its list; names stay in the lines. Pure.
 *
 * Shares are of all samples of the kernel, those of warps that issued an instruction or could have
 * done so included. */
#ifndef GPUPROF_REPORT_STALLS_H
#define GPUPROF_REPORT_STALLS_H

#include "report/lines.h"

#include <stdbool.h>

/* Reasons are numbered from 0 on, in the order of GP_STALLS. */
#define GP_STALL_COUNT (GP_COUNT_KINDS - GP_FIRST_STALL)

struct gp_stall_reason {
    const char *name;    /* "long_scoreboard", as CUPTI and ncu call it */
    const char *brief;   /* "for a load from memory", behind the share of the warps that wait */
    const char *meaning; /* "waits for the result of a load ...", of a warp */
    bool waits;          /* false: the warp issued its instruction, or was ready to */
};

extern const struct gp_stall_reason gp_stall_reasons[GP_STALL_COUNT];

/* All samples among the counts of an instruction or line: their number, or the sum of the reasons
 * where that is greater. */
uint64_t gp_samples_of(const uint64_t counts[GP_COUNT_KINDS]);

/* The samples of one reason among them. */
uint64_t gp_samples_by(const uint64_t counts[GP_COUNT_KINDS], size_t reason);

/* Writes the reasons that have samples among them, the most samples first. Returns how many. */
size_t gp_stalls_order(const uint64_t counts[GP_COUNT_KINDS], size_t order[GP_STALL_COUNT]);

/* The samples of one line: of a line of the source with the program's own line that it was inlined
 * through, or of an instruction whose line is not known. */
struct gp_stall_line {
    struct gp_frame own, innermost; /* `file` NULL: not known */
    const char *function;           /* of its first instruction, and the offset of that */
    uint64_t offset;
    uint64_t counts[GP_COUNT_KINDS]; /* of samples alone */
};

struct gp_stalls {
    const struct gp_lines *lines;
    uint64_t samples;                /* 0: there are none */
    uint64_t counts[GP_COUNT_KINDS]; /* of samples alone */
    size_t order[GP_STALL_COUNT], order_count;
    struct gp_stall_line *list; /* by the program's own lines */
    size_t count;
};

/* Gathers the samples of a kernel, of none where `lines` is NULL. Returns true, or false when out
 * of memory; free in both cases. It lives as long as the lines. */
bool gp_stalls_make(struct gp_stalls *s, const struct gp_lines *lines);
void gp_stalls_free(struct gp_stalls *s);

/* Half of the confidence interval (95 %) of a share, 0 to 1, at most and if samples were
 * independent of each other. */
double gp_stalls_error(uint64_t samples);

/* Appends the program's own line with the most samples of that reason, "train.cu:42", "train.cu:42
 * (reduce.h:10)", "+0x1a0 (LDG)". Returns its share of all samples of the reason; 0: there are
 * none.
 */
double gp_stalls_where(const struct gp_stalls *s, size_t reason, struct gp_text *out);

/* Appends "warps wait: 61 % for a load from memory (long_scoreboard), most at train.cu:42; 12 % at
 * a barrier, at train.cu:55": the reasons that matter, as many as fit into `width` columns, one at
 * least. Nothing without samples. */
void gp_stalls_brief(const struct gp_stalls *s, size_t width, struct gp_text *out);

/* Appends the reasons with their meaning, and the lines with the most samples, each in lines of
 * their own. Nothing without samples. */
void gp_stalls_full(const struct gp_stalls *s, struct gp_text *out);

#endif
