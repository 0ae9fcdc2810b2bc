/* The values of --metrics and --events of `gpuprof run`, checked before the program starts. Owns
 * the lists that the library gets, for as long as the process lives. */
#ifndef GPUPROF_CLI_RUN_METRICS_H
#define GPUPROF_CLI_RUN_METRICS_H

#include <stdbool.h>

struct run_metrics {
    const char *metrics, *events; /* patterns of counters resolved; empty: not asked for */
    bool names_a_set;             /* --metrics does: nvprof had none, so the report is printed */
};

/* The options' values, NULL where they were not given; `chip`: that of --chip, a name that there
 * is, or NULL. False after a message where a name is wrong, or where the GPU has none of them. */
bool run_metrics_check(const char *metrics, const char *events, const char *chip,
                       struct run_metrics *lists);

#endif
