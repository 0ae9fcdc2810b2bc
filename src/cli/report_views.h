/* The views of `gpuprof report` beside the report itself: a line for each launch, nvprof's tables,
 * CSV, JSON, profiles together or side by side. */
#ifndef GPUPROF_CLI_REPORT_VIEWS_H
#define GPUPROF_CLI_REPORT_VIEWS_H

#include "metrics/metrics.h"
#include "report/filter.h"
#include "report/view.h"

#include <stdbool.h>

enum cli_view {
    CLI_VIEW_SUMMARY,
    CLI_VIEW_TIMES,
    CLI_VIEW_METRICS,
    CLI_VIEW_TRACE,
    CLI_VIEW_JSON,
    CLI_VIEW_SIDE,
    CLI_VIEW_LAUNCHES,
    CLI_VIEW_MARKDOWN,
};

/* The values of the options; texts are NULL where they were not given. */
struct cli_views {
    enum cli_view which;
    struct gp_view view; /* csv, mangled, unit */
    const char *metrics; /* --metrics */
    const char *kernels, *devices, *skip, *count, *columns, *sort;
    bool merge;
    bool anonymous;    /* without command line, host and folders */
    size_t most_bytes; /* of Markdown; 0: no limit */
    bool alone;        /* each profile by itself, without the others of its run */
    size_t top;
    /* Selects the metrics for a profile: `metrics`, or all that it has the counters for. */
    int (*select)(struct gp_metrics *m, const char *path, const char *metrics);
};

/* The view of that name; false after saying that there is none. */
bool cli_view_find(const char *name, enum cli_view *view);

/* False after a message on the options. */
bool cli_views_check(const struct cli_views *views, const struct gp_metrics *m);

/* The name of a profile for people: without its folders where nobody shall know them. */
const char *cli_view_path(const struct cli_views *v, const char *path);

/* The filter that the options make; NULL after saying why there is none. */
struct gp_filter *cli_views_filter(const struct cli_views *views);

/* After the reading: says that no launch was selected, where that is so. */
void cli_say_filtered(const struct gp_filter *filter);

/* Prints any view but the summary. Returns the answer of the command. */
int cli_views_print(const struct cli_views *views, struct gp_metrics *m, char **paths, int count);

#endif
