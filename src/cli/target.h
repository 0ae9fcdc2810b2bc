/* The GPU that a question is about: that of --chip, else this machine's. */
#ifndef GPUPROF_CLI_TARGET_H
#define GPUPROF_CLI_TARGET_H

#include "metrics/metrics.h"

#include <stdbool.h>

struct cli_target {
    bool known;              /* false: neither a chip nor a GPU; the device is one of today's */
    struct gp_device device; /* its compute capability, and the kind of its counters */
    char chip[32];           /* as CUPTI names it; empty: CUPTI cannot be asked */
    char name[48];           /* for messages: "GH100", "compute capability 3.7" */
};

/* `chip`: that of --chip, a name that there is; NULL: this machine's first GPU, which a child
 * process is asked for. */
void cli_target_find(struct cli_target *target, const char *chip);

/* Any GPU of that compute capability. */
void cli_target_of(struct cli_target *target, int cc_major, int cc_minor);

/* False with the reason in `why` where the metric cannot be had on that GPU; of a target that is
 * not known, where no GPU of today has it. */
bool cli_target_has(const struct cli_target *target, const struct gp_metric *metric, char *why,
                    size_t why_size);

#endif
