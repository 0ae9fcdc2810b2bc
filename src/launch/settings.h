/* The user's settings in the environment (GPUPROF_*), but for the choice of launches
 * (launch/selection.h) and the results (launch/results.h). Owns that. Read before the first
 * launch. */
#ifndef GPUPROF_LAUNCH_SETTINGS_H
#define GPUPROF_LAUNCH_SETTINGS_H

#include "profile/record.h"

#include <stdbool.h>

struct gp_user_settings {
    bool flush_caches;  /* before a pass of the hardware (GPUPROF_CACHE=flush, the default) */
    bool verify_always; /* every launch, beside verify_is_due (GPUPROF_VERIFY=always) */
    bool at_once;       /* no launch is held: all its passes come at once (GPUPROF_REPLAY=now) */
    bool timeout_set;   /* GPUPROF_TIMEOUT is given */
    bool details;       /* the report at the end has them (GPUPROF_REPORT) */
    bool metrics_named; /* other metrics than the default ones (GPUPROF_METRICS) */
    bool few_queues;    /* of the hardware: streams share them (CUDA_DEVICE_MAX_CONNECTIONS) */
    /* The settings that readers of the profile need. With `replay_off` no kernel runs more often
     * than the program runs it: launches of a kernel are counted in turns. */
    struct gp_settings recorded;
};
extern struct gp_user_settings user_settings;

/* Reads the settings that are recorded, and then the others. Mistakes are reported. */
void settings_read_recorded(void);
void settings_read(void);

/* The number of the word that the environment variable has, among `words`, which end with NULL; -1
 * where it is not set, or has another one, which is said, with the words in `all`. */
int setting_word(const char *variable, const char *const *words, const char *all);

#endif
