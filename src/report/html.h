/* A report as one page: a file that needs no other, for a browser. Owns the collected parts until
 * the page is written.
 *
 * A page is begun, is given one profile after the other, and is ended. Its text on a profile is
 * JSON that a browser reads and never runs. */
#ifndef GPUPROF_REPORT_HTML_H
#define GPUPROF_REPORT_HTML_H

#include "report/launch_columns.h"
#include "report/sources.h"
#include "report/summary.h"

#include <stdbool.h>

/* How one process of a profile was started. Strings belong to the caller. */
struct gp_html_process {
    const char *version, *host, *time;
    long pid;
    size_t argument_count;
    const char *const *command;
};

/* False where gpuprof was built without Chart.js: there is no page then. */
bool gp_html_available(void);

/* Appends all that comes before the first profile. */
void gp_html_begin(struct gp_text *page);

/* All of a profile. Everything belongs to the caller. */
struct gp_html_profile {
    const char *path;
    const struct gp_text *processes; /* made by gp_html_add_process */
    const struct gp_summary *summary;
    const struct gp_copies *copies; /* of each kind, or NULL */
    struct gp_launch_columns *columns;
    const struct gp_sources *sources; /* or NULL */
    const char *notes;                /* lines that the reader of the profile left */
};

/* Appends a profile. Check page->failed afterwards. */
void gp_html_add_profile(struct gp_text *page, const struct gp_html_profile *profile);

/* Appends one process to a list of them. */
void gp_html_add_process(struct gp_text *processes, const struct gp_html_process *process);

/* Appends the rest. */
void gp_html_end(struct gp_text *page);

#endif
