/* The user's settings in the environment (GPUPROF_*), but for the choice of launches
 * (launch/selection.h) and the results (launch/results.c). Owns that. Read before the first
 * launch. */
#include "counters/code_counts.h"
#include "launch/inside.h"

#include "base/log.h"
#include "base/sample.h"
#include "base/size.h"
#include "base/window_rule.h"
#include "gate/waits.h"
#include "memory/budget.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

struct gp_user_settings user_settings = {.flush_caches = true};

int setting_word(const char *variable, const char *const *words, const char *all)
{
    const char *word = secure_getenv(variable);
    if (!word || !*word)
        return -1;
    for (int i = 0; words[i]; i++)
        if (strcmp(word, words[i]) == 0)
            return i;
    gp_say("%s=%s: unknown; say %s", variable, word, all);
    return -1;
}

/* Queues of the hardware where the user does not say: as many as streams that programs use. */
#define USUAL_QUEUES 8

#define WORD_OF(variable, all, ...) \
    setting_word(variable, (const char *const[]){__VA_ARGS__, NULL}, all)

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
    user_settings.recorded.sample = text;
    sampling_start(&sample);
}

/* Runs that are compared choose their launches alike, so no limit by time holds for these, nor
 * where the user chooses. */
static void read_overhead(void)
{
    const char *text = secure_getenv("GPUPROF_OVERHEAD"), *check = secure_getenv("GPUPROF_CHECK");
    const bool chosen = user_settings.recorded.sample || (check && *check);
    struct gp_overhead overhead = {.kind = chosen ? GP_OVERHEAD_NONE : GP_OVERHEAD_DEFAULT};
    if (text && *text && !gp_overhead_parse(text, &overhead))
        gp_say("GPUPROF_OVERHEAD=%.100s%s: no limit; " GP_OVERHEAD_SYNTAX "; %s", text,
               strlen(text) > 100 ? "..." : "",
               chosen ? "there is none" : "it is that of a run without it");
    else if (text && *text)
        user_settings.recorded.overhead = text;
    limit_start(&overhead);
}

static void read_window(void)
{
    const char *text = secure_getenv("GPUPROF_WINDOW");
    struct gp_window_rule rule;
    char why[256];
    if (!text || !*text)
        return;
    if (!gp_window_read(text, &rule, why, sizeof(why))) {
        gp_say("GPUPROF_WINDOW=%.100s%s: %s; all of the program is measured", text,
               strlen(text) > 100 ? "..." : "", why);
        return;
    }
    window_start(&rule);
    if (gp_window_limits(&rule))
        user_settings.recorded.window = text;
}

void settings_read_recorded(void)
{
    read_sample();
    read_overhead();
    read_window();
    int replay = WORD_OF("GPUPROF_REPLAY", "on or later (the default), off or now", "on", "off",
                         "now", "later");
    user_settings.recorded.replay_off = replay == 1;
    user_settings.at_once = replay == 2;
}

static void read_report_mode(void)
{
    const char *metrics = secure_getenv("GPUPROF_METRICS");
    int report =
        WORD_OF("GPUPROF_REPORT", "summary (the default) or details", "summary", "details");
    /* Metrics that the user asks for by name are shown. */
    bool by_name = metrics && *metrics && strcmp(metrics, "default") != 0;
    user_settings.details = report < 0 ? by_name : report == 1;
    user_settings.metrics_named = by_name;
}

static void read_memory_limit(void)
{
    const char *size = secure_getenv("GPUPROF_MEMORY");
    if (size && *size && !gp_budget_set(size))
        gp_say("GPUPROF_MEMORY=%s: not a size such as 512M or 4G, nor a share such as 10%%, from "
               "1%% to 100%%; it is 25%%",
               size);
}

static void read_profile_limit(void)
{
    const char *size = secure_getenv("GPUPROF_LIMIT_PROFILE");
    uint64_t bytes;
    if (!size || !*size)
        return;
    if (gp_profile_limit_read(size, &bytes))
        user_settings.profile_limit = bytes;
    else
        gp_say(
            "GPUPROF_LIMIT_PROFILE=%s: not a size such as 100M or 2G, of at least 1M; the profile "
            "has no limit",
            size);
}

static void read_timeout(void)
{
    const char *text = secure_getenv("GPUPROF_TIMEOUT");
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
               text, gp_wait_first_limit());
    else {
        gp_waits_start(seconds);
        user_settings.timeout_set = true;
    }
}

/* Read by the driver as well. With fewer queues than streams some of these share one. */
static void read_queues(void)
{
    const char *queues = secure_getenv("CUDA_DEVICE_MAX_CONNECTIONS");
    char *end;
    long count = queues ? strtol(queues, &end, 10) : 0;
    user_settings.few_queues = count > 0 && count < USUAL_QUEUES && end != queues;
}

void settings_read(void)
{
    read_queues();
    user_settings.flush_caches =
        WORD_OF("GPUPROF_CACHE", "flush (the default) or keep", "flush", "keep") != 1;
    if (WORD_OF("GPUPROF_LINES", "accesses (the default) or instructions", "accesses",
                "instructions") == 1)
        gp_sass_sessions_count_instructions();
    read_report_mode();
    const int diagnosis =
        WORD_OF("GPUPROF_DIAGNOSIS", "off, auto (the default) or full", "auto", "off", "full");
    user_settings.diagnosis = diagnosis < 0 ? GP_DIAGNOSIS_AUTO : (enum gp_diagnosis)diagnosis;
    user_settings.verify_always =
        WORD_OF("GPUPROF_VERIFY", "learn (the default) or always", "learn", "always") == 1;
    read_memory_limit();
    read_profile_limit();
    metrics_file_start();
    read_timeout();
}
