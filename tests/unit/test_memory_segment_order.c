/* memory/segment_order: pieces that do not overlap, looked up by address. */
#include "memory/inside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define ROUNDS 200
#define PIECES 200
#define ADDRESSES 4000

static struct gp_segment any_segment(void)
{
    return (struct gp_segment){.live = 1 + (uint64_t)(rand() % ADDRESSES),
                               .bytes = 1 + (uint64_t)(rand() % 24)};
}

static const struct gp_segment *find_slowly(const struct gp_segments *segments,
                                            const struct gp_segment *wanted)
{
    for (size_t i = 0; i < segments->count; i++)
        if (segments_reach(&(struct gp_segments){.list = &segments->list[i], .count = 1},
                           wanted->live, wanted->bytes))
            return &segments->list[i];
    return NULL;
}

/* Any of them is right where several overlap. */
static void compare(const struct gp_segment_order *order, const struct gp_segments *segments)
{
    for (int i = 0; i < PIECES; i++) {
        const struct gp_segment wanted = any_segment();
        const struct gp_segment *found = order_find(order, segments, &wanted);
        assert_int_equal(found != NULL, find_slowly(segments, &wanted) != NULL);
        if (found)
            assert_true(found->live < wanted.live + wanted.bytes &&
                        wanted.live < found->live + found->bytes);
    }
}

static void finds_overlapping_pieces(void **state)
{
    (void)state;
    struct gp_segments segments = {0};
    struct gp_segment_order order = {0};
    srand(7);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < PIECES; i++) {
            const struct gp_segment s = any_segment();
            if (find_slowly(&segments, &s))
                continue;
            assert_true(segments_add(&segments, s.live, 0, s.bytes, s.live));
            assert_true(order_add_last(&order, &segments));
        }
        compare(&order, &segments);
        const size_t left = segments.count / (size_t)(1 + rand() % 4);
        segments_cut(&segments, left);
        order_cut(&order, left);
        assert_int_equal(order.count, segments.count);
        compare(&order, &segments);
    }
    order_free(&order);
    segments_free(&segments, false);
    assert_null(order_find(&order, &segments, &(struct gp_segment){.live = 1, .bytes = 1}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_overlapping_pieces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
