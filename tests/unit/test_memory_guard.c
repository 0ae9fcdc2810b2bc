/* Stretches of addresses, each byte once, against a bitmap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "memory/inside.h"

#define MOST 512

static unsigned seed = 1;

static unsigned chance(unsigned below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

static unsigned count(const bool *covered, unsigned from, unsigned to)
{
    unsigned bytes = 0;
    for (unsigned i = from; i < to; i++)
        bytes += covered[i];
    return bytes;
}

static void stretches_count_each_byte_once(void **state)
{
    (void)state;
    for (int program = 0; program < 200; program++) {
        struct gp_cover cover = {0};
        bool covered[MOST] = {false};
        for (int step = 0; step < 40; step++) {
            const unsigned from = chance(MOST - 1), bytes = 1 + chance(1 + chance(MOST - from));
            const unsigned to = from + bytes < MOST ? from + bytes : MOST;
            assert_int_equal(cover_misses(&cover, from, to), to - from - count(covered, from, to));
            if (chance(3)) {
                assert_true(cover_add(&cover, from, to));
                memset(covered + from, true, to - from);
            }
            assert_int_equal(cover_bytes(&cover), count(covered, 0, MOST));
            assert_true(cover.count <= MOST / 2);
        }
        cover_free(&cover);
    }
}

/* ---- the guard of a launch ------------------------------------------------------------------- */

#define UNITS (64 * 1024u)
#define BASE ((uint64_t)1 << 40)

static struct gp_divided allocation(uint64_t start)
{
    return (struct gp_divided){.start = start,
                               .end = start + (uint64_t)UNITS * GP_UNIT_BYTES,
                               .first = start,
                               .units = UNITS,
                               .digests = 1};
}

static void plan(struct gp_plan *p, const struct gp_divided *d, unsigned from, unsigned to)
{
    p->of[p->count++] = (struct gp_write_part){d, d->first + (uint64_t)from * GP_UNIT_BYTES,
                                               d->first + (uint64_t)to * GP_UNIT_BYTES};
}

/* Each unit of both allocations is planned, guarded or neither; `outer` may be NULL. */
static void expect_rest(const struct gp_snapshot *s, const struct gp_plan *outer)
{
    for (size_t k = 0; k < s->divided_count; k++)
        for (uint64_t u = 0; u < s->divided[k]->units; u++) {
            const struct gp_divided *d = s->divided[k];
            const uint64_t from = d->first + u * GP_UNIT_BYTES, to = from + GP_UNIT_BYTES;
            const bool is_planned = plan_holds(&s->plan, d, from, to);
            const bool is_inside = !outer || plan_holds(outer, d, from, to);
            assert_int_equal(plan_holds(&s->guard, d, from, to), is_inside && !is_planned);
        }
}

static void all_but_the_planned_parts_is_guarded(void **state)
{
    (void)state;
    struct gp_divided a = allocation(BASE), b = allocation(2 * BASE);
    struct gp_divided *both[] = {&a, &b};
    struct gp_snapshot *s = calloc(1, sizeof(*s));
    struct gp_plan *outer = calloc(1, sizeof(*outer));
    s->divided = both;
    s->divided_count = 2;
    plan(&s->plan, &a, 0, 64);
    plan(&s->plan, &a, 1000, 1200);
    plan(&s->plan, &b, 40000, UNITS);
    assert_true(guard_plan(s, NULL));
    expect_rest(s, NULL);
    plan(outer, &a, 0, 8000);
    plan(outer, &a, 30000, 31000);
    plan(outer, &b, 39000, 50000);
    assert_true(guard_plan(s, outer));
    expect_rest(s, outer);
    free(outer);
    free(s);
}

static void units_that_lie_one_behind_the_other_are_one_segment(void **state)
{
    (void)state;
    struct gp_segments list = {0};
    const uint64_t unit = GP_UNIT_BYTES, to = 2 * BASE;
    assert_true(segments_add_units(&list, BASE, to, unit, 800));
    assert_true(segments_add_units(&list, BASE + unit, to + unit, 2 * unit, 808));
    assert_int_equal(list.count, 1);
    assert_true(list.list[0].bytes == 3 * unit && list.units == 3);
    assert_true(segments_add_units(&list, BASE + 4 * unit, to + 3 * unit, unit, 832));
    assert_true(segments_add_units(&list, BASE + 5 * unit, to + 5 * unit, unit, 840));
    assert_true(segments_add_units(&list, BASE + 6 * unit, to + 6 * unit, unit, 800));
    assert_int_equal(list.count, 4);
    assert_true(list.units == 6 && list.list[3].first_unit == 5);
    assert_true(segments_add_units(&list, BASE + 7 * unit, to + 6 * unit, unit, 0));
    assert_true(segments_add(&list, BASE + 8 * unit, to + 7 * unit, unit - 16, BASE));
    assert_true(segments_add_units(&list, BASE + 9 * unit - 16, to + 8 * unit - 16, unit, 0));
    assert_int_equal(list.count, 7); /* a part of a unit is not added to */
    segments_clear(&list);
    assert_true(segments_add_units(&list, BASE + 16, to, unit, 0));
    assert_true(segments_add_units(&list, BASE + 16 + unit, to + unit, unit, 0));
    assert_true(list.count == 1 && list.units == 2);
    segments_free(&list, false);
}

static void little_is_not_guarded(void **state)
{
    (void)state;
    struct gp_divided d = allocation(BASE);
    struct gp_divided *one[] = {&d};
    struct gp_snapshot *s = calloc(1, sizeof(*s));
    s->divided = one;
    s->divided_count = 1;
    plan(&s->plan, &d, 64, UNITS);
    assert_false(guard_plan(s, NULL));
    assert_int_equal(s->guard.count, 0);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stretches_count_each_byte_once),
        cmocka_unit_test(all_but_the_planned_parts_is_guarded),
        cmocka_unit_test(little_is_not_guarded),
        cmocka_unit_test(units_that_lie_one_behind_the_other_are_one_segment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
