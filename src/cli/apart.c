#include "cli/apart.h"

#include "metrics/define.h"

#include <string.h>

struct kinds {
    bool apart, others;
};

bool cli_counter_is_apart(const char *counter)
{
    static const char *const units[] = {"nvlrx__", "nvltx__", "pcie__"};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strncmp(counter, units[i], strlen(units[i])) == 0)
            return true;
    return false;
}

static void see_counter(void *user, const char *counter)
{
    struct kinds *kinds = user;
    if (cli_counter_is_apart(counter))
        kinds->apart = true;
    else if (strcmp(counter, "gpu__time_duration.sum") != 0)
        kinds->others = true;
}

static struct kinds kinds_of(const struct gp_metric *metric, const struct gp_device *device)
{
    struct kinds kinds = {false, false};
    gp_metric_visit_counters(metric, device, see_counter, &kinds);
    return kinds;
}

bool cli_metric_is_apart(const struct gp_metric *metric, const struct gp_device *device)
{
    return kinds_of(metric, device).apart;
}

bool cli_metric_bars_apart(const struct gp_metric *metric, const struct gp_device *device)
{
    return kinds_of(metric, device).others;
}
