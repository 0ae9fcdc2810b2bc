/* launch/under_way: streams and the launches that threads make into them. */
#include "launch/inside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct gp_timed_stream *stream(struct gp_under_way *u, uintptr_t handle)
{
    const struct gp_launch call = {.stream = (CUstream)handle};
    struct gp_timed_stream *s = timed_stream_of(u, &call);
    assert_non_null(s);
    return s;
}

static void default_streams_are_one_or_the_threads_own(void **state)
{
    (void)state;
    struct gp_under_way u = {0};
    const struct gp_launch legacy = {.stream = CU_STREAM_LEGACY},
                           own = {.stream = NULL, .per_thread_stream = true},
                           named = {.stream = CU_STREAM_PER_THREAD};
    struct gp_timed_stream *zero = stream(&u, 0);
    assert_ptr_equal(timed_stream_of(&u, &legacy), zero);
    struct gp_timed_stream *mine = timed_stream_of(&u, &own);
    assert_ptr_not_equal(mine, zero);
    assert_ptr_equal(timed_stream_of(&u, &named), mine);
    assert_ptr_not_equal(stream(&u, 0x1000), zero);
    under_way_free(&u, false);
}

/* Their events may stand in between. */
static void launches_that_threads_make_at_the_same_time_are_known(void **state)
{
    (void)state;
    struct gp_under_way u = {0};
    struct gp_timed_stream *s = stream(&u, 0x1000), *other = stream(&u, 0x2000);
    for (int i = 0; i < 3; i++)
        assert_false(timed_stream_closes(s, timed_stream_opens(s)));
    uint64_t first = timed_stream_opens(s), elsewhere = timed_stream_opens(other),
             second = timed_stream_opens(s);
    assert_true(timed_stream_closes(s, second));
    uint64_t third = timed_stream_opens(s);
    assert_true(timed_stream_closes(s, first));
    assert_true(timed_stream_closes(s, third));
    assert_false(timed_stream_closes(other, elsewhere));
    assert_false(timed_stream_closes(s, timed_stream_opens(s)));
    under_way_free(&u, false);
}

static void streams_at_rest_make_room_for_others(void **state)
{
    (void)state;
    struct gp_under_way u = {0};
    struct gp_timed_launch launch = {.behind = true};
    struct gp_timed_stream *busy = stream(&u, 0x10), *open = stream(&u, 0x20);
    timed_launch_enter(busy, &launch);
    assert_int_equal(busy->behind, 1);
    uint64_t met = timed_stream_opens(open);
    unsigned most = 0;
    for (uintptr_t handle = 0x1000; handle < 0x1000 + 10000; handle++) {
        stream(&u, handle);
        most = HASH_COUNT(u.streams) > most ? HASH_COUNT(u.streams) : most;
    }
    assert_in_range(most, 100, 300);
    assert_ptr_equal(stream(&u, 0x10), busy);
    assert_ptr_equal(busy->first, &launch);
    assert_ptr_equal(stream(&u, 0x20), open);
    assert_false(timed_stream_closes(open, met));
    assert_ptr_equal(under_way_drop_first(&u), &launch);
    assert_int_equal(busy->behind, 0);
    assert_null(under_way_drop_first(&u));
    under_way_free(&u, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_streams_are_one_or_the_threads_own),
        cmocka_unit_test(launches_that_threads_make_at_the_same_time_are_known),
        cmocka_unit_test(streams_at_rest_make_room_for_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
