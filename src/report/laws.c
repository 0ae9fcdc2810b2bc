#include "report/laws.h"

#include "report/confidence.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* A kind with a factor must be so many times better than a constant: it has one number more to
 * follow chance with. */
#define BETTER 1.5
/* Grids for a kind with a factor: two make it, and the third shows whether it holds. */
#define LEAST_GRIDS 3
/* Values are held to this part of their mean size, at least: near 0 no relative error says much. */
#define LEAST_PART 1e-3
/* The error far outside of the grids, where no law is sure: caches are full, or the GPU is. */
#define STRANGE 0.5
/* An error below it is that of the computation. */
#define EXACT 1e-9

/* The amount that the factor of a kind multiplies. */
static double variable(enum gp_law_kind kind, double blocks)
{
    return kind == GP_LAW_LINEAR ? blocks : kind == GP_LAW_INVERSE ? 1 / blocks : 0;
}

static double error_of(double squares, size_t count)
{
    const double error = sqrt(squares / (double)count);
    return error < EXACT ? 0 : error;
}

/* Sums over the points, each weighted by the inverse square of its size. */
struct sums {
    double one, x, xx, y, xy;
};

static double size_of(double value, double least)
{
    return fmax(fabs(value), least);
}

static struct sums sums_of(enum gp_law_kind kind, const struct gp_law_point *p, size_t count,
                           double least)
{
    struct sums s = {0};
    for (size_t i = 0; i < count; i++) {
        const double size = size_of(p[i].value, least), weight = 1 / (size * size);
        const double x = variable(kind, p[i].blocks);
        s.one += weight;
        s.x += weight * x;
        s.xx += weight * x * x;
        s.y += weight * p[i].value;
        s.xy += weight * x * p[i].value;
    }
    return s;
}

/* Least squares of relative distances. Each point's distance is that from the law of the others: by
 * its leverage, the part that it has in its own value. */
static struct gp_law fit(enum gp_law_kind kind, const struct gp_law_point *p, size_t count,
                         double least)
{
    struct gp_law law = {.kind = kind, .grids = count, .error = INFINITY};
    const struct sums s = sums_of(kind, p, count, least);
    const double spread = s.one * s.xx - s.x * s.x;
    const bool has_factor = kind != GP_LAW_CONSTANT;
    if (has_factor && !(spread > 1e-12 * s.one * s.xx))
        return law; /* all have as many blocks */
    law.factor = has_factor ? (s.one * s.xy - s.x * s.y) / spread : 0;
    law.base = (s.y - law.factor * s.x) / s.one;
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        const double size = size_of(p[i].value, least), x = variable(kind, p[i].blocks);
        const double part = has_factor ? (s.xx - 2 * x * s.x + x * x * s.one) / spread : 1 / s.one;
        const double rest = fmax(1e-9, 1 - part / (size * size));
        const double off = (p[i].value - law.base - law.factor * x) / size / rest;
        squares += off * off;
    }
    law.error = error_of(squares, count);
    return law;
}

/* ---- between two grids ----------------------------------------------------------------------- */

static int compare_points(const void *x, const void *y)
{
    const struct gp_law_point *a = x, *b = y;
    return (a->blocks > b->blocks) - (a->blocks < b->blocks);
}

static double on_line(struct gp_law_point a, struct gp_law_point b, double blocks)
{
    if (a.blocks == b.blocks)
        return (a.value + b.value) / 2;
    return a.value + (b.value - a.value) * (blocks - a.blocks) / (b.blocks - a.blocks);
}

static double inside(const struct gp_law_point *p, size_t count, double blocks)
{
    size_t below = 0, above = count; /* the points in between are to be searched */
    while (below < above) {
        const size_t middle = (below + above) / 2;
        if (p[middle].blocks <= blocks)
            below = middle + 1;
        else
            above = middle;
    }
    if (below == 0 || below == count)
        return p[below == 0 ? 0 : count - 1].value;
    return on_line(p[below - 1], p[below], blocks);
}

static double last_grid(const struct gp_law *law, double blocks)
{
    return fmin(fmax(blocks, law->points[0].blocks), law->points[law->grids - 1].blocks);
}

/* Outside of the grids the value goes on as it went inside, as many times from the last one. */
static double between_or_beyond(const struct gp_law *law, double blocks)
{
    const double last = last_grid(law, blocks), turn = last_grid(law, last * last / blocks);
    const double value = inside(law->points, law->grids, last);
    return on_line((struct gp_law_point){turn, inside(law->points, law->grids, turn)},
                   (struct gp_law_point){last, value}, blocks);
}

/* The last grids have neighbours on one side only, and do not show how far values between are off.
 */
static struct gp_law between(const struct gp_law_point *p, size_t count, double least)
{
    struct gp_law law = {.kind = GP_LAW_BETWEEN, .grids = count};
    double squares = 0;
    for (size_t i = 1; i + 1 < count; i++) {
        const double value = on_line(p[i - 1], p[i + 1], p[i].blocks);
        const double off = (p[i].value - value) / size_of(p[i].value, least);
        squares += off * off;
    }
    law.error = error_of(squares, count - 2);
    return law;
}

/* ---- how sure a law is ----------------------------------------------------------------------- */

/* The numbers that the grids have determined. A grid at the end has no neighbours that predict it.
 */
static size_t numbers_of(const struct gp_law *law)
{
    return law->kind == GP_LAW_CONSTANT ? 1 : 2;
}

/* The most that the value of one grid more is off in 95 of 100 cases. */
static double doubt_of(const struct gp_law *law)
{
    return law->error * gp_confidence_factor((double)(law->grids - numbers_of(law)));
}

/* ---- the best kind --------------------------------------------------------------------------- */

struct gp_law gp_law_find(struct gp_law_point *points, size_t count)
{
    double all = 0;
    if (count < 2)
        return (struct gp_law){.kind = GP_LAW_NONE, .grids = count};
    for (size_t i = 0; i < count; i++)
        all += fabs(points[i].value);
    qsort(points, count, sizeof(*points), compare_points);
    const double least = all > 0 ? LEAST_PART * all / (double)count : 1;
    struct gp_law best = fit(GP_LAW_CONSTANT, points, count, least);
    for (int kind = GP_LAW_LINEAR; kind <= GP_LAW_BETWEEN && count >= LEAST_GRIDS; kind++) {
        const struct gp_law other = kind == GP_LAW_BETWEEN
                                        ? between(points, count, least)
                                        : fit((enum gp_law_kind)kind, points, count, least);
        const bool simpler = best.kind == GP_LAW_CONSTANT || kind == GP_LAW_BETWEEN;
        if ((simpler ? BETTER : 1) * other.error < best.error)
            best = other;
    }
    best.points = points;
    return best;
}

double gp_law_value(const struct gp_law *law, double blocks)
{
    if (law->kind == GP_LAW_NONE)
        return NAN;
    if (law->kind == GP_LAW_BETWEEN)
        return between_or_beyond(law, blocks);
    return law->base + law->factor * variable(law->kind, blocks);
}

double gp_law_error(const struct gp_law *law, double blocks)
{
    if (law->kind == GP_LAW_NONE)
        return NAN;
    const double error = doubt_of(law);
    const double last = last_grid(law, blocks), times = fmax(last / blocks, blocks / last);
    const double strange = STRANGE * (1 - 1 / times);
    if (law->kind != GP_LAW_BETWEEN)
        return error * times + strange;
    const double value = gp_law_value(law, blocks);
    const double change = fabs(value - inside(law->points, law->grids, last));
    return error + strange + (change > 0 ? change / fabs(value) : 0);
}
