/* base/added_time: time in which several threads are held up counts once. */
#include "base/added_time.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#define PART 0.05 /* seconds, long beside the delays of a busy machine */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void sleep_for(double seconds)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * seconds)}, NULL);
}

/* The time added since `before` is the time since `began`, less `not_ours`. The clock of this test
 * is read outside of the account's: a hold-up between the two readings may go either way. */
static void expect_added(double before, double began, double not_ours)
{
    double added = gp_added_seconds() - before, passed = now() - began - not_ours;
    assert_true(added <= passed + 0.005);
    assert_true(added >= passed - 0.02);
}

static void nested_times_count_once(void **state)
{
    (void)state;
    double before = gp_added_seconds(), began = now();
    gp_added_begins();
    sleep_for(PART);
    gp_added_begins();
    sleep_for(PART);
    gp_added_ends();
    expect_added(before, began, 0); /* also of time that goes on */
    gp_added_ends();
    expect_added(before, began, 0);
    double ended = now();
    sleep_for(PART);
    expect_added(before, began, now() - ended);
}

static void the_programs_own_work_does_not_count(void **state)
{
    (void)state;
    double before = gp_added_seconds(), began = now();
    gp_added_pauses(); /* of no effect outside */
    sleep_for(PART);
    gp_added_resumes();
    double outside = now() - began;
    gp_added_begins();
    double paused = now();
    gp_added_pauses();
    sleep_for(PART);
    gp_added_resumes();
    double own = now() - paused;
    sleep_for(2 * PART);
    gp_added_less(PART);
    gp_added_ends();
    expect_added(before, began, outside + own + PART);
    double all = gp_added_seconds();
    gp_added_less(-1);
    assert_true(gp_added_seconds() == all);
}

static void *held_up(void *barrier)
{
    pthread_barrier_wait(barrier);
    for (int i = 0; i < 20; i++) {
        gp_added_begins();
        sleep_for(PART / 10);
        gp_added_ends();
    }
    return NULL;
}

/* Within the time that this thread is held up in. */
static void several_threads_at_once_count_once(void **state)
{
    enum { THREADS = 4 };
    (void)state;
    pthread_t threads[THREADS];
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, THREADS);
    double before = gp_added_seconds(), began = now();
    gp_added_begins();
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, held_up, &barrier), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    gp_added_ends();
    expect_added(before, began, 0);
    pthread_barrier_destroy(&barrier);
}

static void *hurry(void *stop)
{
    while (!__atomic_load_n((bool *)stop, __ATOMIC_RELAXED)) {
        gp_added_begins();
        gp_added_pauses();
        gp_added_resumes();
        gp_added_ends();
    }
    return NULL;
}

/* The last to leave is now one thread, now the other; nothing is lost or counted twice. */
static void threads_that_come_and_go_lose_nothing(void **state)
{
    enum { THREADS = 3 };
    (void)state;
    pthread_t threads[THREADS];
    bool stop = false;
    double before = gp_added_seconds(), began = now();
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hurry, &stop), 0);
    sleep_for(4 * PART);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_true(gp_added_seconds() - before <= now() - began);
    double after = gp_added_seconds();
    sleep_for(PART);
    assert_true(gp_added_seconds() == after); /* nobody is counted as held up */
}

static void *end_in_the_middle(void *unused)
{
    (void)unused;
    gp_added_begins();
    gp_added_abandon();
    return NULL;
}

static void threads_that_end_are_not_held_up(void **state)
{
    (void)state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, end_in_the_middle, NULL), 0);
    pthread_join(thread, NULL);
    double after = gp_added_seconds();
    sleep_for(PART);
    assert_true(gp_added_seconds() == after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_times_count_once),
        cmocka_unit_test(the_programs_own_work_does_not_count),
        cmocka_unit_test(several_threads_at_once_count_once),
        cmocka_unit_test(threads_that_come_and_go_lose_nothing),
        cmocka_unit_test(threads_that_end_are_not_held_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
