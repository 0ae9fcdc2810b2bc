#include "cli/query.h"

#include "cli/cli.h"
#include "cli/target.h"
#include "report/layout.h"
#include "report/nvprof_values.h"

static void add_list(const struct gp_metrics *m, const struct cli_target *target, bool events,
                     struct gp_text *out)
{
    char why[GP_WHY_SIZE];
    size_t left_out = 0;
    gp_text_addf(out, "Available %s:\n%44s   %s\n", events ? "Events" : "Metrics", "Name",
                 "Description");
    for (size_t i = 0; i < gp_metrics_count(m); i++) {
        const struct gp_metric *metric = gp_metrics_at(m, i);
        if (events ? !gp_nvprof_has_event(metric) : gp_nvprof_is_event(metric))
            continue;
        if (!cli_target_has(target, metric, why, sizeof(why))) {
            left_out++;
            continue;
        }
        gp_text_addf(out, "%44s:  ", metric->name);
        gp_wrap(out, 47, metric->description);
    }
    if (left_out)
        gp_text_addf(out, "%zu more %s not to be had on %s ('gpuprof metrics NAME' says why)\n",
                     left_out, left_out == 1 ? "is" : "are",
                     target->known ? target->name : "present GPUs");
}

int cli_query(bool metrics, bool events, const char *chip)
{
    struct gp_text out = {0};
    struct cli_target target;
    struct gp_metrics *m = cli_open_metrics();
    if (!m)
        return CLI_FAILED;
    cli_target_find(&target, chip);
    if (metrics)
        add_list(m, &target, false, &out);
    if (events)
        add_list(m, &target, true, &out);
    gp_metrics_close(m);
    return cli_print(&out);
}
