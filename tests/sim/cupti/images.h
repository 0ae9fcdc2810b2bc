/* The two blocks of bytes that a user of the range profiler keeps: the counters and their
 * passes, and the counts, range by range. */
#ifndef GPUSIM_CUPTI_IMAGES_H
#define GPUSIM_CUPTI_IMAGES_H

#include "cupti/metrics.h"

#define GPUSIM_CONFIG_MAGIC 0x67666e6f636d6973ull
#define GPUSIM_DATA_MAGIC 0x61746164706d6973ull
#define GPUSIM_RANGE_NAME 64

struct gpusim_config_counter {
    uint32_t base;
    uint32_t pass;
};

struct gpusim_config_image {
    uint64_t magic;
    uint32_t passes;
    uint32_t count;
    struct gpusim_config_counter counters[];
};

/* Passes in which these counters can be collected; fills in each one's pass. */
uint32_t gpusim_config_plan(struct gpusim_config_counter *counters, uint32_t count);

/* Is it one? */
const struct gpusim_config_image *gpusim_config_check(const void *image, size_t bytes);

struct gpusim_data_image {
    uint64_t magic;
    uint32_t counters, max_ranges, ranges;
    uint32_t unused;
    /* Then: uint32_t bases[counters] up to a multiple of 8 bytes, then max_ranges times
     * char name[GPUSIM_RANGE_NAME] and struct gpusim_sample samples[counters]. */
};

size_t gpusim_data_bytes(uint32_t counters, uint32_t max_ranges);
struct gpusim_data_image *gpusim_data_check(const void *image, size_t bytes);
uint32_t *gpusim_data_bases(const struct gpusim_data_image *image);
char *gpusim_data_range_name(const struct gpusim_data_image *image, uint32_t range);
struct gpusim_sample *gpusim_data_samples(const struct gpusim_data_image *image, uint32_t range);

/* The range of that name, made if there is room for one more; -1 when there is not. */
int gpusim_data_range(struct gpusim_data_image *image, const char *name);

/* The counter's index in each range's samples; -1 when the image was not made for it. */
int gpusim_data_index(const struct gpusim_data_image *image, uint32_t base);

#endif
