#include "cupti/images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many counters of one unit the hardware holds at a time. Real units have registers of many
 * kinds; it matters here that a few counters share a pass, that L1 is the tightest, and that
 * code that counts for itself is never mixed with any. */
static uint32_t capacity(enum gpusim_unit unit)
{
    switch (unit) {
    case GPUSIM_UNIT_L1TEX:
        return 2;
    case GPUSIM_UNIT_LTS:
        return 4;
    case GPUSIM_UNIT_DRAM:
        return 4;
    case GPUSIM_UNIT_GPU:
        return 8;
    default:
        return 12; /* of the SM and its parts */
    }
}

static uint32_t passes_wanted(void)
{
    const char *text = getenv("GPUSIM_PASSES");

    return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

uint32_t gpusim_config_plan(struct gpusim_config_counter *counters, uint32_t count)
{
    uint32_t used[GPUSIM_UNITS] = {0};
    uint32_t hardware = 0, instrumented = 0;
    uint32_t wanted = passes_wanted();

    for (uint32_t i = 0; i < count; i++) {
        enum gpusim_unit unit = gpusim_metric_unit(counters[i].base);
        if (gpusim_metric_is_instrumented(counters[i].base)) {
            instrumented = 1;
            continue;
        }
        if (unit == GPUSIM_UNIT_SMSP)
            unit = GPUSIM_UNIT_SM; /* the same registers */
        counters[i].pass = used[unit]++ / capacity(unit);
        if (counters[i].pass + 1 > hardware)
            hardware = counters[i].pass + 1;
    }
    /* More passes on request: the hardware's counters are spread over all but one of them, whether
     * or not that one is needed for instrumented code. */
    if (hardware && wanted > hardware + 1) {
        uint32_t next = 0;
        hardware = wanted - 1;
        for (uint32_t i = 0; i < count; i++)
            if (!gpusim_metric_is_instrumented(counters[i].base))
                counters[i].pass = next++ % hardware;
    }
    for (uint32_t i = 0; i < count; i++)
        if (gpusim_metric_is_instrumented(counters[i].base))
            counters[i].pass = hardware;
    return hardware + instrumented;
}

const struct gpusim_config_image *gpusim_config_check(const void *image, size_t bytes)
{
    const struct gpusim_config_image *config = image;

    if (!image || bytes < sizeof(*config) || config->magic != GPUSIM_CONFIG_MAGIC ||
        bytes < sizeof(*config) + config->count * sizeof(config->counters[0]))
        return NULL;
    return config;
}

static size_t bases_bytes(uint32_t counters)
{
    return ((size_t)counters * sizeof(uint32_t) + 7) / 8 * 8;
}

static size_t range_bytes(uint32_t counters)
{
    return GPUSIM_RANGE_NAME + counters * sizeof(struct gpusim_sample);
}

size_t gpusim_data_bytes(uint32_t counters, uint32_t max_ranges)
{
    return sizeof(struct gpusim_data_image) + bases_bytes(counters) +
           max_ranges * range_bytes(counters);
}

struct gpusim_data_image *gpusim_data_check(const void *image, size_t bytes)
{
    struct gpusim_data_image *data = (struct gpusim_data_image *)(uintptr_t)image;

    if (!image || bytes < sizeof(*data) || data->magic != GPUSIM_DATA_MAGIC ||
        bytes < gpusim_data_bytes(data->counters, data->max_ranges))
        return NULL;
    return data;
}

uint32_t *gpusim_data_bases(const struct gpusim_data_image *image)
{
    return (uint32_t *)(uintptr_t)(image + 1);
}

char *gpusim_data_range_name(const struct gpusim_data_image *image, uint32_t range)
{
    return (char *)(uintptr_t)(image + 1) + bases_bytes(image->counters) +
           range * range_bytes(image->counters);
}

struct gpusim_sample *gpusim_data_samples(const struct gpusim_data_image *image, uint32_t range)
{
    return (struct gpusim_sample *)(void *)(gpusim_data_range_name(image, range) +
                                            GPUSIM_RANGE_NAME);
}

int gpusim_data_range(struct gpusim_data_image *image, const char *name)
{
    for (uint32_t i = 0; i < image->ranges; i++)
        if (strncmp(gpusim_data_range_name(image, i), name, GPUSIM_RANGE_NAME - 1) == 0)
            return (int)i;
    if (image->ranges == image->max_ranges)
        return -1;
    (void)snprintf(gpusim_data_range_name(image, image->ranges), GPUSIM_RANGE_NAME, "%s", name);
    memset(gpusim_data_samples(image, image->ranges), 0,
           image->counters * sizeof(struct gpusim_sample));
    return (int)image->ranges++;
}

int gpusim_data_index(const struct gpusim_data_image *image, uint32_t base)
{
    const uint32_t *bases = gpusim_data_bases(image);

    for (uint32_t i = 0; i < image->counters; i++)
        if (bases[i] == base)
            return (int)i;
    return -1;
}
