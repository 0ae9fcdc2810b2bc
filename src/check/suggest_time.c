#include "check/suggest_parts.h"

#include "check/kinds.h"
#include "check/statistics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A percentile with a wider margin, and so much wider than the best one's, is none to choose. */
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
    if (!(seconds > 0 && seconds < LONGEST_OF_TICKS))
        return;
    uint64_t a = t->ns, b = (uint64_t)(seconds * 1e9 + 0.5);
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
    if (*shown)
        return t.ns >= LEAST_TICK_NS ? (double)t.ns / 1e9 : 0;
    /* A single time is enough to deny a coarse step. */
    return t.ns % 500 == 0 || t.ns % 512 == 0 ? UNKNOWN_TICK : 0;
}

/* ---- one number a run ---- */

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
    return fmax(asked->tick, USUAL_TICK);
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
static void keep_off_slow(const struct gp_suggest_kernel *k, double q, double middle,
                          struct gp_run_numbers *n)
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
        n->least_margin = fmax(n->least_margin, median_of(slow, count) - middle);
    free(slow);
}

static bool of_quantile(const struct gp_bounds_asked *asked, const struct gp_suggest_kernel *k,
                        double q, struct gp_suggested_bound *b)
{
    struct gp_run_numbers n;
    double sum = 0, error = 0, measured = 0;
    if (!gp_suggest_begin(&n, k))
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
    /* Launches that were held up are seldom half of all launches. */
    n.expected = gp_expected_time(middle, measured, error / (double)n.count, GP_BLUR / measured,
                                  tick_of(asked));
    n.least_margin = fmax(asked->margin * middle, LEAST_TICKS * tick_of(asked));
    if (measured < 2)
        n.least_margin = fmax(n.least_margin, HELD_UP);
    keep_off_slow(k, q, middle, &n);
    b->at_most = true;
    gp_suggest_settle(&n, b);
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
    struct gp_run_numbers n;
    double sum = 0, measured = 0, like = 0, launched = 0;
    if (!gp_suggest_begin(&n, k))
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
    n.least_margin = fmax(asked->margin * middle, LEAST_TICKS * tick_of(asked) * launches);
    b->at_most = true;
    snprintf(b->aggregate, sizeof(b->aggregate), "total");
    gp_suggest_settle(&n, b);
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

/* The percentile at the share q, or one below it with a smaller margin: where launches are of two
 * kinds, it may lie too close to the slow ones. */
static bool of_launches(const struct gp_bounds_asked *asked, const struct gp_suggest_kernel *k,
                        double q, struct gp_suggested_bound *b)
{
    double best = INFINITY;
    for (double lower = q; lower > 0.001; lower -= STEP)
        if (of_quantile(asked, k, lower, b))
            best = fmin(best, b->margin);
    for (double lower = q; lower > 0.001; lower -= STEP)
        if (of_quantile(asked, k, lower, b) && b->margin <= fmax(WIDE, MUCH_WIDER * best))
            return true;
    return false;
}

void gp_suggest_time(const struct gp_bounds_asked *asked, const struct gp_suggest_kernel *k,
                     struct gp_suggested_bound *b)
{
    bool several = gp_suggest_several(k);
    *b = (struct gp_suggested_bound){0};
    if (!(several && gp_suggest_repeats(k) && of_total(asked, k, b)) &&
        !of_launches(asked, k, several ? share_at_half_the_time(k) : 0.5, b))
        return;
    b->if_present = gp_suggest_absent(k, GP_SUGGEST_TIME);
}
