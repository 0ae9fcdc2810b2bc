#include "launch/session.h"

#include "base/added_time.h"
#include "base/cancel.h"
#include "base/demangle.h"
#include "base/environment.h"
#include "base/file.h"
#include "base/floating.h"
#include "base/log.h"
#include "base/path.h"
#include "base/pattern.h"
#include "base/process.h"
#include "base/regex.h"
#include "base/sample.h"
#include "base/stack.h"
#include "base/text.h"
#include "counters/code_counts.h"
#include "counters/sass_session.h"
#include "cuda/driver.h"
#include "launch/checks.h"
#include "launch/copies.h"
#include "launch/printing.h"
#include "launch/progress.h"
#include "launch/sampling.h"
#include "launch/selection.h"
#include "launch/tallies.h"
#include "launch/threads.h"
#include "memory/budget.h"
#include "profile/code_lines.h"
#include "profile/writer.h"
#include "report/colour.h"
#include "report/copies.h"
#include "report/sources.h"
#include "report/summary.h"
#include "report/table.h"

#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Kernels in the report at exit; the profile has them all. */
#define MOST_KERNELS 20
#define DEFAULT_TIMEOUT 1.0
#define MOST_TOO_HARD 8

enum state { IDLE, STARTING, MEASURING, PASSIVE };

static struct {
    atomic_int state;
    atomic_int pid;        /* of the process that started the session; a forked child is another */
    atomic_ulong launches; /* that were measured, or counted nowhere else */
    bool flush_caches, verify_always;
    bool at_once;                   /* no launch is held */
    bool details;                   /* the report at the end has them */
    double timeout;                 /* seconds */
    struct gp_settings settings;    /* what readers of the profile must know */
    struct gp_regex *kernels;       /* those that are wanted; NULL: all */
    const char *kernel_pattern;     /* the text of it */
    unsigned too_hard;              /* names that could not be compared with it */
    atomic_bool selected, left_out; /* some kernel is wanted, some is not */
    struct gp_metrics *metrics;
    struct gp_writer *writer;
    const char *profile; /* what it writes; NULL: nothing that stays */
    struct gp_summary *summary;
    bool reported, gave_up;
    pthread_mutex_t records; /* writer and summary: launches, and the exit handler */
} session = {.records = PTHREAD_MUTEX_INITIALIZER};

/* Initial-exec: the access is one instruction and allocates nothing, as a hook must not. */
static __thread int own_work __attribute__((tls_model("initial-exec")));
static __thread int programs_errno __attribute__((tls_model("initial-exec")));

/* What we do in a thread writes, sleeps and holds locks: one that is to be cancelled ends at the
 * program's next cancellation point, not at one of ours. */
void gp_own_work_begins(void)
{
    gp_cancel_hold();
    if (own_work++ == 0)
        programs_errno = errno;
    gp_added_begins();
}

void gp_own_work_ends(void)
{
    gp_added_ends();
    if (--own_work == 0)
        errno = programs_errno;
    gp_cancel_release();
}

void gp_at_work(void (*work)(void *argument), void *argument)
{
    gp_floating program;
    gp_own_work_begins();
    gp_floating_hold(&program);
    if (!gp_stack_run(GP_STACK_ENOUGH, work, argument))
        work(argument);
    gp_floating_restore(&program);
    gp_own_work_ends();
}

bool gp_at_own_work(void)
{
    return own_work > 0;
}

/* What other threads do while the session starts must not go unseen. */
static int wait_for_start(void)
{
    int state;
    gp_own_work_begins();
    while ((state = atomic_load(&session.state)) == STARTING && gp_process_is_marked())
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    gp_own_work_ends();
    return state;
}

bool gp_session_observes(void)
{
    if (own_work)
        return false;
    int state = atomic_load_explicit(&session.state, memory_order_acquire);
    if (state == IDLE) {
        gp_session_start();
        state = atomic_load(&session.state);
    }
    if (state == STARTING)
        state = wait_for_start();
    return (state == MEASURING || state == PASSIVE) && gp_process_is_marked();
}

/* A child of vfork has its parent's memory, so the mark says nothing here. */
bool gp_session_is_here(void)
{
    return atomic_load(&session.pid) == getpid();
}

bool gp_session_measures(void)
{
    return atomic_load(&session.state) == MEASURING;
}

void gp_session_give_up(const char *why)
{
    int measuring = MEASURING;
    if (atomic_compare_exchange_strong(&session.state, &measuring, PASSIVE)) {
        session.gave_up = true;
        gp_say("not measuring: %s", why);
    }
}

void gp_session_stop(void)
{
    int measuring = MEASURING;
    atomic_compare_exchange_strong(&session.state, &measuring, PASSIVE);
}

/* Each name that is too hard to compare costs some milliseconds: after so many it is enough. */
static bool matches(const char *name, bool *too_hard)
{
    return session.too_hard < MOST_TOO_HARD && gp_regex_matches(session.kernels, name, too_hard);
}

bool gp_session_selects(const char *kernel)
{
    static struct gp_once once;
    bool too_hard = false;
    if (!session.kernels)
        return true;
    bool selected = matches(kernel, &too_hard);
    char *demangled = selected || too_hard ? NULL : gp_demangle(kernel, GP_NAME_FULL);
    selected = selected || (demangled && matches(demangled, &too_hard));
    free(demangled);
    session.too_hard += too_hard;
    if (too_hard)
        gp_say_limited(
            &once, 1,
            "GPUPROF_KERNELS=%s: it matches in too many ways to compare %.100s%s with it; such "
            "kernels are not measured",
            session.kernel_pattern, kernel, strlen(kernel) > 100 ? "..." : "");
    if (selected)
        atomic_store(&session.selected, true);
    else
        atomic_store(&session.left_out, true);
    return selected;
}

bool gp_session_flushes_caches(void)
{
    return session.flush_caches;
}

bool gp_session_replays(void)
{
    return !session.settings.replay_off;
}

bool gp_session_holds_launches(void)
{
    return !session.at_once;
}

bool gp_session_verifies_always(void)
{
    return session.verify_always;
}

double gp_session_timeout(void)
{
    return session.timeout;
}

const struct gp_metrics *gp_session_metrics(void)
{
    return session.metrics;
}

void gp_session_count_launch(void)
{
    struct gp_thread *own = gp_thread_own;
    if (!own) {
        atomic_fetch_add(&session.launches, 1);
        return;
    }
    /* Nobody else writes it. */
    unsigned long before = atomic_load_explicit(&own->launches, memory_order_relaxed);
    atomic_store_explicit(&own->launches, before + 1, memory_order_relaxed);
}

uint64_t gp_session_next_launch(void)
{
    uint64_t before = atomic_fetch_add(&session.launches, 1);
    for (const struct gp_thread *t = gp_threads(); t; t = t->next)
        before += atomic_load_explicit(&t->launches, memory_order_relaxed);
    return before;
}

void gp_session_record_device(const struct gp_device *device)
{
    pthread_mutex_lock(&session.records);
    gp_summary_device(session.summary, device);
    gp_checks_device(device);
    gp_printing_device(device);
    if (session.writer)
        gp_writer_device(session.writer, device);
    pthread_mutex_unlock(&session.records);
}

void gp_session_record_launch(const struct gp_record *launch)
{
    pthread_mutex_lock(&session.records);
    gp_summary_launch(session.summary, launch);
    gp_checks_launch(launch);
    gp_printing_launch(launch);
    gp_progress_launch(launch, 1);
    if (session.writer)
        gp_writer_launch(session.writer, launch);
    pthread_mutex_unlock(&session.records);
}

void gp_session_note_launch(const struct gp_record *launch)
{
    pthread_mutex_lock(&session.records);
    gp_progress_launch(launch, 0);
    if (session.writer)
        gp_writer_early(session.writer, launch);
    pthread_mutex_unlock(&session.records);
}

/* ---- start ----------------------------------------------------------------------------------- */

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

static void open_log(void)
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

static void open_output(void)
{
    const char *pattern = secure_getenv("GPUPROF_OUTPUT");
    if (!pattern || !*pattern)
        return;
    struct gp_text path = {0};
    char why[512];
    if (gp_pattern_expand(pattern, &path, why, sizeof(why)))
        session.writer =
            gp_writer_open(gp_text_string(&path), NULL, &session.settings, why, sizeof(why));
    if (!session.writer)
        gp_say("GPUPROF_OUTPUT=%s: %s; no profile is written", pattern, why);
    else if (!gp_checks_remove_profile())
        session.profile = strdup(gp_text_string(&path));
    gp_text_free(&path);
}

static void read_cache_mode(void)
{
    const char *mode = secure_getenv("GPUPROF_CACHE");
    session.flush_caches = true;
    if (!mode || !*mode || strcmp(mode, "flush") == 0)
        return;
    if (strcmp(mode, "keep") == 0)
        session.flush_caches = false;
    else
        gp_say("GPUPROF_CACHE=%s: unknown; say flush (the default) or keep", mode);
}

static void read_lines_mode(void)
{
    const char *mode = secure_getenv("GPUPROF_LINES");
    if (!mode || !*mode || strcmp(mode, "accesses") == 0)
        return;
    if (strcmp(mode, "instructions") == 0)
        gp_sass_sessions_count_instructions();
    else
        gp_say("GPUPROF_LINES=%s: unknown; say accesses (the default) or instructions", mode);
}

static void read_report_mode(void)
{
    const char *mode = secure_getenv("GPUPROF_REPORT"), *metrics = secure_getenv("GPUPROF_METRICS");
    /* Who asks for metrics by name wants to see them. */
    session.details = metrics && *metrics && strcmp(metrics, "default") != 0;
    if (!mode || !*mode)
        return;
    if (strcmp(mode, "details") == 0 || strcmp(mode, "summary") == 0)
        session.details = strcmp(mode, "details") == 0;
    else
        gp_say("GPUPROF_REPORT=%s: unknown; say summary (the default) or details", mode);
}

static void read_verify_mode(void)
{
    const char *mode = secure_getenv("GPUPROF_VERIFY");
    if (!mode || !*mode || strcmp(mode, "learn") == 0)
        return;
    if (strcmp(mode, "always") == 0)
        session.verify_always = true;
    else
        gp_say("GPUPROF_VERIFY=%s: unknown; say learn (the default) or always", mode);
}

static void read_memory_limit(void)
{
    const char *size = secure_getenv("GPUPROF_MEMORY");
    if (size && *size && !gp_budget_set(size))
        gp_say("GPUPROF_MEMORY=%s: not a size such as 512M or 4G, nor a share such as 10%%; it is "
               "10%%",
               size);
}

static void read_timeout(void)
{
    const char *text = secure_getenv("GPUPROF_TIMEOUT");
    session.timeout = DEFAULT_TIMEOUT;
    if (!text || !*text)
        return;
    char *end = NULL;
    /* The program may have chosen a locale with a decimal comma. */
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    double seconds = plain ? strtod_l(text, &end, plain) : strtod(text, &end);
    if (plain)
        freelocale(plain);
    if (*end || !(seconds > 0 && seconds <= 3600))
        gp_say("GPUPROF_TIMEOUT=%s: not a number of seconds, more than 0 and at most 3600; it is "
               "%g",
               text, session.timeout);
    else
        session.timeout = seconds;
}

static void read_sample(void)
{
    const char *text = secure_getenv("GPUPROF_SAMPLE");
    struct gp_sample sample = {0};
    if (!text || !*text)
        return;
    if (!gp_sample_parse(text, &sample)) {
        gp_say("GPUPROF_SAMPLE=%s: no rule; " GP_SAMPLE_SYNTAX "; every launch is measured", text);
        return;
    }
    session.settings.sample = text;
    gp_sampling_start(&sample);
}

static void read_replay(void)
{
    const char *mode = secure_getenv("GPUPROF_REPLAY");
    if (!mode || !*mode || strcmp(mode, "on") == 0)
        return;
    if (strcmp(mode, "off") == 0)
        session.settings.replay_off = 1;
    else if (strcmp(mode, "now") == 0)
        session.at_once = true;
    else
        gp_say("GPUPROF_REPLAY=%s: unknown; say on (the default), off or now", mode);
}

static void read_kernel_filter(void)
{
    const char *text = secure_getenv("GPUPROF_KERNELS");
    struct gp_kernel_filter filter = {.context = GP_ANY, .stream = GP_ANY, .invocation = GP_ANY};
    char why[256];
    if (text && *text && !gp_kernel_filter_parse(text, &filter, why, sizeof(why)))
        gp_say("GPUPROF_KERNELS=%.100s%s: %s; every kernel is measured", text,
               strlen(text) > 100 ? "..." : "", why);
    gp_selection_read(&filter);
    session.kernel_pattern = filter.name; /* the program may change its environment */
    if (filter.name && *filter.name)
        session.kernels = gp_regex_new(filter.name, why, sizeof(why));
}

static bool open_metrics(void)
{
    struct gp_text problems = {0};
    session.metrics = gp_metrics_open(&problems);
    if (session.metrics &&
        !gp_metrics_select(session.metrics, secure_getenv("GPUPROF_METRICS"), &problems))
        gp_text_add(&problems, "GPUPROF_METRICS: the default metrics are measured\n");
    if (session.metrics) {
        gp_checks_open(session.metrics);
        session.summary = gp_summary_new(session.metrics);
    }
    gp_say_lines("", gp_text_string(&problems));
    gp_text_free(&problems);
    return session.summary != NULL;
}

/* How often a kernel was launched, for those that were not measured every time. */
static void record_count(void *unused, const struct gp_count *count)
{
    (void)unused;
    gp_summary_count(session.summary, count);
    gp_checks_count(count);
    if (session.writer)
        gp_writer_count(session.writer, count);
}

static void write_report(const struct gp_text *report)
{
    struct gp_text rest = {0}, coloured = {0};
    const char *profile = session.writer ? gp_writer_path(session.writer) : NULL;
    if (profile && session.profile)
        gp_text_addf(&rest, "the rest is in the profile, 'gpuprof report%s %s' prints all of it",
                     session.details ? " --details" : "", profile);
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
    if (session.writer)
        gp_write_cubin(session.writer, cubin);
    if (sources)
        gp_sources_add_cubin(sources, cubin);
}

static void record_instructions(void *sources, const struct gp_code_counts *counts)
{
    if (session.writer)
        gp_write_instructions(session.writer, counts);
    if (sources)
        gp_sources_add(sources, counts);
}

/* What was added since it was asked for last goes into the summary. */
static void count_added(void)
{
    static double counted;
    double seconds = gp_added_seconds();
    gp_summary_end(session.summary, &(struct gp_end){.added_seconds = seconds - counted});
    counted = seconds;
}

/* To make the report takes time, too: its first lines are made anew when all else is there. */
static void renew_headline(struct gp_text *report)
{
    struct gp_text before = {0}, renewed = {0};
    gp_table_headline(session.summary, &before);
    count_added();
    gp_table_headline(session.summary, &renewed);
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
    const struct gp_table_options options = {.top = MOST_KERNELS,
                                             .details = session.details,
                                             .profile = session.profile ? session.profile : "",
                                             .sources = sources};
    count_added();
    gp_table_report(session.summary, &options, &text);
    if (copies)
        gp_copies_table(copies, &text);
    renew_headline(&text);
    if (text.failed)
        gp_say("out of memory: the report is not complete");
    write_report(&text);
    gp_text_free(&text);
}

/* Behind the report, or where there is none. */
static void print_checks(const struct gp_sources *sources)
{
    struct gp_text text = {0};
    gp_checks_report(sources, &text);
    if (text.length > 0)
        write_report(&text);
    gp_text_free(&text);
}

/* Frees nothing: the process ends, and another thread may still be in a hook. */
static void report(void *unused)
{
    (void)unused;
    atomic_store(&session.state, PASSIVE);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 2;
    if (pthread_mutex_timedlock(&session.records, &until) != 0)
        return;
    gp_progress_end();
    if (!session.reported && (!session.gave_up || gp_summary_launches(session.summary) > 0)) {
        session.reported = true;
        gp_tallies_visit(record_count, NULL);
        if (atomic_load(&session.left_out) && !atomic_load(&session.selected))
            gp_say("GPUPROF_KERNELS=%s: no kernel that was launched has such a name",
                   session.kernel_pattern);
        struct gp_copies copies[GP_COPY_KINDS];
        bool copied = gp_copies_read(copies);
        if (copied && session.writer)
            gp_copies_write(copies, session.writer);
        struct gp_sources *sources = gp_sources_new();
        gp_code_counts_visit(record_cubin, record_instructions, sources);
        if (gp_printing_end(session.summary, copied ? copies : NULL))
            print_report(copied ? copies : NULL, sources);
        print_checks(sources);
    }
    if (session.writer) {
        gp_writer_end(session.writer, &(struct gp_end){.added_seconds = gp_added_seconds()});
        gp_writer_finish(session.writer);
    }
    pthread_mutex_unlock(&session.records);
}

/* Where one process alone is to be measured, whether it is this one. */
static bool is_target(void)
{
    const char *target = secure_getenv("GPUPROF_PROCESS");
    return !target || !*target || strtol(target, NULL, 10) == (long)getpid();
}

/* Registered after the driver's own start, hence run before its teardown. */
static void report_at_exit(void)
{
    if (gp_session_is_here())
        gp_at_work(report, NULL);
}

static void start(void *unused)
{
    (void)unused;
    gp_environment_find();
    if (!is_target()) {
        atomic_store_explicit(&session.state, PASSIVE, memory_order_release);
        return;
    }
    open_log();
    bool opened = open_metrics();
    if (opened) {
        read_sample();
        read_replay();
        gp_summary_settings(session.summary, &session.settings);
        session.settings.sample = gp_summary_get_settings(session.summary)->sample;
        open_output();
        read_cache_mode();
        read_lines_mode();
        read_report_mode();
        read_verify_mode();
        read_memory_limit();
        read_timeout();
        read_kernel_filter();
        gp_printing_start(session.metrics);
        gp_progress_start();
        gp_copies_start();
        atexit(report_at_exit);
    } else {
        gp_say("not measuring: out of memory");
    }
    atomic_store_explicit(&session.state, opened ? MEASURING : PASSIVE, memory_order_release);
}

void gp_session_start(void)
{
    int idle = IDLE, saved_errno = errno;
    /* A child, too, that was forked while another thread was at it: it is never marked. */
    if (atomic_load(&session.state) != IDLE)
        return;
    atomic_store(&session.pid, getpid());
    gp_process_mark();
    errno = saved_errno;
    if (!atomic_compare_exchange_strong(&session.state, &idle, STARTING))
        return; /* another thread is at it, or we ourselves, re-entering */
    if (!gp_driver_find()) {
        atomic_store(&session.state, IDLE);
        return;
    }
    gp_at_work(start, NULL);
}
