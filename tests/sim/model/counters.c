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
