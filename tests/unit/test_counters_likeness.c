/* counters/likeness: launches that ask until others have come are taken for those with the same
 * work, where the hardware says so. */
#include "counters/inside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST_NEW 4
#define CHECKS GP_ALL_CHECKS

/* A collection that counts its check counters alone; its session has no passes that a launch could
 * lack. */
struct all {
    struct gp_range_collection c;
    _Alignas(max_align_t) unsigned char session[4096];
    double values[GP_MOST_MEMBERS * CHECKS], row[2 * CHECKS], hardware_row[CHECKS];
    struct gp_reason absent[GP_MOST_MEMBERS * CHECKS];
    size_t columns[CHECKS];
    struct gp_pass_cost cost;
    struct gp_member members[GP_MOST_MEMBERS];
};

static const double of_first[CHECKS] = {1e6, 32e6, 32e6, 1e5};

static int make(void **state)
{
    struct all *a = calloc(1, sizeof(*a));
    a->c.session = (struct gp_range_session *)a->session;
    a->c.values = a->values;
    a->c.absent = a->absent;
    a->c.row = a->row;
    a->c.hardware_row = a->hardware_row;
    a->c.recall = recall_new(CHECKS, CHECKS);
    a->c.list = (struct gp_counter_list){.columns = a->columns,
                                         .used = CHECKS,
                                         .hardware_used = CHECKS,
                                         .width = CHECKS,
                                         .check_count = CHECKS};
    for (size_t i = 0; i < CHECKS; i++)
        a->columns[i] = a->c.list.checks[i] = i;
    a->c.base.facts.session = true;
    *state = a;
    return 0;
}

static int drop(void **state)
{
    struct all *a = *state;
    recall_free(a->c.recall);
    free(a);
    return 0;
}

static struct gp_fingerprint fingerprint(uint64_t number)
{
    return (struct gp_fingerprint){.kernel = 1, .words = {number, number}};
}

/* A launch of the one work that asks; the hardware counts so many parts in a thousand more than of
 * the first one. */
static struct gp_member *enter(struct all *a, uint64_t number, double more)
{
    struct gp_member *m = &a->members[a->c.base.batch.count];
    m->state = GP_LAUNCH_TO_IDENTIFY;
    m->run.when = GP_RUN_LATER;
    m->run.cost = &a->cost;
    m->questions = 1;
    m->fingerprint = fingerprint(number);
    launch_kind_of(&m->kind, "kernel", 1, 1, NULL, 0);
    batch_enter(&a->c.base.batch, m);
    for (size_t i = 0; i < CHECKS; i++)
        values_of_member(&a->c, m)[i] = of_first[i] * (1 + more / 1e3);
    likeness_find(&a->c, m);
    return m;
}

/* The first launch was measured, in an earlier batch. */
static void measure_first(struct all *a)
{
    const struct gp_fingerprint f = fingerprint(1);
    struct gp_launch_kind kind;
    launch_kind_of(&kind, "kernel", 1, 1, NULL, 0);
    recall_found(a->c.recall, &kind, &f, true);
    recall_learn(a->c.recall, &f, of_first, false);
}

static bool has_fingerprint(const struct gp_member *m, uint64_t number)
{
    const struct gp_fingerprint f = fingerprint(number);
    return memcmp(&m->fingerprint, &f, sizeof(f)) == 0;
}

static void test_the_hardware_says_whether_the_work_is_the_same(void **state)
{
    struct all *a = *state;
    measure_first(a);
    const struct gp_member *same = enter(a, 2, 0.5), *other = enter(a, 3, 20);
    assert_int_equal(same->state, GP_LAUNCH_ALIKE);
    assert_true(has_fingerprint(other, 1));
    likeness_judge(&a->c);
    assert_int_equal(same->state, GP_LAUNCH_RECALLED);
    assert_int_equal(other->state, GP_LAUNCH_NEW);
    assert_true(has_fingerprint(other, 3));
}

static void test_without_the_hardware_the_work_says_nothing(void **state)
{
    struct all *a = *state;
    measure_first(a);
    a->c.base.facts.session = false;
    const struct gp_member *m = enter(a, 2, 0);
    assert_int_equal(m->state, GP_LAUNCH_NEW);
    assert_true(has_fingerprint(m, 2));
}

static void test_where_the_hardware_is_lost_launches_of_one_work_are_new(void **state)
{
    struct all *a = *state;
    measure_first(a);
    const struct gp_member *m = enter(a, 2, 0);
    assert_int_equal(m->state, GP_LAUNCH_ALIKE);
    a->c.base.facts.session = false;
    likeness_judge(&a->c);
    assert_int_equal(m->state, GP_LAUNCH_NEW);
    assert_true(has_fingerprint(m, 2)); /* it is learned as itself */
}

static void
test_launches_that_are_never_as_those_of_their_work_are_not_compared_for_ever(void **state)
{
    struct all *a = *state;
    measure_first(a);
    for (unsigned i = 0; i < MOST_NEW; i++) {
        const struct gp_member *m = enter(a, 2 + i, 20 * (i + 1));
        assert_true(recall_compares(a->c.recall, &m->kind));
        likeness_judge(&a->c);
        assert_int_equal(m->state, GP_LAUNCH_NEW);
        recall_learn(a->c.recall, &m->fingerprint, values_of_member(&a->c, m), false);
    }
    assert_false(recall_compares(a->c.recall, &a->members[0].kind));
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, make, drop)
    const struct CMUnitTest tests[] = {
        TEST(test_the_hardware_says_whether_the_work_is_the_same),
        TEST(test_without_the_hardware_the_work_says_nothing),
        TEST(test_where_the_hardware_is_lost_launches_of_one_work_are_new),
        TEST(test_launches_that_are_never_as_those_of_their_work_are_not_compared_for_ever),
    };
    return cmocka_run_group_tests_name("counters/likeness", tests, NULL, NULL);
}
