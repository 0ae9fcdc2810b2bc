/* launch/copies: the kind, the bytes and the time of the program's copies. On a driver of a few
 * functions made here: an event is reached once a copy is said to have ended. */
#include "launch/copies.h"

#include "base/window_rule.h"
#include "gate/captures.h"
#include "launch/inside.h"
#include "launch/window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CONTEXT(n) ((CUcontext)(uintptr_t)(n))
#define STREAM ((CUstream)(uintptr_t)0x1000)
#define BYTES 1000

static CUcontext current;
static uintptr_t events;
static double milliseconds; /* that the next copy takes */
static double times[1000];  /* of the event behind a copy; 0: it is not over */
static bool refuses_events;

static CUresult fake_current(CUcontext *context)
{
    *context = current;
    return CUDA_SUCCESS;
}

static CUresult fake_create(CUevent *event, unsigned flags)
{
    (void)flags;
    *event = (CUevent)++events;
    return CUDA_SUCCESS;
}

static CUresult fake_record(CUevent event, CUstream stream)
{
    assert_ptr_equal(stream, STREAM);
    times[(uintptr_t)event] = milliseconds;
    return refuses_events ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

static CUresult fake_query(CUevent event)
{
    assert_int_equal(gp_captures(), 0); /* it would end one */
    return times[(uintptr_t)event] > 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

static CUresult fake_elapsed(float *ms, CUevent from, CUevent to)
{
    assert_ptr_not_equal(from, to);
    *ms = (float)times[(uintptr_t)to];
    return CUDA_SUCCESS;
}

static CUresult fake_is_capturing(CUstream stream, CUstreamCaptureStatus *status)
{
    (void)stream;
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

static int begin(void **state)
{
    (void)state;
    gp_cuda.cuCtxGetCurrent = fake_current;
    gp_cuda.cuEventCreate = fake_create;
    gp_cuda.cuEventRecord = fake_record;
    gp_cuda.cuEventQuery = fake_query;
    gp_cuda.cuEventElapsedTime = fake_elapsed;
    gp_cuda.cuStreamIsCapturing = fake_is_capturing;
    current = CONTEXT(1);
    refuses_events = false;
    setenv("GPUPROF_COPIES", "on", 1);
    copies_start();
    return !gp_copies_wanted();
}

static void copies(enum gp_copy_kind kind, double ms, CUresult result)
{
    struct gp_copy copy;
    milliseconds = ms;
    assert_true(gp_copy_begins(&copy, kind, BYTES, STREAM));
    gp_copy_ends(&copy, result);
}

static struct gp_copies total_of(enum gp_copy_kind kind)
{
    struct gp_copies totals[GP_COPY_KINDS];
    assert_true(copies_read(totals));
    return totals[kind];
}

/* Totals are the process's, so each test has a kind of its own. */

static void times_have_a_sum_a_least_and_a_greatest(void **state)
{
    (void)state;
    copies(GP_HOST_TO_DEVICE, 2, CUDA_SUCCESS);
    copies(GP_HOST_TO_DEVICE, 4, CUDA_SUCCESS);
    copies(GP_HOST_TO_DEVICE, 1, CUDA_SUCCESS);
    const struct gp_copies t = total_of(GP_HOST_TO_DEVICE);
    assert_int_equal(t.calls, 3);
    assert_int_equal(t.bytes, 3 * BYTES);
    assert_int_equal(t.timed, 3);
    assert_int_equal(t.timed_bytes, 3 * BYTES);
    assert_float_equal(t.seconds, 0.007, 1e-9);
    assert_float_equal(t.shortest, 0.001, 1e-9);
    assert_float_equal(t.longest, 0.004, 1e-9);
}

static void the_first_time_is_the_least_and_the_greatest(void **state)
{
    (void)state;
    copies(GP_DEVICE_TO_HOST, 3, CUDA_SUCCESS);
    const struct gp_copies t = total_of(GP_DEVICE_TO_HOST);
    assert_float_equal(t.shortest, 0.003, 1e-9);
    assert_float_equal(t.longest, 0.003, 1e-9);
}

static void copies_outside_the_window_are_not_counted(void **state)
{
    (void)state;
    struct gp_window_rule rule = GP_WINDOW_OF_ALL;
    struct gp_copy copy;
    const uint64_t before = total_of(GP_DEVICE_TO_HOST).calls;
    rule.by_calls = true;
    rule.from_start = false;
    window_start(&rule);
    assert_false(gp_copy_begins(&copy, GP_DEVICE_TO_HOST, BYTES, STREAM));
    gp_window_opens();
    copies(GP_DEVICE_TO_HOST, 3, CUDA_SUCCESS);
    gp_window_closes();
    assert_false(gp_copy_begins(&copy, GP_DEVICE_TO_HOST, BYTES, STREAM));
    assert_int_equal(total_of(GP_DEVICE_TO_HOST).calls, before + 1);
    window_start(&GP_WINDOW_OF_ALL);
}

static void copies_that_fail_are_not_counted(void **state)
{
    (void)state;
    copies(GP_PEER_TO_PEER, 3, CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(total_of(GP_PEER_TO_PEER).calls, 0);
    assert_int_equal(total_of(GP_PEER_TO_PEER).timed, 0);
}

static void copies_without_events_are_counted(void **state)
{
    (void)state;
    refuses_events = true;
    copies(GP_HOST_TO_HOST, 3, CUDA_SUCCESS);
    const struct gp_copies t = total_of(GP_HOST_TO_HOST);
    assert_int_equal(t.calls, 1);
    assert_int_equal(t.bytes, BYTES);
    assert_int_equal(t.timed, 0);
}

/* The events of a context are of no use once it has gone. */
static void times_are_read_before_their_context_goes(void **state)
{
    (void)state;
    current = CONTEXT(2);
    copies(GP_DEVICE_TO_DEVICE, 0, CUDA_SUCCESS); /* it is not over */
    copies(GP_DEVICE_TO_DEVICE, 3, CUDA_SUCCESS);
    current = CONTEXT(1);
    copies(GP_DEVICE_TO_DEVICE, 0, CUDA_SUCCESS);
    gp_copies_leave(CONTEXT(2));
    struct gp_copies t = total_of(GP_DEVICE_TO_DEVICE);
    assert_int_equal(t.calls, 3);
    assert_int_equal(t.timed, 1);
    assert_float_equal(t.seconds, 0.003, 1e-9);
    for (uintptr_t event = 1; event <= events; event++)
        times[event] = times[event] > 0 ? times[event] : 5; /* all are over */
    t = total_of(GP_DEVICE_TO_DEVICE);
    assert_int_equal(t.timed, 2); /* that of the context that is there */
    assert_float_equal(t.seconds, 0.008, 1e-9);
    assert_float_equal(t.longest, 0.005, 1e-9);
}

static void sides_make_the_kind(void **state)
{
    (void)state;
    static const struct {
        CUmemorytype from, to;
        enum gp_copy_kind kind;
    } cases[] = {
        {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST, GP_HOST_TO_HOST},
        {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE, GP_HOST_TO_DEVICE},
        {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_ARRAY, GP_HOST_TO_DEVICE},
        {CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_HOST, GP_DEVICE_TO_HOST},
        {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_ARRAY, GP_DEVICE_TO_DEVICE},
        {CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_HOST, GP_COPY_BY_ADDRESS},
        {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_UNIFIED, GP_COPY_BY_ADDRESS},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const CUDA_MEMCPY2D_v2 flat = {.srcMemoryType = cases[i].from,
                                       .dstMemoryType = cases[i].to,
                                       .WidthInBytes = 3,
                                       .Height = 5};
        const CUDA_MEMCPY3D_v2 deep = {.srcMemoryType = cases[i].from,
                                       .dstMemoryType = cases[i].to,
                                       .WidthInBytes = 3,
                                       .Height = 5,
                                       .Depth = 7};
        assert_int_equal(gp_copy_kind_2d(&flat), cases[i].kind);
        assert_int_equal(gp_copy_kind_3d(&deep), cases[i].kind);
        assert_int_equal(gp_copy_bytes_2d(&flat), 15);
        assert_int_equal(gp_copy_bytes_3d(&deep), 105);
    }
    assert_int_equal(gp_copy_bytes_2d(NULL), 0);
    assert_int_equal(gp_copy_bytes_3d(NULL), 0);
}

static void no_event_is_asked_while_anything_is_captured(void **state)
{
    (void)state;
    const struct gp_copies before = total_of(GP_DEVICE_TO_HOST);
    copies(GP_DEVICE_TO_HOST, 3, CUDA_SUCCESS);
    gp_capture_begins(STREAM, false);
    copies(GP_DEVICE_TO_HOST, 3, CUDA_SUCCESS);
    assert_int_equal(total_of(GP_DEVICE_TO_HOST).timed, before.timed);
    gp_capture_ends(STREAM, false);
    assert_int_equal(total_of(GP_DEVICE_TO_HOST).timed, before.timed + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(times_have_a_sum_a_least_and_a_greatest, begin),
        cmocka_unit_test_setup(the_first_time_is_the_least_and_the_greatest, begin),
        cmocka_unit_test_setup(copies_outside_the_window_are_not_counted, begin),
        cmocka_unit_test_setup(copies_that_fail_are_not_counted, begin),
        cmocka_unit_test_setup(copies_without_events_are_counted, begin),
        cmocka_unit_test_setup(times_are_read_before_their_context_goes, begin),
        cmocka_unit_test_setup(no_event_is_asked_while_anything_is_captured, begin),
        cmocka_unit_test_setup(sides_make_the_kind, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
