#include "report/tunings.h"

#include "report/layout.h"
#include "report/origin.h"
#include "report/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NAMED 8 /* configurations with a word each */

/* Amounts that a launch would have in any configuration. Those that were not counted are NAN. */
static const char *const work_metrics[] = {"flop_count_sp",   "flop_count_dp",
                                           "half_operations", "flop_count_tensor",
                                           "requested_bytes", "async_copy_bytes"};
#define WORK_METRICS (sizeof(work_metrics) / sizeof(work_metrics[0]))

struct worked {
    struct gp_tried tried;
    size_t index; /* of the group in the rows */
    double work[WORK_METRICS];
    bool taken;
};

static bool is_same_amount(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    return fabs(a - b) <= GP_SAME_WORK * fmax(fabs(a), fabs(b));
}

static bool is_same_kernel(const struct worked *a, const struct worked *b)
{
    const struct gp_record *x = a->tried.row->launch, *y = b->tried.row->launch;
    return x->device == y->device && strcmp(x->kernel, y->kernel) == 0;
}

static bool is_same_work(const struct worked *a, const struct worked *b)
{
    for (size_t i = 0; i < WORK_METRICS; i++)
        if (!is_same_amount(a->work[i], b->work[i]))
            return false;
    return true;
}

/* False where no work is known: two launches without any would be alike. */
static bool measure_work(const struct gp_rows *rows, struct worked *w)
{
    struct gp_row one = gp_rows_of_group(rows, w->tried.row, w->tried.group);
    double work = 0;
    for (size_t i = 0; i < WORK_METRICS; i++) {
        if (!gp_rows_mean(rows, &one, work_metrics[i], &w->work[i]))
            w->work[i] = (double)NAN;
        else
            work += w->work[i];
    }
    return work > 0 && gp_rows_mean(rows, &one, "duration", &w->tried.seconds) &&
           w->tried.seconds > 0;
}

static int by_kernel(const void *x, const void *y)
{
    const struct worked *a = x, *b = y;
    int order = strcmp(a->tried.row->launch->kernel, b->tried.row->launch->kernel);
    if (order == 0)
        order = a->tried.row->launch->device - b->tried.row->launch->device;
    if (order == 0)
        order = (a->index > b->index) - (a->index < b->index);
    return order;
}

static int by_time(const void *x, const void *y)
{
    const struct gp_tried *a = x, *b = y;
    return (a->seconds > b->seconds) - (a->seconds < b->seconds);
}

static int by_all_time(const void *x, const void *y)
{
    const struct gp_tuning *a = x, *b = y;
    return (a->seconds < b->seconds) - (a->seconds > b->seconds);
}

/* Configurations that take as long need no choice. */
static bool is_worth_a_choice(const struct gp_tuning *tuning)
{
    return tuning->tried[tuning->count - 1].seconds >= GP_SLOWER * tuning->tried[0].seconds;
}

/* Makes a tuning of the groups that do the work of `first`, which is the first of its kernel that
 * is in none yet. There is room for one more. */
static bool add_tuning(struct gp_tunings *s, const struct gp_rows *rows, struct worked *first,
                       const struct worked *end)
{
    struct gp_tuning tuning = {0};
    for (struct worked *w = first; w < end && is_same_kernel(w, first); w++)
        tuning.count += !w->taken && is_same_work(w, first);
    if (tuning.count < 2)
        return true;
    tuning.tried = calloc(tuning.count, sizeof(*tuning.tried));
    if (!tuning.tried)
        return false;
    tuning.count = 0;
    for (struct worked *w = first; w < end && is_same_kernel(w, first); w++) {
        if (w->taken || !is_same_work(w, first))
            continue;
        w->taken = true;
        tuning.tried[tuning.count++] = w->tried;
        tuning.launches += rows->groups[w->index]->launches;
        tuning.seconds += gp_rows_of_group(rows, w->tried.row, w->tried.group).seconds;
    }
    qsort(tuning.tried, tuning.count, sizeof(*tuning.tried), by_time);
    if (is_worth_a_choice(&tuning))
        s->list[s->count++] = tuning;
    else
        free(tuning.tried);
    return true;
}

static void note_groups(struct gp_tunings *s)
{
    for (size_t i = 0; i < s->count; i++)
        for (size_t k = 0; k < s->list[i].count; k++) {
            const struct gp_tried *t = &s->list[i].tried[k];
            s->of_group[t->row->first_group + t->group] = &s->list[i];
        }
}

/* The grid of a framework's or a library's kernel is that of some tensor's shape, which is given.
 * XLA tries configurations of its own for one shape. */
static bool may_be_tuned(const struct gp_row *row)
{
    const enum gp_origin origin = gp_origin_of(row->launch->kernel, row->full_name, NULL);
    return origin == GP_OF_XLA || !gp_origin_is_ready_made(origin);
}

bool gp_tunings_find(struct gp_tunings *s, const struct gp_rows *rows)
{
    size_t groups = gp_summary_group_count(rows->summary), count = 0;
    struct worked *all = calloc(groups + 1, sizeof(*all));
    *s = (struct gp_tunings){.list = calloc(groups + 1, sizeof(*s->list)),
                             .of_group = calloc(groups + 1, sizeof(*s->of_group))};
    bool answer = all && s->list && s->of_group;
    for (size_t i = 0; i < rows->count && answer; i++) {
        for (size_t g = 0; may_be_tuned(&rows->rows[i]) && g < rows->rows[i].grids; g++) {
            all[count] = (struct worked){.tried = {.row = &rows->rows[i], .group = g},
                                         .index = rows->rows[i].first_group + g};
            count += measure_work(rows, &all[count]);
        }
    }
    if (answer)
        qsort(all, count, sizeof(*all), by_kernel);
    for (size_t i = 0; i < count && answer; i++)
        answer = all[i].taken || add_tuning(s, rows, &all[i], all + count);
    free(all);
    if (!answer)
        return false;
    qsort(s->list, s->count, sizeof(*s->list), by_all_time);
    note_groups(s);
    return true;
}

void gp_tunings_free(struct gp_tunings *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->list[i].tried);
    free(s->list);
    free(s->of_group);
    *s = (struct gp_tunings){0};
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Whether some configurations of the tuning have the same block. */
static bool needs_grid(const struct gp_tuning *tuning)
{
    for (size_t i = 0; i < tuning->count; i++)
        for (size_t k = 0; k < i; k++)
            if (memcmp(tuning->tried[i].row->launch->block, tuning->tried[k].row->launch->block,
                       sizeof(tuning->tried[i].row->launch->block)) == 0)
                return true;
    return false;
}

static void add_configuration(const struct gp_rows *rows, const struct gp_tried *t, bool with_grid,
                              struct gp_text *out)
{
    const struct gp_record *l = &rows->groups[t->row->first_group + t->group]->launch;
    char block[48], grid[48];
    gp_extent(l->block, block, sizeof(block));
    gp_extent(l->grid, grid, sizeof(grid));
    gp_text_addf(out, "[%s]", block);
    if (with_grid)
        gp_text_addf(out, " grid %s", grid);
    if (with_grid && l->shared_dynamic > 0)
        gp_text_addf(out, " and %u B shared", l->shared_dynamic);
}

void gp_tuning_text(const struct gp_rows *rows, const struct gp_tuning *tuning, const char *name,
                    struct gp_text *out)
{
    bool with_grid = needs_grid(tuning);
    const struct gp_tried *fastest = &tuning->tried[0];
    char seconds[32];
    gp_unit_format(fastest->seconds, "s", seconds, sizeof(seconds));
    gp_text_addf(out, "%s: %zu configurations do the same work. ", name, tuning->count);
    add_configuration(rows, fastest, with_grid, out);
    gp_text_addf(out, " is the fastest with %s; ", seconds);
    size_t first = 1; /* the slowest is none of these that are as good */
    while (tuning->tried[first].seconds < GP_SLOWER * fastest->seconds)
        first++;
    if (first > 1)
        gp_text_addf(out, "%zu take%s less than %.0f %% longer; ", first - 1, first == 2 ? "s" : "",
                     100 * (GP_SLOWER - 1));
    const size_t most = first + MOST_NAMED - 1;
    const size_t named = tuning->count <= most ? tuning->count : most - 1;
    for (size_t i = first; i < named; i++) {
        gp_text_add(out, i > first ? ", " : "");
        add_configuration(rows, &tuning->tried[i], with_grid, out);
        gp_text_addf(out, " takes %.3g times", tuning->tried[i].seconds / fastest->seconds);
    }
    if (named < tuning->count)
        gp_text_addf(out, ", the other %zu take up to %.3g times", tuning->count - named,
                     tuning->tried[tuning->count - 1].seconds / fastest->seconds);
    gp_text_add(out, " as long");
}
