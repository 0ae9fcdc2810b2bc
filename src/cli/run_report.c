#include "cli/run_report.h"

#include "base/log.h"
#include "base/pattern.h"
#include "cli/cli.h"
#include "cli/how_ended.h"
#include "cli/live.h"
#include "cli/run_profiles.h"
#include "cli/summing.h"
#include "profile/reader.h"
#include "report/colour.h"
#include "report/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* As in the library's report (launch/results.c). */
#define MOST_KERNELS 20

/* ---- how the processes ended ----------------------------------------------------------------- */

struct sorting {
    const struct cli_run_folder *folder;
    struct gp_unfinished all; /* sums of the launches of those below */
    char **unfinished;
    size_t count;
    size_t running; /* processes that have not ended at all */
    long pid;       /* of one of the unfinished */
    bool is_unfinished;
};

static bool take_launch(void *user, const struct gp_record *launch)
{
    (void)user;
    (void)launch;
    return true;
}

static void take_unfinished(void *user, const struct gp_unfinished *process)
{
    struct sorting *s = user;
    if (cli_run_folder_has_end(s->folder, process->pid))
        return;
    s->all.launches += process->launches;
    s->all.whole += process->whole;
    s->all.partly += process->partly;
    s->all.timed += process->timed;
    s->all.begun += process->begun;
    s->pid = process->pid;
    s->is_unfinished = true;
}

/* The unfinished ones; those that a process is still writing are counted. */
static void sort(const struct gp_run_files *profiles, struct sorting *s)
{
    const struct gp_profile_visitor visitor = {
        .user = s, .launch = take_launch, .unfinished = take_unfinished, .alone = true};
    s->unfinished = calloc(profiles->count + 1, sizeof(*s->unfinished));
    for (size_t i = 0; s->unfinished && i < profiles->count; i++) {
        char why[512]; /* is said when it is read for the report */
        if (cli_is_being_written(profiles->list[i])) {
            s->running++;
            continue;
        }
        s->is_unfinished = false;
        gp_profile_read(profiles->list[i], &visitor, NULL, why, sizeof(why));
        if (s->is_unfinished)
            s->unfinished[s->count++] = profiles->list[i];
    }
}

static void say_end(const struct cli_end *end, const struct sorting *s, bool any_profile)
{
    struct gp_text line = {0};
    gp_text_add(&line, "the program ");
    const size_t begin = line.length;
    cli_add_way(end, &line);
    if (line.length == begin && s->count > 0 && (s->count > 1 || s->pid != end->process))
        gp_text_addf(&line,
                     "ended, and %zu of its processes %s killed, left by _exit or became another "
                     "program",
                     s->count, s->count == 1 ? "was" : "were");
    else if (line.length == begin && s->count > 0)
        gp_text_add(&line, "left by _exit or became another one");
    if (line.length == begin)
        gp_text_clear(&line);
    else if (!any_profile)
        gp_text_add(&line, "; no launch of it is known, so there is nothing to report");
    else if (s->all.launches > 0 && s->all.whole == s->all.launches)
        gp_text_addf(&line, "; all its %" PRIu64 " launches are measured", s->all.launches);
    else
        cli_add_missing(&s->all, "; ", &line);
    if (line.length > 0 && s->running > 0)
        gp_text_addf(&line, "; %zu of its processes run%s on, and are not in this report",
                     s->running, s->running == 1 ? "s" : "");
    if (line.length > 0)
        gp_say("%s", gp_text_string(&line));
    gp_text_free(&line);
}

/* ---- the report ------------------------------------------------------------------------------ */

static void write_report(struct gp_text *text)
{
    struct gp_text coloured = {0};
    if (text->failed)
        gp_say("out of memory: the report is not complete");
    if (gp_colour_wanted(gp_log_is_terminal()))
        gp_colour(gp_text_string(text), &coloured);
    const struct gp_text *shown = coloured.length > 0 && !coloured.failed ? &coloured : text;
    gp_log_report(gp_text_string(shown), shown->length, "GPUPROF_LOG=FILE writes all of it there");
    gp_text_free(&coloured);
}

static bool select_metrics(struct gp_metrics *m)
{
    struct gp_text problems = {0};
    const char *list = secure_getenv("GPUPROF_METRICS");
    const bool selected = gp_metrics_select(m, list, &problems) ||
                          gp_metrics_select(m, NULL, &problems); /* the library has said so */
    gp_metrics_select_diagnosis(m);
    gp_text_free(&problems);
    return selected;
}

/* As launch/settings.c has these. */
static bool names_metrics(void)
{
    const char *metrics = secure_getenv("GPUPROF_METRICS");
    return metrics && *metrics && strcmp(metrics, "default") != 0;
}

static bool wants_details(void)
{
    const char *report = secure_getenv("GPUPROF_REPORT");
    return report && *report ? strcmp(report, "details") == 0 : names_metrics();
}

/* `name`: of a profile for further questions; "": there is none. */
static void report_summary(const struct gp_metrics *m, const struct cli_views *views,
                           const struct sorting *s, const char *name)
{
    struct gp_text text = {0}, notes = {0};
    struct cli_summing summing = {.summary = NULL};
    cli_sum_profiles(&summing, views, m, s->unfinished, (int)s->count, &notes);
    if (summing.seen && gp_summary_launches(summing.summary) > 0) {
        const struct gp_table_options options = {.top = MOST_KERNELS,
                                                 .details = wants_details(),
                                                 .every_metric = names_metrics(),
                                                 .width = gp_log_columns(),
                                                 .copies = summing.copies,
                                                 .profile = name,
                                                 .sources = summing.sources};
        gp_table_report(summing.summary, &options, &text);
        gp_copies_table(summing.copies, &text);
        write_report(&text);
    }
    cli_summing_free(&summing);
    gp_text_free(&notes); /* the line on the program's end stands for them */
    gp_text_free(&text);
}

static int select_selected(struct gp_metrics *m, const char *path, const char *metrics)
{
    (void)path;
    (void)metrics;
    return select_metrics(m) ? CLI_OK : CLI_FAILED;
}

/* Views print to standard output: here into memory, as nobody may read on. */
static void print_view(struct cli_views *views, enum cli_view which, struct gp_metrics *m,
                       const struct sorting *s)
{
    struct gp_text text = {0};
    char part[4096];
    ssize_t n;
    const int memory = memfd_create("report", MFD_CLOEXEC), before = dup(STDOUT_FILENO);
    views->which = which;
    if (memory >= 0 && dup2(memory, STDOUT_FILENO) >= 0) {
        cli_views_print(views, m, s->unfinished, (int)s->count);
        for (off_t at = 0; (n = pread(memory, part, sizeof(part), at)) > 0; at += n)
            gp_text_add_bytes(&text, part, (size_t)n);
    }
    if (before >= 0) {
        dup2(before, STDOUT_FILENO);
        close(before);
    }
    if (memory >= 0)
        close(memory);
    write_report(&text);
    gp_text_free(&text);
}

/* As gp_printing_end of the library. */
static void print_views(struct gp_metrics *m, const struct sorting *s, const char *name)
{
    char why[256];
    struct cli_views views = {.merge = true, .alone = true, .select = select_selected};
    if (!gp_view_parse(secure_getenv("GPUPROF_PRINT"), &views.view, why, sizeof(why)))
        views.view = (struct gp_view){.report = true};
    const struct gp_view asked = views.view;
    /* The metrics are columns of the trace where they were asked for. */
    views.metrics = asked.metrics ? "" : NULL;
    if (asked.trace)
        print_view(&views, CLI_VIEW_TRACE, m, s);
    if (asked.times)
        print_view(&views, CLI_VIEW_TIMES, m, s);
    if ((asked.metrics || asked.events) && !asked.trace)
        print_view(&views, CLI_VIEW_METRICS, m, s);
    if (asked.report && select_metrics(m))
        report_summary(m, &views, s, name);
}

/* Where the library would have printed it, for the process that was the program. */
static void open_log(pid_t program)
{
    const char *pattern = secure_getenv("GPUPROF_LOG");
    struct gp_text path = {0};
    char why[512];
    if (pattern && *pattern && gp_pattern_expand_for(program, pattern, &path, why, sizeof(why)))
        gp_log_open(gp_text_string(&path)); /* else to standard error; the library has said so */
    gp_text_free(&path);
}

void cli_report_so_far(pid_t program)
{
    struct cli_live live;
    struct gp_text text = {0}, why = {0};
    open_log(program);
    if (!cli_live_find(program, &live, &why))
        gp_say("%s", gp_text_string(&why));
    else if (cli_live_report(&live, wants_details(), gp_log_columns(), &text))
        write_report(&text);
    else
        gp_say("no launch has ended yet");
    cli_live_free(&live);
    gp_text_free(&text);
    gp_text_free(&why);
}

void cli_report_end(const struct cli_end *end, const struct gp_run_files *profiles, bool named,
                    const struct cli_run_folder *folder)
{
    struct sorting s = {.folder = folder};
    static const char clear[] = "\r\033[K";
    sort(profiles, &s);
    if (s.count > 0 || WIFSIGNALED(end->how)) {
        open_log(end->process);
        /* The line on the progress may stand there. */
        if (s.count > 0)
            gp_log_passing(clear, sizeof(clear) - 1);
        say_end(end, &s, profiles->count > 0);
    }
    struct gp_metrics *m = s.count > 0 ? cli_open_metrics() : NULL;
    if (m)
        print_views(m, &s, !named ? "" : s.count == 1 ? s.unfinished[0] : profiles->list[0]);
    gp_metrics_close(m);
    free(s.unfinished);
}
