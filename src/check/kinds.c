#include "check/kinds.h"

#include "metrics/define.h"

#include <math.h>
#include <string.h>

/* Between two runs of one program medians of a kernel's time differ, by clocks and temperature, by
 * about 1 %; one launch by some 2 % more. The GPU's timer and the start and end of a kernel blur
 * the time between two events by about a quarter of a microsecond. tests/gpu/check measures whether
 * that holds. */
#define RUN_TIME 0.01
#define LAUNCH_TIME 0.02
#define LEAST_TIME 0.5e-6
/* Traffic of device memory: a kernel may write back data of the time before it. */
#define RUN_HARDWARE 0.02
#define LEAST_BYTES 262144.0

static void note_counter(void *user, const char *counter)
{
    struct gp_nature *n = user;
    bool sass = strstr(counter, "__sass_") != NULL;
    bool time = strstr(counter, "time_duration") || strstr(counter, "elapsed_cycles");
    bool instructions =
        strstr(counter, "inst_executed") && strstr(counter, ".sum") && !strstr(counter, ".per_");
    n->any_counter = true;
    n->instrumented &= sass;
    n->dram |= strncmp(counter, "dram__", 6) == 0 || strncmp(counter, "event__fb_", 10) == 0;
    enum gp_kind kind = time                     ? GP_KIND_TIME
                        : (sass || instructions) ? GP_KIND_COUNT
                                                 : GP_KIND_HARDWARE;
    if (kind > n->kind)
        n->kind = kind;
}

static bool has_word(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (strstr(name, *words))
            return true;
    return false;
}

/* By its name, where that says it, else by its unit. Of other metrics, utilizations say, nobody
 * knows whether more of it is better. */
static enum gp_better better_of(const struct gp_metric *metric)
{
    static const char *const less[] = {"stall", "miss", "conflict", "divergent", "spill", NULL};
    static const char *const more[] = {"efficiency", "occupancy", "hit_rate", "throughput", NULL};
    static const char *const costs[] = {"s", "bytes", "count", "flop", NULL};
    if (has_word(metric->name, less))
        return GP_BETTER_LESS;
    if (has_word(metric->name, more) || strcmp(metric->unit, "flop/s") == 0 ||
        strcmp(metric->unit, "bytes/s") == 0)
        return GP_BETTER_MORE;
    for (size_t i = 0; costs[i]; i++)
        if (strcmp(metric->unit, costs[i]) == 0)
            return GP_BETTER_LESS;
    return GP_BETTER_NEITHER;
}

struct gp_nature gp_nature_of(const struct gp_metric *metric, const struct gp_device *device)
{
    struct gp_nature n = {.kind = GP_KIND_COUNT, .instrumented = true, .unit = metric->unit};
    gp_metric_visit_counters(metric, device, note_counter, &n);
    n.instrumented &= n.any_counter;
    /* A value that follows from the configuration alone is named with it. */
    n.better = n.any_counter ? better_of(metric) : GP_BETTER_NEITHER;
    return n;
}

static double root_of_squares(double a, double b, double c)
{
    return sqrt(a * a + b * b + c * c);
}

static bool is_unit(const struct gp_nature *n, const char *unit)
{
    return strcmp(n->unit, unit) == 0;
}

struct gp_expected gp_expected_of(const struct gp_nature *n, double value, double spread,
                                  double launches, double seconds)
{
    struct gp_expected e = {0};
    double size = fabs(value);
    /* The median of n launches varies by 1.2533 / sqrt(n) of the variation of one. */
    double of_launches = launches > 1 ? 1.2533 * spread / sqrt(launches) : 0;
    if (n->kind == GP_KIND_COUNT) {
        e.deviation = of_launches;
        return e;
    }
    if (is_unit(n, "bytes"))
        e.least = LEAST_BYTES;
    else if (is_unit(n, "ratio"))
        e.least = 0.01;
    else if (is_unit(n, "%"))
        e.least = 1;
    if (n->kind == GP_KIND_HARDWARE) {
        e.deviation = root_of_squares(RUN_HARDWARE * size, of_launches, e.least / 4);
        return e;
    }
    double launch = fmax(LAUNCH_TIME * size / sqrt(launches > 1 ? launches : 1), of_launches);
    double time = is_unit(n, "s") ? size : seconds;
    double blur = time > 0 ? size * GP_BLUR / time : 0;
    if (time > 0)
        e.least = fmax(e.least, size * LEAST_TIME / time);
    if (n->dram && is_unit(n, "bytes/s") && seconds > 0)
        e.least = fmax(e.least, LEAST_BYTES / seconds);
    e.deviation = root_of_squares((n->dram ? RUN_HARDWARE : RUN_TIME) * size, launch, blur);
    if (n->dram)
        e.deviation = root_of_squares(e.deviation, e.least / 4, 0);
    return e;
}

double gp_expected_time(double seconds, double launches, double error, double blur, double tick)
{
    double of_launches = fmax(LAUNCH_TIME * seconds / sqrt(launches), error);
    return root_of_squares(RUN_TIME * seconds, of_launches, root_of_squares(blur, tick, 0));
}

double gp_usual_tolerance(const struct gp_nature *n)
{
    return n->kind == GP_KIND_COUNT ? 0.01 : n->kind == GP_KIND_HARDWARE ? 0.05 : 0.02;
}
