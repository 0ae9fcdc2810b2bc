/* Totals of a process as OpenMetrics text, which Prometheus reads, too: never a series for each
 * kernel, and no series of a value that was not measured. */
#ifndef GPUPROF_REPORT_OPENMETRICS_H
#define GPUPROF_REPORT_OPENMETRICS_H

#include "base/text.h"
#include "report/summary.h"

/* Values of a process that a summary does not have before its end. */
struct gp_openmetrics {
    const char *program; /* its name */
    long process;
    uint64_t launches;
    double seconds, added_seconds; /* as in struct gp_end */
    double now;                    /* seconds since 1970 */
    /* Totals never become less, as readers expect; estimates may. All zero to begin with. */
    struct gp_openmetrics_totals {
        double gpu_seconds, flop, dram_bytes;
    } * totals;
};

/* Appends the text, which ends in "# EOF". Nothing when out of memory: then out->failed. */
void gp_openmetrics_add(const struct gp_summary *s, const struct gp_openmetrics *about,
                        struct gp_text *out);

#endif
