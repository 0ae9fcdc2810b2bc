/* memory/writes: the parts of divided memory that launches are expected to write. */
#include "memory/inside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MB ((uint64_t)1 << 20)
#define GB ((uint64_t)1 << 30)
#define BASE ((uint64_t)1 << 40)
#define ALLOCATION (8 * GB)
#define KERNEL 1
#define SHAPE 2
#define FIRST_WORK 100
#define OUT 0 /* offsets of parameters */
#define IN 8

struct all {
    struct gp_divided memory;
    struct gp_learned learned;
    struct gp_plan plan;
};

static int make(void **state)
{
    struct all *a = calloc(1, sizeof(*a));
    a->memory.start = a->memory.first = BASE;
    a->memory.end = BASE + ALLOCATION;
    a->memory.units = ALLOCATION / GP_UNIT_BYTES;
    near_begin(&a->memory.near, a->memory.units);
    *state = a;
    return 0;
}

static int drop(void **state)
{
    struct all *a = *state;
    writes_free(&a->learned);
    free(a->memory.cuts);
    free(a);
    return 0;
}

/* A launch with two addresses, at these distances from the allocation's start. */
static struct gp_addresses launch_at(struct all *a, uint64_t work, uint64_t out, uint64_t in)
{
    struct gp_addresses l = {
        .kernel = KERNEL, .shape = SHAPE, .work = work, .unknown = GP_MOST_OF_UNKNOWN, .count = 2};
    l.of[0] = (struct gp_address){OUT, BASE + out, &a->memory};
    l.of[1] = (struct gp_address){IN, BASE + in, &a->memory};
    divided_cut(&a->memory, BASE + out);
    divided_cut(&a->memory, BASE + in);
    return l;
}

static void learn(struct all *a, const struct gp_addresses *l, uint64_t from, uint64_t bytes)
{
    writes_learn(&a->learned, l, &a->memory, BASE + from, BASE + from + bytes);
}

/* A launch that was verified: it wrote so many bytes from its first address on. */
static void see(struct all *a, const struct gp_addresses *l, uint64_t bytes, bool unexpected)
{
    if (bytes)
        learn(a, l, l->of[0].value - BASE, bytes);
    writes_seen(&a->learned, l, unexpected);
}

/* The bytes that are planned for it. */
static uint64_t planned(struct all *a, const struct gp_addresses *l)
{
    const struct gp_plan none = {0};
    uint64_t bytes = 0;
    assert_true(writes_plan(&a->learned, l, &none, 0, &a->plan));
    for (unsigned i = 0; i < a->plan.count; i++)
        bytes += a->plan.of[i].to - a->plan.of[i].from;
    return bytes;
}

/* The bytes of all its parts. */
static uint64_t bytes_learned(const struct all *a, uint64_t work)
{
    const struct gp_work_writes *w;
    uint64_t bytes = 0;
    HASH_FIND(hh, a->learned.works, &work, sizeof(work), w);
    for (unsigned i = 0; w && i < w->count; i++)
        bytes += (uint64_t)(w->runs[i].to - w->runs[i].from);
    return bytes;
}

static bool holds(const struct all *a, uint64_t from, uint64_t bytes)
{
    return plan_holds(&a->plan, &a->memory, BASE + from, BASE + from + bytes);
}

static void test_writes_at_random_leave_room_for_another_address(void **state)
{
    struct all *a = *state;
    struct gp_addresses l = launch_at(a, FIRST_WORK, 0, 4 * GB);
    for (uint64_t i = 0; i < 100; i++)
        learn(a, &l, i * 37 % 100 * MB, GP_UNIT_BYTES);
    learn(a, &l, 4 * GB + 8 * MB, GP_UNIT_BYTES);
    writes_seen(&a->learned, &l, true);
    assert_true(writes_were_seen(&a->learned, &l));
    planned(a, &l);
    assert_true(holds(a, 4 * GB + 8 * MB, GP_UNIT_BYTES));
    for (uint64_t i = 0; i < 100; i++)
        assert_true(holds(a, i * MB, GP_UNIT_BYTES));
}

static void test_parts_that_lie_nearest_are_joined(void **state)
{
    struct all *a = *state;
    struct gp_addresses l = launch_at(a, FIRST_WORK, 0, 4 * GB);
    for (uint64_t i = 0; i < GP_MOST_WRITE_RUNS; i++)
        learn(a, &l, i * 100 * MB, GP_UNIT_BYTES);
    learn(a, &l, 300 * MB + 4 * GP_UNIT_BYTES, GP_UNIT_BYTES);
    learn(a, &l, 700 * MB + 4 * GP_UNIT_BYTES, GP_UNIT_BYTES);
    assert_in_range(bytes_learned(a, FIRST_WORK), 1, MB);
    learn(a, &l, 4 * GB + 8 * MB, GP_UNIT_BYTES);
    assert_in_range(bytes_learned(a, FIRST_WORK), 100 * MB, 101 * MB);
}

static void test_one_launch_without_changes_has_not_shown_its_writes(void **state)
{
    struct all *a = *state;
    struct gp_addresses l = launch_at(a, FIRST_WORK, 0, 64 * MB);
    see(a, &l, 0, false);
    assert_false(writes_were_seen(&a->learned, &l));
    planned(a, &l);
    assert_true(holds(a, 0, 64 * MB));
    see(a, &l, 0, false);
    see(a, &l, 0, false);
    assert_true(writes_were_seen(&a->learned, &l));
}

static void test_large_pieces_do_not_stand_for_the_writes_of_new_work(void **state)
{
    struct all *a = *state;
    struct gp_addresses l;
    for (uint64_t i = 0; i < 3; i++) {
        l = launch_at(a, FIRST_WORK + i, i * 64 * MB, GB);
        l.shape += i;
        see(a, &l, 64 * MB, false);
    }
    struct gp_addresses small = launch_at(a, FIRST_WORK + 8, 0, 64 * MB);
    small.shape = 50;
    assert_true(writes_are_known(&a->learned, &small));
    struct gp_addresses large = launch_at(a, FIRST_WORK + 9, 2 * GB, 4 * GB);
    large.shape = 51;
    assert_false(writes_are_known(&a->learned, &large));
    /* It has not written from there on. */
    struct gp_addresses reads = launch_at(a, FIRST_WORK + 10, 64 * MB, 2 * GB);
    reads.shape = 52;
    assert_true(writes_are_known(&a->learned, &reads));
}

/* Values that are written as they were do not show. */
static void test_a_piece_is_planned_whole_where_writes_have_gaps(void **state)
{
    struct all *a = *state;
    struct gp_addresses l = launch_at(a, FIRST_WORK, 0, 64 * MB);
    see(a, &l, 4 * MB, true);
    assert_in_range(planned(a, &l), 4 * MB, 6 * MB);
    learn(a, &l, 20 * MB, GP_UNIT_BYTES);
    writes_seen(&a->learned, &l, true);
    planned(a, &l);
    assert_true(holds(a, 0, 64 * MB));
    assert_false(holds(a, 64 * MB, 2 * MB)); /* no write from there on has gaps */
}

static void test_a_large_piece_is_not_planned_whole_for_gaps(void **state)
{
    struct all *a = *state;
    struct gp_addresses l = launch_at(a, FIRST_WORK, 0, GB);
    see(a, &l, 4 * MB, true);
    learn(a, &l, 20 * MB, GP_UNIT_BYTES);
    writes_seen(&a->learned, &l, true);
    assert_in_range(planned(a, &l), 4 * MB, 8 * MB);
    assert_true(holds(a, 20 * MB, GP_UNIT_BYTES));
}

/* A launch of another size may write more. */
static void test_other_works_are_known_once_works_write_no_more(void **state)
{
    struct all *a = *state;
    for (uint64_t i = 0; i < 20; i++) {
        struct gp_addresses l = launch_at(a, FIRST_WORK + i, 128 * MB, 256 * MB);
        assert_int_equal(writes_are_known(&a->learned, &l), i > 10);
        see(a, &l, i < 2 ? 4 * MB : 8 * MB, i == 0 || i == 2);
        see(a, &l, 4 * MB, false); /* once more says nothing of other works */
    }
    struct gp_addresses larger = launch_at(a, FIRST_WORK + 30, 128 * MB, 256 * MB);
    assert_true(writes_are_known(&a->learned, &larger));
    see(a, &larger, 9 * MB, true);
    struct gp_addresses next = launch_at(a, FIRST_WORK + 31, 128 * MB, 256 * MB);
    assert_false(writes_are_known(&a->learned, &next));
    assert_true(writes_are_known(&a->learned, &larger));
}

static void test_with_little_room_less_is_planned_of_new_work(void **state)
{
    struct all *a = *state;
    struct gp_addresses l = launch_at(a, FIRST_WORK, 0, 64 * MB);
    for (uint64_t i = 0; i < 3; i++)
        writes_seen(&a->learned, &l, false);
    struct gp_addresses other = launch_at(a, FIRST_WORK + 1, 0, 64 * MB);
    other.shape = SHAPE + 1;
    learn(a, &l, 0, MB); /* the kernel has written from there on */
    assert_true(writes_are_known(&a->learned, &other));
    assert_int_equal(planned(a, &other), 192 * MB);
    other.unknown = 2 * MB;
    assert_int_equal(planned(a, &other), 4 * MB);
    assert_false(writes_are_known(&a->learned, &other));
}

static void test_parts_that_settle_are_planned_alone(void **state)
{
    struct all *a = *state;
    struct gp_addresses l = launch_at(a, FIRST_WORK, 0, 512 * MB);
    l.by_input = true;
    for (int i = 0; i < 4; i++) {
        see(a, &l, 16 * MB, i == 0);
        assert_int_equal(writes_are_known(&a->learned, &l), i == 3);
        assert_int_equal(writes_may_be_elsewhere(&a->learned, &l), i < 3);
        assert_int_equal(planned(a, &l) < 32 * MB, i == 3);
    }
    see(a, &l, 17 * MB, true); /* it does write elsewhere */
    assert_true(writes_may_be_elsewhere(&a->learned, &l));
}

static void test_small_pieces_need_not_settle(void **state)
{
    struct all *a = *state;
    struct gp_addresses l = launch_at(a, FIRST_WORK, 0, 48 * MB);
    l.by_input = true;
    see(a, &l, 16 * MB, true);
    assert_true(writes_are_known(&a->learned, &l));
    planned(a, &l);
    assert_true(holds(a, 0, 48 * MB));
}

static void test_parts_that_never_settle_are_known_after_some_launches(void **state)
{
    struct all *a = *state;
    struct gp_addresses l = launch_at(a, FIRST_WORK, 0, 512 * MB);
    int seen = 0;
    l.by_input = true;
    do
        see(a, &l, (uint64_t)++seen * MB, false);
    while (seen < 100 && !writes_are_known(&a->learned, &l));
    assert_int_equal(seen, 8);
    planned(a, &l);
    assert_true(holds(a, 0, 512 * MB));
}

static void test_parts_by_the_order_of_threads_never_settle(void **state)
{
    struct all *a = *state;
    struct gp_addresses l = launch_at(a, FIRST_WORK, 0, 512 * MB);
    l.by_input = l.by_order = true;
    for (int i = 0; i < 100; i++)
        see(a, &l, 16 * MB, false);
    assert_true(writes_may_be_elsewhere(&a->learned, &l));
    planned(a, &l);
    assert_true(holds(a, 0, 512 * MB)); /* a replay may write to any of it */
}

static void test_threads_that_write_or_not_may_do_so_behind_a_piece(void **state)
{
    struct all *a = *state;
    struct gp_addresses l = launch_at(a, FIRST_WORK, 0, 512 * MB);
    assert_false(writes_may_be_elsewhere(&a->learned, &l));
    l.by_order = true;
    assert_true(writes_may_be_elsewhere(&a->learned, &l));
    for (int i = 0; i < 100; i++)
        see(a, &l, 16 * MB, false);
    assert_true(writes_may_be_elsewhere(&a->learned, &l));
    planned(a, &l);
    assert_true(holds(a, 0, 512 * MB));
}

static void test_to_verify_launches_does_not_settle_an_order(void **state)
{
    struct all *a = *state;
    struct gp_addresses l = launch_at(a, FIRST_WORK, 0, 512 * MB);
    l.by_input = l.by_order = true;
    see(a, &l, 16 * MB, true);
    assert_true(writes_are_known(&a->learned, &l));
}

/* Where the rest is guarded a replay may write to any of it. */
static void test_parts_by_the_order_of_threads_settle_where_the_rest_is_guarded(void **state)
{
    struct all *a = *state;
    struct gp_addresses l = launch_at(a, FIRST_WORK, 0, 512 * MB);
    l.by_order = l.guarded = true;
    for (int i = 0; i < 4; i++) {
        assert_false(writes_are_known(&a->learned, &l));
        see(a, &l, 16 * MB, i == 0);
    }
    assert_true(writes_are_known(&a->learned, &l));
    assert_false(writes_may_be_elsewhere(&a->learned, &l));
    planned(a, &l);
    assert_true(holds(a, 0, 16 * MB));
    assert_false(holds(a, 17 * MB, MB));
    l.guarded = false;
    planned(a, &l);
    assert_true(holds(a, 0, 512 * MB));
}

static void test_whole_allocations_are_worth_to_settle_though_the_piece_is_small(void **state)
{
    struct all *a = *state;
    struct gp_addresses l = launch_at(a, FIRST_WORK, 0, 32 * MB);
    l.by_order = l.guarded = true;
    see(a, &l, 16 * MB, true);
    assert_true(writes_are_known(&a->learned, &l));
    l.whole = 512 * MB;
    assert_false(writes_are_known(&a->learned, &l));
}

static void test_each_work_settles_by_itself_by_the_order_of_threads(void **state)
{
    struct all *a = *state;
    struct gp_addresses l = launch_at(a, FIRST_WORK, 0, 512 * MB);
    l.by_order = l.guarded = true;
    for (uint64_t work = FIRST_WORK; work < FIRST_WORK + 64; work++) {
        l.work = work;
        assert_false(writes_have_settled(&a->learned, &l));
        for (int i = 0; i < 4; i++) {
            assert_false(writes_are_known(&a->learned, &l));
            see(a, &l, 16 * MB, i == 0);
        }
        assert_true(writes_have_settled(&a->learned, &l));
        assert_true(writes_are_known(&a->learned, &l));
    }
    l.work++; /* there are too many */
    assert_true(writes_are_known(&a->learned, &l));
    assert_false(writes_have_settled(&a->learned, &l));
}

static void
test_a_kernel_that_writes_to_guarded_memory_guards_none_for_longer_each_time(void **state)
{
    struct all *a = *state;
    const struct gp_addresses l = launch_at(a, FIRST_WORK, 0, 512 * MB);
    const unsigned expected[] = {64, 1024, 16384};
    assert_false(writes_are_unguarded(&a->learned, &l));
    for (uint64_t time = 0; time < 3; time++) {
        unsigned count = 0;
        see(a, &l, 16 * MB, false);
        for (uint64_t batch = 1; batch <= 4; batch++) {
            assert_false(writes_keep_to_parts(&a->learned, &l));
            for (int i = 0; i < 100; i++)
                writes_kept_to_parts(&a->learned, &l, 10 * time + batch);
        }
        assert_true(writes_keep_to_parts(&a->learned, &l));
        for (int i = 0; i < 100; i++)
            writes_strayed(&a->learned, &l, 10 * time + 5);
        assert_true(writes_are_suspect(&a->learned, &l));
        assert_false(writes_keep_to_parts(&a->learned, &l));
        while (writes_are_unguarded(&a->learned, &l))
            count++;
        assert_int_equal(count, expected[time]);
    }
}

static void test_a_kernel_whose_launches_cannot_be_held_guards_none_for_a_while(void **state)
{
    struct all *a = *state;
    const struct gp_addresses l = launch_at(a, FIRST_WORK, 0, 512 * MB);
    unsigned count = 0;
    see(a, &l, 16 * MB, false);
    writes_unguard(&a->learned, &l);
    while (writes_are_unguarded(&a->learned, &l))
        count++;
    assert_int_equal(count, 64);
}

static unsigned launches_until_tame(struct all *a, const struct gp_addresses *l)
{
    unsigned count = 0;
    for (; count < 1000 && writes_are_suspect(&a->learned, l); count++)
        see(a, l, 16 * MB, false);
    return count;
}

static void test_a_kernel_that_wrote_elsewhere_becomes_tame_again(void **state)
{
    struct all *a = *state;
    struct gp_addresses l = launch_at(a, FIRST_WORK, 0, 64 * MB);
    see(a, &l, 16 * MB, true); /* the first one's guess */
    assert_false(writes_are_suspect(&a->learned, &l));
    see(a, &l, 16 * MB, true);
    assert_false(writes_are_suspect(&a->learned, &l));
    see(a, &l, 16 * MB, true);
    assert_true(writes_are_suspect(&a->learned, &l));
    assert_int_equal(launches_until_tame(a, &l), 8);
    see(a, &l, 16 * MB, true);
    assert_int_equal(launches_until_tame(a, &l), 16);
}

/* Copies of the program, and launches that save no parts. */
static void test_nothing_is_learned_of_what_is_no_launch(void **state)
{
    struct all *a = *state;
    static struct gp_snapshot s;
    struct gp_addresses l = launch_at(a, FIRST_WORK, 0, 64 * MB);
    s.addresses = l;
    divide_begin(&s);
    learn(a, &s.addresses, 0, MB);
    writes_seen(&a->learned, &s.addresses, true);
    assert_null(a->learned.works);
    assert_null(a->learned.kernels);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, make, drop)
    const struct CMUnitTest tests[] = {
        TEST(test_writes_at_random_leave_room_for_another_address),
        TEST(test_parts_that_lie_nearest_are_joined),
        TEST(test_one_launch_without_changes_has_not_shown_its_writes),
        TEST(test_large_pieces_do_not_stand_for_the_writes_of_new_work),
        TEST(test_a_piece_is_planned_whole_where_writes_have_gaps),
        TEST(test_a_large_piece_is_not_planned_whole_for_gaps),
        TEST(test_other_works_are_known_once_works_write_no_more),
        TEST(test_with_little_room_less_is_planned_of_new_work),
        TEST(test_parts_that_settle_are_planned_alone),
        TEST(test_small_pieces_need_not_settle),
        TEST(test_parts_that_never_settle_are_known_after_some_launches),
        TEST(test_parts_by_the_order_of_threads_never_settle),
        TEST(test_parts_by_the_order_of_threads_settle_where_the_rest_is_guarded),
        TEST(test_whole_allocations_are_worth_to_settle_though_the_piece_is_small),
        TEST(test_threads_that_write_or_not_may_do_so_behind_a_piece),
        TEST(test_each_work_settles_by_itself_by_the_order_of_threads),
        TEST(test_a_kernel_that_writes_to_guarded_memory_guards_none_for_longer_each_time),
        TEST(test_a_kernel_whose_launches_cannot_be_held_guards_none_for_a_while),
        TEST(test_to_verify_launches_does_not_settle_an_order),
        TEST(test_a_kernel_that_wrote_elsewhere_becomes_tame_again),
        TEST(test_nothing_is_learned_of_what_is_no_launch),
    };
    return cmocka_run_group_tests_name("memory/writes", tests, NULL, NULL);
}
