/* The options of `gpuprof run`: their table, the check of their values, and the environment that
 * they become. Owns the table. */
#ifndef GPUPROF_CLI_RUN_OPTIONS_H
#define GPUPROF_CLI_RUN_OPTIONS_H

#include "cli/cli.h"

#include <stdbool.h>

enum {
    RUN_METRICS,
    RUN_EVENTS,
    RUN_QUERY_METRICS,
    RUN_QUERY_EVENTS,
    RUN_AGGREGATE,
    RUN_COPIES,
    RUN_CHIP,
    RUN_KERNELS,
    RUN_KERNEL_ID,
    RUN_LAUNCH_SKIP,
    RUN_LAUNCH_COUNT,
    RUN_LAUNCHES,
    RUN_SAMPLE,
    RUN_OVERHEAD,
    RUN_DEVICES,
    RUN_TARGET,
    RUN_CHILDREN,
    RUN_FROM_START,
    RUN_CAPTURE_RANGE,
    RUN_DELAY,
    RUN_WARM_UP,
    RUN_DURATION,
    RUN_REPLAY,
    RUN_REPLAY_MODE,
    RUN_CACHE,
    RUN_LINES,
    RUN_DIAGNOSIS,
    RUN_VERIFY,
    RUN_MEMORY,
    RUN_KERNEL_TIMEOUT,
    RUN_TIMEOUT,
    RUN_OUTPUT,
    RUN_FORCE,
    RUN_LIMIT_PROFILE,
    RUN_LOG,
    RUN_METRICS_FILE,
    RUN_SNAPSHOT_SIGNAL,
    RUN_NO_PROGRESS,
    RUN_DETAILS,
    RUN_SUMMARY,
    RUN_TRACE,
    RUN_CSV,
    RUN_UNIT,
    RUN_DEMANGLING,
    RUN_QUIET,
    RUN_CHECK,
    RUN_FORMAT,
    RUN_OPTION_COUNT
};

extern const struct cli_option run_options[RUN_OPTION_COUNT];

/* False after a message. */
bool run_check(const char *const *values);

/* Sets the environment that the library reads. False when out of memory. */
bool run_pass(const char *const *values);

#endif
