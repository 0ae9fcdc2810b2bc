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
/* Whether that was done. From any thread. */
bool profiler_is_initialized(void);

/* CUPTI's object for the counters of a chip. NULL with the reason in *why. */
CUpti_Profiler_Host_Object *gp_range_config_open_host(const char *chip, struct gp_reason *why);
void gp_range_config_close_host(CUpti_Profiler_Host_Object *host);

/* True for counters of instrumented code. */
bool counter_is_instrumented(const char *name);

/* CUPTI refuses a whole list for one bad name and does not say which, so a list that is refused is
 * tried in parts: unavailable[i] becomes the reason, none where the chip can count the name, and
 * together with those before it. */
bool range_config_try(const char *chip, const char *const *names, size_t count,
                      struct gp_reason *unavailable, struct gp_reason *why);

/* Configures the names, of which the first `hardware` are the hardware's. False with the reason;
 * free in any case. */
bool gp_range_config_make(struct gp_range_config *config, const char *chip, const char **names,
                          size_t count, size_t hardware, struct gp_reason *why);
void gp_range_config_free(struct gp_range_config *config);

/* The counters of one range of a counter data image, those of the hardware, of instrumented code or
 * both: `count` values, NAN for a counter that was not counted or not asked for. To evaluate one
 * counter takes microseconds. */
bool range_config_evaluate(const struct gp_range_config *config, const uint8_t *data,
                           size_t data_size, size_t range, bool hardware, bool instrumented,
                           double *values, struct gp_reason *why);

#endif
