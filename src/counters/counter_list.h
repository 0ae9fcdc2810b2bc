/* Which counters are counted on a chip, and in which order: those that were asked for and exist,
 * the hardware's before those of instrumented code, and among the hardware's some that bear check
 * counter that launches are alike. Owns the lists. Calls CUPTI's host library, by
 * counters/range_config.h.
 */
#ifndef GPUPROF_COUNTERS_COUNTER_LIST_H
#define GPUPROF_COUNTERS_COUNTER_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* How many check counters there are at the most, and how many are enough where the instructions of
 * a launch were counted one by one. */
#define GP_ALL_CHECKS 4
#define GP_LEAST_CHECKS 3

enum gp_own_counter {
    GP_OWN_FP16,
    GP_OWN_BF16,
    GP_OWN_TF32,
    GP_OWN_FP64,
    GP_OWN_FP8,
    GP_OWN_FP4,
    GP_OWN_INTEGERS,
    GP_OWN_LOADED,
    GP_OWN_STORED,
    GP_OWN_COUNT
};

struct gp_counter_list {
    size_t count;                  /* that were asked for */
    struct gp_reason *unavailable; /* by counter: why this chip cannot count it; none: it can */
    bool *is_instrumented;         /* by counter */

    const char **names; /* those that are counted: `used` of them, the hardware's first */
    /* Where each stands in a row of `width` values: as among those asked for, or behind those where
     * it is a check counter only. */
    size_t *columns;
    size_t used, hardware_used, instrumented, width;

    /* Our own, which CUPTI does not have: made from the counts of fingerprints. */
    enum gp_own_counter own[GP_OWN_COUNT];
    size_t own_columns[GP_OWN_COUNT], own_count;

    size_t checks[GP_ALL_CHECKS]; /* their columns, of the first so many */
    size_t check_count;
};

/* range_config_try for names among which there may be our own, which every chip has. */
bool gp_counters_try(const char *chip, const char *const *names, size_t count,
                     struct gp_reason *unavailable, struct gp_reason *why);

/* For `count` counters by name (strings that outlive the list). False with the reason in *why; the
 * list is to be freed all the same. */
bool gp_counter_list_make(struct gp_counter_list *list, const char *chip, const char *const *names,
                          size_t count, struct gp_reason *why);
void gp_counter_list_free(struct gp_counter_list *list);

#endif
