/* Reads metric definition files: ini text into one struct per section, line numbers included.
 * docs/metrics.md is the manual. */
#ifndef GPUPROF_METRICS_DEFINITIONS_H
#define GPUPROF_METRICS_DEFINITIONS_H

#include "base/text.h"
#include "profile/record.h"

#include <stdbool.h>

#define GP_MOST_CONDITIONS 8

enum gp_condition_relation {
    GP_LESS,
    GP_LESS_EQUAL,
    GP_GREATER,
    GP_GREATER_EQUAL,
    GP_EQUAL,
    GP_EVENTS, /* not of the compute capability: counters are those of event groups */
};

/* "cc >= 9.0 and cc < 10.0", "events and cc < 5.0", "cc == 8.7 or cc >= 12.0"; "and" binds more
 * tightly. No terms: always. */
struct gp_condition {
    size_t count;
    struct {
        enum gp_condition_relation comparison;
        int cc;        /* 100 * major + minor */
        int begins_or; /* an "or" stands before it */
    } terms[GP_MOST_CONDITIONS];
};

/* Returns true, or false with the right form in `why`. */
bool gp_condition_parse(const char *text, struct gp_condition *condition, char *why,
                        size_t why_size);
bool gp_condition_holds(const struct gp_condition *condition, const struct gp_device *device);

/* "9.0" into its parts. False when it is no compute capability. */
bool gp_cc_parse(const char *text, int *cc_major, int *cc_minor);

enum gp_key {
    GP_KEY_UNIT,
    GP_KEY_CLASS,
    GP_KEY_DESCRIPTION,
    GP_KEY_SOURCE,
    GP_KEY_FORMULA,
    GP_KEY_DEFAULT,
    GP_KEY_HIDDEN,
    GP_KEY_WHEN,
    GP_KEY_OLDER,
    GP_KEY_NEEDS,
    GP_KEY_WEIGHT,
    GP_KEY_ABSENT,
    GP_KEY_NEAREST,
    GP_KEY_NVPROF,
    GP_KEY_METRICS,
    GP_KEY_COUNT
};

/* "formula" and so on, as files have them. */
const char *gp_key_name(enum gp_key key);

/* One section: a metric, or a set of metrics ("[set NAME]"). A key that was not given has line 0.
 */
struct gp_definition {
    const char *file;
    int line;
    int is_set;
    char name[49];
    struct {
        struct gp_text text;
        int line;
    } keys[GP_KEY_COUNT];
};

/* Calls `take` for each section. Lines that make no sense, and sections that inih cannot read, are
 * left out; each adds a line "file:line: ..." to `problems`. */
void gp_definitions_read(const char *file, const char *text, size_t length,
                         void (*take)(void *user, const struct gp_definition *definition),
                         void *user, struct gp_text *problems);

#endif
