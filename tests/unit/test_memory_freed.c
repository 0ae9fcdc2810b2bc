/* memory/freed: memory that was freed, each range with the time of its last free. */
#include "memory/inside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct gp_freed freed;

static int end(void **state)
{
    (void)state;
    freed_close(&freed, false);
    return 0;
}

/* When the byte went, 0 where it did not. */
static uint64_t freed_at(uint64_t address)
{
    for (size_t i = 0; i < freed.ranges.count; i++)
        if (address >= freed.ranges.ranges[i].start && address < freed.ranges.ranges[i].end)
            return freed.ranges.facts[i].freed_at;
    return 0;
}

static void assert_range(size_t index, uint64_t start, uint64_t end, uint64_t when)
{
    assert_int_equal(freed.ranges.ranges[index].start, start);
    assert_int_equal(freed.ranges.ranges[index].end, end);
    assert_int_equal(freed.ranges.facts[index].freed_at, when);
}

static void memory_that_goes_is_later_than_a_copy_from_before(void **state)
{
    bool known;
    (void)state;
    uint64_t before = freed.now;
    assert_false(freed_after(&freed, before, &known));
    assert_true(known);
    freed_add(&freed, 0x1000, 0x100);
    assert_true(freed_after(&freed, before, &known));
    assert_true(known);
    assert_false(freed_after(&freed, freed.now, &known));
    assert_true(known);
}

static void other_memory_at_an_address_goes_as_well(void **state)
{
    (void)state;
    freed_add(&freed, 0x1000, 0x1000);
    freed_add(&freed, 0x1400, 0x100);
    assert_int_equal(freed.ranges.count, 3);
    assert_range(0, 0x1000, 0x1400, 1);
    assert_range(1, 0x1400, 0x1500, 2);
    assert_range(2, 0x1500, 0x2000, 1);
    freed_add(&freed, 0x1300, 0x1000);
    assert_int_equal(freed.ranges.count, 2);
    assert_range(0, 0x1000, 0x1300, 1);
    assert_range(1, 0x1300, 0x2300, 3);
    freed_add(&freed, 0x1000, 0x1300);
    assert_int_equal(freed.ranges.count, 1);
    assert_range(0, 0x1000, 0x2300, 4);
}

static void each_byte_went_when_it_did_last(void **state)
{
    enum { BYTES = 200, TIMES = 2000 };
    uint64_t expected[BYTES] = {0};
    (void)state;
    srand(7);
    for (uint64_t time = 1; time <= TIMES; time++) {
        uint64_t from = (uint64_t)rand() % BYTES, bytes = 1 + (uint64_t)rand() % (BYTES - from);
        bytes = time % 3 ? 1 + bytes % 9 : bytes;
        freed_add(&freed, from + 1, bytes);
        for (uint64_t i = from; i < from + bytes && i < BYTES; i++)
            expected[i] = time;
        for (uint64_t i = 0; i < BYTES; i++)
            assert_int_equal(freed_at(i + 1), expected[i]);
        for (size_t i = 1; i < freed.ranges.count; i++)
            assert_true(freed.ranges.ranges[i - 1].end <= freed.ranges.ranges[i].start);
    }
}

static void memory_that_is_not_listed_is_not_known(void **state)
{
    bool known;
    (void)state;
    for (uint64_t i = 0; i <= 65536; i++)
        freed_add(&freed, 0x1000 * (i + 1), 0x100);
    uint64_t before = freed.now - 1, now = freed.now;
    assert_true(freed_after(&freed, before, &known));
    assert_false(known);
    freed_add(&freed, 0x1000, 0x100);
    assert_true(freed_after(&freed, now, &known));
    assert_true(known);
    assert_int_equal(freed_at(0x1000), freed.now);
}

static void without_copies_it_is_forgotten(void **state)
{
    bool known;
    (void)state;
    freed_add(&freed, 0x1000, 0x100);
    freed_clear(&freed);
    assert_int_equal(freed.ranges.count, 0);
    assert_false(freed_after(&freed, freed.now, &known));
    assert_true(known);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, end)
    const struct CMUnitTest tests[] = {
        TEST(memory_that_goes_is_later_than_a_copy_from_before),
        TEST(other_memory_at_an_address_goes_as_well),
        TEST(each_byte_went_when_it_did_last),
        TEST(memory_that_is_not_listed_is_not_known),
        TEST(without_copies_it_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
