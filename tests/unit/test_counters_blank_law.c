/* counters/blank_law: counts of blank passes that follow from the work in them. */
#include "counters/inside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Instructions for each block, unit and segment, as those of our kernels. */
static const double numbers[GP_ALL_CHECKS][GP_PUT_AMOUNTS] = {{216, 472, 16, 320, 1384, 24},
                                                              {6912, 15104, 512, 10240, 44288, 768},
                                                              {6891, 15103, 255, 10111, 44001, 513},
                                                              {0, 1024, 0, 8, 513, 0}};

static void count(const struct gp_put_work *work, double *counts)
{
    for (unsigned c = 0; c < GP_ALL_CHECKS; c++) {
        counts[c] = 0;
        for (unsigned i = 0; i < GP_PUT_AMOUNTS; i++)
            counts[c] += numbers[c][i] * (double)work->amounts[i];
    }
}

/* Work of both kernels, or of the one that copies; of up to 30 launches of each. */
static struct gp_put_work draw(unsigned *seed, bool both)
{
    struct gp_put_work work = {.irregular = false};
    for (unsigned k = 0; k < (both ? 2u : 1u); k++) {
        const unsigned launches = 1 + (unsigned)rand_r(seed) % 30;
        for (unsigned l = 0; l < launches; l++) {
            const uint64_t units = 1 + (uint64_t)rand_r(seed) % (l % 2 ? 60000 : 300);
            work.amounts[3 * k] += units < 528 ? units : 528;
            work.amounts[3 * k + 1] += units;
            work.amounts[3 * k + 2] += 1 + (uint64_t)rand_r(seed) % 20;
        }
    }
    return work;
}

static void learn(struct gp_blank_law *law, unsigned *seed, unsigned passes, bool both)
{
    for (unsigned i = 0; i < passes; i++) {
        const struct gp_put_work work = draw(seed, both);
        double counts[GP_ALL_CHECKS];
        count(&work, counts);
        blank_law_learn(law, &work, counts);
    }
}

static void tells(const struct gp_blank_law *law, const struct gp_put_work *work)
{
    double counts[GP_ALL_CHECKS], said[GP_ALL_CHECKS];
    count(work, counts);
    assert_true(blank_law_tells(law, work, said));
    assert_memory_equal(counts, said, sizeof(counts));
}

static void the_law_tells_each_count_to_the_digit(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 200; seed++) {
        struct gp_blank_law law = {.count = 0};
        unsigned s = seed;
        learn(&law, &s, 10, true);
        assert_int_equal(law.broken, 0);
        for (unsigned i = 0; i < 50; i++) {
            const struct gp_put_work work = draw(&s, i % 3 != 0);
            tells(&law, &work);
        }
    }
}

static void it_is_confirmed_first(void **state)
{
    struct gp_blank_law law = {.count = 0};
    unsigned seed = 3;
    double counts[GP_ALL_CHECKS];
    (void)state;
    learn(&law, &seed, 6, true);
    struct gp_put_work work = draw(&seed, true);
    assert_false(blank_law_tells(&law, &work, counts));
    learn(&law, &seed, 3, true);
    assert_false(blank_law_tells(&law, &work, counts));
    learn(&law, &seed, 1, true);
    tells(&law, &work);
    work.irregular = true;
    assert_false(blank_law_tells(&law, &work, counts));
}

static void work_of_a_kind_that_was_not_there_is_not_known(void **state)
{
    struct gp_blank_law law = {.count = 0};
    unsigned seed = 5;
    double counts[GP_ALL_CHECKS];
    (void)state;
    learn(&law, &seed, 7, false);
    struct gp_put_work copies = draw(&seed, false), both = draw(&seed, true);
    tells(&law, &copies);
    assert_false(blank_law_tells(&law, &both, counts));
    learn(&law, &seed, 7, true);
    tells(&law, &both);
}

static void passes_that_are_no_law_end_it(void **state)
{
    struct gp_blank_law law = {.count = 0};
    unsigned seed = 7;
    double counts[GP_ALL_CHECKS];
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        learn(&law, &seed, 12, true);
        struct gp_put_work work = draw(&seed, true);
        tells(&law, &work);
        count(&work, counts);
        counts[2] += 1;
        blank_law_learn(&law, &work, counts);
        assert_false(blank_law_tells(&law, &work, counts));
    }
    learn(&law, &seed, 20, true);
    struct gp_put_work work = draw(&seed, true);
    assert_false(blank_law_tells(&law, &work, counts));
}

static void passes_without_work_confirm_nothing(void **state)
{
    struct gp_blank_law law = {.count = 0};
    const struct gp_put_work none = {.irregular = false};
    double counts[GP_ALL_CHECKS] = {0};
    unsigned seed = 11;
    (void)state;
    learn(&law, &seed, 6, true);
    for (unsigned i = 0; i < 4; i++)
        blank_law_learn(&law, &none, counts);
    struct gp_put_work work = draw(&seed, true);
    assert_false(blank_law_tells(&law, &work, counts));
}

/* Work with one of so many layouts of other memory, each of which has counts of its own. */
static struct gp_put_work draw_layout(unsigned *seed, unsigned layouts, double *counts)
{
    struct gp_put_work work = draw(seed, false);
    work.layouts[0].layout = 1 + (uint64_t)rand_r(seed) % layouts;
    work.layouts[0].times = 1 + (uint64_t)rand_r(seed) % 3;
    work.layout_count = 1;
    count(&work, counts);
    for (unsigned c = 0; c < GP_ALL_CHECKS; c++)
        counts[c] += (double)(work.layouts[0].times * (900 + 7 * c * work.layouts[0].layout));
    return work;
}

static void layouts_of_other_memory_have_counts_of_their_own(void **state)
{
    struct gp_blank_law law = {.count = 0};
    unsigned seed = 13, known = 0;
    (void)state;
    for (unsigned i = 0; i < 400; i++) {
        double counts[GP_ALL_CHECKS], said[GP_ALL_CHECKS];
        const struct gp_put_work work = draw_layout(&seed, i < 200 ? 10 : 20, counts);
        if (!blank_law_tells(&law, &work, said)) {
            blank_law_learn(&law, &work, counts);
            continue;
        }
        assert_memory_equal(counts, said, sizeof(counts));
        known++;
    }
    assert_in_range(known, 300, 400);
    assert_int_equal(law.broken, 0);
}

static void where_there_are_too_many_layouts_the_law_begins_anew(void **state)
{
    struct gp_blank_law law = {.count = 0};
    unsigned seed = 17, known = 0;
    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        double counts[GP_ALL_CHECKS], said[GP_ALL_CHECKS];
        /* The layouts of the second half are others. */
        struct gp_put_work work = draw_layout(&seed, 20, counts);
        work.layouts[0].layout += i < 500 ? 0 : 100;
        if (!blank_law_tells(&law, &work, said))
            blank_law_learn(&law, &work, counts);
        else
            known += i >= 500;
    }
    assert_in_range(known, 300, 500);
    assert_int_equal(law.broken, 0);
}

static void irregular_passes_are_not_learned_from(void **state)
{
    struct gp_blank_law law = {.count = 0};
    unsigned seed = 9;
    (void)state;
    learn(&law, &seed, 12, true);
    struct gp_put_work work = draw(&seed, true);
    double counts[GP_ALL_CHECKS] = {1, 2, 3, 4};
    work.irregular = true;
    blank_law_learn(&law, &work, counts);
    work.irregular = false;
    tells(&law, &work);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_law_tells_each_count_to_the_digit),
        cmocka_unit_test(it_is_confirmed_first),
        cmocka_unit_test(work_of_a_kind_that_was_not_there_is_not_known),
        cmocka_unit_test(passes_that_are_no_law_end_it),
        cmocka_unit_test(passes_without_work_confirm_nothing),
        cmocka_unit_test(layouts_of_other_memory_have_counts_of_their_own),
        cmocka_unit_test(where_there_are_too_many_layouts_the_law_begins_anew),
        cmocka_unit_test(irregular_passes_are_not_learned_from),
    };
    return cmocka_run_group_tests_name("counters/blank_law", tests, NULL, NULL);
}
