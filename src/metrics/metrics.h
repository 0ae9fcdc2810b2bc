/* The metrics: definition files, the selection a user makes, and values computed from a launch.
 * Owns the definitions.
 *
 * docs/metrics.md is the manual of definition files. A metric whose operand is missing is absent
 * and says why; it is never 0.
 *
 * After gp_metrics_select nothing here changes any more, so threads may evaluate at the same time.
 */
#ifndef GPUPROF_METRICS_METRICS_H
#define GPUPROF_METRICS_METRICS_H

#include "base/text.h"
#include "profile/record.h"

#include <stdbool.h>

#define GP_WHY_SIZE 256 /* room for a reason; longer ones are cut */

/* Why a metric or a formula has no value. The text begins with the counter that is missing, if it
 * is one: "counter NAME: no permission to read the GPU's counters". */
struct gp_absence {
    enum gp_cause cause;
    size_t named; /* bytes of the text that name the counter */
    char text[GP_WHY_SIZE];
};

/* Where a device's facts are not known. */
extern const struct gp_absence gp_no_device_facts;

struct gp_metrics; /* all definitions and which of them are selected */

/* One metric, as users see it. The formula and its source may depend on the device:
 * gp_metric_formula, gp_metric_source. */
struct gp_metric {
    const char *name;
    const char *unit; /* "%", "ratio", "s", "bytes", "bytes/s", "flop/s", "count", ... */
    const char *metric_class;
    const char *description;
    const char *source;
    const char *nvprof; /* nvprof's metric of this name, where it is another; else empty */
    int in_default_set;
    int hidden; /* other metrics and rules use it; people see it where they ask for it */
    bool user_defined;
};

/* A set of metrics that has a name. */
struct gp_metric_set {
    const char *name;
    const char *description;
    const char *metrics; /* names of metrics and counters, commas between them */
    bool user_defined;
};

/* Loads the shipped definitions, then the user's *.ini files of $XDG_CONFIG_HOME/gpuprof (else
 * ~/.config/gpuprof) and of the folders in GPUPROF_METRICS_PATH; a later definition of the same
 * name replaces an earlier one. Definitions that make no sense are dropped; each adds one line
 * "file:line: the mistake, the right form" to `problems`. Returns NULL only when out of memory.
 * The default set is selected. */
struct gp_metrics *gp_metrics_open(struct gp_text *problems);
void gp_metrics_close(struct gp_metrics *m);

/* Loads definitions as gp_metrics_open does, but from no file: only from the given text, as if it
 * were the file of that name. */
struct gp_metrics *gp_metrics_parse(const char *file, const char *text, size_t length,
                                    struct gp_text *problems);

/* Every metric there is, in order of definition. */
size_t gp_metrics_count(const struct gp_metrics *m);
const struct gp_metric *gp_metrics_at(const struct gp_metrics *m, size_t i);
/* None before it is of its class. */
bool gp_metrics_begins_class(const struct gp_metrics *m, size_t i);
const struct gp_metric *gp_metrics_find(const struct gp_metrics *m, const char *name);

/* The sets that files define; there are "default" and "all" besides. */
size_t gp_metrics_set_count(const struct gp_metrics *m);
const struct gp_metric_set *gp_metrics_set_at(const struct gp_metrics *m, size_t i);

/* Why a metric is to be had on no present device, with the nearest there is; NULL where it is. */
const char *gp_metric_absent(const struct gp_metric *metric);

/* Selects "a,b,c" in that order: metrics, sets, counters by their own names (they have "__" in
 * them); "default" (also NULL and "") is the default set, "all" every metric of present devices
 * but nvprof's events. A name that is unknown, or of which no device, present or old, has an
 * equivalent, adds one line to `problems`, leaves the selection as it was and makes the answer
 * false. Whether a device has a counter is not checked. */
bool gp_metrics_select(struct gp_metrics *m, const char *list, struct gp_text *problems);
size_t gp_metrics_selected_count(const struct gp_metrics *m);
const struct gp_metric *gp_metrics_selected(const struct gp_metrics *m, size_t i);

/* The counters that the selection needs on this device, each once; that of the time, too, where a
 * mean is weighted by it. *names is one allocation, to be
 * freed by the caller; the strings belong to `m`. Recording these very pointers in struct
 * gp_counter makes evaluation quicker. Returns true, or false when out of memory. */
bool gp_metrics_counters(const struct gp_metrics *m, const struct gp_device *device,
                         const char ***names, size_t *count);

/* Where the default set is selected: selects the metrics of the set "diagnosis" as well, behind all
 * others. Their counters are not among those of gp_metrics_counters: few launches have them.
 * Nothing is selected afterwards. */
void gp_metrics_select_diagnosis(struct gp_metrics *m);
bool gp_metrics_have_diagnosis(const struct gp_metrics *m);
/* The counters of these, in the same form, but for those of gp_metrics_counters. */
bool gp_metrics_diagnosis_counters(const struct gp_metrics *m, const struct gp_device *device,
                                   const char ***names, size_t *count);

/* The definitions' own copy of a counter's name, NULL where no formula has it. */
const char *gp_metrics_counter_name(const struct gp_metrics *m, const char *name);

/* Computes a metric of one launch. Returns true with *value, or false with *absence (which may be
 * NULL): the cause of a missing counter is its own. */
bool gp_metric_evaluate(const struct gp_metric *metric, const struct gp_device *device,
                        const struct gp_record *launch, double *value, struct gp_absence *absence);

/* Whether the metric and all metrics in its formula are defined for that device; false with the
 * reason in `why`. Whether the device has the counters is not checked. */
bool gp_metric_is_defined(const struct gp_metric *metric, const struct gp_device *device, char *why,
                          size_t why_size);

/* Appends the formula used on this device, printed back from the compiled steps, and its operands.
 * Returns false with the reason in `why` where the metric has none for that compute capability. */
bool gp_metric_formula(const struct gp_metric *metric, const struct gp_device *device,
                       struct gp_text *out, char *why, size_t why_size);

/* The counters of one metric on this device, in the same form as gp_metrics_counters. */
bool gp_metric_counters(const struct gp_metrics *m, const struct gp_metric *metric,
                        const struct gp_device *device, const char ***names, size_t *count);

/* Where the formula used on this device comes from. */
const char *gp_metric_source(const struct gp_metric *metric, const struct gp_device *device);

#endif
