#include "check/suggest_bounds.h"

#include "check/kinds.h"
#include "check/statistics.h"
#include "check/values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A count that varies, or of which one run is known, gets this much room at least. */
#define ROOM_OF_COUNT 0.01
/* A percentile that needs more room than this, and so much more than the best one, is none to
 * choose. */
#define WIDE 0.15
#define MUCH_WIDER 1.25
#define STEP 0.05 /* from one percentile that is tried to the next */
/* A launch is timed again where it took so much longer than its like; the first one of a kernel
 * has no like. */
#define HELD_UP 1e-6
/* Both ends of a time are ticks of the clock. */
#define LEAST_TICKS 2
/* The clock's step on an H100; and where the times at hand do not show it: CUDA's manual gives that
 * for cuEventElapsedTime. */
#define USUAL_TICK 32e-9
#define UNKNOWN_TICK 0.5e-6

bool gp_suggest_repeats(const struct gp_suggest_kernel *k)
{
    for (size_t i = 1; i < k->run_count; i++)
        if (k->runs[i].composition != k->runs[0].composition ||
            k->runs[i].configurations != k->runs[0].configurations)
            return false;
    return k->run_count > 1;
}

double gp_suggest_seconds(const struct gp_suggest_kernel *k)
{
    double sum = 0;
    for (size_t i = 0; i < k->run_count; i++)
        sum += k->runs[i].of[GP_SUGGEST_TOTAL_TIME].value;
    return k->run_count ? sum / (double)k->run_count : 0;
}

/* ---- the clock ---- */

/* Longer times are not whole nanoseconds any more, as the driver gives a float. */
#define LONGEST_OF_TICKS 1e-3
#define LEAST_TICK_NS 8 /* less: it is chance, or no step is to be seen */
/* Different times that show a step, or two of so many. */
#define SHOWN_BY 3
#define SHOWN_BY_TWO_OF 8

struct tick {
    uint64_t ns; /* the largest number that divides all times */
    uint64_t different[SHOWN_BY];
    size_t different_count, count;
};

static bool is_known(const struct tick *t, uint64_t ns)
{
    for (size_t i = 0; i < t->different_count; i++)
        if (t->different[i] == ns)
            return true;
    return false;
}

static void add_time(struct tick *t, double seconds)
{
    uint64_t a = t->ns, b = seconds < LONGEST_OF_TICKS ? (uint64_t)(seconds * 1e9 + 0.5) : 0;
    if (b == 0)
        return;
    t->count++;
    if (t->different_count < SHOWN_BY && !is_known(t, b))
        t->different[t->different_count++] = b;
    while (b > 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    t->ns = a;
}

double gp_suggest_tick(const struct gp_suggest_values *v, bool *shown)
{
    struct tick t = {0};
    for (const struct gp_suggest_kernel *k = v->kernels; k; k = k->hh.next)
        for (size_t i = 0; i < k->run_count; i++)
            for (size_t n = 0; n < k->runs[i].seconds_count; n++)
                add_time(&t, k->runs[i].seconds[n]);
    *shown =
        t.different_count >= SHOWN_BY || (t.different_count == 2 && t.count >= SHOWN_BY_TWO_OF);
    if (!*shown)
        return UNKNOWN_TICK;
    return t.ns >= LEAST_TICK_NS ? (double)t.ns / 1e9 : 0;
}

/* ---- one number a run ---- */

/* The runs' numbers, and what is expected of one more. */
struct numbers {
    double *of_runs;
    size_t count;
    double least_room; /* absolute */
    double expected;   /* the deviation of one run that is known beforehand */
};

static bool begin(struct numbers *n, const struct gp_suggest_kernel *k)
{
    *n = (struct numbers){.of_runs = calloc(k->run_count + 1, sizeof(*n->of_runs))};
    return n->of_runs != NULL;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Student's t that is exceeded, upwards, in 50 of 1000 cases: off by less than 2 %, on the safe
 * side, from 4 degrees of freedom on. */
static double usual_student(unsigned freedom)
{
    return 1.645 + 1.95 / freedom;
}

/* Sets the bound from the numbers, and frees them. The direction is set already. */
static void settle(struct numbers *n, struct gp_suggested_bound *b)
{
    struct gp_next next;
    gp_next_find((struct gp_runs){n->of_runs, n->count}, n->expected, &next);
    b->runs = n->count;
    b->middle = next.middle;
    b->least = b->most = n->of_runs[0];
    for (size_t i = 1; i < n->count; i++) {
        b->least = fmin(b->least, n->of_runs[i]);
        b->most = fmax(b->most, n->of_runs[i]);
    }
    double room = larger(next.room, n->least_room);
    if (b->exact)
        room = 0;
    b->bound = b->at_most ? b->middle + room : b->middle - room;
    b->room = room > 0 ? room / fabs(b->middle) : 0;
    /* The runs' mean may be off as well, and a slower kernel varies by more. */
    double off = usual_student(next.freedom) * next.deviation * sqrt(1 + 1 / (double)n->count);
    b->finds = b->exact ? 0 : b->room + off * (1 + b->room) / fabs(b->middle);
    b->kind = b->room < 1 ? GP_SUGGESTED_FOUND : GP_SUGGESTED_LEFT_OUT;
    free(n->of_runs);
}

/* ---- time ---- */

/* The smallest time that at least the share q of the launches does not exceed. */
static double seconds_at(const struct gp_kernel_run *run, double q)
{
    const struct gp_values sorted = {.kept = run->seconds, .kept_count = run->seconds_count};
    return gp_values_quantile(&sorted, fmin(1, fmax(0, q)));
}

/* The standard deviation of the share of launches that are quicker than a quantile. */
static double rank_deviation(const struct gp_kernel_run *run, double q)
{
    return sqrt(q * (1 - q) / (double)run->of[GP_SUGGEST_TIME].count);
}

static double median_of(double *numbers, size_t count)
{
    gp_sort_numbers(numbers, count);
    return gp_median(numbers, count);
}

static bool is_timed(const struct gp_kernel_run *run)
{
    return run->of[GP_SUGGEST_TIME].count > 0 && run->seconds_count > 0;
}

static double tick_of(const struct gp_bounds_asked *asked)
{
    return larger(asked->tick, USUAL_TICK);
}

/* -log10 of the chance, at the most, that the share a of so many launches is of a kind to which
 * each belongs with the chance p < a (Chernoff's bound). */
static double rarity(double a, double p, double launches)
{
    double quick = a < 1 ? (1 - a) * log10((1 - a) / (1 - p)) : 0;
    return launches * (a * log10(a / p) + quick);
}

/* The largest share of slow launches with which a run seldom has the share a of them. */
static double tolerable(double a, double launches)
{
    double low = 0, high = a;
    for (int i = 0; i < 40; i++) {
        double middle = low / 2 + high / 2;
        if (rarity(a, middle, launches) > -log10(GP_RARE))
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Where launches are of two kinds, and nearly half of them of the slow kind, the median is now of
 * one kind, now of the other. So the bound lies above all launches but those that are too few to
 * become the median by chance. */
static void leave_room_for_slow(const struct gp_suggest_kernel *k, double q, double middle,
                                struct numbers *n)
{
    double *slow = calloc(k->run_count + 1, sizeof(*slow));
    size_t count = 0;
    for (size_t i = 0; slow && i < k->run_count; i++) {
        const struct gp_kernel_run *run = &k->runs[i];
        if (!is_timed(run))
            continue;
        /* The runs at hand show the share of slow ones by chance as well. */
        double launches = (double)run->of[GP_SUGGEST_TIME].count / (1 + 1 / (double)n->count);
        slow[count++] = seconds_at(run, 1 - tolerable(1 - q, launches));
    }
    if (count > 0)
        n->least_room = larger(n->least_room, median_of(slow, count) - middle);
    free(slow);
}

static bool of_quantile(const struct gp_bounds_asked *asked, const struct gp_suggest_kernel *k,
                        double q, struct gp_suggested_bound *b)
{
    struct numbers n;
    double sum = 0, error = 0, measured = 0;
    if (!begin(&n, k))
        return false;
    for (size_t i = 0; i < k->run_count; i++) {
        const struct gp_kernel_run *run = &k->runs[i];
        if (!is_timed(run))
            continue;
        double deviation = rank_deviation(run, q), launches = (double)run->of[0].count;
        error += (seconds_at(run, q + deviation) - seconds_at(run, q - deviation)) / 2;
        measured = n.count ? fmin(measured, launches) : launches;
        sum += n.of_runs[n.count++] = seconds_at(run, q);
    }
    if (n.count == 0) {
        free(n.of_runs);
        return false;
    }
    double middle = sum / (double)n.count;
    /* Those that were held up are seldom half of the launches. */
    n.expected = gp_expected_time(middle, measured, error / (double)n.count, GP_BLUR / measured,
                                  tick_of(asked));
    n.least_room = larger(asked->margin * middle, LEAST_TICKS * tick_of(asked));
    if (measured < 2)
        n.least_room = larger(n.least_room, HELD_UP);
    leave_room_for_slow(k, q, middle, &n);
    b->measured = (uint64_t)measured;
    b->at_most = true;
    settle(&n, b);
    if (fabs(q - 0.5) < 1e-6)
        snprintf(b->aggregate, sizeof(b->aggregate), "median");
    else
        snprintf(b->aggregate, sizeof(b->aggregate), "p%.0f", 100 * q);
    return true;
}

/* So many launches of one length would make the sum vary as much as these do. */
static double like_launches(const struct gp_kernel_run *run)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < run->seconds_count; i++) {
        sum += run->seconds[i];
        squares += run->seconds[i] * run->seconds[i];
    }
    return squares > 0 ? (double)run->of[GP_SUGGEST_TIME].count * sum * sum /
                             (squares * (double)run->seconds_count)
                       : 1;
}

static bool of_total(const struct gp_bounds_asked *asked, const struct gp_suggest_kernel *k,
                     struct gp_suggested_bound *b)
{
    struct numbers n;
    double sum = 0, measured = 0, like = 0, launched = 0;
    if (!begin(&n, k))
        return false;
    for (size_t i = 0; i < k->run_count; i++) {
        const struct gp_kernel_run *run = &k->runs[i];
        if (!is_timed(run))
            continue;
        double launches = (double)run->of[0].count;
        measured = n.count ? fmin(measured, launches) : launches;
        like = n.count ? fmin(like, like_launches(run)) : like_launches(run);
        launched += (double)run->launches;
        sum += n.of_runs[n.count++] = run->of[GP_SUGGEST_TOTAL_TIME].value;
    }
    if (n.count == 0 || sum <= 0) {
        free(n.of_runs);
        return false;
    }
    double middle = sum / (double)n.count, launches = launched / (double)n.count;
    n.expected = launches * gp_expected_time(middle / launches, like, 0, GP_BLUR / sqrt(measured),
                                             tick_of(asked));
    n.least_room = larger(asked->margin * middle, LEAST_TICKS * tick_of(asked) * launches);
    b->measured = (uint64_t)measured;
    b->at_most = true;
    snprintf(b->aggregate, sizeof(b->aggregate), "total");
    settle(&n, b);
    return true;
}

struct weighted_time {
    double seconds, launches;
};

static int by_seconds(const void *x, const void *y)
{
    const struct weighted_time *a = x, *b = y;
    return (a->seconds > b->seconds) - (a->seconds < b->seconds);
}

/* The share of launches that are quicker than those in which half of the time is reached, in whole
 * percent; 0.5 when out of memory. */
static double share_at_half_the_time(const struct gp_suggest_kernel *k)
{
    double seconds = 0, launches = 0, so_far = 0, behind = 0;
    size_t count = 0;
    for (size_t i = 0; i < k->run_count; i++)
        count += k->runs[i].seconds_count;
    struct weighted_time *times = calloc(count + 1, sizeof(*times));
    if (!times)
        return 0.5;
    count = 0;
    for (size_t i = 0; i < k->run_count; i++) {
        const struct gp_kernel_run *run = &k->runs[i];
        double weight = run->seconds_count
                            ? (double)run->of[GP_SUGGEST_TIME].count / (double)run->seconds_count
                            : 0;
        launches += weight * (double)run->seconds_count;
        for (size_t n = 0; n < run->seconds_count; n++) {
            times[count++] = (struct weighted_time){run->seconds[n], weight};
            seconds += weight * run->seconds[n];
        }
    }
    if (count > 1)
        qsort(times, count, sizeof(*times), by_seconds);
    for (size_t i = 0; i < count; i++) {
        so_far += times[i].launches * times[i].seconds;
        behind += times[i].launches;
        if (so_far >= seconds / 2) {
            behind -= times[i].launches / 2;
            break;
        }
    }
    free(times);
    double percent = launches > 0 ? floor(100 * behind / launches + 0.5) : 50;
    return fmin(99, fmax(1, percent)) / 100;
}

static bool has_several_configurations(const struct gp_suggest_kernel *k)
{
    for (size_t i = 0; i < k->run_count; i++)
        if (k->runs[i].configurations > 1)
            return true;
    return false;
}

static bool is_absent_somewhere(const struct gp_suggest_kernel *k, size_t rule)
{
    for (size_t i = 0; i < k->run_count; i++)
        if (k->runs[i].of[rule].absent)
            return true;
    return false;
}

/* The percentile at the share q, or one below it that needs less room: where launches are of two
 * kinds, it may lie too close to the slow ones. */
static bool of_launches(const struct gp_bounds_asked *asked, const struct gp_suggest_kernel *k,
                        double q, struct gp_suggested_bound *b)
{
    double best = INFINITY;
    for (double lower = q; lower > 0.001; lower -= STEP)
        if (of_quantile(asked, k, lower, b))
            best = fmin(best, b->room);
    for (double lower = q; lower > 0.001; lower -= STEP)
        if (of_quantile(asked, k, lower, b) && b->room <= larger(WIDE, MUCH_WIDER * best))
            return true;
    return false;
}

void gp_suggest_time(const struct gp_bounds_asked *asked, const struct gp_suggest_kernel *k,
                     struct gp_suggested_bound *b)
{
    bool several = has_several_configurations(k);
    *b = (struct gp_suggested_bound){0};
    if (!(several && gp_suggest_repeats(k) && of_total(asked, k, b)) &&
        !of_launches(asked, k, several ? share_at_half_the_time(k) : 0.5, b))
        return;
    b->if_present = is_absent_somewhere(k, GP_SUGGEST_TIME);
}

/* ---- all else ---- */

/* Whether it is the same at all launches of all runs, or its worst launch is the same. */
static bool agrees(const struct numbers *n)
{
    for (size_t i = 1; i < n->count; i++)
        if (n->of_runs[i] != n->of_runs[0])
            return false;
    return n->count > 1;
}

static double seconds_of_launch(const struct gp_suggest_kernel *k)
{
    double launches = 0;
    for (size_t i = 0; i < k->run_count; i++)
        launches += (double)k->runs[i].launches;
    return launches > 0 ? gp_suggest_seconds(k) * (double)k->run_count / launches : 0;
}

void gp_suggest_bound(const struct gp_bounds_asked *asked, const struct gp_suggest_kernel *k,
                      size_t rule, struct gp_suggested_bound *b)
{
    const struct gp_suggested_rule *suggested = &gp_suggested_rules[rule];
    const struct gp_metric *metric = gp_metrics_find(asked->metrics, suggested->metric);
    struct numbers n;
    double spread = 0, sum = 0, measured = 0;
    *b = (struct gp_suggested_bound){.if_present = is_absent_somewhere(k, rule)};
    if (!metric || !begin(&n, k))
        return;
    struct gp_nature nature = gp_nature_of(metric, asked->device);
    b->at_most = nature.better == GP_BETTER_LESS;
    for (size_t i = 0; i < k->run_count; i++) {
        const struct gp_rule_values *of = &k->runs[i].of[rule];
        if (of->count == 0)
            continue;
        double launches = (double)of->count;
        measured = n.count ? fmin(measured, launches) : launches;
        spread = larger(spread, of->spread);
        sum += n.of_runs[n.count++] = suggested->aggregate[0] ? of->value
                                      : b->at_most            ? of->most
                                                              : of->least;
    }
    double middle = n.count ? sum / (double)n.count : 0;
    bool is_count = nature.kind == GP_KIND_COUNT;
    /* A bound of 0 from below says nothing, and 0 of a counter that varies no scatter. */
    if (n.count == 0 || (middle == 0 && !(b->at_most && is_count))) {
        free(n.of_runs);
        return;
    }
    if (is_count) {
        bool is_ratio = strcmp(nature.unit, "%") == 0 || strcmp(nature.unit, "ratio") == 0;
        n.expected = GP_VARYING_COUNT * fabs(middle);
        n.least_room = (is_ratio ? asked->margin : ROOM_OF_COUNT) * fabs(middle);
        b->exact = !is_ratio && (middle == 0 || agrees(&n));
    } else {
        /* Launches of other configurations differ, and yet the same in each run. */
        bool mixed = gp_suggest_repeats(k) && has_several_configurations(k);
        struct gp_expected expected =
            gp_expected_of(&nature, middle, mixed ? 0 : spread, measured, seconds_of_launch(k));
        n.expected = expected.deviation;
        n.least_room = larger(asked->margin * fabs(middle), expected.least);
    }
    b->measured = (uint64_t)measured;
    snprintf(b->aggregate, sizeof(b->aggregate), "%s", suggested->aggregate);
    settle(&n, b);
}
