#include "cli/check_run.h"

#include "cli/cli.h"
#include "cli/judging.h"
#include "cli/paths.h"
#include "cli/verdicts.h"

#include "base/log.h"

#include <stdlib.h>
#include <sys/stat.h>

/* It is read here, by the program and for the verdict: the bytes of a pipe would be gone. */
static bool is_a_file(const char *thresholds)
{
    struct stat about;
    bool other =
        stat(thresholds, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
    if (other)
        gp_say("--check: %s: a regular file is expected: it is read more than once", thresholds);
    return !other;
}

/* No file is written that is read, or that the library writes. */
static bool are_apart(const char *thresholds, const struct cli_outputs *outputs,
                      const struct cli_written *written, int count)
{
    bool apart = cli_check_outputs(outputs, &thresholds, 1);
    for (int i = 0; i < count && apart; i++) {
        apart = cli_check_pattern_spared(written[i].name, written[i].pattern, &thresholds, 1);
        for (size_t k = 0; k < outputs->count && apart && written[i].pattern; k++)
            apart = !outputs->list[k].file || cli_check_apart("--format", outputs->list[k].file,
                                                              written[i].name, written[i].pattern);
    }
    return apart;
}

bool cli_check_usable(const char *thresholds, const char *formats,
                      const struct cli_written *written, int count)
{
    struct cli_outputs outputs = {0};
    struct gp_text problems = {0};
    bool known = (!formats || cli_add_output(&outputs, formats)) &&
                 are_apart(thresholds, &outputs, written, count);
    cli_free_outputs(&outputs);
    if (!known || !is_a_file(thresholds))
        return false;
    struct gp_metrics *m = cli_open_metrics();
    struct gp_thresholds *t = m ? gp_thresholds_read(thresholds, m, &problems) : NULL;
    bool usable = t != NULL;
    gp_say_lines("--check: ", gp_text_string(&problems));
    gp_text_free(&problems);
    gp_thresholds_free(t);
    gp_metrics_close(m);
    return usable;
}

/* ---- the verdict ---- */

bool cli_check_prepare(const char *thresholds, bool named)
{
    char *absolute = realpath(thresholds, NULL);
    const bool prepared = absolute && setenv("GPUPROF_CHECK", absolute, 1) == 0 &&
                          setenv("GPUPROF_CHECK_BY", named ? "command" : "command-alone", 1) == 0;
    free(absolute);
    if (!prepared)
        gp_say("--check: %s: it cannot be prepared", thresholds);
    return prepared;
}

static void judge_files(const char *thresholds, const struct gp_run_files *profiles, bool named,
                        struct gp_verdict *verdict)
{
    struct gp_text problems = {0};
    struct gp_metrics *m = cli_open_metrics();
    struct gp_thresholds *t = m ? gp_thresholds_read(thresholds, m, &problems) : NULL;
    if (!t)
        gp_text_add(&verdict->unjudged, problems.length ? problems.data : "out of memory\n");
    else if (profiles->failed)
        gp_text_add(&verdict->unjudged, "out of memory\n");
    else if (profiles->count == 0)
        gp_text_add(&verdict->unjudged, "no process launched a kernel: there is no profile to "
                                        "judge\n");
    else
        cli_judge_run(t, m, profiles, named, verdict);
    gp_text_free(&problems);
    gp_thresholds_free(t);
    gp_metrics_close(m);
}

/* Standard output is the program's, so the verdict goes to standard error. */
static bool say_verdict(const char *formats, struct gp_verdict *verdict)
{
    struct cli_outputs outputs = {.to_standard_error = true};
    bool written = (!formats || cli_add_output(&outputs, formats)) &&
                   cli_write_verdict(&outputs, verdict, "gpuprof check", "");
    cli_free_outputs(&outputs);
    return written;
}

int cli_check_judge(const char *thresholds, const char *formats,
                    const struct gp_run_files *profiles, bool named, void (*read)(void))
{
    struct gp_verdict verdict = {0};
    judge_files(thresholds, profiles, named, &verdict);
    read();
    int status = gp_verdict_status(&verdict);
    if (!say_verdict(formats, &verdict) && status == GP_CHECK_HELD)
        status = GP_CHECK_UNJUDGED;
    gp_verdict_free(&verdict);
    return status;
}
