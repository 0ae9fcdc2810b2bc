/* launch/sampling: which launches are taken, by many threads and beyond all bounds; launches of
 * functions that come and go. The driver is a pretended one. */
#include "base/sample.h"
#include "launch/inside.h"
#include "launch/kernels.h"
#include "launch/selection.h"

#include "base/log.h"
#include "gate/gate.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A function's handle is its name here, a context's its device. */
static _Thread_local intptr_t current_device;

static CUresult CUDAAPI get_current(CUcontext *context)
{
    *context = (CUcontext)(current_device + 1);
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI get_device(CUdevice *device)
{
    *device = (int)current_device;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI get_name(const char **name, CUfunction function)
{
    *name = (const char *)function;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI count_devices(int *count)
{
    *count = 2;
    return CUDA_SUCCESS;
}

static int pretend_driver(void **state)
{
    (void)state;
    gp_cuda.cuCtxGetCurrent = get_current;
    gp_cuda.cuCtxGetDevice = get_device;
    gp_cuda.cuDeviceGetCount = count_devices;
    gp_cuda.cuFuncGetName = get_name;
    return 0;
}

static void sample(const char *text)
{
    struct gp_sample rule = {0};
    if (*text)
        assert_true(gp_sample_parse(text, &rule));
    sampling_start(&rule);
}

static struct gp_launch call_of(const char *name)
{
    return (struct gp_launch){.function = (CUfunction)name, .grid = {8, 1, 1}, .block = {32, 1, 1}};
}

static unsigned taken(const struct gp_launch *call, unsigned launches)
{
    unsigned taken = 0;
    for (unsigned i = 0; i < launches; i++)
        taken += (gp_sampling_chooses(call, true, NULL) == GP_MEASURED);
    return taken;
}

struct sum {
    const char *kernel;
    uint64_t launches;
    unsigned configurations;
};

static void add_count(void *user, const struct gp_count *count)
{
    struct sum *sum = user;
    if (strcmp(count->kernel, sum->kernel) != 0 || count->reason.cause)
        return;
    sum->launches += count->launches;
    sum->configurations++;
}

static struct sum counted(const char *kernel)
{
    struct sum sum = {.kernel = kernel};
    tallies_visit(add_count, &sum);
    return sum;
}

static void every_launch_is_taken_without_a_rule(void **state)
{
    (void)state;
    struct gp_launch call = call_of("plain");
    assert_int_equal(taken(&call, 1000), 1000);
    assert_int_equal(counted("plain").launches, 1000);
}

static void each_configuration_is_sampled_by_itself(void **state)
{
    (void)state;
    sample("first:3,every:100");
    struct gp_launch call = call_of("shapes"), other = call_of("shapes2");
    assert_int_equal(taken(&call, 203), 5);
    assert_int_equal(taken(&other, 10), 3);
    call.grid[2] = 2;
    assert_int_equal(taken(&call, 10), 3);
    call.block[1] = 2;
    assert_int_equal(taken(&call, 10), 3);
    call.cluster[0] = 2;
    assert_int_equal(taken(&call, 10), 3);
    call.shared_dynamic = 1;
    assert_int_equal(taken(&call, 10), 3);
    current_device = 1;
    assert_int_equal(taken(&call, 10), 3);
    current_device = 0;
    assert_int_equal(taken(&call, 10), 0);
    assert_int_equal(counted("shapes").launches, 263);
    assert_int_equal(counted("shapes").configurations, 6);
    assert_int_equal(counted("shapes2").launches, 10);
}

/* Only launches that differ in their grid alone stand for each other, as in a row of a report. */
static void other_blocks_and_devices_are_no_relatives(void **state)
{
    (void)state;
    struct gp_configuration c = {.grid = {8, 1, 1}, .block = {32, 1, 1}};
    const struct gp_relatives *const relatives = tally_of_kernel("family", 0, &c)->worth.relatives;
    assert_non_null(relatives);
    c.grid[1] = 7;
    assert_ptr_equal(tally_of_kernel("family", 0, &c)->worth.relatives, relatives);
    assert_ptr_not_equal(tally_of_kernel("family", 1, &c)->worth.relatives, relatives);
    c.shared_dynamic = 1024;
    assert_ptr_not_equal(tally_of_kernel("family", 0, &c)->worth.relatives, relatives);
    c.shared_dynamic = 0;
    c.block[0] = 64;
    assert_ptr_not_equal(tally_of_kernel("family", 0, &c)->worth.relatives, relatives);
}

static void launches_that_are_taken_have_turns(void **state)
{
    (void)state;
    sample("first:2,every:2");
    struct gp_launch call = call_of("turns");
    uint64_t expected = 0;
    for (int i = 0; i < 20; i++) {
        uint64_t turn = 77;
        if ((gp_sampling_chooses(&call, true, &turn) == GP_MEASURED))
            assert_int_equal(turn, expected++);
        else
            assert_int_equal(turn, 77);
    }
    assert_int_equal(expected, 2 + 9);
}

static void a_handle_may_come_back_as_another_functions(void **state)
{
    (void)state;
    sample("first:3");
    char handle[] = "before";
    struct gp_launch call = call_of(handle);
    assert_int_equal(taken(&call, 10), 3);
    gp_kernels_forget(NULL, false);
    strcpy(handle, "after");
    assert_int_equal(taken(&call, 7), 3);
    gp_kernels_forget(NULL, false);
    strcpy(handle, "before");
    assert_int_equal(taken(&call, 5), 0);
    assert_int_equal(counted("before").launches, 15);
    assert_int_equal(counted("after").launches, 7);
}

#define THREADS 8
#define ROUNDS 5000
static pthread_barrier_t together;

static void *launch_often(void *count)
{
    struct gp_launch call = call_of("threads");
    gp_gate_enter();
    gp_gate_leave();
    pthread_barrier_wait(&together);
    for (unsigned i = 0; i < ROUNDS; i++) {
        call.grid[0] = 1 + i % 4;
        *(unsigned *)count +=
            !sampling_leaves_out(&call) && (gp_sampling_chooses(&call, true, NULL) == GP_MEASURED);
        if (i % 1000 == 999)
            sampling_forget();
    }
    return NULL;
}

static void no_launch_is_lost_between_threads(void **state)
{
    (void)state;
    sample("first:3,every:100");
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
    assert_int_equal(taken, 4 * (3 + (THREADS * ROUNDS / 4 - 3) / 100));
    assert_int_equal(counted("threads").launches, THREADS * ROUNDS);
    assert_int_equal(counted("threads").configurations, 4);
}

/* As many groups as a training has. */
#define GROUPS 1000
#define ROUNDS_OF_GROUPS 2000

static void under_a_limit_few_launches_are_asked_for(void **state)
{
    struct gp_launch call = call_of("limited");
    unsigned asked = 0;
    (void)state;
    sample("");
    limit_start(&(struct gp_overhead){.kind = GP_OVERHEAD_SECONDS, .amount = 1e-9});
    gp_gate_enter();
    gp_gate_leave();
    for (unsigned i = 0; i < ROUNDS_OF_GROUPS; i++) {
        for (unsigned g = 0; g < GROUPS; g++) {
            call.grid[0] = 1 + g;
            if (sampling_leaves_out(&call))
                continue;
            assert_int_equal(gp_sampling_chooses(&call, true, NULL), GP_ONLY_COUNTED);
            asked++;
        }
    }
    limit_start(&(struct gp_overhead){.kind = GP_OVERHEAD_NONE});
    /* Nothing can be paid for: four of each group at first, and then ever fewer. */
    assert_in_range(asked, 4 * GROUPS, 64 * GROUPS);
    assert_int_equal(counted("limited").launches, ROUNDS_OF_GROUPS * GROUPS);
    assert_int_equal(counted("limited").configurations, GROUPS);
}

static void launches_that_a_rule_leaves_out_take_one_look_up(void **state)
{
    struct gp_launch call = call_of("ruled");
    unsigned asked = 0, taken = 0;
    (void)state;
    sample("first:1,every:100");
    for (unsigned i = 0; i < 300; i++) {
        for (unsigned g = 0; g < GROUPS; g++) {
            call.grid[0] = 1 + g;
            if (sampling_leaves_out(&call))
                continue;
            asked++;
            taken += gp_sampling_chooses(&call, true, NULL) == GP_MEASURED;
        }
    }
    assert_int_equal(taken, GROUPS * (1 + 2));
    assert_int_equal(asked, taken + GROUPS); /* the first one that is left out enters the group */
    assert_int_equal(counted("ruled").launches, 300 * GROUPS);
    sample("");
}

static char *log_text(const char *path)
{
    static char text[4096];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    fclose(f);
    return text;
}

/* The last one: nothing is counted apart from then on. */
static void beyond_the_bound_they_share_a_count(void **state)
{
    (void)state;
    char path[] = "/tmp/gpuprof-test-sampling-XXXXXX";
    close(mkstemp(path));
    assert_int_equal(gp_log_open(path), 0);
    sample("first:3");
    struct gp_launch call = call_of("many");
    unsigned count = 0;
    for (unsigned i = 1; i <= GP_MAX_TALLIES + 1000; i++) {
        call.grid[0] = i;
        count += (gp_sampling_chooses(&call, true, NULL) == GP_MEASURED);
    }
    struct sum sum = counted("many");
    assert_in_range(sum.configurations, GP_MAX_TALLIES - 2 * GROUPS - 100, GP_MAX_TALLIES);
    assert_int_equal(sum.launches, sum.configurations);
    assert_int_equal(count, sum.configurations + 3);
    /* Configurations that have a count keep it. */
    call.grid[0] = 1;
    assert_int_equal(taken(&call, 5), 2);
    const char *said = log_text(path);
    assert_non_null(strstr(said, "more than 65536 kernels and launch configurations"));
    assert_ptr_equal(strchr(said, '\n') + 1, said + strlen(said));
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_launch_is_taken_without_a_rule),
        cmocka_unit_test(each_configuration_is_sampled_by_itself),
        cmocka_unit_test(other_blocks_and_devices_are_no_relatives),
        cmocka_unit_test(launches_that_are_taken_have_turns),
        cmocka_unit_test(a_handle_may_come_back_as_another_functions),
        cmocka_unit_test(no_launch_is_lost_between_threads),
        cmocka_unit_test(under_a_limit_few_launches_are_asked_for),
        cmocka_unit_test(launches_that_a_rule_leaves_out_take_one_look_up),
        cmocka_unit_test(beyond_the_bound_they_share_a_count),
    };
    return cmocka_run_group_tests(tests, pretend_driver, NULL);
}
