#include "check/statistics.h"

#include "check/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Differences are made of all pairs; more runs than these are thinned out. */
#define MOST_RUNS 500

double gp_student(unsigned freedom)
{
    /* t with 0.001 above it, for 1 to 20 degrees of freedom. */
    static const double table[] = {318.31, 22.327, 10.215, 7.173, 5.893, 5.208, 4.785,
                                   4.501,  4.297,  4.144,  4.025, 3.930, 3.852, 3.787,
                                   3.733,  3.686,  3.646,  3.610, 3.579, 3.552};
    if (freedom < 1)
        freedom = 1;
    if (freedom <= sizeof(table) / sizeof(table[0]))
        return table[freedom - 1];
    /* Towards the normal distribution; off by less than 0.5 %, on the safe side. */
    return 3.0902 + 9.24 / freedom;
}

/* Student's t that is exceeded, upwards, with GP_RARE. */
static double rare_student(unsigned freedom)
{
    /* From the 4 degrees of freedom on that are known before the first run. */
    static const double table[] = {13.034, 9.678, 8.025, 7.063, 6.442, 6.010, 5.694, 5.453, 5.263,
                                   5.111,  4.985, 4.880, 4.791, 4.714, 4.648, 4.590, 4.539};
    enum { KNOWN = sizeof(table) / sizeof(table[0]) };
    if (freedom < GP_PRIOR_FREEDOM + KNOWN)
        return table[freedom - GP_PRIOR_FREEDOM];
    /* Towards the normal distribution; off by less than 1 %, on the safe side. */
    return 3.719 + 16.4 / freedom;
}

static double *sorted_copy(const double *values, size_t count)
{
    double *copy = malloc((count + 1) * sizeof(*copy));
    if (copy) {
        memcpy(copy, values, count * sizeof(*copy));
        gp_sort_numbers(copy, count);
    }
    return copy;
}

static bool median_of(struct gp_runs runs, double *median)
{
    double *sorted = sorted_copy(runs.medians, runs.count);
    if (!sorted)
        return false;
    *median = gp_median(sorted, runs.count);
    free(sorted);
    return true;
}

static bool hodges_lehmann(struct gp_runs a, struct gp_runs b, double *shift)
{
    double *differences = malloc(a.count * b.count * sizeof(*differences));
    if (!differences)
        return false;
    for (size_t i = 0; i < a.count; i++)
        for (size_t k = 0; k < b.count; k++)
            differences[i * b.count + k] = b.medians[k] - a.medians[i];
    gp_sort_numbers(differences, a.count * b.count);
    *shift = gp_median(differences, a.count * b.count);
    free(differences);
    return true;
}

/* A robust standard deviation of one side's runs, 0 of one run. The factors make it right on
 * average for small numbers of normal values (Croux and Rousseeuw 1992). */
static bool deviation_of(struct gp_runs runs, double median, double *deviation)
{
    static const double factors[] = {0, 0, 1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107};
    double n = (double)runs.count;
    double *distances = malloc((runs.count + 1) * sizeof(*distances));
    if (!distances)
        return false;
    for (size_t i = 0; i < runs.count; i++)
        distances[i] = fabs(runs.medians[i] - median);
    gp_sort_numbers(distances, runs.count);
    double factor = runs.count < 10 ? factors[runs.count] : n / (n - 0.8);
    *deviation = factor * 1.4826 * gp_median(distances, runs.count);
    free(distances);
    return true;
}

/* Student's t that is exceeded, either way, in one of 100 cases: off by less than 2 %, on the safe
 * side. */
static double student_of_trends(double freedom)
{
    return 2.576 + 4.9 / freedom + 13 / (freedom * freedom);
}

static struct gp_runs fewer(struct gp_runs runs)
{
    if (runs.count > MOST_RUNS) {
        runs.medians += runs.count - MOST_RUNS; /* the latest */
        runs.count = MOST_RUNS;
    }
    return runs;
}

/* The sum of squared distances from the mean. */
static double squares_of(struct gp_runs runs)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < runs.count; i++)
        mean += runs.medians[i] / (double)runs.count;
    for (size_t i = 0; i < runs.count; i++)
        squares += (runs.medians[i] - mean) * (runs.medians[i] - mean);
    return squares;
}

bool gp_shift_find(struct gp_runs a, struct gp_runs b, double expected, struct gp_shift *shift)
{
    double of_a = 0, of_b = 0;
    memset(shift, 0, sizeof(*shift));
    a = fewer(a);
    b = fewer(b);
    if (!median_of(a, &shift->from) || !median_of(b, &shift->to) ||
        !hodges_lehmann(a, b, &shift->shift) || !deviation_of(a, shift->from, &of_a) ||
        !deviation_of(b, shift->to, &of_b))
        return false;
    /* Median distances are worth about half as many runs as squares are.
     */
    double freedom_a = (double)(a.count - 1) / 2, freedom_b = (double)(b.count - 1) / 2;
    double freedom = GP_PRIOR_FREEDOM + freedom_a + freedom_b;
    double variance = (GP_PRIOR_FREEDOM * expected * expected + freedom_a * of_a * of_a +
                       freedom_b * of_b * of_b) /
                      freedom;
    shift->deviation = sqrt(variance);
    shift->freedom = (unsigned)freedom;
    /* The shift varies by sqrt(pi / 3) times as much as a difference of means. */
    double error =
        shift->deviation * sqrt(1 / (double)a.count + 1 / (double)b.count) * sqrt(M_PI / 3);
    shift->detectable = gp_student(shift->freedom) * error;
    return true;
}

void gp_next_find(struct gp_runs runs, double expected, struct gp_next *next)
{
    double n = (double)runs.count, sum = 0;
    for (size_t i = 0; i < runs.count; i++)
        sum += runs.medians[i];
    next->middle = sum / n;
    next->freedom = (unsigned)(GP_PRIOR_FREEDOM + runs.count - 1);
    next->deviation =
        sqrt((GP_PRIOR_FREEDOM * expected * expected + squares_of(runs)) / next->freedom);
    next->margin = rare_student(next->freedom) * next->deviation * sqrt(1 + 1 / n);
}

bool gp_trend_find(const double *values, size_t count, double *slope, int *trend)
{
    *slope = 0;
    *trend = 0;
    if (count < 4)
        return true;
    struct gp_runs runs = fewer((struct gp_runs){values, count});
    values = runs.medians;
    count = runs.count;
    double *slopes = malloc(count * count / 2 * sizeof(*slopes));
    if (!slopes)
        return false;
    size_t pairs = 0;
    double rising = 0, n = (double)count;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = i + 1; k < count; k++) {
            slopes[pairs++] = (values[k] - values[i]) / (double)(k - i);
            rising += (values[k] > values[i]) - (values[k] < values[i]);
        }
    }
    gp_sort_numbers(slopes, pairs);
    *slope = gp_median(slopes, pairs);
    free(slopes);
    /* Normal from 8 values on; with fewer, only if all pairs but one agree. */
    double deviation = sqrt(n * (n - 1) * (2 * n + 5) / 18);
    bool clear = count >= 8 ? fabs(rising) - 1 > 2.576 * deviation
                            : count >= 5 && fabs(rising) >= (double)pairs - 2;
    if (clear)
        *trend = rising > 0 ? 1 : -1;
    return true;
}

bool gp_trend_detectable(const double *values, size_t count, double slope, double expected,
                         double *detectable)
{
    struct gp_runs runs = fewer((struct gp_runs){values, count});
    double median, deviation, n = (double)runs.count;
    double *rests = malloc((runs.count + 1) * sizeof(*rests));
    if (!rests)
        return false;
    for (size_t i = 0; i < runs.count; i++)
        rests[i] = runs.medians[i] - slope * (double)i;
    const struct gp_runs without = {rests, runs.count};
    bool found = median_of(without, &median) && deviation_of(without, median, &deviation);
    free(rests);
    if (!found)
        return false;
    /* Median distances are worth about half as many values as squares are, and the slope is one. */
    double seen = (n - 2) / 2, freedom = GP_PRIOR_FREEDOM + seen;
    double variance =
        (GP_PRIOR_FREEDOM * expected * expected + seen * deviation * deviation) / freedom;
    /* The deviation of a slope by squares; that of a slope by medians is sqrt(pi / 3) times as
     * much. */
    double of_slope = sqrt(variance * 12 / (n * (n * n - 1))) * sqrt(M_PI / 3);
    *detectable = student_of_trends(freedom) * of_slope * (n - 1);
    return true;
}
