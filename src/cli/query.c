#include "cli/query.h"

#include "cli/cli.h"
#include "report/layout.h"
#include "report/nvprof_values.h"

static void add_list(const struct gp_metrics *m, bool events, struct gp_text *out)
{
    gp_text_addf(out, "Available %s:\n%44s   %s\n", events ? "Events" : "Metrics", "Name",
                 "Description");
    for (size_t i = 0; i < gp_metrics_count(m); i++) {
        const struct gp_metric *metric = gp_metrics_at(m, i);
        if (gp_nvprof_is_event(metric) != events)
            continue;
        gp_text_addf(out, "%44s:  ", metric->name);
        gp_wrap(out, 47, metric->description);
    }
}

int cli_query(bool metrics, bool events)
{
    struct gp_text out = {0};
    struct gp_metrics *m = cli_open_metrics();
    if (!m)
        return CLI_FAILED;
    if (metrics)
        add_list(m, false, &out);
    if (events)
        add_list(m, true, &out);
    gp_metrics_close(m);
    return cli_print(&out);
}
