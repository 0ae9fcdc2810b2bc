/* launch/window: which launches lie in the window, by calls, numbers and times; on many threads. A
 * test waits until a moment has passed, and never for less than a time. */
#include "launch/window.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/process.h"
#include "base/window_rule.h"
#include "gate/captures.h"
#include "launch/inside.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define STREAM ((CUstream)(uintptr_t)0x1000)

static const struct gp_launch call = {.stream = STREAM};

static void window(const char *text)
{
    struct gp_window_rule rule;
    char why[256] = "";
    if (!gp_window_read(text, &rule, why, sizeof(why)))
        fail_msg("%s: %s", text, why);
    window_start(&rule);
}

/* Makes launches: 'x' for one that lies in the window, '.' for another. */
static const char *made(unsigned launches)
{
    static char letters[128];
    assert_true(launches < sizeof(letters));
    for (unsigned i = 0; i < launches; i++)
        letters[i] = window_takes(&call) ? 'x' : '.';
    letters[launches] = '\0';
    return letters;
}

static struct gp_end end_now(void)
{
    struct gp_end end = {0};
    window_sum_up(&end);
    return end;
}

/* Waits until that many seconds of the process have passed. */
static void pass(double seconds)
{
    while (gp_process_seconds() < seconds)
        ;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void all_lies_in_no_window(void **state)
{
    (void)state;
    window("");
    assert_false(gp_window_is_limited());
    assert_true(window_is_open());
    gp_window_closes();
    assert_string_equal(made(3), "xxx");
    assert_int_equal(window_outside(), 0);
    assert_int_equal(end_now().has_window, 0);
}

static void calls_open_and_close(void **state)
{
    (void)state;
    window("profile-from-start:off");
    assert_true(gp_window_is_limited());
    assert_string_equal(made(3), "...");
    assert_false(window_is_open());
    gp_window_opens();
    assert_true(window_is_open());
    assert_string_equal(made(2), "xx");
    gp_window_closes();
    assert_string_equal(made(2), "..");
    gp_window_opens();
    assert_string_equal(made(2), "xx");
    gp_window_closes();
    assert_false(window_is_open());
    assert_int_equal(window_outside(), 5);
    assert_int_equal(end_now().outside_launches, 5);
}

static void twice_is_as_once(void **state)
{
    (void)state;
    window("capture-range:cudaProfilerApi");
    gp_window_closes();
    assert_string_equal(made(1), ".");
    gp_window_opens();
    gp_window_opens();
    assert_string_equal(made(1), "x");
    gp_window_closes();
    assert_string_equal(made(1), ".");
    gp_window_closes();
    gp_window_opens();
    assert_string_equal(made(1), "x");
}

static void it_may_be_open_from_the_start(void **state)
{
    (void)state;
    window("profile-from-start:on");
    assert_string_equal(made(2), "xx");
    gp_window_opens();
    gp_window_closes();
    assert_string_equal(made(1), ".");
    gp_window_opens();
    assert_string_equal(made(1), "x");
}

/* Without the options they mean nothing. */
static void calls_change_no_other_window(void **state)
{
    (void)state;
    window("launches:1:3");
    gp_window_closes();
    assert_string_equal(made(2), ".x");
    gp_window_closes();
    gp_window_opens();
    assert_string_equal(made(2), "x.");
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void launches_have_numbers_from_0(void **state)
{
    (void)state;
    window("launches:2:4");
    assert_string_equal(made(6), "..xx..");
    window("launches:3:");
    assert_string_equal(made(6), "...xxx");
    window("launches::2");
    assert_true(window_is_open());
    assert_string_equal(made(6), "xx....");
    assert_false(window_is_open());
}

/* Outside as well: the numbers are those of all launches. */
static void numbers_and_calls_hold_together(void **state)
{
    (void)state;
    window("profile-from-start:off,launches:2:6");
    assert_string_equal(made(3), "...");
    gp_window_opens();
    assert_string_equal(made(2), "xx");
    gp_window_closes();
    assert_string_equal(made(1), ".");
    gp_window_opens();
    assert_string_equal(made(2), "..");
}

static void a_warm_up_has_a_number_of_launches(void **state)
{
    (void)state;
    window("warm-up:3");
    assert_false(window_is_open());
    assert_string_equal(made(5), "...xx");
    /* It begins where the program opens the window, and is not begun again. */
    window("profile-from-start:off,warm-up:2");
    assert_string_equal(made(3), "...");
    gp_window_opens();
    assert_string_equal(made(4), "..xx");
    gp_window_closes();
    gp_window_opens();
    assert_string_equal(made(1), "x");
}

static void a_graph_is_as_many_launches_as_it_has_kernels(void **state)
{
    (void)state;
    window("launches:4:8");
    assert_false(gp_window_takes_graph(STREAM, false, 3));
    assert_string_equal(made(1), ".");
    assert_true(gp_window_takes_graph(STREAM, false, 3));
    assert_true(gp_window_takes_graph(STREAM, false, 3)); /* its first kernel is in it */
    assert_false(gp_window_takes_graph(STREAM, false, 3));
    assert_int_equal(window_outside(), 7);
    /* One without a kernel is no launch. */
    window("warm-up:1");
    assert_false(gp_window_takes_graph(STREAM, false, 0));
    assert_int_equal(window_outside(), 0);
    assert_string_equal(made(2), ".x");
}

static CUresult CUDAAPI is_capturing(CUstream stream, CUstreamCaptureStatus *status)
{
    *status = stream == STREAM ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI no_context(CUcontext *context)
{
    *context = NULL;
    return CUDA_SUCCESS;
}

static void a_captured_launch_has_no_number(void **state)
{
    (void)state;
    const struct gp_launch other = {.stream = NULL};
    gp_cuda.cuStreamIsCapturing = is_capturing;
    gp_cuda.cuCtxGetCurrent = no_context;
    window("launches:1:2");
    gp_capture_begins(STREAM, false);
    assert_true(window_takes(&call));
    assert_true(window_takes(&call));
    assert_false(window_takes(&other));
    gp_capture_ends(STREAM, false);
    assert_string_equal(made(2), "x.");
    assert_int_equal(window_outside(), 2);
}

/* ---- times ----------------------------------------------------------------------------------- */

static void a_delay_counts_from_the_start_of_the_process(void **state)
{
    (void)state;
    window("delay:1000000");
    assert_string_equal(made(2), "..");
    pass(0.002);
    window("delay:2ms");
    assert_true(window_is_open());
    assert_string_equal(made(2), "xx");
}

static void a_duration_ends_for_good(void **state)
{
    (void)state;
    window("duration:1000000");
    assert_string_equal(made(2), "xx");
    pass(0.003);
    window("delay:1ms,duration:2ms"); /* both are over */
    assert_false(window_is_open());
    assert_string_equal(made(2), "..");
    /* Calls do not open it again. */
    window("profile-from-start:off,duration:1ms");
    gp_window_opens();
    pass(gp_process_seconds() + 0.002);
    assert_string_equal(made(1), ".");
    gp_window_closes();
    gp_window_opens();
    assert_string_equal(made(1), ".");
}

static void a_warm_up_by_time_begins_with_the_first_launch(void **state)
{
    (void)state;
    pass(0.002);
    window("warm-up:1000000");
    assert_string_equal(made(3), "...");
    window("warm-up:1ms");
    assert_false(window_is_open());
    pass(gp_process_seconds() + 0.002);
    assert_false(window_is_open());
    assert_string_equal(made(1), ".");
    pass(gp_process_seconds() + 0.002);
    assert_true(window_is_open());
    assert_string_equal(made(2), "xx");
}

static void its_time_is_that_in_which_it_was_open(void **state)
{
    (void)state;
    window("profile-from-start:off");
    pass(gp_process_seconds() + 0.002);
    assert_true(end_now().window_seconds == 0);
    const double before = gp_clock_seconds();
    gp_window_opens();
    const double opened = gp_clock_seconds();
    pass(gp_process_seconds() + 0.002);
    const double closing = gp_clock_seconds();
    assert_true(end_now().window_seconds > 0); /* while it is open */
    gp_window_closes();
    const double after = gp_clock_seconds();
    const double open = end_now().window_seconds;
    assert_true(open >= closing - opened - 1e-6 && open <= after - before + 1e-6);
    pass(gp_process_seconds() + 0.002);
    assert_true(end_now().window_seconds == open);
    gp_window_opens();
    pass(gp_process_seconds() + 0.002);
    gp_window_closes();
    assert_true(end_now().window_seconds >= open + 0.002 - 1e-6);
    /* It ends at its time, without a launch that finds it closed. On a busy machine it may be over
     * before it is found open. */
    window("profile-from-start:off,duration:20ms");
    gp_window_opens();
    pass(gp_process_seconds() + 0.04);
    const double lasted = end_now().window_seconds;
    assert_true(lasted == 0 || fabs(lasted - 0.02) < 1e-6);
}

/* ---- threads --------------------------------------------------------------------------------- */

#define THREADS 8
#define ROUNDS 5000
static pthread_barrier_t together;

static void *launch_often(void *taken)
{
    pthread_barrier_wait(&together);
    for (unsigned i = 0; i < ROUNDS; i++)
        *(unsigned *)taken += window_takes(&call);
    return NULL;
}

static unsigned taken_by_threads(void)
{
    pthread_t threads[THREADS];
    unsigned counts[THREADS] = {0}, taken = 0;
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch_often, &counts[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        taken += counts[i];
    }
    pthread_barrier_destroy(&together);
    return taken;
}

static void no_launch_is_lost_between_threads(void **state)
{
    (void)state;
    window("launches:1000:39000");
    assert_int_equal(taken_by_threads(), 38000);
    assert_int_equal(window_outside(), THREADS * ROUNDS - 38000);
    window("warm-up:777");
    assert_int_equal(taken_by_threads(), THREADS * ROUNDS - 777);
    window("profile-from-start:off");
    assert_int_equal(taken_by_threads(), 0);
    gp_window_opens();
    assert_int_equal(taken_by_threads(), THREADS * ROUNDS);
}

/* ---- the end --------------------------------------------------------------------------------- */

static int log_file = -1;
static off_t said_before;

static int begin(void **state)
{
    (void)state;
    char path[] = "/tmp/gpuprof-test-window-XXXXXX";
    log_file = mkstemp(path);
    int failed = log_file < 0 ? 1 : gp_log_open(path);
    (void)unlink(path);
    return failed;
}

/* The messages that it gives at the end. */
static const char *says(const char *text)
{
    static char said[1024];
    window_end(text);
    ssize_t n = pread(log_file, said, sizeof(said) - 1, said_before);
    assert_true(n >= 0);
    said[n] = '\0';
    said_before += n;
    return said;
}

static void a_window_without_a_launch_is_named(void **state)
{
    (void)state;
    window("profile-from-start:off");
    assert_string_equal(says("w"), ""); /* no launch at all */
    (void)made(3);
    assert_string_equal(says("w"), "gpuprof: no launch was measured: the program did not call "
                                   "cudaProfilerStart, which opens the window (w)\n");
    gp_window_opens();
    gp_window_closes();
    assert_string_equal(says("w"),
                        "gpuprof: no launch was measured: all 3 lay outside the window (w)\n");
    gp_window_opens();
    (void)made(1);
    assert_string_equal(says("w"), "");
    window("delay:1000000");
    (void)made(2);
    assert_string_equal(says("d"),
                        "gpuprof: no launch was measured: all 2 lay outside the window (d)\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_lies_in_no_window),
        cmocka_unit_test(calls_open_and_close),
        cmocka_unit_test(twice_is_as_once),
        cmocka_unit_test(it_may_be_open_from_the_start),
        cmocka_unit_test(calls_change_no_other_window),
        cmocka_unit_test(launches_have_numbers_from_0),
        cmocka_unit_test(numbers_and_calls_hold_together),
        cmocka_unit_test(a_warm_up_has_a_number_of_launches),
        cmocka_unit_test(a_graph_is_as_many_launches_as_it_has_kernels),
        cmocka_unit_test(a_captured_launch_has_no_number),
        cmocka_unit_test(a_delay_counts_from_the_start_of_the_process),
        cmocka_unit_test(a_duration_ends_for_good),
        cmocka_unit_test(a_warm_up_by_time_begins_with_the_first_launch),
        cmocka_unit_test(its_time_is_that_in_which_it_was_open),
        cmocka_unit_test(no_launch_is_lost_between_threads),
        cmocka_unit_test(a_window_without_a_launch_is_named),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
