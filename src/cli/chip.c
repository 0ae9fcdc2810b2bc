#include "cli/chip.h"

#include "base/nearest.h"
#include "counters/counter_list.h"
#include "counters/range_config.h"

#include <dlfcn.h>
#include <errno.h>
#include <fnmatch.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONGEST_WAIT_MS 20000 /* for the driver of a machine with many GPUs */
#define MOST_EXPANDED 300

static const struct gp_chip_name chips[] = {
    {"TU102", 7, 5},  {"TU104", 7, 5},  {"TU106", 7, 5},  {"TU116", 7, 5},  {"TU117", 7, 5},
    {"GA100", 8, 0},  {"GA102", 8, 6},  {"GA103", 8, 6},  {"GA104", 8, 6},  {"GA106", 8, 6},
    {"GA107", 8, 6},  {"GA10B", 8, 7},  {"AD102", 8, 9},  {"AD103", 8, 9},  {"AD104", 8, 9},
    {"AD106", 8, 9},  {"AD107", 8, 9},  {"GH100", 9, 0},  {"GB100", 10, 0}, {"GB102", 10, 0},
    {"GB110", 10, 3}, {"GB10B", 11, 0}, {"GB202", 12, 0}, {"GB203", 12, 0}, {"GB205", 12, 0},
    {"GB206", 12, 0}, {"GB207", 12, 0}, {"GB20B", 12, 1},
};

/* ---- which chips there are ------------------------------------------------------------------- */

size_t gp_chip_name_count(void)
{
    return sizeof(chips) / sizeof(chips[0]);
}

const struct gp_chip_name *gp_chip_name_at(size_t i)
{
    return &chips[i];
}

const struct gp_chip_name *gp_chip_name_find(const char *name)
{
    for (size_t i = 0; i < gp_chip_name_count(); i++)
        if (strcasecmp(chips[i].name, name) == 0)
            return &chips[i];
    return NULL;
}

const struct gp_chip_name *gp_chip_name_of(int cc_major, int cc_minor)
{
    for (size_t i = 0; i < gp_chip_name_count(); i++)
        if (chips[i].cc_major == cc_major && chips[i].cc_minor == cc_minor)
            return &chips[i];
    return NULL;
}

/* ---- the chip of this machine ---------------------------------------------------------------- */

/* The driver's numbers of two attributes of a device. */
#define CC_MAJOR 75
#define CC_MINOR 76

static bool ask_cc(void *driver, int *cc_major, int *cc_minor)
{
    int (*initialize)(unsigned), (*get_device)(int *, int), (*get_attribute)(int *, int, int);
    int device;
    *(void **)&initialize = gp_real_dlsym(driver, "cuInit");
    *(void **)&get_device = gp_real_dlsym(driver, "cuDeviceGet");
    *(void **)&get_attribute = gp_real_dlsym(driver, "cuDeviceGetAttribute");
    return initialize && get_device && get_attribute && initialize(0) == 0 &&
           get_device(&device, 0) == 0 && get_attribute(cc_major, CC_MAJOR, device) == 0 &&
           get_attribute(cc_minor, CC_MINOR, device) == 0;
}

/* In a child process: the driver stays in a process that has used it. Writes the compute
 * capability and, where CUPTI has one, the chip's name: "9.0 GH100". */
static void tell_chip(int to)
{
    struct gp_reason why;
    const char *name = "";
    char line[64];
    int cc_major, cc_minor;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!driver || !gp_real_dlsym || !ask_cc(driver, &cc_major, &cc_minor))
        _exit(1);
    GP_CUPTI_PARAMS(CUpti_Device_GetChipName, p);
    p->deviceIndex = 0;
    if (gp_profiler_initialize(&why) && gp_cupti.cuptiDeviceGetChipName(p) == CUPTI_SUCCESS &&
        p->pChipName)
        name = p->pChipName;
    int length = snprintf(line, sizeof(line), "%d.%d %.31s", cc_major, cc_minor, name);
    _exit(length > 0 && write(to, line, (size_t)length) == length ? 0 : 1);
}

/* Reads the child's answer, as long as that may take. */
static size_t listen(int from, char *line, size_t size)
{
    size_t length = 0;
    while (length + 1 < size) {
        struct pollfd ready = {.fd = from, .events = POLLIN};
        int answer = poll(&ready, 1, LONGEST_WAIT_MS);
        if (answer < 0 && errno == EINTR)
            continue;
        ssize_t n = answer > 0 ? read(from, line + length, size - 1 - length) : 0;
        if (n <= 0)
            break;
        length += (size_t)n;
    }
    line[length] = '\0';
    return length;
}

/* "9.0 GH100" into its parts. */
static bool read_here(const char *line, struct gp_chip_here *here)
{
    return sscanf(line, "%d.%d %31s", &here->cc_major, &here->cc_minor, here->name) >= 2;
}

/* Passes an answer on, with the text of the reason where it is no. */
static bool answers(bool answer, struct gp_reason reason, const char **why)
{
    if (!answer)
        *why = reason.text;
    return answer;
}

static bool has_cupti(const char **why)
{
    struct gp_reason reason = GP_NO_REASON;
    const bool found = gp_cupti_find(&reason);
    return answers(found, reason, why);
}

bool gp_chip_find_here(struct gp_chip_here *here, const char **why)
{
    char line[64];
    *here = (struct gp_chip_here){.cc_major = 0};
    if (!gp_real_dlsym)
        gp_real_dlsym_find();
    if (!has_cupti(why))
        return false;
    int ends[2];
    *why = "a process could not be started to ask the driver";
    if (pipe(ends) != 0)
        return false;
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        tell_chip(ends[1]);
    }
    close(ends[1]);
    size_t length = child > 0 ? listen(ends[0], line, sizeof(line)) : 0;
    close(ends[0]);
    if (child < 0)
        return false;
    if (length == 0)
        kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    *why = "the driver names no GPU";
    return length > 0 && read_here(line, here);
}

/* ---- counters -------------------------------------------------------------------------------- */

static bool find_cupti(const char **why)
{
    if (!gp_real_dlsym)
        gp_real_dlsym_find();
    if (!has_cupti(why))
        return false;
    *why = "this libcupti has no host library";
    return gp_cupti_has_ranges();
}

bool gp_chip_try(const char *chip, const char *const *counters, size_t count,
                 struct gp_reason *unavailable, const char **why)
{
    struct gp_reason reason = GP_NO_REASON;
    if (!find_cupti(why))
        return false;
    const bool tried = gp_counters_try(chip, counters, count, unavailable, &reason);
    return answers(tried, reason, why);
}

bool gp_chip_count_passes(const char *chip, const char *const *counters, size_t count,
                          struct gp_chip_passes *passes, const char **why)
{
    struct gp_counter_list list;
    struct gp_range_config config;
    struct gp_reason reason = GP_NO_REASON;
    *passes = (struct gp_chip_passes){0};
    if (!find_cupti(why))
        return false;
    bool made = gp_counter_list_make(&list, chip, counters, count, &reason);
    for (size_t i = 0; made && i < count; i++)
        passes->unavailable += list.unavailable[i].cause != GP_CAUSE_NONE;
    if (made && list.used) {
        made =
            gp_range_config_make(&config, chip, list.names, list.used, list.hardware_used, &reason);
        passes->hardware = config.hardware_passes;
        passes->instrumented = config.passes - config.hardware_passes;
        gp_range_config_free(&config);
    }
    gp_counter_list_free(&list);
    return answers(made, reason, why);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* CUPTI's names without their ends, of all kinds of counters. */
struct base_names {
    CUpti_Profiler_Host_Object *host;
    const char **names;
    CUpti_MetricType *kinds;
    size_t count;
};

static bool add_names(struct base_names *b, CUpti_MetricType kind)
{
    GP_CUPTI_PARAMS(CUpti_Profiler_Host_GetBaseMetrics, p);
    p->pHostObject = b->host;
    p->metricType = kind;
    if (gp_cupti.cuptiProfilerHostGetBaseMetrics(p) != CUPTI_SUCCESS || !p->numMetrics)
        return true;
    const size_t count = b->count + p->numMetrics;
    const char **names = realloc(b->names, count * sizeof(*names));
    if (names)
        b->names = names;
    CUpti_MetricType *kinds = realloc(b->kinds, count * sizeof(*kinds));
    if (kinds)
        b->kinds = kinds;
    if (!names || !kinds)
        return false;
    for (size_t i = 0; i < p->numMetrics; i++) {
        b->names[b->count] = strdup(p->ppMetricNames[i]);
        b->kinds[b->count] = kind;
        if (!b->names[b->count])
            return false;
        b->count++;
    }
    return true;
}

static void close_names(struct base_names *b)
{
    for (size_t i = 0; i < b->count; i++)
        free((char *)b->names[i]);
    free(b->names);
    free(b->kinds);
    gp_range_config_close_host(b->host);
    *b = (struct base_names){0};
}

static bool open_names(struct base_names *b, const char *chip, const char **why)
{
    *b = (struct base_names){0};
    if (!find_cupti(why))
        return false;
    *why = "this libcupti lists no counters; that of CUDA 13 does";
    if (!gp_cupti_has_host_lists())
        return false;
    struct gp_reason reason = GP_NO_REASON;
    b->host = gp_range_config_open_host(chip, &reason);
    if (!answers(b->host != NULL, reason, why))
        return false;
    *why = "out of memory";
    if (add_names(b, CUPTI_METRIC_TYPE_COUNTER) && add_names(b, CUPTI_METRIC_TYPE_RATIO) &&
        add_names(b, CUPTI_METRIC_TYPE_THROUGHPUT))
        return true;
    close_names(b);
    return false;
}

static const char *name_at(const void *names, size_t i)
{
    return ((const struct base_names *)names)->names[i];
}

static const char *plain_end(CUpti_MetricType kind)
{
    return kind == CUPTI_METRIC_TYPE_RATIO        ? ".ratio"
           : kind == CUPTI_METRIC_TYPE_THROUGHPUT ? ".avg.pct_of_peak_sustained_elapsed"
                                                  : ".sum";
}

static bool is_base(const struct base_names *b, const char *name, size_t *at)
{
    for (*at = 0; *at < b->count; (*at)++)
        if (strcmp(b->names[*at], name) == 0)
            return true;
    return false;
}

/* The ends that the base name may have, the first few. */
static void add_ends(const struct base_names *b, size_t at, struct gp_text *out)
{
    GP_CUPTI_PARAMS(CUpti_Profiler_Host_GetSubMetrics, p);
    p->pHostObject = b->host;
    p->metricType = b->kinds[at];
    p->pMetricName = b->names[at];
    if (gp_cupti.cuptiProfilerHostGetSubMetrics(p) != CUPTI_SUCCESS)
        return;
    for (size_t i = 0, said = 0; i < p->numOfSubmetrics && said < 12; i++) {
        if (strstr(p->ppSubMetrics[i], ".peak_") || strncmp(p->ppSubMetrics[i], ".min", 4) == 0 ||
            strncmp(p->ppSubMetrics[i], ".max.", 5) == 0)
            continue;
        gp_text_addf(out, "%s %s", said ? "," : "", p->ppSubMetrics[i]);
        said++;
    }
}

void gp_chip_explain(const char *chip, const char *counter, struct gp_text *problems)
{
    struct base_names b;
    const char *why;
    gp_text_addf(problems, "%s has no counter '%s'", chip, counter);
    if (!open_names(&b, chip, &why)) {
        gp_text_add(problems, "\n");
        return;
    }
    char base[256];
    snprintf(base, sizeof(base), "%.*s", (int)strcspn(counter, "."), counter);
    const char *end = counter + strcspn(counter, ".");
    size_t at;
    if (is_base(&b, base, &at)) {
        gp_text_addf(problems, "; %s ends in one of", base);
        add_ends(&b, at, problems);
    } else {
        const char *nearest = gp_nearest(base, b.count, name_at, &b);
        if (nearest)
            gp_text_addf(problems, "; did you mean %s%s?", nearest, end);
    }
    gp_text_add(problems, "\n");
    close_names(&b);
}

/* Adds the name with each end that fits the pattern. */
static size_t expand_ends(const struct base_names *b, size_t at, const char *pattern,
                          struct gp_text *names)
{
    size_t count = 0;
    GP_CUPTI_PARAMS(CUpti_Profiler_Host_GetSubMetrics, p);
    p->pHostObject = b->host;
    p->metricType = b->kinds[at];
    p->pMetricName = b->names[at];
    if (gp_cupti.cuptiProfilerHostGetSubMetrics(p) != CUPTI_SUCCESS)
        return 0;
    for (size_t i = 0; i < p->numOfSubmetrics; i++) {
        char whole[512];
        snprintf(whole, sizeof(whole), "%s%s", b->names[at], p->ppSubMetrics[i]);
        if (fnmatch(pattern, whole, 0) != 0)
            continue;
        gp_text_addf(names, "%s%s", names->length ? "," : "", whole);
        count++;
    }
    return count;
}

size_t gp_chip_expand(const char *chip, const char *pattern, struct gp_text *names,
                      const char **why)
{
    struct base_names b;
    size_t count = 0;
    const size_t base_length = strcspn(pattern, ".");
    char base[256];
    if (!open_names(&b, chip, why))
        return 0;
    snprintf(base, sizeof(base), "%.*s", (int)base_length, pattern);
    for (size_t i = 0; i < b.count && count <= MOST_EXPANDED; i++) {
        if (fnmatch(base, b.names[i], 0) != 0)
            continue;
        if (pattern[base_length]) {
            count += expand_ends(&b, i, pattern, names);
        } else {
            gp_text_addf(names, "%s%s%s", names->length ? "," : "", b.names[i],
                         plain_end(b.kinds[i]));
            count++;
        }
    }
    close_names(&b);
    *why = "no counter of the chip fits it";
    if (count > MOST_EXPANDED) {
        *why = "it stands for more than 300 counters";
        return 0;
    }
    return count;
}
