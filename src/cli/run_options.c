#include "cli/run_options.h"

#include "base/kernel_filter.h"
#include "base/launch_choice.h"
#include "base/log.h"
#include "base/overhead.h"
#include "base/sample.h"
#include "base/size.h"
#include "base/window_rule.h"
#include "cli/check_run.h"
#include "cli/counters.h"
#include "cli/paths.h"
#include "cli/run_metrics.h"
#include "report/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a wrong option is said before the program starts ---------------------------------------- */

static struct run_metrics lists;

static bool check_filter(const char *option, const char *text)
{
    struct gp_kernel_filter filter;
    char why[256];
    if (gp_kernel_filter_parse(text, &filter, why, sizeof(why))) {
        gp_kernel_filter_free(&filter);
        return true;
    }
    gp_say("%s: %s", option, why);
    return false;
}

static bool check_kernels(const char *text)
{
    return check_filter("--kernels", text);
}

static bool check_kernel_id(const char *text)
{
    size_t colons = 0;
    for (const char *p = text; *p; p++)
        colons += *p == ':';
    if (colons >= 3)
        return check_filter("--kernel-id", text);
    gp_say("--kernel-id: '%s' is not CONTEXT:STREAM:NAME:INVOCATION", text);
    return false;
}

static bool check_whole(const char *option, const char *text)
{
    uint64_t number;
    if (gp_whole_parse(text, &number))
        return true;
    gp_say("%s: '%s' is no number of launches", option, text);
    return false;
}

static bool check_skip(const char *text)
{
    return check_whole("--launch-skip", text);
}

static bool check_count(const char *text)
{
    return check_whole("--launch-count", text);
}

static bool check_sample(const char *rule)
{
    struct gp_sample ignored = {0};
    if (gp_sample_parse(rule, &ignored))
        return true;
    gp_say("--sample: '%s' is no rule; " GP_SAMPLE_SYNTAX, rule);
    return false;
}

static bool check_overhead(const char *limit)
{
    struct gp_overhead ignored;
    if (gp_overhead_parse(limit, &ignored))
        return true;
    gp_say("--overhead: '%s' is no limit; " GP_OVERHEAD_SYNTAX, limit);
    return false;
}

static bool check_devices(const char *list)
{
    uint64_t ignored;
    if (gp_devices_parse(list, &ignored))
        return true;
    gp_say("--devices: '%s' is no list; " GP_DEVICES_SYNTAX, list);
    return false;
}

static bool check_window(const char *word, const char *value)
{
    struct gp_window_rule ignored = GP_WINDOW_OF_ALL;
    char why[256];
    if (gp_window_read_part(word, value, &ignored, why, sizeof(why)))
        return true;
    gp_say("--%s: %s", word, why);
    return false;
}

static bool check_launches(const char *range)
{
    return check_window("launches", range);
}

static bool check_from_start(const char *mode)
{
    return check_window("profile-from-start", mode);
}

static bool check_capture_range(const char *mode)
{
    return check_window("capture-range", mode);
}

static bool check_delay(const char *time)
{
    return check_window("delay", time);
}

static bool check_warm_up(const char *limit)
{
    return check_window("warm-up", limit);
}

static bool check_duration(const char *time)
{
    return check_window("duration", time);
}

static bool is_one_of(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

static bool check_aggregate(const char *mode)
{
    if (strcmp(mode, "on") == 0)
        return true;
    gp_say(strcmp(mode, "off") == 0
               ? "--aggregate-mode: there are no values for each multiprocessor, so '%s' is not to "
                 "be had; counters with .min, .max and .avg in their names say how even they are"
               : "--aggregate-mode: '%s' is not on",
           mode);
    return false;
}

static bool check_copies(const char *mode)
{
    if (is_one_of(mode, "on", "off"))
        return true;
    gp_say("--copies: '%s' is neither on nor off", mode);
    return false;
}

static bool check_target(const char *which)
{
    if (is_one_of(which, "all", "application-only"))
        return true;
    gp_say("--target-processes: '%s' is neither all nor application-only", which);
    return false;
}

static bool check_replay(const char *mode)
{
    if (is_one_of(mode, "on", "off") || is_one_of(mode, "now", "later"))
        return true;
    gp_say("--replay: '%s' is none of on, off, now and later", mode);
    return false;
}

static bool check_replay_mode(const char *mode)
{
    if (is_one_of(mode, "kernel", "disabled"))
        return true;
    gp_say(is_one_of(mode, "application", "app-range") || strcmp(mode, "range") == 0
               ? "--replay-mode: '%s' is not to be had, as the program runs once; say kernel or "
                 "disabled"
               : "--replay-mode: '%s' is neither kernel nor disabled",
           mode);
    return false;
}

static bool check_cache(const char *mode)
{
    if (is_one_of(mode, "all", "none") || is_one_of(mode, "flush", "keep"))
        return true;
    gp_say("--cache-control: '%s' is neither all nor none", mode);
    return false;
}

static bool check_lines(const char *mode)
{
    if (is_one_of(mode, "accesses", "instructions"))
        return true;
    gp_say("--lines: '%s' is neither accesses nor instructions", mode);
    return false;
}

static bool check_diagnosis(const char *mode)
{
    if (is_one_of(mode, "off", "auto") || strcmp(mode, "full") == 0)
        return true;
    gp_say("--diagnosis: '%s' is none of off, auto and full", mode);
    return false;
}

static bool check_verify(const char *mode)
{
    if (is_one_of(mode, "learn", "always"))
        return true;
    gp_say("--verify: '%s' is neither learn nor always", mode);
    return false;
}

static bool check_memory(const char *size)
{
    uint64_t bytes;
    unsigned percent;
    if (gp_size_read(size, &bytes, &percent))
        return true;
    gp_say("--memory: '%s' is neither a size such as 512M or 4G nor a share such as 10%%, which is "
           "from 1%% to 100%%",
           size);
    return false;
}

static bool check_profile_limit(const char *size)
{
    uint64_t bytes;
    if (gp_profile_limit_read(size, &bytes))
        return true;
    gp_say("--limit-profile: '%s' is no size such as 100M or 2G, of at least 1M", size);
    return false;
}

static bool check_metrics_file(const char *name)
{
    return cli_check_file("--metrics-file", name);
}

static bool check_snapshot_signal(const char *name)
{
    if (is_one_of(name, "USR1", "USR2") || is_one_of(name, "SIGUSR1", "SIGUSR2"))
        return true;
    gp_say("--snapshot-signal: '%s' is neither USR1 nor USR2", name);
    return false;
}

static bool check_seconds(const char *option, const char *text, double most)
{
    char *end;
    double seconds = strtod(text, &end);
    if (*text && *end == '\0' && seconds > 0 && seconds <= most)
        return true;
    gp_say("%s: '%s' is no number of seconds, more than 0 and at most %.0f", option, text, most);
    return false;
}

static bool check_kernel_timeout(const char *text)
{
    return check_seconds("--kernel-timeout", text, 3600);
}

static bool check_timeout(const char *text)
{
    return check_seconds("--timeout", text, 1e8);
}

static bool check_output(const char *name)
{
    if (strcmp(name, "-") == 0) {
        gp_say(
            "--output: standard output is the program's; say a file, or ./- for one of that name");
        return false;
    }
    return cli_check_file("--output", name);
}

static bool check_log(const char *name)
{
    if (strcmp(name, "-") == 0) {
        gp_say("--log: standard output is the program's; without --log the report goes to standard "
               "error; ./- is a file of that name");
        return false;
    }
    return cli_check_file("--log", name);
}

static bool check_unit(const char *unit)
{
    if (strcmp(unit, "auto") == 0 || gp_view_unit(unit, strlen(unit)))
        return true;
    gp_say(strcmp(unit, "col") == 0
               ? "--normalized-time-unit: '%s' is the form of --csv; say s, ms, us, ns or auto"
               : "--normalized-time-unit: '%s' is none of s, ms, us, ns, auto",
           unit);
    return false;
}

static bool check_demangling(const char *mode)
{
    if (is_one_of(mode, "on", "off"))
        return true;
    gp_say("--demangling: '%s' is neither on nor off", mode);
    return false;
}

static bool (*const checks[RUN_OPTION_COUNT])(const char *value) = {
    [RUN_AGGREGATE] = check_aggregate,
    [RUN_COPIES] = check_copies,
    [RUN_KERNELS] = check_kernels,
    [RUN_KERNEL_ID] = check_kernel_id,
    [RUN_LAUNCH_SKIP] = check_skip,
    [RUN_LAUNCH_COUNT] = check_count,
    [RUN_LAUNCHES] = check_launches,
    [RUN_SAMPLE] = check_sample,
    [RUN_OVERHEAD] = check_overhead,
    [RUN_DEVICES] = check_devices,
    [RUN_TARGET] = check_target,
    [RUN_FROM_START] = check_from_start,
    [RUN_CAPTURE_RANGE] = check_capture_range,
    [RUN_DELAY] = check_delay,
    [RUN_WARM_UP] = check_warm_up,
    [RUN_DURATION] = check_duration,
    [RUN_REPLAY] = check_replay,
    [RUN_REPLAY_MODE] = check_replay_mode,
    [RUN_CACHE] = check_cache,
    [RUN_LINES] = check_lines,
    [RUN_DIAGNOSIS] = check_diagnosis,
    [RUN_VERIFY] = check_verify,
    [RUN_MEMORY] = check_memory,
    [RUN_KERNEL_TIMEOUT] = check_kernel_timeout,
    [RUN_TIMEOUT] = check_timeout,
    [RUN_OUTPUT] = check_output,
    [RUN_LIMIT_PROFILE] = check_profile_limit,
    [RUN_LOG] = check_log,
    [RUN_METRICS_FILE] = check_metrics_file,
    [RUN_SNAPSHOT_SIGNAL] = check_snapshot_signal,
    [RUN_UNIT] = check_unit,
    [RUN_DEMANGLING] = check_demangling,
};

/* Options that say the same thing, or the opposite. */
static bool check_pairs(const char *const *values)
{
    static const struct {
        int a, b;
    } pairs[] = {{RUN_KERNELS, RUN_KERNEL_ID},
                 {RUN_REPLAY, RUN_REPLAY_MODE},
                 {RUN_FROM_START, RUN_CAPTURE_RANGE}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        if (!values[pairs[i].a] || !values[pairs[i].b])
            continue;
        gp_say("--%s and --%s: give one of them", run_options[pairs[i].a].name,
               run_options[pairs[i].b].name);
        return false;
    }
    bool only_one = values[RUN_TARGET] && strcmp(values[RUN_TARGET], "application-only") == 0;
    if (only_one && values[RUN_CHILDREN]) {
        gp_say("--profile-child-processes and --target-processes application-only: give one of "
               "them");
        return false;
    }
    return true;
}

static struct cli_written written_by(const char *value, const char *option, const char *variable)
{
    return (struct cli_written){value ? option : variable, value ? value : secure_getenv(variable)};
}

static struct cli_written log_of(const char *const *values)
{
    return written_by(values[RUN_LOG], "--log", "GPUPROF_LOG");
}

static struct cli_written output_of(const char *const *values)
{
    return written_by(values[RUN_OUTPUT], "--output", "GPUPROF_OUTPUT");
}

/* Where only the environment says so, the library does. */
static bool check_log_apart(const char *const *values)
{
    const struct cli_written log = log_of(values), output = output_of(values);
    if (!log.pattern || !output.pattern || (!values[RUN_LOG] && !values[RUN_OUTPUT]))
        return true;
    return cli_check_apart(log.name, log.pattern, output.name, output.pattern);
}

static bool check_verdict(const char *const *values)
{
    if (values[RUN_CHECK]) {
        const struct cli_written written[] = {output_of(values), log_of(values)};
        return cli_check_usable(values[RUN_CHECK], values[RUN_FORMAT], written, 2);
    }
    if (values[RUN_FORMAT])
        gp_say("--format is for a verdict: say --check FILE as well");
    return !values[RUN_FORMAT];
}

/* A profile may be asked for there. */
static bool check_environment(const char *const *values)
{
    const char *output = secure_getenv("GPUPROF_OUTPUT");
    return values[RUN_OUTPUT] || !output || !*output || cli_check_file("GPUPROF_OUTPUT", output);
}

bool run_check(const char *const *values)
{
    const char *chip = values[RUN_CHIP];
    if (chip && !cli_check_chip(chip))
        return false;
    if (!run_metrics_check(values[RUN_METRICS], values[RUN_EVENTS], chip, &lists))
        return false;
    for (int i = 0; i < RUN_OPTION_COUNT; i++)
        if (values[i] && checks[i] && !checks[i](values[i]))
            return false;
    return check_pairs(values) && check_environment(values) && check_log_apart(values) &&
           check_verdict(values);
}

/* ---- the library's variables ----------------------------------------------------------------- */

static bool set(const char *variable, const char *value)
{
    return !value || setenv(variable, value, 1) == 0;
}

static bool set_text(const char *variable, struct gp_text *text)
{
    bool done = !text->failed && (text->length == 0 || setenv(variable, text->data, 1) == 0);
    gp_text_free(text);
    return done;
}

/* The parts to print, in the words of report/view.h. The report is nvprof's summary where not CSV
 * is asked for. */
static bool pass_view(const char *const *values)
{
    struct gp_text words = {0};
    bool chosen = values[RUN_METRICS] || values[RUN_EVENTS], csv = values[RUN_CSV] != NULL;
    bool trace = values[RUN_TRACE] != NULL, summary = values[RUN_SUMMARY] != NULL;
    bool results = chosen && (trace || csv || (!summary && !lists.names_a_set));
    if (trace)
        gp_text_add(&words, ",trace");
    if (csv && (summary || (!chosen && !trace)))
        gp_text_add(&words, ",times");
    if (results)
        gp_text_add(&words, values[RUN_METRICS] ? ",metrics" : ",events");
    if (trace && summary && !csv)
        gp_text_add(&words, ",report");
    if (csv)
        gp_text_add(&words, ",csv");
    if (values[RUN_UNIT] && strcmp(values[RUN_UNIT], "auto") != 0)
        gp_text_addf(&words, ",unit=%s", values[RUN_UNIT]);
    if (values[RUN_DEMANGLING] && strcmp(values[RUN_DEMANGLING], "off") == 0)
        gp_text_add(&words, ",mangled");
    bool done = words.length == 0 || set("GPUPROF_PRINT", words.data + 1);
    bool whole = !words.failed;
    gp_text_free(&words);
    return done && whole;
}

/* Times need no counter. The report needs those of the default set, and a summary beside metrics
 * that were chosen needs the kernels' times. */
static bool pass_metrics(const char *const *values)
{
    struct gp_text list = {0};
    const char *before = secure_getenv("GPUPROF_METRICS");
    bool report = values[RUN_SUMMARY] && !values[RUN_CSV];
    bool times_only = (values[RUN_TRACE] || values[RUN_CSV]) && !report;
    gp_text_addf(&list, "%s%s%s", lists.metrics, *lists.metrics && *lists.events ? "," : "",
                 lists.events);
    if (list.length > 0 && values[RUN_SUMMARY])
        gp_text_add(&list, ",duration");
    if (list.length == 0 && times_only && !values[RUN_OUTPUT] && !(before && *before))
        gp_text_add(&list, "duration");
    return set_text("GPUPROF_METRICS", &list);
}

static bool pass_launches(const char *const *values)
{
    struct gp_text rule = {0};
    if (values[RUN_LAUNCH_SKIP])
        gp_text_addf(&rule, "skip:%s", values[RUN_LAUNCH_SKIP]);
    if (values[RUN_LAUNCH_COUNT])
        gp_text_addf(&rule, "%scount:%s", rule.length > 0 ? "," : "", values[RUN_LAUNCH_COUNT]);
    return set_text("GPUPROF_LAUNCHES", &rule);
}

/* The words of the variable are the names of the options. */
static bool pass_window(const char *const *values)
{
    static const int options[] = {RUN_FROM_START, RUN_CAPTURE_RANGE, RUN_DELAY,
                                  RUN_WARM_UP,    RUN_DURATION,      RUN_LAUNCHES};
    struct gp_text rule = {0};
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if (values[options[i]])
            gp_text_addf(&rule, "%s%s:%s", rule.length > 0 ? "," : "", run_options[options[i]].name,
                         values[options[i]]);
    return set_text("GPUPROF_WINDOW", &rule);
}

static const char *replay_of(const char *const *values)
{
    const char *mode = values[RUN_REPLAY_MODE];
    return values[RUN_REPLAY]              ? values[RUN_REPLAY]
           : !mode                         ? NULL
           : strcmp(mode, "disabled") == 0 ? "off"
                                           : "on";
}

static const char *cache_of(const char *mode)
{
    return !mode ? NULL : is_one_of(mode, "all", "flush") ? "flush" : "keep";
}

bool run_pass(const char *const *values)
{
    const char *kernels = values[RUN_KERNELS] ? values[RUN_KERNELS] : values[RUN_KERNEL_ID];
    const char *log = values[RUN_LOG] ? values[RUN_LOG] : values[RUN_QUIET] ? "/dev/null" : NULL;
    return pass_metrics(values) && pass_view(values) && pass_launches(values) &&
           pass_window(values) && set("GPUPROF_KERNELS", kernels) &&
           set("GPUPROF_COPIES", values[RUN_COPIES]) && set("GPUPROF_SAMPLE", values[RUN_SAMPLE]) &&
           set("GPUPROF_OVERHEAD", values[RUN_OVERHEAD]) &&
           set("GPUPROF_DEVICES", values[RUN_DEVICES]) &&
           set("GPUPROF_REPLAY", replay_of(values)) &&
           set("GPUPROF_CACHE", cache_of(values[RUN_CACHE])) &&
           set("GPUPROF_LINES", values[RUN_LINES]) &&
           set("GPUPROF_DIAGNOSIS", values[RUN_DIAGNOSIS]) &&
           set("GPUPROF_VERIFY", values[RUN_VERIFY]) && set("GPUPROF_MEMORY", values[RUN_MEMORY]) &&
           set("GPUPROF_TIMEOUT", values[RUN_KERNEL_TIMEOUT]) &&
           set("GPUPROF_REPORT", values[RUN_DETAILS] ? "details" : NULL) &&
           set("GPUPROF_LIMIT_PROFILE", values[RUN_LIMIT_PROFILE]) &&
           set("GPUPROF_METRICS_FILE", values[RUN_METRICS_FILE]) &&
           set("GPUPROF_PROGRESS", values[RUN_NO_PROGRESS] ? "off" : NULL) &&
           set("GPUPROF_OUTPUT", values[RUN_OUTPUT]) && set("GPUPROF_LOG", log) && cli_fix_paths();
}
