/* The result of a check: one outcome for each rule and kernel, and their sum. Owns the outcomes. */
#ifndef GPUPROF_CHECK_VERDICT_H
#define GPUPROF_CHECK_VERDICT_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

enum gp_status {
    GP_HELD,
    GP_VIOLATED,
    GP_SKIPPED, /* could not be judged, and need not be; the message says why */
    GP_NOTED,   /* worth knowing, never a failure: a new kernel, one that became faster */
};

/* Strings are NULL where there is nothing to say. */
struct gp_outcome {
    enum gp_status status;
    const char *rule; /* as it was written: "gld_efficiency >= 90 %" */
    const char *file; /* where the rule stands: the thresholds, the baseline */
    int line;
    const char *kernel;        /* demangled */
    const char *configuration; /* "grid 1024, block 256", where a rule is for one only */
    const char *source;        /* the kernel's own source */
    int source_line;
    const char *value, *bound;   /* for people, with units */
    uint64_t launch;             /* the worst one's index */
    uint64_t launches, violated; /* how many the rule was held to, how many broke it */
    const char *message;         /* one sentence: the value, the bound */
};

#define GP_MOST_OUTCOMES 200000

struct gp_verdict {
    struct gp_outcome *outcomes;
    size_t count, capacity;
    size_t held, violated, skipped, noted;
    struct gp_text notes;    /* lines for people: methods, parts that were left out */
    struct gp_text unjudged; /* one line for each reason why no judgement could be made */
    bool failed;             /* out of memory, or too many outcomes */
};

/* Copies the outcome. */
void gp_verdict_add(struct gp_verdict *v, const struct gp_outcome *outcome);
void gp_verdict_free(struct gp_verdict *v);

/* Violations first, then the noted, skipped and held outcomes; else the order in which they
 * came. */
void gp_verdict_sort(struct gp_verdict *v);

/* The exit status of a check. */
enum { GP_CHECK_HELD = 0, GP_CHECK_VIOLATED = 1, GP_CHECK_UNJUDGED = 2 };
int gp_verdict_status(const struct gp_verdict *v);

/* "3 of 40 rules violated, ..." */
void gp_verdict_summary(const struct gp_verdict *v, struct gp_text *out);

/* The file and line for a reader: of the kernel's source, else of the rule. Returns the file, NULL
 * for none.
 */
const char *gp_outcome_file(const struct gp_outcome *o, int *line);

#endif
