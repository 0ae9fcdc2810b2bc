#include "model/counters.h"

#include <stdlib.h>
#include <string.h>

void gpusim_counters_add(struct gpusim_counters *sum, const struct gpusim_counters *more)
{
#define GPUSIM_COUNTER(name) sum->name += more->name;
#include "model/counters.def"
#undef GPUSIM_COUNTER
}

void gpusim_result_free(struct gpusim_result *result)
{
    if (!result)
        return;
    free(result->instructions);
    free(result);
}

static uint64_t count_at(const struct gpusim_counters *counts, size_t offset)
{
    uint64_t value;

    memcpy(&value, (const char *)counts + offset, sizeof(value));
    return value;
}

uint64_t gpusim_result_max(const struct gpusim_result *result, size_t offset)
{
    uint64_t most = 0;

    for (unsigned i = 0; i < result->sms; i++)
        if (count_at(&result->sm[i], offset) > most)
            most = count_at(&result->sm[i], offset);
    return most;
}

uint64_t gpusim_result_min(const struct gpusim_result *result, size_t offset)
{
    uint64_t least = UINT64_MAX;

    for (unsigned i = 0; i < result->sms; i++)
        if (count_at(&result->sm[i], offset) < least)
            least = count_at(&result->sm[i], offset);
    return least == UINT64_MAX ? 0 : least;
}
