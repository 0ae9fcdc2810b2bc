/* gate/captures: which captures there are, in which contexts, and of which threads. */
#include "gate/captures.h"

#include "base/clock.h"

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#define STREAM ((CUstream)(uintptr_t)0x1000)
#define OTHER_STREAM ((CUstream)(uintptr_t)0x2000)
#define CONTEXT ((CUcontext)(uintptr_t)0x10)
#define OTHER_CONTEXT ((CUcontext)(uintptr_t)0x20)

static __thread CUcontext current;

static CUresult get_current(CUcontext *context)
{
    *context = current;
    return CUDA_SUCCESS;
}

/* STREAM belongs to CONTEXT, whichever is current. */
static CUresult context_of_stream(CUstream stream, CUcontext *context)
{
    *context = stream == STREAM ? CONTEXT : OTHER_CONTEXT;
    return CUDA_SUCCESS;
}

static int begin(void **state)
{
    (void)state;
    gp_cuda.cuCtxGetCurrent = get_current;
    gp_cuda.cuStreamGetCtx = context_of_stream;
    current = CONTEXT;
    return gp_captures() != 0;
}

/* Another thread, which does one step whenever it is asked to. */
static struct {
    pthread_t id;
    sem_t go, done;
    void (*step)(void);
    bool own;
} other;

static void *do_steps(void *unused)
{
    (void)unused;
    current = CONTEXT;
    while (sem_wait(&other.go) == 0 && other.step) {
        other.step();
        other.own = gp_capture_is_own();
        sem_post(&other.done);
    }
    return NULL;
}

static void start_other(void)
{
    assert_int_equal(sem_init(&other.go, 0, 0), 0);
    assert_int_equal(sem_init(&other.done, 0, 0), 0);
    assert_int_equal(pthread_create(&other.id, NULL, do_steps, NULL), 0);
}

static void let_other(void (*step)(void))
{
    other.step = step;
    sem_post(&other.go);
    if (step)
        sem_wait(&other.done);
    else
        assert_int_equal(pthread_join(other.id, NULL), 0);
}

static void begin_per_thread(void)
{
    gp_capture_begins(CU_STREAM_PER_THREAD, false);
}

static void end_per_thread(void)
{
    gp_capture_ends(NULL, true); /* the same stream by its other name */
}

static void begin_stream(void)
{
    gp_capture_begins(STREAM, false);
}

static void check(void)
{
}

/* Each thread has a stream of that name. */
static void streams_of_threads_are_as_many_as_there_are_threads(void **state)
{
    (void)state;
    start_other();
    let_other(begin_per_thread);
    begin_per_thread();
    assert_int_equal(gp_captures(), 2);
    end_per_thread(); /* this one's, though that one began first */
    assert_int_equal(gp_captures(), 1);
    assert_false(gp_capture_is_own());
    let_other(check);
    assert_true(other.own);
    end_per_thread(); /* there is none */
    assert_int_equal(gp_captures(), 1);
    let_other(end_per_thread);
    assert_int_equal(gp_captures(), 0);
    let_other(NULL);
}

static void a_thread_has_a_stream_in_each_context(void **state)
{
    (void)state;
    begin_per_thread();
    current = OTHER_CONTEXT;
    end_per_thread();
    assert_int_equal(gp_captures(), 1);
    assert_true(gp_captures_are_in(CONTEXT));
    assert_false(gp_captures_are_in(OTHER_CONTEXT));
    current = CONTEXT;
    end_per_thread();
    assert_int_equal(gp_captures(), 0);
}

static void any_thread_may_end_that_of_an_ordinary_stream(void **state)
{
    (void)state;
    start_other();
    let_other(begin_stream);
    assert_true(other.own);
    assert_false(gp_capture_is_own());
    gp_capture_ends(OTHER_STREAM, false);
    assert_int_equal(gp_captures(), 1);
    current = OTHER_CONTEXT; /* also where it does not belong */
    assert_true(gp_captures_are_in(CONTEXT));
    gp_capture_ends(STREAM, false);
    assert_int_equal(gp_captures(), 0);
    let_other(NULL);
}

/* Whichever of them began first. */
static void one_of_several_is_found(void **state)
{
    (void)state;
    start_other();
    gp_capture_begins(OTHER_STREAM, false);
    let_other(begin_stream);
    assert_true(gp_capture_is_own());
    assert_true(other.own);
    assert_true(gp_captures_are_in(CONTEXT));
    assert_true(gp_captures_are_in(OTHER_CONTEXT));
    gp_capture_drop(gp_capture_of(STREAM));
    assert_int_equal(gp_captures(), 1);
    assert_false(gp_captures_are_in(CONTEXT));
    let_other(begin_stream);
    gp_capture_drop(gp_capture_of(OTHER_STREAM));
    assert_false(gp_capture_is_own());
    gp_capture_ends(STREAM, false);
    assert_int_equal(gp_captures(), 0);
    let_other(NULL);
}

static void the_legacy_stream_is_not_that_of_the_thread(void **state)
{
    (void)state;
    begin_per_thread();
    gp_capture_ends(NULL, false);
    assert_int_equal(gp_captures(), 1);
    gp_capture_begins(NULL, false);
    end_per_thread();
    assert_int_equal(gp_captures(), 1);
    gp_capture_ends(NULL, false);
    assert_int_equal(gp_captures(), 0);
}

static void captures_go_with_their_stream_or_context(void **state)
{
    (void)state;
    gp_capture_begins(STREAM, false);
    gp_capture_begins(OTHER_STREAM, false);
    assert_null(gp_capture_of(CU_STREAM_PER_THREAD));
    const struct gp_capture *capture = gp_capture_of(STREAM);
    assert_non_null(capture);
    gp_capture_drop(capture);
    assert_int_equal(gp_captures(), 1);
    assert_null(gp_capture_of(STREAM));
    gp_capture_drop(NULL);
    gp_captures_forget_context(CONTEXT);
    assert_int_equal(gp_captures(), 1);
    gp_captures_forget_context(OTHER_CONTEXT);
    assert_int_equal(gp_captures(), 0);
}

static void captures_of_a_context_that_is_going_disturb_nobody(void **state)
{
    (void)state;
    gp_capture_begins(STREAM, false);
    gp_capture_begins(OTHER_STREAM, false);
    gp_captures_are_going(CONTEXT, true);
    assert_int_equal(gp_captures(), 1);
    assert_true(gp_captures_are_in(CONTEXT));
    gp_captures_are_going(CONTEXT, false); /* it stays after all */
    assert_int_equal(gp_captures(), 2);
    gp_captures_are_going(CONTEXT, true);
    gp_captures_are_going(OTHER_CONTEXT, true);
    gp_captures_are_going(OTHER_CONTEXT, true);
    assert_int_equal(gp_captures(), 0);
    gp_capture_ends(STREAM, false);
    gp_captures_are_going(OTHER_CONTEXT, false);
    assert_int_equal(gp_captures(), 1);
    gp_captures_forget_context(OTHER_CONTEXT);
    assert_int_equal(gp_captures(), 0);
}

static double returned; /* when the other thread's capture could begin */

static void begin_and_note(void)
{
    gp_capture_begins(OTHER_STREAM, false);
    returned = gp_clock_seconds();
}

static void a_capture_waits_for_calls_that_would_end_it(void **state)
{
    (void)state;
    assert_true(gp_captures_hold_off());
    assert_true(gp_captures_hold_off());
    gp_captures_let_begin();
    double began = gp_clock_seconds();
    start_other();
    other.step = begin_and_note;
    sem_post(&other.go);
    while (gp_captures() == 0)
        usleep(100);
    assert_false(gp_captures_hold_off()); /* one is beginning */
    usleep(20000);
    double let = gp_clock_seconds();
    gp_captures_let_begin();
    sem_wait(&other.done);
    assert_true(returned >= let || returned - began >= 1);
    gp_capture_ends(OTHER_STREAM, false);
    assert_true(gp_captures_hold_off());
    gp_captures_let_begin();
    let_other(NULL);
}

static void a_capture_does_not_wait_for_ever(void **state)
{
    (void)state;
    assert_true(gp_captures_hold_off());
    gp_capture_begins(STREAM, false);
    gp_capture_ends(STREAM, false);
    gp_captures_let_begin();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, begin)
    const struct CMUnitTest tests[] = {
        TEST(streams_of_threads_are_as_many_as_there_are_threads),
        TEST(a_thread_has_a_stream_in_each_context),
        TEST(any_thread_may_end_that_of_an_ordinary_stream),
        TEST(one_of_several_is_found),
        TEST(the_legacy_stream_is_not_that_of_the_thread),
        TEST(captures_go_with_their_stream_or_context),
        TEST(captures_of_a_context_that_is_going_disturb_nobody),
        TEST(a_capture_waits_for_calls_that_would_end_it),
        TEST(a_capture_does_not_wait_for_ever),
    };
    (void)alarm(60); /* the other thread of a test that fails is waited for */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
