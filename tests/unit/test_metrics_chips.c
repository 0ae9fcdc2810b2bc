/* The definitions in metrics/ against CUPTI's host library, which needs no GPU: on every chip that
 * it knows each counter exists or the metric says why there is none, and a set takes so many
 * passes. Skipped where there is no such library, and in a build with the address sanitizer. CHIPS
 * in the environment names the chips of a quick run, which leaves out the largest set. */
#include "cli/chip.h"
#include "counters/diagnosis_set.h"
#include "metrics/metrics.h"

#include "need_cupti.h"
#include "shipped.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gp_device device_of(const struct gp_chip_name *chip)
{
    return (struct gp_device){.cc_major = chip->cc_major, .cc_minor = chip->cc_minor};
}

/* A toolkit of before or after the chip does not know it. */
static bool knows(const struct gp_chip_name *chip)
{
    const char *const name = "gpu__time_duration.sum", *chips = getenv("CHIPS");
    struct gp_reason unavailable;
    const char *why;
    return (!chips || strstr(chips, chip->name)) &&
           gp_chip_try(chip->name, &name, 1, &unavailable, &why) && !unavailable.cause;
}

/* CUPTI counts these with no others. */
static bool is_link(const char *counter)
{
    return strncmp(counter, "nvl", 3) == 0 || strncmp(counter, "pcie", 4) == 0;
}

/* Two chips without NVLink share their compute capability with others that have it; where a program
 * runs on one the collector says so. */
static bool may_be_missing(const char *chip, const char *counter)
{
    return strncmp(counter, "nvl", 3) == 0 &&
           (strcmp(chip, "TU116") == 0 || strcmp(chip, "TU117") == 0);
}

static void who_wants(const struct gp_metrics *m, const struct gp_device *device,
                      const char *counter)
{
    for (size_t i = 0; i < gp_metrics_count(m); i++) {
        const char **names;
        size_t count;
        assert_true(gp_metric_counters(m, gp_metrics_at(m, i), device, &names, &count));
        for (size_t k = 0; k < count; k++)
            if (names[k] == counter)
                print_message("    %s\n", gp_metrics_at(m, i)->name);
        free(names);
    }
}

static int missing_among(const struct gp_metrics *m, const struct gp_chip_name *chip,
                         const char *const *names, size_t count)
{
    const struct gp_device device = device_of(chip);
    struct gp_reason *unavailable = calloc(count + 1, sizeof(*unavailable));
    const char *why;
    int missing = 0;
    assert_non_null(unavailable);
    assert_true(gp_chip_try(chip->name, names, count, unavailable, &why));
    for (size_t i = 0; i < count; i++) {
        if (!unavailable[i].cause || may_be_missing(chip->name, names[i]))
            continue;
        print_message("%s: %s: %s\n", chip->name, names[i], unavailable[i].text);
        who_wants(m, &device, names[i]);
        missing++;
    }
    free(unavailable);
    return missing;
}

static int missing_on(const struct gp_metrics *m, const struct gp_chip_name *chip)
{
    const struct gp_device device = device_of(chip);
    const char **names;
    size_t count, links = 0;
    assert_true(gp_metrics_counters(m, &device, &names, &count));
    for (size_t i = 0; i < count; i++) {
        if (!is_link(names[i]))
            continue;
        const char *link = names[i];
        names[i] = names[links];
        names[links++] = link;
    }
    int missing =
        missing_among(m, chip, names, links) + missing_among(m, chip, names + links, count - links);
    free(names);
    return missing;
}

/* Also events, and metrics without a formula on some chips. */
static void select_everything(struct gp_metrics *m)
{
    struct gp_text list = {0}, problems = {0};
    for (size_t i = 0; i < gp_metrics_count(m); i++)
        if (!gp_metric_absent(gp_metrics_at(m, i)))
            gp_text_addf(&list, "%s,", gp_metrics_at(m, i)->name);
    assert_true(gp_metrics_select(m, gp_text_string(&list), &problems));
    gp_text_free(&list);
}

static void every_chip_has_the_counters(void **state)
{
    (void)state;
    need_cupti();
    struct gp_metrics *m = shipped();
    int missing = 0, known = 0;
    select_everything(m);
    for (size_t i = 0; i < gp_chip_name_count(); i++) {
        if (!knows(gp_chip_name_at(i)))
            continue;
        known++;
        missing += missing_on(m, gp_chip_name_at(i));
    }
    gp_metrics_close(m);
    assert_true(known > 0);
    if (missing)
        fail_msg("%d counters are missing", missing);
}

/* The passes of the hardware that sets take, as they were counted with CUDA 13.0; other versions
 * may need fewer. Instrumented code takes one more. */
static const struct {
    const char *chip;
    unsigned usual, paper, memory, compute, stalls, launch, all;
} most_passes[] = {
    {"TU102", 2, 2, 3, 3, 5, 1, 0}, {"GA100", 1, 1, 3, 3, 5, 1, 0},  {"GA102", 1, 1, 3, 3, 5, 1, 0},
    {"AD102", 1, 1, 3, 3, 5, 1, 0}, {"GH100", 1, 1, 3, 3, 5, 1, 20}, {"GB100", 1, 1, 3, 3, 5, 1, 0},
    {"GB202", 1, 1, 3, 3, 5, 1, 0},
};

static unsigned passes_of(struct gp_metrics *m, const struct gp_chip_name *chip, const char *set)
{
    const struct gp_device device = device_of(chip);
    struct gp_text problems = {0};
    struct gp_chip_passes passes;
    const char **names, *why;
    size_t count;
    assert_true(gp_metrics_select(m, set, &problems));
    assert_true(gp_metrics_counters(m, &device, &names, &count));
    if (!gp_chip_count_passes(chip->name, names, count, &passes, &why))
        fail_msg("%s, %s: %s", chip->name, set, why);
    assert_true(passes.instrumented <= 1);
    free(names);
    return passes.hardware;
}

static void sets_take_few_passes(void **state)
{
    (void)state;
    need_cupti();
    struct gp_metrics *m = shipped();
    bool too_many = false;
    for (size_t i = 0; i < sizeof(most_passes) / sizeof(most_passes[0]); i++) {
        const struct gp_chip_name *chip = gp_chip_name_find(most_passes[i].chip);
        const struct {
            const char *set;
            unsigned most;
        } sets[] = {{"default", most_passes[i].usual},
                    {"paper", most_passes[i].paper},
                    {"memory", most_passes[i].memory},
                    {"compute", most_passes[i].compute},
                    {"stalls", most_passes[i].stalls},
                    {"launch", most_passes[i].launch},
                    {"all", getenv("CHIPS") ? 0 : most_passes[i].all}};
        if (!knows(chip))
            continue;
        for (size_t k = 0; k < sizeof(sets) / sizeof(sets[0]); k++) {
            unsigned passes = sets[k].most ? passes_of(m, chip, sets[k].set) : 0;
            if (passes > sets[k].most)
                print_message("%s takes %u passes for %s, not %u\n", chip->name, passes,
                              sets[k].set, sets[k].most);
            too_many = too_many || passes > sets[k].most;
        }
    }
    gp_metrics_close(m);
    assert_false(too_many);
}

/* The counters that the default set has not. */
static void the_diagnosis_takes_eight_passes_at_most(void **state)
{
    (void)state;
    need_cupti();
    struct gp_metrics *m = shipped();
    gp_metrics_select_diagnosis(m);
    assert_true(gp_metrics_have_diagnosis(m));
    for (size_t i = 0; i < gp_chip_name_count(); i++) {
        const struct gp_chip_name *chip = gp_chip_name_at(i);
        const struct gp_device device = device_of(chip);
        struct gp_chip_passes passes;
        const char **names, *why;
        size_t count;
        if (!knows(chip))
            continue;
        assert_true(gp_metrics_diagnosis_counters(m, &device, &names, &count));
        assert_true(count > 30);
        assert_true(gp_chip_count_passes(chip->name, names, count, &passes, &why));
        free(names);
        if (passes.hardware > GP_DIAGNOSIS_PASSES || passes.instrumented > 0)
            fail_msg("%s: %u passes", chip->name, passes.hardware);
    }
    gp_metrics_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_diagnosis_takes_eight_passes_at_most),
        cmocka_unit_test(every_chip_has_the_counters),
        cmocka_unit_test(sets_take_few_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
