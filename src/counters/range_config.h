/* The configuration of the Range Profiler for a list of counters, and the evaluation of its
 * results. Needs no GPU, only CUPTI's host library. */
#ifndef GPUPROF_COUNTERS_RANGE_CONFIG_H
#define GPUPROF_COUNTERS_RANGE_CONFIG_H

#include "cuda/cupti.h"

struct gp_range_config {
    CUpti_Profiler_Host_Object *host;
    uint8_t *image;
    size_t image_size;
    const char **names;               /* belong to the caller of make */
    size_t count, hardware;           /* the first so many are the hardware's */
    unsigned passes, hardware_passes; /* those of instrumented code come last */
};

/* CUPTI must have been started; again and again does no harm. */
bool gp_profiler_initialize(struct gp_reason *why);

/* CUPTI's object for the counters of a chip. NULL with the reason in *why. */
CUpti_Profiler_Host_Object *gp_range_config_open_host(const char *chip, struct gp_reason *why);
void gp_range_config_close_host(CUpti_Profiler_Host_Object *host);

/* Configures the names, of which the first `hardware` are the hardware's. False with the reason;
 * free in any case. */
bool gp_range_config_make(struct gp_range_config *config, const char *chip, const char **names,
                          size_t count, size_t hardware, struct gp_reason *why);
void gp_range_config_free(struct gp_range_config *config);

#endif
