#include "counters/counter_list.h"

#include "counters/inside.h"
#include "counters/range_config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Counters of the hardware that count the same as instrumented code: a launch whose instrumented
 * counters are those of another has to agree with it here. The first three are enough where its
 * instructions have been counted one by one. All take one pass, with the counters of the shipped
 * metrics, on chips of compute capability 8.0, 8.9, 9.0 and 10.0. Sectors are those of all accesses
 * there are: to count those of global loads and of global stores apart was seen to make a start of
 * the session 15 ms longer. Wavefronts are not among them: those that the hardware counts were seen
 * to differ by percents between two runs. */
static const char *const check_names[] = {
    "smsp__inst_executed.sum", "smsp__thread_inst_executed.sum",
    "smsp__thread_inst_executed_pred_on.sum", "l1tex__t_sectors.sum"};
_Static_assert(sizeof(check_names) / sizeof(check_names[0]) == GP_ALL_CHECKS, "all of them");

static bool wants_instrumented(const struct gp_counter_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->is_instrumented[i] && !list->unavailable[i].cause)
            return true;
    return false;
}

/* How many passes the first `count` names take, 0 where they cannot be counted. */
static unsigned passes_of(const struct gp_counter_list *list, const char *chip, size_t count)
{
    struct gp_reason why;
    struct gp_range_config config;
    bool made = gp_range_config_make(&config, chip, list->names, count, count, &why);
    unsigned passes = made ? config.hardware_passes : 0;
    gp_range_config_free(&config);
    return passes;
}

static bool is_listed(const struct gp_counter_list *list, const char *name)
{
    for (size_t i = 0; i < list->used; i++)
        if (strcmp(list->names[i], name) == 0)
            return true;
    return false;
}

static void add(struct gp_counter_list *list, const char *name, size_t column)
{
    list->names[list->used] = name;
    list->columns[list->used++] = column;
}

static void list_checks(struct gp_counter_list *list, size_t count)
{
    for (size_t w = 0; w < count; w++)
        if (!is_listed(list, check_names[w]))
            add(list, check_names[w], list->count + w);
}

/* Has the first `count` check counters counted as well, where that takes no further pass. */
static bool add_checks(struct gp_counter_list *list, const char *chip, size_t count)
{
    size_t before = list->used;
    list_checks(list, count);
    if (list->used == before || passes_of(list, chip, list->used) == passes_of(list, chip, before))
        return true;
    list->used = before;
    return false;
}

static void find_checks(struct gp_counter_list *list)
{
    for (size_t w = 0; w < GP_ALL_CHECKS; w++)
        for (size_t i = 0; i < list->hardware_used; i++)
            if (strcmp(list->names[i], check_names[w]) == 0 && list->check_count == w)
                list->checks[list->check_count++] = list->columns[i];
}

bool gp_counters_try(const char *chip, const char *const *names, size_t count,
                     struct gp_reason *unavailable, struct gp_reason *why)
{
    const char **tried = calloc(count + 1, sizeof(*tried));
    struct gp_reason *answers = calloc(count + 1, sizeof(*answers));
    size_t tried_count = 0;
    *why = GP_REASON(NO_MEMORY);
    bool ok = tried && answers;
    for (size_t i = 0; ok && i < count; i++)
        if (own_find(names[i]) == GP_OWN_COUNT)
            tried[tried_count++] = names[i];
    ok = ok && range_config_try(chip, tried, tried_count, answers, why);
    for (size_t i = 0, at = 0; ok && i < count; i++)
        unavailable[i] = own_find(names[i]) == GP_OWN_COUNT ? answers[at++] : GP_NO_REASON;
    free(tried);
    free(answers);
    return ok;
}

static bool allocate(struct gp_counter_list *list)
{
    list->unavailable = calloc(list->count + 1, sizeof(*list->unavailable));
    list->is_instrumented = calloc(list->count + 1, sizeof(*list->is_instrumented));
    list->names = calloc(list->width, sizeof(*list->names));
    list->columns = calloc(list->width, sizeof(*list->columns));
    return list->unavailable && list->is_instrumented && list->names && list->columns;
}

static void add_own(struct gp_counter_list *list, const char *const *names)
{
    for (size_t i = 0; i < list->count; i++) {
        const enum gp_own_counter own = own_find(names[i]);
        if (own == GP_OWN_COUNT || list->own_count == GP_OWN_COUNT)
            continue;
        list->own[list->own_count] = own;
        list->own_columns[list->own_count++] = i;
    }
}

static void add_asked_for(struct gp_counter_list *list, const char *const *names, bool instrumented)
{
    for (size_t i = 0; i < list->count; i++)
        if (!list->unavailable[i].cause && list->is_instrumented[i] == instrumented &&
            own_find(names[i]) == GP_OWN_COUNT)
            add(list, names[i], i);
}

bool gp_counter_list_make(struct gp_counter_list *list, const char *chip, const char *const *names,
                          size_t count, struct gp_reason *why)
{
    *list = (struct gp_counter_list){.count = count, .width = count + GP_ALL_CHECKS + 1};
    *why = GP_REASON(NO_MEMORY);
    if (!allocate(list) || !gp_counters_try(chip, names, count, list->unavailable, why))
        return false;
    for (size_t i = 0; i < count; i++)
        list->is_instrumented[i] = counter_is_instrumented(names[i]);
    add_asked_for(list, names, false);
    add_own(list, names);
    /* Our own are counted where launches are compared, and that takes check counters. */
    if (list->own_count && !list->used)
        list_checks(list, GP_ALL_CHECKS);
    if (list->used && wants_instrumented(list) && !add_checks(list, chip, GP_ALL_CHECKS) &&
        !add_checks(list, chip, GP_LEAST_CHECKS) && list->own_count)
        list_checks(list, GP_LEAST_CHECKS); /* without them there are none of our own */
    list->hardware_used = list->used;
    add_asked_for(list, names, true);
    if (list->own_count && list->used == list->hardware_used)
        add(list, "smsp__sass_inst_executed.sum", count + GP_ALL_CHECKS);
    list->instrumented = list->used - list->hardware_used;
    find_checks(list);
    return true;
}

void gp_counter_list_free(struct gp_counter_list *list)
{
    free(list->unavailable);
    free(list->is_instrumented);
    free(list->names);
    free(list->columns);
}

/* Equal launches of most of cuBLAS's and cuDNN's kernels differed by 0.4 % at most; small ones,
 * that mostly wait, by 3.5 %, which is half as much as they may by their questions (GH100). */
#define MOST_BY_CHANCE 0.01
/* They ask memory, too: sectors of equal launches of a GEMM that adds up parts differed by 0.03 %.
 */
#define MOST_SECTORS_BY_CHANCE 0.001
/* Where other instructions ran as often as time had it, too: by 0.07 % in such GEMMs. */
#define MOST_BY_WORK 0.002
/* Instructions that belong to a branch of a question (code/retries.c). */
#define MOST_OF_QUESTION 8

/* The first check counters are numbers of instructions: by warps, then by threads. The last one is
 * of sectors. */
double check_tolerance(const struct gp_member *m, size_t check, double wanted)
{
    const double asked = MOST_OF_QUESTION * (double)m->questions * (check == 0 ? 1 : 32);
    if (!member_depends_on_time(m))
        return 0;
    if (check >= GP_LEAST_CHECKS)
        return MOST_SECTORS_BY_CHANCE * wanted;
    return member_is_by_work(m) ? MOST_BY_WORK * wanted : fmax(MOST_BY_CHANCE * wanted, asked);
}
