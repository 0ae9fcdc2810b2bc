/* Profiles folded into one summary, for the report and for the page. Owns the summary and all that
 * stands beside it. */
#ifndef GPUPROF_CLI_SUMMING_H
#define GPUPROF_CLI_SUMMING_H

#include "cli/how_ended.h"
#include "cli/report_views.h"
#include "profile/reader.h"
#include "report/copies.h"
#include "report/merge.h"
#include "report/sources.h"
#include "report/summary.h"

struct cli_summing {
    const struct gp_metrics *metrics;
    struct gp_filter *filter;
    struct cli_how_ended how_ended;
    struct gp_merge merge;
    struct gp_copies copies[GP_COPY_KINDS];
    struct gp_summary *summary;
    struct gp_sources *sources; /* NULL: out of memory, so no line of the source is named */
    bool anonymous;
    const char *path; /* of the profile that is read, as it is shown */
    struct gp_profile_position position;
    bool seen;    /* a part of a profile could be read */
    bool began;   /* of that one: it has a header, so it is a profile */
    bool stopped; /* `launch` ended its reading */
    /* Set by the caller; each may be NULL. `process` is called before all else of a process,
     * `launch` behind the summary for each launch that the filter takes (false ends the reading).
     * Lines on profiles that cannot be read go to `failures` too. */
    void *user;
    void (*process)(void *user, const struct gp_profile_header *header);
    bool (*launch)(void *user, const struct gp_device *device, const struct gp_record *launch);
    void (*unfinished)(void *user, const struct gp_unfinished *process);
    bool runs; /* the processes run: of their launches some are not read yet */
    struct gp_text *failures;
    /* Set by the caller: the counters and devices of the profile's begin, NULL: of all of it. The
     * reading ends at a launch with others, and `has_others` says so. */
    const struct cli_recorded *begin;
    bool has_others;
};

/* Reads the profiles, as one. Returns the answer of the command; a part may have been read in spite
 * of a failure, which was reported. To be freed in any case. */
int cli_sum_profiles(struct cli_summing *s, const struct cli_views *views,
                     const struct gp_metrics *m, char **paths, int count, struct gp_text *notes);

void cli_summing_free(struct cli_summing *s);

#endif
