/* Files of thresholds: the bounds that a kernel must hold. docs/ci.md is the manual. Owns the
 * rules. */
#ifndef GPUPROF_CHECK_THRESHOLDS_H
#define GPUPROF_CHECK_THRESHOLDS_H

#include "check/selector.h"
#include "metrics/metrics.h"

#include <stdint.h>

enum gp_aggregate {
    GP_EVERY, /* each launch has to hold */
    GP_MIN,
    GP_MAX,
    GP_AVERAGE,
    GP_QUANTILE,
    GP_SUM,   /* over the launches that were measured */
    GP_TOTAL, /* over all launches: measured ones stand for the others */
};

enum gp_relation { GP_AT_LEAST, GP_AT_MOST, GP_MORE_THAN, GP_LESS_THAN, GP_EQUAL_TO };

struct gp_threshold {
    char *text; /* as it was written */
    int line;
    const struct gp_metric *metric; /* NULL: the number of launches */
    enum gp_aggregate aggregate;
    double quantile; /* 0.95 of p95 */
    enum gp_relation relation;
    double bound; /* in the metric's unit */
    bool if_present;
};

struct gp_section {
    struct gp_selector selector;
    int line;
    bool required;
    int required_line;
    uint64_t allowed; /* violations */
    struct gp_threshold *rules;
    size_t count;
};

struct gp_thresholds {
    char *file;
    struct gp_section *sections;
    size_t count;
    size_t rule_count;     /* of all sections, `required` being one */
    bool takes_unfinished; /* a run that may have had more launches is judged like any other */
};

#define GP_MOST_RULES 10000

/* Reads a file; formulas in it become metrics of `m`. NULL where anything is wrong with it, and a
 * line "file:line:column: the mistake, the right form" in `problems` for each mistake. */
struct gp_thresholds *gp_thresholds_read(const char *path, struct gp_metrics *m,
                                         struct gp_text *problems);
struct gp_thresholds *gp_thresholds_parse(const char *file, const char *text, size_t length,
                                          struct gp_metrics *m, struct gp_text *problems);
void gp_thresholds_free(struct gp_thresholds *t);

bool gp_relation_holds(enum gp_relation relation, double value, double bound);

/* Selects the metrics that the rules need, beside those that are selected. False when out of
 * memory. */
bool gp_thresholds_select(const struct gp_thresholds *t, struct gp_metrics *m);

#endif
