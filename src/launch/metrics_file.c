/* Totals of the process in a file for a monitoring system (GPUPROF_METRICS_FILE), written now and
 * then and at the end. Owns its name. Used with the lock on the results, but for the writing. */
#include "launch/inside.h"

#include "base/added_time.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/pattern.h"
#include "base/process.h"
#include "report/openmetrics.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Seconds from one writing to the next. To make the text may take a hundredth of that. */
#define BETWEEN 10.0
#define MOST_SHARE 0.01

static struct {
    struct gp_text path; /* empty: none is wanted */
    double next;
    struct gp_openmetrics_totals totals;
    bool failed; /* that was said */
} file;

void metrics_file_start(void)
{
    const char *pattern = secure_getenv("GPUPROF_METRICS_FILE");
    char why[512];
    if (!pattern || !*pattern)
        return;
    struct gp_text path = {0};
    char *from_here = NULL;
    if (gp_pattern_expand(pattern, &path, why, sizeof(why)))
        from_here = recording_path_from_here(gp_text_string(&path));
    else
        gp_say("GPUPROF_METRICS_FILE=%s: %s; no metrics are written", pattern, why);
    if (from_here)
        gp_text_add(&file.path, from_here);
    free(from_here);
    gp_text_free(&path);
    file.next = gp_clock_seconds() + BETWEEN;
}

bool metrics_file_is_wanted(void)
{
    return file.path.length > 0 && !file.path.failed;
}

bool metrics_file_is_due(void)
{
    return metrics_file_is_wanted() && gp_clock_seconds() >= file.next;
}

void metrics_file_make(const struct gp_summary *summary, uint64_t launches, struct gp_text *out)
{
    struct timespec now;
    const double began = gp_clock_seconds();
    clock_gettime(CLOCK_REALTIME, &now);
    const struct gp_openmetrics about = {.program = program_invocation_short_name,
                                         .process = (long)getpid(),
                                         .launches = launches,
                                         .seconds = gp_process_seconds(),
                                         .added_seconds = gp_added_seconds(),
                                         .now = (double)now.tv_sec,
                                         .totals = &file.totals};
    gp_openmetrics_add(summary, &about, out);
    const double ended = gp_clock_seconds();
    file.next = ended + fmax(BETWEEN, (ended - began) / MOST_SHARE);
}

void metrics_file_write(const struct gp_text *text)
{
    const int error =
        text->failed ? ENOMEM : gp_replace_file(file.path.data, gp_text_string(text), text->length);
    if (error && !file.failed)
        gp_say("%s: %s; metrics are not written there", file.path.data, strerror(error));
    file.failed = error != 0;
}
