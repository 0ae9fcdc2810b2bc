/* Profiles read for a view: into a summary, or line by line. Owns all that is made while reading.
 */
#ifndef GPUPROF_CLI_VIEW_READING_H
#define GPUPROF_CLI_VIEW_READING_H

#include "cli/how_ended.h"
#include "cli/report_views.h"
#include "profile/reader.h"
#include "report/columns.h"
#include "report/copies.h"
#include "report/merge.h"
#include "report/sources.h"
#include "report/summary.h"
#include "report/trace.h"

#include <jansson.h>

/* Bytes of lines that are printed together; where names wait for those of other kernels. */
#define CLI_LINES_AT_ONCE (1u << 16)
#define CLI_NAMED_AT_ONCE (1u << 26)

/* A line that is kept to be sorted: where it stands in the text. */
struct cli_sorted_line {
    double key;
    size_t order, begin, end;
};

struct cli_reading {
    const struct cli_views *views;
    const struct gp_metrics *metrics;
    struct gp_filter *filter;
    struct gp_summary *summary; /* or */
    struct gp_sources *sources; /* the counts of instructions, for advice; NULL: not wanted */
    struct gp_trace *trace;     /* or */
    struct gp_columns *columns;
    struct gp_name_slots *names; /* that are written when lines are printed; NULL: none */
    const char *path;
    struct gp_profile_position position;
    json_t *about;
    struct gp_text command;
    long pid;
    bool seen;
    bool began; /* the profile that is read has a header, so it is one */
    struct cli_how_ended how_ended;
    struct gp_merge merge;
    struct gp_copies copies[GP_COPY_KINDS];
    struct gp_device devices[GP_MAX_DEVICES]; /* by their numbers here */
    /* Lines of a trace: printed as they come, or kept to be sorted. */
    struct gp_text lines;
    struct cli_sorted_line *sorted;
    size_t sorted_count, sorted_capacity;
    int error;
};

/* NULL when out of memory, or after a message on the filter. */
struct cli_reading *cli_reading_new(const struct cli_views *v, const struct gp_metrics *m);
void cli_reading_free(struct cli_reading *r);

/* Finds the first of the launches to show, so that times in the trace count from it. Files alone
 * are read for that, as a pipe can be read only once. */
void cli_reading_find_start(struct cli_reading *r, char **paths, int count);

/* Reads one profile. Returns the answer of the command; a part may have been read in spite of a
 * failure. */
int cli_reading_profile(struct cli_reading *r, const char *path);

/* Prints the lines so far. False where that failed: r->error says why. */
bool cli_reading_flush(struct cli_reading *r);

#endif
