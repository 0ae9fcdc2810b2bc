/* The definitions after loading: metrics, and the formulas that each has on different devices. Owns
 * them. For the files of this room that build or use them; other rooms include metrics.h. */
#ifndef GPUPROF_METRICS_ENTRIES_H
#define GPUPROF_METRICS_ENTRIES_H

#include "base/hash.h"
#include "metrics/definitions.h"
#include "metrics/formula.h"
#include "metrics/metrics.h"

#include <stdbool.h>

/* One section: a formula and the devices it is for. */
struct gp_variant {
    struct gp_condition when;
    struct gp_node *formula; /* NULL: there is none on these devices, for the reason `absent` */
    struct gp_node *older;   /* instead of it, for profiles that have not all its counters; NULL */
    struct gp_node *needs;   /* where this is 0 the metric does not apply; NULL: it always does */
    struct gp_node *weight;  /* of a launch in a mean; NULL: it follows from the formula */
    char *when_text;         /* NULL: all devices */
    char *source;            /* of this formula; NULL: the metric's */
    char *absent;            /* with the nearest metric there is */
    int line;
    int counts_in_ranges; /* has counters that those of event groups do not stand for */
    struct gp_variant *next;
};

struct gp_entry {
    struct gp_metric metric; /* first: a struct gp_metric * is a struct gp_entry * */
    char *strings;           /* the buffer of metric's strings */
    char *file;
    int line;
    struct gp_variant *variants;
    struct gp_entry *replaced; /* the shipped definition that this one stands in for */
    unsigned height;           /* metrics below each other, this one included; 0: not yet known */
};

struct gp_counter_name {
    UT_hash_handle hh;
    char name[];
};

/* A set as it was written. */
struct gp_set_entry {
    struct gp_metric_set set; /* its strings belong to the entry */
    char *file;
    int line;
    struct gp_set_entry *next;
};

struct gp_metrics {
    struct gp_entry **entries;
    size_t count, capacity;
    struct gp_set_entry *sets; /* in order of definition */
    struct gp_entry **asked;   /* of counters that were asked for by their own names */
    size_t asked_count;
    struct gp_entry **selected;
    size_t selected_count, counted_count; /* those behind the counted ones: of the diagnosis */
    struct gp_counter_name *counters;     /* every name once, so that pointers can be compared */
};

void gp_variant_free(struct gp_variant *v);

/* Visits the operands of everything that is computed for a variant, but for `older`; false from a
 * visit ends the walk, and is the answer. */
bool gp_variant_walk(const struct gp_variant *v, bool (*visit)(void *, struct gp_node *),
                     void *user);

/* The one used on this device, NULL where there is none. */
const struct gp_variant *gp_variant_for(const struct gp_entry *e, const struct gp_device *device);

/* Computes a formula for one launch, as gp_metric_evaluate a metric. */
bool gp_formula_of_launch(const struct gp_node *formula, const struct gp_device *device,
                          const struct gp_record *launch, double *value,
                          struct gp_absence *absence);

/* True where a formula for all devices has counters that event groups do not have. */
bool gp_entry_counts_in_ranges(const struct gp_entry *e);

/* The reason why no present device has a formula, NULL where one has. */
const char *gp_entry_absent(const struct gp_entry *e);

/* True where some device has a formula, present or old. */
bool gp_entry_has_formula(const struct gp_entry *e);

/* Frees those that it replaced as well. */
void gp_entry_free(struct gp_entry *e);

/* Where the metric of that name stands, NULL where there is none. */
struct gp_entry **gp_metrics_slot(const struct gp_metrics *m, const char *name);

/* The set of that name, NULL where there is none. */
struct gp_set_entry *gp_metrics_set(const struct gp_metrics *m, const char *name);
void gp_set_entry_free(struct gp_set_entry *s);

/* A metric that is the counter of that name, kept until the end. NULL when out of memory. */
struct gp_entry *gp_metrics_counter_entry(struct gp_metrics *m, const char *name);

/* true, or false when out of memory. */
bool gp_metrics_append(struct gp_metrics *m, struct gp_entry *e);

/* Drops a definition; the one it replaced comes back. */
void gp_metrics_drop(struct gp_metrics *m, struct gp_entry **slot);

/* Adds "; did you mean NAME?" where one is near. */
void gp_metrics_add_nearest(const struct gp_metrics *m, const char *name, struct gp_text *out);

/* Visits an operand: binds a counter to the one copy of its name. `user` is a struct gp_metrics.
 * False when out of memory. */
bool gp_metrics_intern_counter(void *user, struct gp_node *operand);

#endif
