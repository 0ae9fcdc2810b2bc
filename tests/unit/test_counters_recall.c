/* counters/recall: launches that are alike share their counters, and are measured again now and
 * then; a kernel with launches that were not alike is known by its name. */
#include "counters/inside.h"

#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT 3

static const double measured[COUNT] = {1, 0.5, 1e18};
static const double others[COUNT] = {1, 0.5, 2e18};

static void add(struct gp_fingerprint *f, const char *function, uint32_t offset, uint64_t metric,
                uint64_t value)
{
    fingerprint_add(f, fingerprint_function(function), offset, metric, value);
}

/* Two instructions of the kernel itself, one of a function that it calls. */
static struct gp_fingerprint launch_of(const char *kernel, uint64_t shape, uint64_t value)
{
    struct gp_fingerprint f = fingerprint_of(kernel, shape);
    add(&f, kernel, 0x10, 7, 100);
    add(&f, kernel, 0x20, 7, value);
    add(&f, "callee", 0x10, 8, 3);
    return f;
}

static bool are_equal(const struct gp_fingerprint *a, const struct gp_fingerprint *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

/* A launch as range.c has it: its counters, measured where they are not known. True when they were
 * recalled. */
static bool launches(struct gp_recall *r, const struct gp_fingerprint *f, const double *values)
{
    const double *row = recall_values(r, f);
    if (row)
        assert_memory_equal(row, measured, sizeof(measured));
    else
        recall_learn(r, f, values, true);
    return row != NULL;
}

static int open_recall(void **state)
{
    *state = recall_new(COUNT, 2);
    return *state == NULL;
}

static int close_recall(void **state)
{
    recall_free(*state);
    return 0;
}

/* ---- fingerprints ---------------------------------------------------------------------------- */

static void the_order_of_instructions_does_not_matter(void **state)
{
    (void)state;
    struct gp_fingerprint a = launch_of("k", 1, 5), b = fingerprint_of("k", 1);
    add(&b, "callee", 0x10, 8, 3);
    add(&b, "k", 0x20, 7, 5);
    add(&b, "k", 0x10, 7, 100);
    assert_true(are_equal(&a, &b));
}

static void other_kernels_shapes_and_counts_are_different(void **state)
{
    (void)state;
    struct gp_fingerprint all[] = {launch_of("k", 1, 5), launch_of("k", 2, 5), launch_of("k", 1, 6),
                                   launch_of("l", 1, 5), fingerprint_of("k", 1)};
    const size_t count = sizeof(all) / sizeof(all[0]);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            assert_false(are_equal(&all[i], &all[j]));
}

static void a_count_belongs_to_its_instruction_and_metric(void **state)
{
    (void)state;
    struct gp_fingerprint all[5];
    for (size_t i = 0; i < 5; i++)
        all[i] = fingerprint_of("k", 1);
    add(&all[0], "k", 0x10, 7, 100);
    add(&all[1], "l", 0x10, 7, 100);
    add(&all[2], "k", 0x20, 7, 100);
    add(&all[3], "k", 0x10, 8, 100);
    add(&all[4], "k", 0x10, 7, 101);
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < i; j++)
            assert_false(are_equal(&all[i], &all[j]));
}

static void counts_that_are_exchanged_are_different(void **state)
{
    (void)state;
    struct gp_fingerprint a = fingerprint_of("k", 1), b = a;
    add(&a, "k", 0x10, 7, 100);
    add(&a, "k", 0x20, 7, 200);
    add(&b, "k", 0x10, 7, 200);
    add(&b, "k", 0x20, 7, 100);
    assert_false(are_equal(&a, &b));
}

static void many_launches_have_fingerprints_of_their_own(void **state)
{
    struct gp_recall *r = *state;
    for (uint64_t shape = 0; shape < 40; shape++)
        for (uint64_t value = 0; value < 40; value++) {
            struct gp_fingerprint f = launch_of("k", shape, value);
            assert_null(recall_find(r, &f));
            recall_learn(r, &f, measured, true);
        }
}

/* ---- recalling ------------------------------------------------------------------------------- */

static void measured_launches_are_recalled(void **state)
{
    struct gp_recall *r = *state;
    struct gp_fingerprint f = launch_of("k", 1, 5);
    assert_null(recall_find(r, &f));
    assert_null(recall_values(r, &f));
    assert_null(recall_find(r, &f)); /* it was launched, and could not be measured */
    recall_learn(r, &f, measured, true);
    assert_memory_equal(recall_find(r, &f), measured, sizeof(measured));
    assert_memory_equal(recall_values(r, &f), measured, sizeof(measured));
}

static void launches_of_another_kind_are_measured(void **state)
{
    struct gp_recall *r = *state;
    struct gp_fingerprint f = launch_of("k", 1, 5);
    struct gp_fingerprint not [] = {launch_of("k", 2, 5), launch_of("k", 1, 6),
                                    launch_of("l", 1, 5)};
    assert_false(launches(r, &f, measured));
    for (size_t i = 0; i < sizeof(not ) / sizeof(not [0]); i++) {
        assert_null(recall_find(r, &not [i]));
        assert_false(launches(r, &not [i], others));
    }
    assert_true(launches(r, &f, measured));
}

static void launches_are_measured_again_ever_more_rarely(void **state)
{
    struct gp_recall *r = *state;
    struct gp_fingerprint f = launch_of("k", 1, 5), other = launch_of("k", 1, 6);
    for (unsigned n = 1; n <= 3001; n++) {
        bool recalled = launches(r, &f, measured);
        assert_int_equal(recalled, n != 1 && n != 300 && n != 3000);
    }
    /* Each kind is counted for itself. */
    for (unsigned n = 1; n <= 301; n++)
        assert_int_equal(launches(r, &other, measured), n != 1 && n != 300);
}

static void to_find_is_no_launch(void **state)
{
    struct gp_recall *r = *state;
    struct gp_fingerprint f = launch_of("k", 1, 5);
    for (unsigned n = 1; n <= 299; n++)
        assert_int_equal(launches(r, &f, measured), n != 1);
    for (unsigned n = 0; n < 100; n++)
        assert_non_null(recall_find(r, &f));
    assert_null(recall_values(r, &f)); /* the 300th */
    assert_non_null(recall_find(r, &f));
}

static void beyond_its_room_all_are_forgotten(void **state)
{
    struct gp_recall *r = *state;
    struct gp_fingerprint first = launch_of("k", 1, 5), last = first;
    recall_learn(r, &first, measured, true);
    for (uint64_t shape = 2; shape <= 16385; shape++) {
        last = fingerprint_of("k", shape);
        recall_learn(r, &last, measured, true);
    }
    assert_null(recall_find(r, &first));
    assert_non_null(recall_find(r, &last));
}

static void a_value_that_is_no_number_is_equal_to_itself(void **state)
{
    struct gp_recall *r = *state;
    struct gp_fingerprint f = launch_of("k", 1, 5);
    const double with_none[COUNT] = {1, NAN, 2};
    recall_learn(r, &f, with_none, true);
    recall_learn(r, &f, with_none, true);
    assert_false(recall_is_barred(r, &f));
    assert_memory_equal(recall_find(r, &f), with_none, sizeof(with_none));
}

/* ---- launches that are assumed to be alike ----------------------------------------------------
 */

/* A launch with these parameters, of a kind whose launches have the fingerprint f. */
static struct gp_launch_kind kind_with(uint64_t pointer, uint32_t n)
{
    struct gp_launch_kind kind;
    struct {
        uint64_t pointer;
        uint32_t n;
    } parameters = {pointer, n};
    launch_kind_of(&kind, "k", 1, n, &parameters, 12); /* its work depends on n */
    return kind;
}

/* So many launches were found to be alike. */
static void are_found(struct gp_recall *r, const struct gp_launch_kind *kind,
                      const struct gp_fingerprint *f, unsigned count)
{
    if (!recall_find(r, f))
        recall_learn(r, f, measured, true);
    while (count--)
        recall_found(r, kind, f, true);
}

static unsigned apart; /* launches from one that is compared to the next, at least */

static bool is_assumed(struct gp_recall *r, struct gp_launch_kind *kind,
                       const struct gp_fingerprint *as)
{
    struct gp_fingerprint f;
    bool assumed = recall_assume(r, kind, apart, &f);
    if (assumed)
        assert_true(are_equal(&f, as));
    return assumed;
}

static void two_launches_that_were_alike_make_a_rule(void **state)
{
    struct gp_recall *r = *state;
    struct gp_fingerprint f = launch_of("k", 1, 5);
    struct gp_launch_kind kind = kind_with(0x7f0000001000, 10);
    assert_false(is_assumed(r, &kind, &f));
    are_found(r, &kind, &f, 1);
    assert_false(is_assumed(r, &kind, &f));
    are_found(r, &kind, &f, 1);
    for (unsigned n = 0; n < 6; n++)
        assert_true(is_assumed(r, &kind, &f));
    recall_assumed(r, &kind, false);
    assert_false(is_assumed(r, &kind, &f));
}

/* The n-th launch of those that may be assumed, from 1, which is compared all the same. */
static unsigned next_compared(struct gp_recall *r, struct gp_launch_kind *kind,
                              const struct gp_fingerprint *f, unsigned n)
{
    while (n < 2000 && is_assumed(r, kind, f))
        n++;
    return n;
}

static void fewer_and_fewer_are_compared(void **state)
{
    struct gp_recall *r = *state;
    struct gp_fingerprint f = launch_of("k", 1, 5), other = launch_of("k", 1, 6);
    struct gp_launch_kind kind = kind_with(0, 10);
    static const unsigned compared[] = {16, 48, 112, 240};
    are_found(r, &kind, &f, 10);
    unsigned n = 1;
    for (unsigned i = 0; i < sizeof(compared) / sizeof(compared[0]); i++, n++) {
        n = next_compared(r, &kind, &f, n);
        assert_int_equal(n, compared[i]);
        are_found(r, &kind, &f, 1);
    }
    /* Launches that are alike in another way begin anew. */
    are_found(r, &kind, &other, 2);
    assert_int_equal(next_compared(r, &kind, &other, 1), 16);
}

static void fewer_are_compared_where_that_takes_long(void **state)
{
    struct gp_recall *r = *state;
    struct gp_fingerprint f = launch_of("k", 1, 5);
    struct gp_launch_kind kind = kind_with(0, 10);
    static const unsigned compared[] = {40, 80};
    are_found(r, &kind, &f, 10);
    apart = 40;
    unsigned n = 1;
    for (unsigned i = 0; i < sizeof(compared) / sizeof(compared[0]); i++, n++) {
        n = next_compared(r, &kind, &f, n);
        assert_int_equal(n, compared[i]);
        are_found(r, &kind, &f, 1);
    }
    assert_int_equal(next_compared(r, &kind, &f, n), 80 + 64);
    apart = UINT_MAX;
    struct gp_fingerprint other = launch_of("k", 1, 6);
    are_found(r, &kind, &other, 2);
    assert_int_equal(next_compared(r, &kind, &other, 1), 256);
    apart = 0;
}

/* However many agree, one in 256 is compared. The launches that are measured again are compared
 * for that reason. */
static void some_are_compared_for_ever(void **state)
{
    struct gp_recall *r = *state;
    struct gp_fingerprint f = launch_of("k", 1, 5);
    struct gp_launch_kind kind = kind_with(0, 10);
    are_found(r, &kind, &f, 10);
    unsigned in_a_row = 0, most = 0;
    for (unsigned n = 0; n < 20000; n++) {
        in_a_row = is_assumed(r, &kind, &f) ? in_a_row + 1 : 0;
        most = in_a_row > most ? in_a_row : most;
        if (!in_a_row)
            recall_values(r, &f);
    }
    assert_int_equal(most, 255);
}

static void a_parameter_that_never_changed_has_to_stay(void **state)
{
    struct gp_recall *r = *state;
    struct gp_fingerprint f = launch_of("k", 1, 5);
    struct gp_launch_kind kind = kind_with(0x1000, 10), moved = kind_with(0x2000, 10),
                          longer = kind_with(0x1000, 11), both = kind_with(0x3000, 11);
    are_found(r, &kind, &f, 4);
    assert_true(is_assumed(r, &kind, &f));
    assert_false(is_assumed(r, &moved, &f));
    assert_false(is_assumed(r, &longer, &f));
    /* Another pointer has been seen to change nothing. */
    are_found(r, &moved, &f, 1);
    assert_true(is_assumed(r, &moved, &f));
    assert_false(is_assumed(r, &longer, &f));
    assert_false(is_assumed(r, &both, &f));
    are_found(r, &longer, &f, 1);
    assert_true(is_assumed(r, &both, &f));
}

static void parameters_beyond_the_last_count_as_one(void **state)
{
    (void)state;
    unsigned char bytes[1000] = {0};
    struct gp_launch_kind kind, other;
    launch_kind_of(&kind, "k", 1, 0, bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = 1;
        launch_kind_of(&other, "k", 1, 0, bytes, sizeof(bytes));
        assert_memory_not_equal(kind.parameters, other.parameters, sizeof(kind.parameters));
        bytes[i] = 0;
    }
    launch_kind_of(&other, "k", 2, 0, bytes, sizeof(bytes));
    assert_false(are_equal(&kind.shape, &other.shape));
}

static void another_kind_of_launch_begins_anew(void **state)
{
    struct gp_recall *r = *state;
    struct gp_fingerprint f = launch_of("k", 1, 5), other = launch_of("k", 1, 6);
    struct gp_launch_kind kind = kind_with(0, 10);
    are_found(r, &kind, &f, 10);
    are_found(r, &kind, &other, 1);
    assert_false(is_assumed(r, &kind, &other));
    are_found(r, &kind, &other, 1);
    assert_true(is_assumed(r, &kind, &other));
    recall_found(r, &kind, &other, false); /* the hardware does not agree */
    assert_false(is_assumed(r, &kind, &other));
}

static void a_wrong_assumption_is_the_last(void **state)
{
    struct gp_recall *r = *state;
    struct gp_fingerprint f = launch_of("k", 1, 5);
    struct gp_launch_kind kind = kind_with(0, 10);
    are_found(r, &kind, &f, 10);
    assert_true(is_assumed(r, &kind, &f));
    recall_assumed(r, &kind, false);
    are_found(r, &kind, &f, 10);
    assert_false(is_assumed(r, &kind, &f));
    assert_non_null(recall_values(r, &f)); /* where its instructions are counted all is well */
}

/* A kernel that gets the length of its work: two, one after the other. */
static void outliers_in_a_row_are_none(void **state)
{
    struct gp_recall *r = *state;
    struct gp_fingerprint f = launch_of("k", 1, 5);
    assert_false(recall_is_outlier(r, &f));
    recall_learn(r, &f, measured, false);
    for (unsigned i = 0; i < 7; i++)
        assert_true(recall_is_outlier(r, &f));
    recall_agreed(r, &f);
    for (unsigned i = 0; i < 7; i++)
        assert_true(recall_is_outlier(r, &f));
    assert_false(recall_is_outlier(r, &f));
    recall_learn(r, &f, measured, false);
    assert_true(recall_is_outlier(r, &f));
}

static void wrong_assumptions_among_many_right_ones_go_on(void **state)
{
    struct gp_recall *r = *state;
    struct gp_fingerprint f = launch_of("k", 1, 5);
    struct gp_launch_kind kind = kind_with(0, 10);
    are_found(r, &kind, &f, 10);
    for (unsigned i = 0; i < 40; i++)
        recall_assumed(r, &kind, true);
    for (unsigned i = 0; i < 5; i++)
        recall_assumed_wrongly(r, &kind);
    assert_true(is_assumed(r, &kind, &f));
    recall_assumed_wrongly(r, &kind);
    assert_false(is_assumed(r, &kind, &f));
}

static void few_wrong_assumptions_go_on(void **state)
{
    struct gp_recall *r = *state;
    struct gp_fingerprint f = launch_of("k", 1, 5);
    struct gp_launch_kind kind = kind_with(0, 10);
    are_found(r, &kind, &f, 10);
    for (unsigned i = 0; i < 3; i++)
        recall_assumed_wrongly(r, &kind);
    assert_true(is_assumed(r, &kind, &f));
    recall_assumed_wrongly(r, &kind);
    assert_false(is_assumed(r, &kind, &f));
}

static void launches_with_the_same_work_are_assumed_to_be_alike(void **state)
{
    struct gp_recall *r = *state;
    struct gp_fingerprint f = launch_of("k", 1, 5), g = launch_of("k", 1, 6);
    struct gp_launch_kind some = kind_with(0x1000, 10), more = kind_with(0x1000, 20),
                          moved = kind_with(0x2000, 10), other = kind_with(0x1000, 30);
    for (unsigned n = 0; n < 2; n++) {
        assert_false(is_assumed(r, &some, &f));
        are_found(r, &some, &f, 1);
        assert_false(is_assumed(r, &more, &g));
        are_found(r, &more, &g, 1);
    }
    for (unsigned n = 0; n < 3; n++) {
        assert_true(is_assumed(r, &some, &f));
        recall_assumed(r, &some, true);
        assert_true(is_assumed(r, &more, &g));
        recall_assumed(r, &more, true);
    }
    assert_true(recall_is_familiar(r, &some));
    assert_false(is_assumed(r, &other, &f));
    /* Which memory it works on has to be seen to change nothing. */
    assert_false(is_assumed(r, &moved, &f));
    are_found(r, &moved, &f, 1);
    are_found(r, &more, &g, 1);
    assert_true(is_assumed(r, &moved, &f));
    /* Launches of one work alone are not assumed any more. */
    recall_assumed(r, &moved, false);
    assert_false(is_assumed(r, &some, &f));
    assert_true(is_assumed(r, &more, &g));
}

/* The first launches of each work are new, and more of them in a row than makes a rule. */
static void a_launch_with_known_work_is_compared(void **state)
{
    struct gp_recall *r = *state;
    for (unsigned n = 0; n < 8; n++) {
        struct gp_launch_kind kind = kind_with(0x1000, n);
        struct gp_fingerprint f = launch_of("k", 1, n);
        recall_compared(r, &kind, true);
        are_found(r, &kind, &f, 1);
    }
    struct gp_launch_kind known = kind_with(0x1000, 3), unknown = kind_with(0x1000, 9);
    assert_true(recall_compares(r, &known));
    assert_false(recall_compares(r, &unknown));
}

static void where_all_are_new_they_are_not_compared(void **state)
{
    struct gp_recall *r = *state;
    struct gp_launch_kind kind = kind_with(0, 10), other;
    launch_kind_of(&other, "k", 2, 0, "", 0);
    for (unsigned n = 0; n < 4; n++) {
        assert_true(recall_compares(r, &kind));
        recall_compared(r, &kind, true);
    }
    unsigned compared = 0;
    for (unsigned n = 0; n < 32; n++)
        compared += recall_compares(r, &kind);
    assert_int_equal(compared, 2);
    assert_true(recall_compares(r, &other)); /* the same kernel in another shape */
    recall_compared(r, &kind, false);
    assert_true(recall_compares(r, &kind));
    recall_bar(r, &kind.shape);
    assert_false(recall_compares(r, &kind));
    assert_false(recall_compares(r, &other));
}

static void a_launch_due_to_be_measured_is_not_assumed(void **state)
{
    struct gp_recall *r = *state;
    struct gp_fingerprint f = launch_of("k", 1, 5);
    struct gp_launch_kind kind = kind_with(0, 10);
    are_found(r, &kind, &f, 400);
    unsigned n = 0;
    while (n < 298 && (is_assumed(r, &kind, &f) || recall_values(r, &f)))
        n++;
    assert_int_equal(n, 298);
    recall_values(r, &f);
    assert_false(is_assumed(r, &kind, &f));
    assert_null(recall_values(r, &f)); /* the 300th */
}

/* ---- bar -------------------------------------------------------------------------------- */

static void a_kernel_that_is_barred_is_always_measured(void **state)
{
    struct gp_recall *r = *state;
    struct gp_fingerprint f = launch_of("k", 1, 5), other = launch_of("k", 2, 6);
    struct gp_fingerprint of_another = launch_of("l", 1, 5);
    recall_learn(r, &f, measured, true);
    recall_learn(r, &other, measured, true);
    recall_learn(r, &of_another, measured, true);
    recall_bar(r, &f);
    recall_bar(r, &f);
    assert_true(recall_is_barred(r, &f));
    assert_true(recall_is_barred(r, &other));
    assert_false(recall_is_barred(r, &of_another));
    for (unsigned n = 0; n < 40; n++) {
        assert_null(recall_values(r, &f));
        assert_null(recall_values(r, &other));
    }
    assert_memory_equal(recall_find(r, &f), measured, sizeof(measured));
    assert_non_null(recall_values(r, &of_another));
}

static void measuring_something_else_again_is_a_reason(void **state)
{
    struct gp_recall *r = *state;
    struct gp_fingerprint f = launch_of("k", 1, 5), other = launch_of("k", 2, 5);
    recall_learn(r, &f, measured, true);
    recall_learn(r, &f, measured, true);
    recall_learn(r, &other, others, true);
    assert_false(recall_is_barred(r, &f));
    recall_learn(r, &f, others, false); /* by chance */
    assert_false(recall_is_barred(r, &f));
    assert_memory_equal(recall_find(r, &f), others, sizeof(others));
    recall_learn(r, &f, measured, true);
    assert_true(recall_is_barred(r, &f));
    assert_null(recall_values(r, &other));
}

/* A kernel is known by its name alone, before any of its instructions were counted. */
static void a_kernel_is_barred_by_its_name(void **state)
{
    struct gp_recall *r = *state;
    struct gp_fingerprint f = launch_of("k", 1, 5), name = fingerprint_of("k", 0);
    struct gp_fingerprint another = fingerprint_of("kk", 0);
    recall_bar(r, &f);
    assert_true(recall_is_barred(r, &name));
    assert_false(recall_is_barred(r, &another));
}

static void a_bar_outlives_forgotten_launches(void **state)
{
    struct gp_recall *r = *state;
    struct gp_fingerprint f = launch_of("k", 1, 5);
    recall_learn(r, &f, measured, true);
    recall_bar(r, &f);
    for (uint64_t shape = 0; shape < 16400; shape++) {
        struct gp_fingerprint next = fingerprint_of("l", shape);
        recall_learn(r, &next, measured, true);
    }
    assert_null(recall_find(r, &f));
    assert_true(recall_is_barred(r, &f));
}

static void of_too_many_kernels_all_are_barred(void **state)
{
    struct gp_recall *r = *state;
    struct gp_fingerprint innocent = fingerprint_of("innocent", 0);
    for (unsigned i = 0; i < 16384; i++) {
        char name[32];
        snprintf(name, sizeof(name), "kernel%u", i);
        struct gp_fingerprint f = fingerprint_of(name, 0);
        recall_bar(r, &f);
    }
    assert_false(recall_is_barred(r, &innocent));
    struct gp_fingerprint one_more = fingerprint_of("one more", 0);
    recall_bar(r, &one_more);
    assert_true(recall_is_barred(r, &one_more));
    assert_true(recall_is_barred(r, &innocent));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_recall, close_recall)

static void the_hardwares_counters_are_those_of_launches_with_the_same_work(void **state)
{
    struct gp_recall *r = *state;
    static const double rows[2][2] = {{1, 2}, {3, 4}};
    struct gp_fingerprint f = launch_of("k", 1, 5), with_work[2];
    struct gp_launch_kind kinds[2];
    for (unsigned i = 0; i < 2; i++) {
        launch_kind_of(&kinds[i], "k", 1, i, NULL, 0);
        with_work[i] = fingerprint_with_work(&f, &kinds[i]);
    }
    recall_note_hardware(r, &f, &kinds[0], rows[0]); /* of no launch that is known */
    assert_int_equal(recall_hardware_count(r, &with_work[0]), 0);
    recall_learn(r, &f, measured, true);
    recall_note_hardware(r, &f, &kinds[0], rows[0]);
    assert_int_equal(recall_hardware_count(r, &with_work[0]), 1);
    assert_int_equal(recall_hardware_count(r, &with_work[1]), 0);
    assert_null(recall_hardware(r, &with_work[1]));
    recall_note_hardware(r, &f, &kinds[1], rows[1]);
    for (unsigned i = 0; i < 2; i++)
        assert_memory_equal(recall_hardware(r, &with_work[i]), rows[i], sizeof(rows[i]));
    recall_bar(r, &f);
    assert_int_equal(recall_hardware_count(r, &with_work[0]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_hardwares_counters_are_those_of_launches_with_the_same_work),
        TEST(the_order_of_instructions_does_not_matter),
        TEST(other_kernels_shapes_and_counts_are_different),
        TEST(a_count_belongs_to_its_instruction_and_metric),
        TEST(counts_that_are_exchanged_are_different),
        TEST(many_launches_have_fingerprints_of_their_own),
        TEST(measured_launches_are_recalled),
        TEST(launches_of_another_kind_are_measured),
        TEST(launches_are_measured_again_ever_more_rarely),
        TEST(to_find_is_no_launch),
        TEST(beyond_its_room_all_are_forgotten),
        TEST(a_value_that_is_no_number_is_equal_to_itself),
        TEST(two_launches_that_were_alike_make_a_rule),
        TEST(fewer_and_fewer_are_compared),
        TEST(some_are_compared_for_ever),
        TEST(fewer_are_compared_where_that_takes_long),
        TEST(a_parameter_that_never_changed_has_to_stay),
        TEST(parameters_beyond_the_last_count_as_one),
        TEST(another_kind_of_launch_begins_anew),
        TEST(a_wrong_assumption_is_the_last),
        TEST(outliers_in_a_row_are_none),
        TEST(wrong_assumptions_among_many_right_ones_go_on),
        TEST(few_wrong_assumptions_go_on),
        TEST(launches_with_the_same_work_are_assumed_to_be_alike),
        TEST(a_launch_with_known_work_is_compared),
        TEST(where_all_are_new_they_are_not_compared),
        TEST(a_launch_due_to_be_measured_is_not_assumed),
        TEST(a_kernel_that_is_barred_is_always_measured),
        TEST(measuring_something_else_again_is_a_reason),
        TEST(a_kernel_is_barred_by_its_name),
        TEST(a_bar_outlives_forgotten_launches),
        TEST(of_too_many_kernels_all_are_barred),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
