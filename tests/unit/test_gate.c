/* gate/gate: which thread waits for which, and threads that end where they should not. */
#include "gate/gate.h"
#include "gate/inside.h"
#include "gate/threads.h"
#include "sanitized.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* A wait that is to end, and one that is to be in vain. */
#define LONG 100.0
#define SHORT 0.01
#define UNSUPPORTED 77

/* Threads have no memory of their own: cases that need it are not tested. */
static bool nameless;

static pthread_t start(void *(*body)(void *), void *argument)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, body, argument), 0);
    return thread;
}

static void *join(pthread_t thread)
{
    void *result;
    assert_int_equal(pthread_join(thread, &result), 0);
    return result;
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static unsigned threads_at_the_gate(void)
{
    unsigned count = 0;
    for (struct gp_thread *t = gp_threads(); t; t = t->next)
        count += atomic_load(&t->inside) < 0;
    return count;
}

/* Until so many wait; those that nobody can see have time to do so. */
static void wait_for_threads_at_the_gate(unsigned count)
{
    for (unsigned naps = 0; nameless ? naps < 20 : threads_at_the_gate() < count; naps++)
        nap();
}

static void close_and_open(void)
{
    assert_true(gate_lock(LONG));
    gp_gate_unlock();
}

/* ---- many threads ---------------------------------------------------------------------------- */

/* Equal, but while the gate is locked. No atomics: the gate alone protects them. */
static unsigned long first, second;
static unsigned long closings;
static atomic_bool overlapped;

/* Takes its time, so that a thread that should not be there has time to come. */
static void check(void)
{
    unsigned long before = first;
    for (volatile int i = 0; i < 300; i++)
        ;
    atomic_signal_fence(memory_order_seq_cst);
    if (before != second)
        atomic_store(&overlapped, true);
}

static void *share_often(void *unused)
{
    for (int i = 0; i < 100000; i++) {
        gp_gate_enter();
        check();
        gp_gate_leave();
    }
    return unused;
}

static void pass(int times)
{
    for (int i = 0; i < times; i++) {
        gp_gate_enter_cancellable();
        check();
        gp_gate_leave_cancellable();
    }
}

static void *pass_often(void *unused)
{
    pass(200000);
    return unused;
}

static void change(void)
{
    check();
    first++;
    atomic_signal_fence(memory_order_seq_cst);
    second++;
    closings++;
}

static void *close_often(void *unused)
{
    for (int i = 0; i < 5000; i++) {
        if (!gate_lock(LONG))
            return unused;
        change();
        gp_gate_unlock();
    }
    return unused;
}

/* With limits that are sometimes too short. */
static void *queue_often(void *unused)
{
    for (int i = 0; i < 5000; i++) {
        gp_gate_queue();
        bool closed = gate_lock_queued(1e-8 * i);
        if (closed)
            change();
        gp_gate_unlock_queued(closed);
    }
    return unused;
}

static void *pass_a_few_times(void *unused)
{
    pass(100);
    return unused;
}

/* Threads come and go. */
static void *start_often(void *unused)
{
    for (int i = 0; i < 200; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, pass_a_few_times, NULL) == 0)
            pthread_join(thread, NULL);
    }
    return unused;
}

static void a_closed_gate_is_passed_by_nobody(void **state)
{
    (void)state;
    void *(*const bodies[])(void *) = {share_often, pass_often,  pass_often, start_often,
                                       close_often, close_often, queue_often};
    pthread_t threads[sizeof(bodies) / sizeof(bodies[0])];
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        threads[i] = start(bodies[i], NULL);
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        join(threads[i]);
    assert_false(atomic_load(&overlapped));
    assert_int_equal(first, second);
    assert_int_equal(first, closings);
    assert_true(closings >= 10000);
}

/* Stores into memory that no cache has hold up the store behind them, which is that of passing. */
static void store_slowly(void)
{
    static char far[1 << 26];
    static size_t at;
    for (int i = 0; i < 8; i++)
        far[at = (at + 8256) % sizeof(far)] = 1;
}

static void *pass_until(void *enough)
{
    while (!atomic_load((atomic_bool *)enough)) {
        store_slowly();
        gp_gate_enter_cancellable();
        check();
        gp_gate_leave_cancellable();
    }
    return NULL;
}

/* One against one, on processors of their own: a store that is seen too late shows here, sooner or
 * later. */
static void a_closed_gate_is_passed_by_nobody_however_often(void **state)
{
    (void)state;
    atomic_bool enough = false;
    pthread_t passes = start(pass_until, &enough);
    unsigned long before = closings;
    /* The order of stores is for the build without sanitizers, which are slow and see none. */
    const int times = SANITIZED ? 4000 : 16000;
    for (int i = 0; i < times; i++) {
        assert_true(gate_lock(LONG));
        change();
        gp_gate_unlock();
        for (volatile int j = 0; j < i * 7 % 20000; j++)
            ; /* it comes back, and passes an open gate */
    }
    atomic_store(&enough, true);
    join(passes);
    assert_false(atomic_load(&overlapped));
    assert_int_equal(closings - before, times);
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* A thread that is inside until it is to leave. */
static sem_t came_in, may_leave;

static void *stay(void *unused)
{
    gp_gate_enter();
    sem_post(&came_in);
    sem_wait(&may_leave);
    gp_gate_leave();
    return unused;
}

static atomic_int went_in;

static void *go_in(void *unused)
{
    gp_gate_enter_cancellable();
    atomic_fetch_add(&went_in, 1);
    gp_gate_leave_cancellable();
    return unused;
}

static void a_thread_that_stays_is_not_waited_for_without_end(void **state)
{
    (void)state;
    pthread_t inside = start(stay, NULL);
    sem_wait(&came_in);
    assert_false(gate_lock(SHORT));
    join(start(go_in, NULL)); /* as if nobody had tried */

    gp_gate_queue();
    bool closed = gate_lock_queued(SHORT);
    assert_false(closed);
    if (!nameless) /* they queue with those that close */
        join(start(go_in, NULL));
    gp_gate_unlock_queued(closed);
    gp_gate_enter();
    gp_gate_leave();

    sem_post(&may_leave);
    join(inside);
    close_and_open();
}

static void a_closed_gate_is_passed_when_it_is_open_again(void **state)
{
    (void)state;
    pthread_t threads[4];
    atomic_store(&went_in, 0);
    assert_true(gate_lock(LONG));
    for (int i = 0; i < 4; i++)
        threads[i] = start(go_in, NULL);
    wait_for_threads_at_the_gate(4);
    assert_int_equal(atomic_load(&went_in), 0);
    gp_gate_unlock();
    for (int i = 0; i < 4; i++)
        join(threads[i]);
    assert_int_equal(atomic_load(&went_in), 4);
    close_and_open();
}

static void *close_once(void *went_in_before)
{
    if (gate_lock(LONG)) {
        *(int *)went_in_before = atomic_load(&went_in);
        gp_gate_unlock();
    }
    return NULL;
}

/* Goes in again and again, until it is held up there by the one that wants to close. */
static void *go_in_until(void *enough)
{
    while (!atomic_load((atomic_bool *)enough))
        go_in(NULL);
    return NULL;
}

static void a_closing_thread_comes_before_later_ones(void **state)
{
    (void)state;
    if (nameless)
        skip(); /* the waiting thread cannot be seen */
    int went_in_before = -1;
    atomic_bool enough = false;
    pthread_t inside = start(stay, NULL);
    sem_wait(&came_in);
    pthread_t closer = start(close_once, &went_in_before);
    pthread_t later = start(go_in_until, &enough);
    wait_for_threads_at_the_gate(1);
    int before = atomic_load(&went_in);
    sem_post(&may_leave);
    join(inside);
    join(closer);
    assert_int_equal(went_in_before, before);
    atomic_store(&enough, true);
    join(later);
}

/* However quickly it is closed again. */
static void a_waiting_thread_goes_in_between_two_closings(void **state)
{
    (void)state;
    if (nameless)
        skip();
    for (int i = 0; i < 100; i++) {
        atomic_store(&went_in, 0);
        assert_true(gate_lock(LONG));
        pthread_t waiting = start(go_in, NULL);
        wait_for_threads_at_the_gate(1);
        gp_gate_unlock();
        assert_true(gate_lock(LONG));
        assert_int_equal(atomic_load(&went_in), 1);
        gp_gate_unlock();
        join(waiting);
    }
}

/* A signal's handler calls the driver, or a tool in a callback of the driver's. */
struct closing {
    atomic_int thread; /* its number, once it is about to queue */
    atomic_bool had;
};

static void *close_in_order(void *argument)
{
    struct closing *closing = argument;
    atomic_store(&closing->thread, (int)syscall(SYS_gettid));
    assert_true(gate_lock(LONG));
    atomic_store(&closing->had, true);
    gp_gate_unlock();
    return NULL;
}

static bool sleeps(int thread)
{
    char path[64], line[256] = "", state = 0;
    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", thread);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    if (fgets(line, sizeof(line), file) && strrchr(line, ')'))
        state = strrchr(line, ')')[2];
    fclose(file);
    return state == 'S';
}

/* Else a thread that closes it again and again would be quicker than one that was woken. */
static void a_thread_that_waits_to_close_comes_before_later_ones(void **state)
{
    (void)state;
    struct closing closing = {0};
    assert_true(gate_lock(LONG));
    pthread_t thread = start(close_in_order, &closing);
    while (!atomic_load(&closing.thread) || !sleeps(atomic_load(&closing.thread)))
        nap();
    gp_gate_unlock();
    assert_true(gate_lock(LONG));
    assert_true(atomic_load(&closing.had));
    gp_gate_unlock();
    join(thread);
}

static void a_thread_inside_passes_and_does_not_wait_for_itself(void **state)
{
    (void)state;
    int went_in_before = -1;
    atomic_store(&went_in, 0);
    gp_gate_enter();
    pthread_t closer = start(close_once, &went_in_before);
    for (int i = 0; i < 100; i++) {
        go_in(NULL);
        nap();
    }
    gp_gate_leave();
    join(closer);
    assert_int_equal(went_in_before, 100);

    gp_gate_enter_cancellable();
    assert_false(gate_lock(LONG));
    gp_gate_leave_cancellable();
    close_and_open();
}

/* ---- threads that end ------------------------------------------------------------------------ */

static void *stay_for_ever(void *unused)
{
    gp_gate_enter_cancellable();
    sem_post(&came_in);
    for (;;)
        pause();
    return unused;
}

static void *work_for_ever(void *unused)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    gp_gate_enter_cancellable();
    sem_post(&came_in);
    for (;;)
        ;
    return unused;
}

static void *end_inside(void *unused)
{
    gp_gate_enter_cancellable();
    sem_post(&came_in);
    sem_wait(&may_leave);
    pthread_exit(unused);
}

static void end_thread(pthread_t thread, bool cancel)
{
    if (cancel)
        assert_int_equal(pthread_cancel(thread), 0);
    else
        sem_post(&may_leave);
    assert_ptr_equal(join(thread), cancel ? PTHREAD_CANCELED : NULL);
}

/* Whether or not somebody is waiting for the thread by then. */
static void end_before_and_after(void *(*body)(void *), bool cancel)
{
    pthread_t ends = start(body, NULL);
    sem_wait(&came_in);
    end_thread(ends, cancel);
    close_and_open();

    int unused;
    atomic_bool enough = false;
    ends = start(body, NULL);
    sem_wait(&came_in);
    pthread_t closer = start(close_once, &unused), later = start(go_in_until, &enough);
    wait_for_threads_at_the_gate(1);
    end_thread(ends, cancel);
    join(closer);
    atomic_store(&enough, true);
    join(later);
    close_and_open();
}

static void a_thread_cancelled_inside_has_left(void **state)
{
    (void)state;
    if (nameless)
        skip(); /* it is cancelled only when it leaves */
    end_before_and_after(stay_for_ever, true);
    end_before_and_after(work_for_ever, true);
}

static void a_thread_that_ends_inside_has_left(void **state)
{
    (void)state;
    if (nameless)
        skip();
    end_before_and_after(end_inside, false);
}

static void *wait_at_the_gate(void *unused)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    return go_in(unused);
}

static void a_thread_cancelled_at_the_gate_is_not_waited_for(void **state)
{
    (void)state;
    if (nameless)
        skip();
    assert_true(gate_lock(LONG));
    pthread_t waiting = start(wait_at_the_gate, NULL);
    wait_for_threads_at_the_gate(1);
    assert_int_equal(pthread_cancel(waiting), 0);
    assert_ptr_equal(join(waiting), PTHREAD_CANCELED);
    gp_gate_unlock();
    close_and_open();
}

static atomic_bool noted;

static void *note(void *unused)
{
    (void)pthread_cancel(pthread_self());
    gp_gate_enter();
    pthread_testcancel();
    atomic_store(&noted, true);
    gp_gate_leave();
    pthread_testcancel();
    return unused;
}

static void a_thread_that_takes_notes_is_cancelled_afterwards(void **state)
{
    (void)state;
    assert_ptr_equal(join(start(note, NULL)), PTHREAD_CANCELED);
    assert_true(atomic_load(&noted));
    close_and_open();
}

static void *close_and_be_cancelled(void *unused)
{
    bool closed = gate_lock(LONG);
    (void)pthread_cancel(pthread_self());
    pthread_testcancel();
    if (closed)
        gp_gate_unlock();
    pthread_testcancel();
    return unused;
}

static void a_thread_that_has_it_closed_is_cancelled_afterwards(void **state)
{
    (void)state;
    assert_ptr_equal(join(start(close_and_be_cancelled, NULL)), PTHREAD_CANCELED);
    close_and_open();
}

static unsigned count_threads(void)
{
    unsigned count = 0;
    for (struct gp_thread *t = gp_threads(); t; t = t->next)
        count++;
    return count;
}

static void memory_of_an_ended_thread_is_used_again(void **state)
{
    (void)state;
    join(start(go_in, NULL));
    unsigned before = count_threads();
    for (int i = 0; i < 100; i++)
        join(start(go_in, NULL));
    assert_int_equal(count_threads(), before);
}

static pthread_key_t earlier, later;

static void go_in_at_the_end(void *unused)
{
    go_in(unused);
}

static void *go_in_now_and_at_the_end(void *unused)
{
    go_in(unused);
    pthread_setspecific(earlier, "");
    pthread_setspecific(later, "");
    return unused;
}

static void calls_at_the_end_of_a_thread_may_still_pass(void **state)
{
    (void)state;
    if (nameless)
        skip(); /* there are no keys */
    atomic_store(&went_in, 0);
    for (int i = 0; i < 10; i++)
        join(start(go_in_now_and_at_the_end, NULL));
    assert_int_equal(atomic_load(&went_in), 30);
    close_and_open();
}

/* ---- all of it again ------------------------------------------------------------------------- */

/* As on a kernel that has no membarrier, or in a sandbox without it. */
static bool lose_membarrier(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 38),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]), .filter = filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* So that no thread can have memory of its own. */
static void use_up_keys(void)
{
    pthread_key_t key;
    while (pthread_key_create(&key, NULL) == 0)
        ;
    nameless = true;
}

static int run_again(const char *how)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        /* Its lines are none of TAP: they are not this process's tests. */
        setenv("CMOCKA_MESSAGE_OUTPUT", "STDOUT", 1);
        execl("/proc/self/exe", "test_gate", how, NULL);
        _exit(UNSUPPORTED);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void without_membarrier_it_is_the_same(void **state)
{
    (void)state;
    int status = run_again("without membarrier");
    if (status == UNSUPPORTED) {
        print_message("skipped: the system has no filter of system calls\n");
        skip();
    }
    assert_int_equal(status, 0);
}

static void without_memory_for_threads_it_is_the_same(void **state)
{
    (void)state;
    assert_int_equal(run_again("without memory"), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_closed_gate_is_passed_by_nobody),
        cmocka_unit_test(a_closed_gate_is_passed_by_nobody_however_often),
        cmocka_unit_test(a_thread_that_stays_is_not_waited_for_without_end),
        cmocka_unit_test(a_closed_gate_is_passed_when_it_is_open_again),
        cmocka_unit_test(a_closing_thread_comes_before_later_ones),
        cmocka_unit_test(a_waiting_thread_goes_in_between_two_closings),
        cmocka_unit_test(a_thread_that_waits_to_close_comes_before_later_ones),
        cmocka_unit_test(a_thread_inside_passes_and_does_not_wait_for_itself),
        cmocka_unit_test(a_thread_cancelled_inside_has_left),
        cmocka_unit_test(a_thread_that_ends_inside_has_left),
        cmocka_unit_test(a_thread_cancelled_at_the_gate_is_not_waited_for),
        cmocka_unit_test(a_thread_that_takes_notes_is_cancelled_afterwards),
        cmocka_unit_test(a_thread_that_has_it_closed_is_cancelled_afterwards),
        cmocka_unit_test(memory_of_an_ended_thread_is_used_again),
        cmocka_unit_test(calls_at_the_end_of_a_thread_may_still_pass),
        /* The tests above run again, in another process. */
        cmocka_unit_test(without_membarrier_it_is_the_same),
        cmocka_unit_test(without_memory_for_threads_it_is_the_same),
    };
    const char *how = argc > 1 ? argv[1] : "";
    sem_init(&came_in, 0, 0);
    sem_init(&may_leave, 0, 0);
    if (strcmp(how, "without membarrier") == 0 && !lose_membarrier())
        return UNSUPPORTED;
    if (strcmp(how, "without memory") == 0)
        use_up_keys();
    else if (pthread_key_create(&earlier, go_in_at_the_end) != 0)
        return 1;
    close_and_open(); /* the gate's own key is made */
    gp_gate_enter();
    gp_gate_leave();
    if (!nameless && pthread_key_create(&later, go_in_at_the_end) != 0)
        return 1;
    const size_t count = sizeof(tests) / sizeof(tests[0]) - (*how ? 2 : 0);
    return _cmocka_run_group_tests(*how ? how : "gate", tests, count, NULL, NULL);
}
