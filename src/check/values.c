#include "check/values.h"

#include <math.h>
#include <stdlib.h>

void gp_values_halve(struct gp_values *v)
{
    for (size_t i = 0; 2 * i < v->kept_count; i++)
        v->kept[i] = v->kept[2 * i];
    v->kept_count = (v->kept_count + 1) / 2;
}

static void grow(struct gp_values *v)
{
    size_t more = v->capacity ? v->capacity * 2 : 4;
    if (more > v->most)
        more = v->most;
    double *kept = realloc(v->kept, more * sizeof(*kept));
    if (kept) {
        v->kept = kept;
        v->capacity = more;
    } else {
        v->most = v->capacity;
    }
}

static void keep(struct gp_values *v, double value)
{
    if (v->stride == 0)
        v->stride = 1;
    if (v->count % v->stride != 0)
        return;
    if (v->kept_count == v->capacity && v->capacity < v->most)
        grow(v);
    if (v->kept_count == v->capacity && v->capacity > 1) {
        gp_values_halve(v);
        v->stride *= 2;
        if (v->count % v->stride != 0)
            return;
    }
    if (v->kept_count < v->capacity)
        v->kept[v->kept_count++] = value;
}

void gp_values_add(struct gp_values *v, double value)
{
    keep(v, value);
    if (v->count == 0 || value < v->min)
        v->min = value;
    if (v->count == 0 || value > v->max)
        v->max = value;
    if (v->count == 0)
        v->first = value;
    v->squares += (value - v->first) * (value - v->first);
    v->sum += value;
    v->count++;
}

void gp_values_free(struct gp_values *v)
{
    free(v->kept);
    *v = (struct gp_values){.most = v->most};
}

static int compare(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

void gp_sort_numbers(double *numbers, size_t count)
{
    if (count > 1)
        qsort(numbers, count, sizeof(*numbers), compare);
}

void gp_values_sort(struct gp_values *v)
{
    gp_sort_numbers(v->kept, v->kept_count);
}

double gp_values_quantile(const struct gp_values *v, double q)
{
    if (v->kept_count == 0)
        return 0;
    double rank = ceil(q * (double)v->kept_count - 1e-9);
    size_t at = rank < 1 ? 0 : (size_t)rank - 1;
    return v->kept[at < v->kept_count ? at : v->kept_count - 1];
}

double gp_values_deviation(const struct gp_values *v)
{
    if (v->count < 2)
        return 0;
    double count = (double)v->count, off = v->sum - count * v->first;
    return sqrt(fmax(0, (v->squares - off * off / count) / (count - 1)));
}

double gp_median(const double *sorted, size_t count)
{
    if (count == 0)
        return 0;
    size_t half = count / 2;
    return count % 2 ? sorted[half] : sorted[half - 1] / 2 + sorted[half] / 2;
}
