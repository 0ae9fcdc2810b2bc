/* The results of the launches: the profile (launch/recording.c), and the report when the process
 * ends. Owns the summary. */
#include "launch/inside.h"

#include "base/added_time.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/pattern.h"
#include "base/process.h"
#include "base/text.h"
#include "counters/code_counts.h"
#include "profile/code_lines.h"
#include "profile/writer.h"
#include "report/colour.h"
#include "report/copies.h"
#include "report/printing.h"
#include "report/progress.h"
#include "report/sources.h"
#include "report/summary.h"
#include "report/table.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Kernels in the report at exit; the profile has them all. */
#define MOST_KERNELS 20

static struct {
    struct gp_metrics *metrics;
    struct gp_summary *summary;
    struct gp_writer *writer; /* at the end: of the profile, NULL: there is none */
    bool reported, silent;
    double own_seconds;      /* the program's own, in the report; 0: there was none */
    pthread_mutex_t records; /* profile and summary: launches, and the exit handler */
} results = {.records = PTHREAD_MUTEX_INITIALIZER};

const struct gp_metrics *results_metrics(void)
{
    return results.metrics;
}

void results_device(const struct gp_device *device)
{
    pthread_mutex_lock(&results.records);
    gp_summary_device(results.summary, device);
    if (metrics_file_is_wanted() || gp_progress_is_wanted())
        ended_start();
    checks_device(device);
    gp_printing_device(device);
    recording_device(device);
    pthread_mutex_unlock(&results.records);
}

double results_launch(const struct gp_record *launch, bool noted)
{
    pthread_mutex_lock(&results.records);
    gp_summary_launch(results.summary, launch);
    const double scatter = gp_summary_scatter(results.summary, launch);
    checks_launch(launch);
    gp_printing_launch(launch);
    recording_launch(launch, noted);
    pthread_mutex_unlock(&results.records);
    return scatter;
}

void results_note(const struct gp_record *launch, double duration_ns, bool noted)
{
    pthread_mutex_lock(&results.records);
    gp_printing_note(launch);
    recording_early(launch, duration_ns, noted);
    pthread_mutex_unlock(&results.records);
}

void results_ended(const struct gp_ended_launch *list, size_t count, uint64_t launches)
{
    pthread_mutex_lock(&results.records);
    for (size_t i = 0; i < count; i++)
        recording_ended(list[i].index, list[i].duration_ns);
    recording_so_far(launches);
    pthread_mutex_unlock(&results.records);
}

static void lock_records(void)
{
    pthread_mutex_lock(&results.records);
}

static void unlock_records(void)
{
    pthread_mutex_unlock(&results.records);
}

/* Launches that were not counted before, measured or not. */
static void count_more(void *unused, const struct gp_count *more)
{
    (void)unused;
    const struct gp_sum sum = {.kernel = more->kernel,
                               .device = more->device,
                               .configuration = more->configuration,
                               .launched = more->launches};
    gp_summary_sum(results.summary, &sum);
    recording_count_so_far(more);
}

/* The limit of the time that measuring adds, in words; NULL: there is none. */
static const char *limit_of_added(void)
{
    const char *chosen = user_settings.recorded.overhead;
    return !limit_is_set() || limit_takes_all() ? NULL : chosen ? chosen : "3%";
}

static void write_progress(void)
{
    const struct gp_progress progress = {.launches = session_launches(),
                                         .kernels = tallies_kernels(),
                                         .measured = gp_summary_measured_share(results.summary),
                                         .added = gp_added_seconds(),
                                         .limit = limit_of_added()};
    gp_progress_write(&progress);
}

/* No lock is held while a file is written that may lie behind a network. */
static void write_metrics_file(const struct gp_text *text)
{
    if (text->length > 0 || text->failed)
        metrics_file_write(text);
}

void results_upkeep(bool (*goes_on)(void))
{
    struct gp_text totals = {0};
    lock_records();
    const bool sums = recording_sums_are_due(), metrics = metrics_file_is_due();
    const bool progress = gp_progress_is_due();
    if (sums || metrics || progress)
        tallies_visit_new(count_more, NULL);
    if (sums)
        recording_sums();
    if (metrics)
        metrics_file_make(results.summary, session_launches(), &totals);
    if (progress)
        write_progress();
    unlock_records();
    write_metrics_file(&totals);
    gp_text_free(&totals);
    recording_thin(lock_records, unlock_records, goes_on);
}

void results_give_up(const char *why)
{
    pthread_mutex_lock(&results.records);
    checks_give_up(why);
    recording_give_up(why);
    pthread_mutex_unlock(&results.records);
}

/* The report inside the profile would make that unreadable. */
static bool is_profile(const char *log)
{
    const char *pattern = secure_getenv("GPUPROF_OUTPUT");
    struct gp_text path = {0};
    char why[256];
    bool same = pattern && *pattern && gp_pattern_expand(pattern, &path, why, sizeof(why)) &&
                gp_is_same_file(log, gp_text_string(&path));
    gp_text_free(&path);
    return same;
}

/* Says why not where it cannot be done. */
static bool open_log_file(const char *path, char *why, size_t why_size)
{
    int error = 0;
    if (is_profile(path))
        snprintf(why, why_size, "GPUPROF_OUTPUT names the same file");
    else if ((error = gp_log_open(path)))
        snprintf(why, why_size, "cannot open %s: %s", path, gp_open_error(error));
    else
        return true;
    return false;
}

void results_open_log(void)
{
    const char *pattern = secure_getenv("GPUPROF_LOG");
    if (!pattern || !*pattern)
        return;
    struct gp_text path = {0};
    char why[512];
    if (!gp_pattern_expand(pattern, &path, why, sizeof(why)) ||
        !open_log_file(gp_text_string(&path), why, sizeof(why)))
        gp_say("GPUPROF_LOG=%s: %s; messages go to standard error", pattern, why);
    gp_text_free(&path);
}

void results_open_profile(void)
{
    gp_summary_settings(results.summary, &user_settings.recorded);
    user_settings.recorded.sample = gp_summary_get_settings(results.summary)->sample;
    user_settings.recorded.overhead = gp_summary_get_settings(results.summary)->overhead;
    user_settings.recorded.window = gp_summary_get_settings(results.summary)->window;
    recording_prepare(results.summary);
}

bool results_open(void)
{
    struct gp_text problems = {0};
    results.metrics = gp_metrics_open(&problems);
    if (results.metrics &&
        !gp_metrics_select(results.metrics, secure_getenv("GPUPROF_METRICS"), &problems))
        gp_text_add(&problems, "GPUPROF_METRICS: the default metrics are measured\n");
    if (results.metrics) {
        checks_open(results.metrics);
        gp_metrics_select_diagnosis(results.metrics);
        results.summary = gp_summary_new(results.metrics);
    }
    gp_say_lines("", gp_text_string(&problems));
    gp_text_free(&problems);
    return results.summary != NULL;
}

/* How often a kernel was launched, for those that were not measured every time. */
static void record_count(void *unused, const struct gp_count *count)
{
    (void)unused;
    gp_summary_count(results.summary, count);
    checks_count(count);
    if (results.writer)
        gp_writer_count(results.writer, count);
}

static void record_whole(void *unused, const struct gp_whole_times *times)
{
    (void)unused;
    gp_summary_graph(results.summary, times);
    if (results.writer)
        whole_times_write(times, results.writer);
}

static void record_succession(void *unused, const struct gp_succession *s)
{
    (void)unused;
    gp_summary_succession(results.summary, s);
    if (results.writer)
        succession_write(s, results.writer);
}

static void write_report(const struct gp_text *report)
{
    struct gp_text rest = {0}, coloured = {0};
    const char *profile = recording_name();
    if (profile && gp_writer_path(results.writer))
        gp_text_addf(&rest, "the rest is in the profile, 'gpuprof report%s %s' prints all of it",
                     user_settings.details ? " --details" : "", profile);
    else
        gp_text_add(&rest, "GPUPROF_LOG=FILE writes all of it there");
    if (gp_colour_wanted(gp_log_is_terminal()))
        gp_colour(gp_text_string(report), &coloured);
    if (coloured.length > 0 && !coloured.failed)
        report = &coloured;
    gp_log_report(gp_text_string(report), report->length, gp_text_string(&rest));
    gp_text_free(&coloured);
    gp_text_free(&rest);
}

static void record_cubin(void *sources, const struct gp_cubin_image *cubin)
{
    if (results.writer)
        gp_write_cubin(results.writer, cubin);
    if (sources)
        gp_sources_add_cubin(sources, cubin);
}

static void record_instructions(void *sources, const struct gp_code_counts *counts)
{
    if (results.writer)
        gp_write_instructions(results.writer, counts);
    if (sources)
        gp_sources_add(sources, counts);
}

/* The time added since the last question goes into the summary. */
static void count_added(void)
{
    static double counted;
    double added = gp_added_seconds();
    struct gp_end end = {.added_seconds = added - counted};
    if (counted == 0) {
        end.seconds = gp_process_seconds();
        results.own_seconds = end.seconds - added;
        limit_sum_up(&end);
        host_calls_sum_up(&end);
    }
    window_sum_up(&end);
    gp_summary_end(results.summary, &end);
    counted = added;
}

/* To make the report takes time, too: its first lines are made anew when all else is there. */
static void renew_headline(struct gp_text *report, size_t width)
{
    struct gp_text before = {0}, renewed = {0};
    gp_table_headline(results.summary, width, &before);
    count_added();
    gp_table_headline(results.summary, width, &renewed);
    renewed.failed |= report->failed;
    if (!before.failed && before.length <= report->length)
        gp_text_add_bytes(&renewed, report->data + before.length, report->length - before.length);
    gp_text_free(&before);
    gp_text_free(report);
    *report = renewed;
}

/* `copies`: NULL, none were asked for. */
static void print_report(const struct gp_copies *copies, const struct gp_sources *sources)
{
    struct gp_text text = {0};
    const char *profile = recording_name();
    const struct gp_table_options options = {.top = MOST_KERNELS,
                                             .details = user_settings.details,
                                             .every_metric = user_settings.metrics_named,
                                             .width = gp_log_columns(),
                                             .profile = profile ? profile : "",
                                             .copies = copies,
                                             .sources = sources};
    count_added();
    gp_table_report(results.summary, &options, &text);
    if (copies)
        gp_copies_table(copies, &text);
    renew_headline(&text, options.width);
    if (text.failed)
        gp_say("out of memory: the report is not complete");
    write_report(&text);
    gp_text_free(&text);
}

/* Behind the report, or where there is none. */
static void print_checks(const struct gp_sources *sources)
{
    struct gp_text text = {0};
    checks_report(sources, &text);
    if (text.length > 0)
        write_report(&text);
    gp_text_free(&text);
}

static void report(const struct gp_copies *copies)
{
    struct gp_sources *sources = gp_sources_new();
    gp_code_counts_visit(record_cubin, record_instructions, sources);
    if (gp_printing_end(results.summary, copies))
        print_report(copies, sources);
    print_checks(sources);
}

static bool any_copied(const struct gp_copies *copies)
{
    uint64_t calls = 0;
    for (int kind = 0; copies && kind < GP_COPY_KINDS; kind++)
        calls += copies[kind].calls;
    return calls > 0;
}

/* Writes the last lines of the profile, but for the very last, and reports. A process that has
 * launched nothing says nothing. */
static void sum_up(uint64_t launches)
{
    struct gp_copies all[GP_COPY_KINDS];
    const struct gp_copies *copies = copies_read(all) ? all : NULL;
    tallies_visit(record_count, NULL);
    whole_times_visit(record_whole, NULL);
    successions_visit(record_succession, NULL);
    selection_end();
    window_end(user_settings.recorded.window);
    if (copies && results.writer)
        gp_copies_write(copies, results.writer);
    results.silent = launches == 0 && !any_copied(copies);
    if (!results.silent)
        report(copies);
}

/* Frees nothing: the process ends, and another thread may still be in a hook. */
void results_end(bool gave_up, uint64_t launches)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 2;
    if (pthread_mutex_timedlock(&results.records, &until) != 0)
        return;
    gp_progress_end();
    results.writer = recording_at_end(launches > 0);
    if (!results.reported && (!gave_up || gp_summary_totals(results.summary).measured > 0)) {
        results.reported = true;
        sum_up(launches);
    }
    struct gp_text totals = {0};
    if (metrics_file_is_wanted() && launches > 0)
        metrics_file_make(results.summary, launches, &totals);
    write_metrics_file(&totals);
    gp_text_free(&totals);
    const double added = gp_added_seconds();
    struct gp_end end = {.added_seconds = added,
                         .seconds = results.own_seconds > 0 ? results.own_seconds + added
                                                            : gp_process_seconds()};
    limit_sum_up(&end);
    window_sum_up(&end);
    host_calls_sum_up(&end);
    recording_end(&end);
    pthread_mutex_unlock(&results.records);
}

bool results_are_silent(void)
{
    return results.silent;
}
