/* GPUPROF_CHECK: holds the launches of this process to thresholds; the verdict stands behind the
 * report. Owns the thresholds and the values seen.
 *
 * Not locked: the session lets one thread in at a time. Without GPUPROF_CHECK nothing here does
 * anything. */
#include "launch/inside.h"

#include "base/log.h"
#include "check/format.h"
#include "check/judge.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static struct {
    struct gp_thresholds *thresholds;
    struct gp_judge *judge; /* NULL: nothing is checked */
} checks;

/* "command": `gpuprof --check` judges the profiles itself. "command-alone": and nobody else wants
 * them. */
static bool is_judged_by(const char *judge)
{
    const char *by = secure_getenv("GPUPROF_CHECK_BY");
    return by && strcmp(by, judge) == 0;
}

bool checks_need_profile(void)
{
    return is_judged_by("command-alone");
}

void checks_open(struct gp_metrics *m)
{
    const char *path = secure_getenv("GPUPROF_CHECK");
    /* The metrics of its rules are selected all the same. */
    bool elsewhere = is_judged_by("command") || is_judged_by("command-alone");
    if (!path || !*path)
        return;
    struct gp_text problems = {0};
    checks.thresholds = gp_thresholds_read(path, m, &problems);
    bool selected = checks.thresholds && gp_thresholds_select(checks.thresholds, m);
    if (selected && !elsewhere)
        checks.judge = gp_judge_new(checks.thresholds, m);
    gp_say_lines("GPUPROF_CHECK: ", gp_text_string(&problems));
    if (!checks.thresholds)
        gp_say("GPUPROF_CHECK=%s: nothing is checked", path);
    else if (!selected || (!checks.judge && !elsewhere))
        gp_say("GPUPROF_CHECK=%s: nothing is checked: out of memory", path);
    gp_text_free(&problems);
}

void checks_device(const struct gp_device *device)
{
    if (checks.judge)
        gp_judge_device(checks.judge, device);
}

void checks_launch(const struct gp_record *launch)
{
    if (checks.judge)
        gp_judge_launch(checks.judge, launch);
}

void checks_count(const struct gp_count *count)
{
    if (checks.judge)
        gp_judge_count(checks.judge, count);
}

void checks_give_up(const char *why)
{
    if (checks.judge)
        gp_judge_gave_up(checks.judge, why);
}

static void note_lines(const struct gp_sources *sources)
{
    for (size_t i = 0; i < gp_sources_count(sources); i++) {
        unsigned line = 0;
        char *path = gp_lines_begin(gp_sources_at(sources, i), &line);
        if (path)
            gp_judge_source(checks.judge, gp_sources_at(sources, i)->source.kernel, path,
                            (int)line);
        free(path);
    }
}

void checks_report(const struct gp_sources *sources, struct gp_text *out)
{
    if (!checks.judge)
        return;
    if (sources)
        note_lines(sources);
    if (user_settings.recorded.window)
        gp_judge_windowed(checks.judge);
    struct gp_verdict verdict = {0};
    const struct gp_occasion occasion = {.title = "checks", .held = "", .host = "", .time = ""};
    gp_judge_finish(checks.judge, &verdict);
    gp_verdict_sort(&verdict);
    gp_text_addf(out, "\nCHECKS, rules of %s\n", checks.thresholds->file);
    gp_write_text(&verdict, &occasion, out);
    gp_verdict_free(&verdict);
}
