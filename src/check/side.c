#include "check/side.h"

#include "check/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool gp_side_set_metrics(struct gp_side *side, const char *const *names, size_t count)
{
    side->metrics = calloc(count + 1, sizeof(*side->metrics));
    if (!side->metrics)
        return false;
    for (; side->metric_count < count; side->metric_count++) {
        side->metrics[side->metric_count] = strdup(names[side->metric_count]);
        if (!side->metrics[side->metric_count])
            return false;
    }
    return true;
}

static bool make_room(struct gp_side *side)
{
    if (side->count < side->capacity)
        return true;
    size_t more = side->capacity ? side->capacity * 2 : 16;
    struct gp_side_kernel *subjects =
        side->count < GP_MOST_SUBJECTS ? realloc(side->subjects, more * sizeof(*subjects)) : NULL;
    if (!subjects)
        return false;
    side->subjects = subjects;
    side->capacity = more;
    return true;
}

struct gp_side_kernel *gp_side_add(struct gp_side *side, const char *name)
{
    if (!make_room(side))
        return NULL;
    struct gp_side_kernel *s = &side->subjects[side->count];
    memset(s, 0, sizeof(*s));
    s->name = strdup(name);
    s->series = calloc(side->metric_count + 1, sizeof(*s->series));
    if (s->name && s->series) {
        side->count++;
        return s;
    }
    free(s->name);
    free(s->series);
    return NULL;
}

bool gp_series_add_run(struct gp_series *s, double median)
{
    /* Room for 1, 2, 4, ... */
    if ((s->runs & (s->runs - 1)) == 0) {
        size_t more = s->runs ? s->runs * 2 : 1;
        double *medians = realloc(s->medians, more * sizeof(*medians));
        if (!medians)
            return false;
        s->medians = medians;
    }
    s->medians[s->runs++] = median;
    return true;
}

int gp_side_metric(const struct gp_side *side, const char *name)
{
    for (size_t i = 0; i < side->metric_count; i++)
        if (strcmp(side->metrics[i], name) == 0)
            return (int)i;
    return -1;
}

int gp_subject_compare(const struct gp_side_kernel *a, const struct gp_side_kernel *b)
{
    int order = strcmp(a->name, b->name);
    return order ? order : gp_configuration_compare(&a->configuration, &b->configuration);
}

static int compare(const void *a, const void *b)
{
    return gp_subject_compare(a, b);
}

void gp_side_sort(struct gp_side *side)
{
    if (side->count > 1)
        qsort(side->subjects, side->count, sizeof(*side->subjects), compare);
}

static bool continue_series(const struct gp_side *side, struct gp_side_kernel *subject,
                            const struct gp_side *later, const struct gp_side_kernel *more)
{
    bool added = true;
    for (size_t i = 0; i < side->metric_count; i++) {
        int metric = gp_side_metric(later, side->metrics[i]);
        const struct gp_series *series = metric >= 0 ? &more->series[metric] : NULL;
        for (size_t k = 0; series && k < series->runs && added; k++)
            added = gp_series_add_run(&subject->series[i], series->medians[k]);
    }
    return added;
}

bool gp_side_continue(struct gp_side *side, const struct gp_side *later)
{
    bool added = true;
    for (size_t i = 0; i < later->count && side->count > 0 && added; i++) {
        const struct gp_side_kernel *more = &later->subjects[i];
        struct gp_side_kernel *subject =
            bsearch(more, side->subjects, side->count, sizeof(*more), compare);
        added = !subject || continue_series(side, subject, later, more);
    }
    return added;
}

void gp_side_free(struct gp_side *side)
{
    for (size_t i = 0; i < side->count; i++) {
        struct gp_side_kernel *s = &side->subjects[i];
        for (size_t k = 0; k < side->metric_count; k++) {
            free(s->series[k].medians);
            free(s->series[k].absent);
        }
        free(s->series);
        free(s->name);
        free(s->former);
        free(s->source);
    }
    for (size_t i = 0; i < side->metric_count; i++)
        free(side->metrics[i]);
    free(side->metrics);
    free(side->subjects);
    memset(side, 0, sizeof(*side));
}

static int add_extent(char *out, size_t size, const char *what, const unsigned e[3])
{
    if (e[2] > 1)
        return snprintf(out, size, "%s%ux%ux%u", what, e[0], e[1], e[2]);
    if (e[1] > 1)
        return snprintf(out, size, "%s%ux%u", what, e[0], e[1]);
    return snprintf(out, size, "%s%u", what, e[0]);
}

void gp_subject_configuration(const struct gp_side_kernel *s, char *out, size_t size)
{
    char grid[64], block[64], cluster[64] = "", shared[48] = "";
    add_extent(grid, sizeof(grid), "grid ", s->grid);
    add_extent(block, sizeof(block), ", block ", s->block);
    if (s->cluster[0] > 0)
        add_extent(cluster, sizeof(cluster), ", cluster ", s->cluster);
    if (s->shared_dynamic > 0)
        snprintf(shared, sizeof(shared), ", shared %u B", s->shared_dynamic);
    snprintf(out, size, "%s%s%s%s", grid, block, cluster, shared);
}

bool gp_series_median(const struct gp_series *s, double *median)
{
    double *sorted = s->runs ? malloc(s->runs * sizeof(*sorted)) : NULL;
    if (!sorted)
        return false;
    memcpy(sorted, s->medians, s->runs * sizeof(*sorted));
    gp_sort_numbers(sorted, s->runs);
    *median = gp_median(sorted, s->runs);
    free(sorted);
    return true;
}
