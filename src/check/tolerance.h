/* Files of tolerances: how far a comparison lets metrics change, kernel by kernel. docs/ci.md is
 * the manual. Owns the rules. */
#ifndef GPUPROF_CHECK_TOLERANCE_H
#define GPUPROF_CHECK_TOLERANCE_H

#include "base/text.h"
#include "check/selector.h"
#include "metrics/metrics.h"

enum gp_tolerance_kind {
    GP_TOLERANCE_USUAL, /* no rule, or one that says no limit */
    GP_TOLERANCE_RELATIVE,
    GP_TOLERANCE_EXACT,
    GP_TOLERANCE_IGNORE,
};

struct gp_tolerance {
    char *metric; /* a glob */
    enum gp_tolerance_kind kind;
    double relative; /* 0.05 of 5 % */
    bool if_present; /* a side without a value passes */
    int line, column;
};

/* The verdict on a kernel that is new, gone or changed in its configuration. */
struct gp_tolerance_section {
    struct gp_selector selector;
    int line;
    struct gp_tolerance *rules;
    size_t count;
    bool said_new, said_gone, said_changed;
    bool fail_new, fail_gone, fail_changed;
};

struct gp_tolerances {
    char *file;
    struct gp_tolerance_section *sections;
    size_t count;
    bool takes_unfinished; /* a run that may have had more launches is compared like any other */
};

/* NULL where anything is wrong, and a line "file:line:column: ..." in `problems` for each mistake.
 */
struct gp_tolerances *gp_tolerances_read(const char *path, struct gp_text *problems);
struct gp_tolerances *gp_tolerances_parse(const char *file, const char *text, size_t length,
                                          struct gp_text *problems);
/* Whether each rule is for some metric that is defined; if not it is said in `problems`. */
bool gp_tolerances_know(const struct gp_tolerances *t, const struct gp_metrics *m,
                        struct gp_text *problems);
void gp_tolerances_free(struct gp_tolerances *t);

/* The last rule in the file that is for that kernel and metric; usual where there is none, or no
 * file (NULL). `kernel` is the demangled name. */
struct gp_tolerance gp_tolerance_of(const struct gp_tolerances *t, const char *kernel,
                                    const char *metric);

/* A line in `notes` for each section that is for none of these kernels (demangled names). */
void gp_tolerances_note_unmatched(const struct gp_tolerances *t, const char *const *kernels,
                                  size_t count, struct gp_text *notes);

/* Whether it has a limit and names the metric: a rule for all of them ("*") names none. */
bool gp_tolerance_names(const struct gp_tolerance *rule);

/* Stands among the metrics: how often a kernel is launched in a run. */
#define GP_TOLERANCE_LAUNCHES "launches"

enum gp_event { GP_EVENT_NEW, GP_EVENT_GONE, GP_EVENT_CHANGED };

/* Whether that is a violation. */
bool gp_tolerance_fails(const struct gp_tolerances *t, const char *kernel, enum gp_event event);

#endif
