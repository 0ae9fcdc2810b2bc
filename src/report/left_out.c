#include "report/left_out.h"

#include <math.h>
#include <stdlib.h>

/* A grid has fewer times more blocks than one that stands for it, or fewer blocks. */
#define FAR 2.0

static double mean_of(const struct gp_stat *stat)
{
    double mean = NAN;
    (void)gp_stat_mean(stat, &mean);
    return mean;
}

/* The two amounts of which a metric is the ratio, for a launch: the weight is the lower one, 1 for
 * an amount. */
static double weight_of(const struct gp_stat *stat)
{
    return stat->weight / (double)stat->count;
}

static double weighted_of(const struct gp_stat *stat)
{
    return stat->weighted / (double)stat->count;
}

static struct gp_law find(const struct gp_group *const *groups, size_t count, size_t metric,
                          double (*value)(const struct gp_stat *stat), struct gp_law_point *points)
{
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        const struct gp_stat *stat = &groups[i]->stats[metric];
        if (stat->count > 0 && isfinite(value(stat)))
            points[known++] =
                (struct gp_law_point){gp_blocks_of(groups[i]->launch.grid), value(stat)};
    }
    return gp_law_find(points, known);
}

size_t gp_left_out_stands_for(const struct gp_group *const *groups, size_t count, size_t group)
{
    const struct gp_group *g = groups[group];
    double nearest = FAR;
    size_t found = group;
    if (g->hardware > 0 || g->passed_over > 0)
        return group;
    const double blocks = gp_blocks_of(g->launch.grid);
    for (size_t i = 0; i < count; i++) {
        const double other = gp_blocks_of(groups[i]->launch.grid);
        const double times = fmax(other / blocks, blocks / other);
        if (groups[i]->hardware > 0 && times < nearest) {
            nearest = times;
            found = i;
        }
    }
    return found;
}

struct gp_law gp_law_of(const struct gp_group *const *groups, size_t count, size_t metric,
                        struct gp_law_point *points)
{
    return find(groups, count, metric, mean_of, points);
}

/* Launches that were only counted have no record, and so no reason. */
bool gp_left_out_is(const struct gp_group *g, size_t metric)
{
    const struct gp_stat *stat = &g->stats[metric];
    const bool for_no_reason = !stat->absent.cause && g->passed_over < g->launches;
    return stat->count == 0 && (for_no_reason || stat->absent.cause == GP_CAUSE_ADDED_LIMIT);
}

struct laws {
    struct gp_law value, weight, weighted;
};

/* The value by its own law, or by those of the two amounts, whichever is surer. Far outside of the
 * grids that made it a law may give a value below 0, where none was: then nothing is known. */
static void add_group(struct gp_stat *stat, const struct gp_group *g, const struct laws *laws)
{
    const double blocks = gp_blocks_of(g->launch.grid),
                 weight = gp_law_value(&laws->weight, blocks);
    double value = gp_law_value(&laws->value, blocks);
    double error = gp_law_error(&laws->value, blocks);
    const double error_of_ratio =
        hypot(gp_law_error(&laws->weight, blocks), gp_law_error(&laws->weighted, blocks));
    if (error_of_ratio < error) {
        value = gp_law_value(&laws->weighted, blocks) / weight;
        error = error_of_ratio;
    }
    if (!(weight > 0 && value >= fmin(0, stat->min))) {
        stat->doubt = NAN;
        return;
    }
    stat->weighted += (double)g->launches * weight * value;
    stat->weight += (double)g->launches * weight;
    stat->doubt += (double)g->launches * weight * fabs(value) * error;
}

static void add_metric(struct gp_stat *stat, size_t metric, const struct gp_group *const *groups,
                       size_t count, struct gp_law_point *points)
{
    struct laws laws;
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        if (!gp_left_out_is(groups[i], metric))
            continue;
        if (!found)
            laws = (struct laws){.value = find(groups, count, metric, mean_of, points),
                                 .weight = find(groups, count, metric, weight_of, points + count),
                                 .weighted =
                                     find(groups, count, metric, weighted_of, points + 2 * count)};
        found = true;
        add_group(stat, groups[i], &laws);
    }
}

/* Other launches do not wait for the host's work of a first one. */
double gp_left_out_seconds(const struct gp_group *g, size_t duration)
{
    const struct gp_stat *stat = &g->stats[duration];
    if (g->only_doubtful && stat->count > 0)
        return g->doubtless / (double)stat->count;
    if (g->firsts.in_sums || stat->count <= g->firsts.count)
        return mean_of(stat);
    return (stat->sum - g->firsts.sum) / (double)(stat->count - g->firsts.count);
}

double gp_left_out_total(const struct gp_group *g, size_t duration)
{
    const struct gp_stat *stat = &g->stats[duration];
    const double rest = fmax(0, (double)g->launches - (double)stat->count);
    return stat->sum + (rest > 0 ? rest * gp_left_out_seconds(g, duration) : 0);
}

/* A time in doubt stands for other launches only where there is no other. */
static bool is_sure(const struct gp_group *g, size_t duration)
{
    return g->stats[duration].count > 0 && !g->only_doubtful;
}

static bool any_sure(const struct gp_group *const *groups, size_t count, size_t duration)
{
    bool any = false;
    for (size_t i = 0; i < count && !any; i++)
        any = is_sure(groups[i], duration);
    return any;
}

/* Far outside of the grids a law may end below 0. A time in doubt may be too long, and is not too
 * short. */
static double mean_by_law(const struct gp_law *law, const struct gp_group *g, size_t duration)
{
    const double value = gp_law_value(law, gp_blocks_of(g->launch.grid));
    if (!(value >= 0))
        return NAN;
    return g->stats[duration].count > 0 ? fmin(value, mean_of(&g->stats[duration])) : value;
}

bool gp_left_out_times(double *means, const struct gp_group *const *groups, size_t count,
                       size_t duration)
{
    struct gp_law_point *points = calloc(count + 1, sizeof(*points));
    const bool only_sure = any_sure(groups, count, duration);
    size_t known = 0;
    if (!points)
        return false;
    for (size_t i = 0; i < count; i++)
        if (groups[i]->stats[duration].count > 0 && (!only_sure || is_sure(groups[i], duration)))
            points[known++] = (struct gp_law_point){gp_blocks_of(groups[i]->launch.grid),
                                                    gp_left_out_seconds(groups[i], duration)};
    const struct gp_law law = gp_law_find(points, known);
    for (size_t i = 0; i < count; i++) {
        const bool asks =
            gp_left_out_is(groups[i], duration) || (only_sure && groups[i]->only_doubtful);
        means[i] = asks ? mean_by_law(&law, groups[i], duration) : NAN;
    }
    free(points);
    return true;
}

bool gp_left_out_add(struct gp_stat *stats, size_t metrics, const struct gp_group *const *groups,
                     size_t count)
{
    struct gp_law_point *points = count > 1 ? calloc(3 * count, sizeof(*points)) : NULL;
    for (size_t i = 0; points && i < metrics; i++)
        if (stats[i].count > 0 && !stats[i].combined)
            add_metric(&stats[i], i, groups, count, points);
    free(points);
    return count < 2 || points;
}
