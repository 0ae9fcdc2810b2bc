/* Many values of one quantity in bounded memory: number, sum, scatter and extremes of all, and an
 * even choice of the values themselves for quantiles. Owns its values. */
#ifndef GPUPROF_CHECK_VALUES_H
#define GPUPROF_CHECK_VALUES_H

#include <stddef.h>
#include <stdint.h>

/* All zero but `most` is no value. As long as there are no more than `most` (2 at least), each is
 * kept; then every second one, then every fourth, and so on. */
struct gp_values {
    uint64_t count;
    double sum, min, max;
    double first, squares; /* the sum of all squared distances from the first value */
    size_t most, kept_count, capacity;
    uint64_t stride; /* one in so many is kept; 0: not yet begun */
    double *kept;
};

/* When out of memory, fewer values are kept. */
void gp_values_add(struct gp_values *v, double value);
void gp_values_free(struct gp_values *v);

/* Forgets every second one of those kept. */
void gp_values_halve(struct gp_values *v);

/* Sorts the values: nothing may be added afterwards. */
void gp_values_sort(struct gp_values *v);

/* The smallest of the values, which are sorted, that at least the share q (0 to 1) of them does not
 * exceed. 0 where there is none. */
double gp_values_quantile(const struct gp_values *v, double q);

/* The standard deviation; 0 of fewer than two. */
double gp_values_deviation(const struct gp_values *v);

/* The median of numbers in ascending order, the mean of the middle two of an even number; 0 of
 * none.
 */
double gp_median(const double *sorted, size_t count);

void gp_sort_numbers(double *numbers, size_t count);

#endif
