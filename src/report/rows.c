#include "report/rows.h"

#include "base/demangle.h"
#include "report/apart.h"
#include "report/left_out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_configurations(const struct gp_record *a, const struct gp_record *b)
{
    const struct gp_configuration of_a = gp_configuration_of_row(&a->configuration);
    const struct gp_configuration of_b = gp_configuration_of_row(&b->configuration);
    return gp_configuration_compare(&of_a, &of_b);
}

bool gp_rows_alike(const struct gp_record *a, const struct gp_record *b)
{
    return a->device == b->device && compare_configurations(a, b) == 0 &&
           strcmp(a->kernel, b->kernel) == 0;
}

/* A group, and whether it is kept apart. */
struct sorted {
    const struct gp_group *group;
    bool apart;
};

/* Groups that make one row lie next to each other when sorted so. */
static int compare_groups(const void *x, const void *y)
{
    const struct sorted *of_a = x, *of_b = y;
    const struct gp_record *a = &of_a->group->launch, *b = &of_b->group->launch;
    if (of_a->apart != of_b->apart)
        return of_a->apart ? 1 : -1;
    int order = strcmp(a->kernel, b->kernel);
    if (order == 0)
        order = (a->device > b->device) - (a->device < b->device);
    if (order == 0)
        order = compare_configurations(a, b);
    if (order == 0)
        order = (a->index > b->index) - (a->index < b->index);
    return order;
}

/* The row with the most time first, without times the one with the most launches. */
static int compare_rows(const void *x, const void *y)
{
    const struct gp_row *a = x, *b = y;
    if (a->apart != b->apart)
        return a->apart ? 1 : -1;
    if (a->seconds != b->seconds)
        return a->seconds < b->seconds ? 1 : -1;
    if (a->launches != b->launches)
        return a->launches < b->launches ? 1 : -1;
    return (a->launch->index > b->launch->index) - (a->launch->index < b->launch->index);
}

void gp_stats_add_group(struct gp_stat *stats, size_t count, const struct gp_group *group)
{
    for (size_t i = 0; i < count; i++) {
        const struct gp_stat *from = &group->stats[i];
        double times = from->count > 0 ? (double)group->launches / (double)from->count : 1;
        gp_stat_merge(&stats[i], from, times);
    }
}

static bool metric_index(const struct gp_summary *s, const char *name, size_t *index)
{
    const struct gp_metrics *m = gp_summary_metrics(s);
    for (size_t i = 0; i < gp_metrics_selected_count(m); i++) {
        if (strcmp(gp_metrics_selected(m, i)->name, name) == 0) {
            *index = i;
            return true;
        }
    }
    return false;
}

/* The launches of a group that has a time. */
static uint64_t timed_of(const struct gp_group *group, const struct gp_summary *s)
{
    size_t i;
    return metric_index(s, "duration", &i) && group->stats[i].count > 0 ? group->launches : 0;
}

/* By their blocks; of as many the one that is longer in x comes later. */
static int compare_grids(const uint32_t *a, const uint32_t *b)
{
    if (gp_blocks_of(a) != gp_blocks_of(b))
        return gp_blocks_of(a) < gp_blocks_of(b) ? -1 : 1;
    for (int d = 0; d < 3; d++)
        if (a[d] != b[d])
            return a[d] < b[d] ? -1 : 1;
    return 0;
}

static void merge_group(struct gp_row *row, const struct gp_group *group,
                        const struct gp_summary *s, uint64_t *most_launches)
{
    const struct gp_record *l = &group->launch;
    if (row->grids == 0 || compare_grids(l->grid, row->smallest_grid) < 0)
        memcpy(row->smallest_grid, l->grid, sizeof(l->grid));
    if (row->grids == 0 || compare_grids(l->grid, row->largest_grid) > 0)
        memcpy(row->largest_grid, l->grid, sizeof(l->grid));
    /* Launches that were only counted have no known registers and no known shared memory. */
    bool more_known = group->recorded > 0 && row->recorded == 0;
    bool less_known = group->recorded == 0 && row->recorded > 0;
    if (row->grids == 0 || more_known || (!less_known && group->launches > *most_launches)) {
        row->launch = l;
        *most_launches = group->launches;
    }
    row->grids++;
    row->launches += group->launches;
    row->recorded += group->recorded;
    row->measured += group->measured;
    row->measured_grids += group->measured > 0;
    row->hardware += group->hardware;
    row->instrumented += group->instrumented;
    row->recalled += group->recalled;
    row->recalled_all += group->recalled_all;
    row->of_graphs += group->of_graphs;
    row->timed += timed_of(group, s);
    gp_stats_add_group(row->stats, gp_metrics_selected_count(gp_summary_metrics(s)), group);
}

/* The time of each group, and of the row. Where no launch of a group was timed, as it was left out
 * by choice, or only one whose time is in doubt, its time follows from the groups' blocks; of
 * others it is that of as many launches of the row. False when out of memory. */
static bool find_seconds(struct gp_rows *r, struct gp_row *row)
{
    double *seconds = r->group_seconds + row->first_group;
    const struct gp_group *const *groups = r->groups + row->first_group;
    double sum = 0, known = 0;
    size_t d;
    if (!metric_index(r->summary, "duration", &d))
        return true;
    if (!gp_left_out_times(seconds, groups, row->grids, d))
        return false;
    for (size_t i = 0; i < row->grids; i++) {
        const struct gp_stat *own = &groups[i]->stats[d];
        const double launches = (double)groups[i]->launches;
        seconds[i] = isfinite(seconds[i])
                         ? own->sum + fmax(0, launches - (double)own->count) * seconds[i]
                         : gp_left_out_total(groups[i], d);
        if (isfinite(seconds[i])) {
            sum += seconds[i];
            known += launches;
        }
    }
    const double mean = known > 0 ? sum / known : 0;
    row->seconds = mean * (double)row->launches;
    for (size_t i = 0; i < row->grids; i++)
        if (!isfinite(seconds[i]))
            seconds[i] = mean * (double)groups[i]->launches;
    return true;
}

/* Names, occupancy and time, once all groups of the row are in. */
static bool finish_row(struct gp_rows *r, struct gp_row *row)
{
    row->full_name = gp_demangle(row->launch->kernel, GP_NAME_FULL);
    row->brief_name = gp_demangle(row->launch->kernel, GP_NAME_BRIEF);
    const struct gp_device *device = gp_summary_get_device(r->summary, row->launch->device);
    if (device)
        row->occupancy_known = gp_occupancy_of(device, row->launch, &row->occupancy,
                                               row->occupancy_why, sizeof(row->occupancy_why));
    else
        strcpy(row->occupancy_why, "the facts of the device are not known");
    /* A profile may hold times that are none. */
    const bool found = find_seconds(r, row);
    if (isfinite(row->seconds) && row->seconds > 0) {
        *(row->apart ? &r->apart.seconds : &r->seconds) += row->seconds;
        r->timed = r->timed || !row->apart;
    } else {
        row->seconds = 0;
    }
    return found && row->full_name && row->brief_name;
}

static void keep_apart(struct gp_rows *r)
{
    for (; r->count > 0 && r->rows[r->count - 1].apart; r->count--) {
        const struct gp_row *row = &r->rows[r->count - 1];
        r->apart.rows++;
        r->apart.kernels += row->grids;
        r->apart.launches += row->launches;
        r->apart.of_xla = r->apart.of_xla || gp_is_of_xla_tuner(row->launch->kernel);
    }
}

static bool make_rows(struct gp_rows *r, const struct sorted *groups, size_t count)
{
    size_t metrics = gp_metrics_selected_count(gp_summary_metrics(r->summary));
    uint64_t most_launches = 0;
    for (size_t i = 0; i < count; i++) {
        struct gp_row *row = r->count > 0 ? &r->rows[r->count - 1] : NULL;
        const struct gp_group *group = groups[i].group;
        r->groups[i] = group;
        if (!row || row->apart != groups[i].apart || !gp_rows_alike(row->launch, &group->launch)) {
            row = &r->rows[r->count++];
            row->first_group = i;
            row->apart = groups[i].apart;
            row->stats = calloc(metrics + 1, sizeof(*row->stats));
            if (!row->stats)
                return false;
        }
        merge_group(row, group, r->summary, &most_launches);
    }
    for (size_t i = 0; i < r->count; i++) {
        struct gp_row *row = &r->rows[i];
        if (!gp_left_out_add(row->stats, metrics, r->groups + row->first_group, row->grids) ||
            !finish_row(r, row))
            return false;
    }
    return true;
}

/* The groups in the order of rows; those that are kept apart come last. */
static bool sort_groups(struct gp_rows *r, struct sorted *sorted, size_t count)
{
    bool *apart = calloc(count + 1, sizeof(*apart));
    for (size_t i = 0; i < count; i++)
        r->groups[i] = gp_summary_group(r->summary, i);
    const bool found = apart && gp_apart_find(r->summary, r->groups, count, apart);
    for (size_t i = 0; found && i < count; i++)
        sorted[i] = (struct sorted){r->groups[i], apart[i]};
    free(apart);
    if (found)
        qsort(sorted, count, sizeof(*sorted), compare_groups);
    return found;
}

bool gp_rows_make(struct gp_rows *r, const struct gp_summary *s)
{
    memset(r, 0, sizeof(*r));
    r->summary = s;
    size_t count = gp_summary_group_count(s);
    struct sorted *sorted = calloc(count + 1, sizeof(*sorted));
    r->groups = calloc(count + 1, sizeof(*r->groups));
    r->group_seconds = calloc(count + 1, sizeof(*r->group_seconds));
    r->rows = calloc(count + 1, sizeof(*r->rows));
    bool answer = sorted && r->groups && r->group_seconds && r->rows &&
                  sort_groups(r, sorted, count) && make_rows(r, sorted, count);
    free(sorted);
    if (answer) {
        qsort(r->rows, r->count, sizeof(*r->rows), compare_rows);
        uint64_t seen = 0;
        for (size_t i = 0; i < r->count; i++) {
            int device = r->rows[i].launch->device;
            if (device >= 0 && device < GP_MAX_DEVICES)
                seen |= (uint64_t)1 << device;
        }
        r->devices = __builtin_popcountll(seen);
        keep_apart(r);
    }
    return answer;
}

void gp_rows_free(struct gp_rows *r)
{
    for (size_t i = 0; r->rows && i < gp_rows_all(r); i++) {
        free(r->rows[i].full_name);
        free(r->rows[i].brief_name);
        free(r->rows[i].stats);
    }
    free(r->rows);
    free(r->groups);
    free(r->group_seconds);
    memset(r, 0, sizeof(*r));
}

struct gp_row gp_rows_of_group(const struct gp_rows *r, const struct gp_row *row, size_t group)
{
    const struct gp_group *g = r->groups[row->first_group + group];
    struct gp_row one = *row;
    one.launch = &g->launch;
    one.grids = 1;
    one.first_group = row->first_group + group;
    one.launches = g->launches;
    one.recorded = g->recorded;
    one.measured = g->measured;
    one.measured_grids = g->measured > 0;
    one.hardware = g->hardware;
    one.instrumented = g->instrumented;
    one.recalled = g->recalled;
    one.recalled_all = g->recalled_all;
    one.of_graphs = g->of_graphs;
    one.stats = g->stats;
    one.timed = timed_of(g, r->summary);
    one.seconds = r->group_seconds[one.first_group];
    memcpy(one.smallest_grid, g->launch.grid, sizeof(one.smallest_grid));
    memcpy(one.largest_grid, g->launch.grid, sizeof(one.largest_grid));
    return one;
}

bool gp_rows_average_time(const struct gp_row *row, double *seconds)
{
    if (!(row->seconds > 0))
        return false;
    *seconds = row->seconds / (double)row->launches;
    return true;
}

const struct gp_stat *gp_rows_stat(const struct gp_rows *r, const struct gp_row *row,
                                   const char *metric)
{
    size_t i;
    return metric_index(r->summary, metric, &i) ? &row->stats[i] : NULL;
}

bool gp_rows_mean(const struct gp_rows *r, const struct gp_row *row, const char *metric,
                  double *mean)
{
    const struct gp_stat *stat = gp_rows_stat(r, row, metric);
    return stat && gp_stat_mean(stat, mean);
}
