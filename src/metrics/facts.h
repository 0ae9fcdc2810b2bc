/* The facts a formula may use: device.NAME and launch.NAME. Owns their one list. */
#ifndef GPUPROF_METRICS_FACTS_H
#define GPUPROF_METRICS_FACTS_H

#include "profile/record.h"

#include <stdbool.h>

struct gp_fact {
    const char *name; /* "device.sm_count" */
    const char *help;
    /* Returns 0, or -1 with the reason in `why`. */
    bool (*get)(const struct gp_fact *fact, const struct gp_device *device,
                const struct gp_record *launch, double *value, char *why, size_t why_size);
    size_t offset; /* of a plain field */
    bool zero_is_known;
};

size_t gp_fact_count(void);
const struct gp_fact *gp_fact_at(size_t i);
const struct gp_fact *gp_fact_find(const char *name);

#endif
