/* launch/parameters and launch/verify_schedule, on a driver of two functions made here. */
#include "launch/inside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define FUNCTION ((CUfunction)(uintptr_t)1)
#define KERNEL ((CUfunction)(uintptr_t)2) /* a CUkernel in disguise */

/* An int, a gap, a pointer, a struct of 12 bytes. */
static const struct gp_parameter parameters[] = {{0, 4}, {8, 8}, {16, 12}};
static unsigned char bytes[GP_MOST_PARAMETER_BYTES];
static size_t parameter_count;
static unsigned asked;

static CUresult info(size_t index, size_t *offset, size_t *size)
{
    asked++;
    if (index >= parameter_count)
        return CUDA_ERROR_INVALID_VALUE;
    *offset = parameters[index].offset;
    *size = parameters[index].size;
    return CUDA_SUCCESS;
}

static CUresult fake_function(CUfunction f, size_t index, size_t *offset, size_t *size)
{
    return f == FUNCTION ? info(index, offset, size) : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult fake_kernel(CUkernel k, size_t index, size_t *offset, size_t *size)
{
    return (CUfunction)k == KERNEL ? info(index, offset, size) : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult fake_endless(CUfunction f, size_t index, size_t *offset, size_t *size)
{
    (void)f;
    *offset = index;
    *size = 1;
    return CUDA_SUCCESS;
}

static int begin(void **state)
{
    (void)state;
    gp_cuda.cuFuncGetParamInfo = fake_function;
    gp_cuda.cuKernelGetParamInfo = fake_kernel;
    parameter_count = 3;
    memset(bytes, 0xaa, sizeof(bytes)); /* of a launch before */
    asked = 0;
    return 0;
}

static void parameters_are_laid_out_as_the_device_sees_them(void **state)
{
    (void)state;
    static CUfunction const handles[] = {FUNCTION, KERNEL};
    for (int i = 0; i < 2; i++) {
        struct gp_parameter_layout layout = {0};
        int number = 5;
        uint64_t pointer = 0x7f0011223344;
        char text[12] = "hello world";
        void *arguments[] = {&number, &pointer, text};
        struct gp_launch call = {.function = handles[i], .parameters = arguments};
        size_t size;
        parameter_layout_ask(&layout, handles[i], handles[i]);
        assert_true(parameters_read(&call, &layout, bytes, &size));
        assert_int_equal(size, 28);
        assert_memory_equal(bytes, &number, 4);
        assert_memory_equal(bytes + 4, "\0\0\0\0", 4);
        assert_memory_equal(bytes + 8, &pointer, 8);
        assert_memory_equal(bytes + 16, text, 12);
        unsigned before = asked;
        parameter_layout_ask(&layout, handles[i], handles[i]);
        assert_int_equal(asked, before); /* once is enough */
        arguments[1] = NULL;
        assert_false(parameters_read(&call, &layout, bytes, &size));
        call.parameters = NULL;
        assert_false(parameters_read(&call, &layout, bytes, &size));
        parameter_layout_free(&layout);
    }
}

static void a_kernel_without_parameters_has_none(void **state)
{
    (void)state;
    struct gp_parameter_layout layout = {0};
    struct gp_launch call = {.function = FUNCTION};
    size_t size = 99;
    parameter_count = 0;
    parameter_layout_ask(&layout, FUNCTION, FUNCTION);
    assert_true(parameters_read(&call, &layout, bytes, &size));
    assert_int_equal(size, 0);
    parameter_layout_free(&layout);
}

static void a_driver_that_does_not_tell_leaves_them_unknown(void **state)
{
    (void)state;
    struct gp_parameter_layout layout = {0};
    void *arguments[] = {NULL};
    struct gp_launch call = {.function = FUNCTION, .parameters = arguments};
    size_t size;
    gp_cuda.cuFuncGetParamInfo = NULL;
    gp_cuda.cuKernelGetParamInfo = NULL;
    parameter_layout_ask(&layout, FUNCTION, FUNCTION);
    assert_false(parameters_read(&call, &layout, bytes, &size));
    parameter_layout_free(&layout);
}

static void a_driver_that_never_ends_is_not_believed(void **state)
{
    (void)state;
    struct gp_parameter_layout layout = {0};
    void *arguments[] = {NULL};
    struct gp_launch call = {.function = FUNCTION, .parameters = arguments};
    size_t size;
    gp_cuda.cuFuncGetParamInfo = fake_endless;
    parameter_layout_ask(&layout, FUNCTION, FUNCTION);
    assert_false(parameters_read(&call, &layout, bytes, &size));
    parameter_layout_free(&layout);
}

static void a_block_of_the_programs_own_is_taken_as_it_is(void **state)
{
    (void)state;
    struct gp_parameter_layout layout = {0};
    char block[20] = "parameters in a row";
    size_t size = sizeof(block), got;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_BUFFER_POINTER, block,
                     CU_LAUNCH_PARAM_END};
    struct gp_launch call = {.function = FUNCTION, .extra = extra};
    assert_true(parameters_read(&call, &layout, bytes, &got));
    assert_int_equal(got, sizeof(block));
    assert_memory_equal(bytes, block, sizeof(block));
    size = GP_MOST_PARAMETER_BYTES + 1; /* more than CUDA allows */
    assert_false(parameters_read(&call, &layout, bytes, &got));
    size = 0;
    extra[3] = NULL;
    assert_true(parameters_read(&call, &layout, bytes, &got));
    assert_int_equal(got, 0);
    extra[0] = (void *)(uintptr_t)77; /* unknown */
    assert_false(parameters_read(&call, &layout, bytes, &got));
}

static bool launch_verified(struct gp_verify_schedule *schedule, const unsigned grid[3])
{
    bool verified = verify_is_due(schedule, grid);
    verify_count(schedule, grid);
    return verified;
}

static void a_kernel_is_watched_at_first_and_now_and_then(void **state)
{
    (void)state;
    struct gp_verify_schedule schedule = {0};
    const unsigned grid[3] = {1, 1, 1};
    static const unsigned expected[] = {1, 2, 3, 10, 30, 100, 300, 1000, 3000, 10000};
    size_t next = 0;
    for (unsigned launch = 1; launch <= 20000; launch++) {
        if (launch_verified(&schedule, grid)) {
            assert_true(next < sizeof(expected) / sizeof(expected[0]));
            assert_int_equal(launch, expected[next]);
            next++;
        }
    }
    assert_int_equal(next, sizeof(expected) / sizeof(expected[0]));
}

static void a_new_grid_is_watched_a_few_times(void **state)
{
    (void)state;
    struct gp_verify_schedule schedule = {0};
    unsigned verified = 0;
    for (unsigned launch = 1; launch <= 9; launch++) {
        const unsigned grid[3] = {launch % 2, 1, 1};
        verified += launch_verified(&schedule, grid);
    }
    assert_int_equal(verified, 3 + 5);
}

/* It was not copied for, or did not end. */
static void a_launch_that_did_not_count_is_verified_again(void **state)
{
    (void)state;
    struct gp_verify_schedule schedule = {0};
    const unsigned grid[3] = {1, 1, 1};
    for (int i = 0; i < 10; i++)
        assert_true(verify_is_due(&schedule, grid));
    for (int i = 0; i < 9; i++)
        verify_count(&schedule, grid);
    for (int i = 0; i < 10; i++)
        assert_true(verify_is_due(&schedule, grid));
    verify_count(&schedule, grid);
    assert_false(verify_is_due(&schedule, grid));
}

static void a_failed_verification_stays_so(void **state)
{
    (void)state;
    struct gp_verify_schedule schedule = {0};
    const unsigned grid[3] = {1, 1, 1};
    schedule.broken = true;
    verify_count(&schedule, grid);
    assert_true(schedule.broken);
}

static bool is_pretended_address(const void *data, size_t at, uint64_t value)
{
    (void)at;
    return value - *(const uint64_t *)data < 0x10000;
}

static uint64_t data_words; /* of work_of */

static uint64_t work_of(uint64_t first, uint64_t second, uint32_t last)
{
    const uint64_t memory = 0x7f0000000000;
    struct {
        uint64_t first, second;
        uint32_t last;
    } parameters = {first, second, last};
    return parameters_hash_work(&parameters, 20, is_pretended_address, &memory, data_words);
}

static uint64_t work_on(uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t memory = 0x7f0000000000;
    const uint64_t parameters[] = {a, b, c};
    return parameters_hash_work(parameters, sizeof(parameters), is_pretended_address, &memory, 0);
}

static void work_depends_on_the_addresses_that_lead_to_the_same_data(void **state)
{
    (void)state;
    const uint64_t base = 0x7f0000001000, other = base + 0x400, last = base + 0x800;
    const uint64_t apart = work_on(base, other, last);
    assert_int_equal(work_on(last, base, other), apart);
    assert_int_equal(work_on(base + 0x2000, other, last), apart);
    const uint64_t same = work_on(base, base, last);
    assert_int_not_equal(same, apart);
    assert_int_equal(work_on(other, other, base), same);
    assert_int_not_equal(work_on(base, other, base), same);
    assert_int_not_equal(work_on(base, other, base), apart);
    assert_int_not_equal(work_on(base, base, base), same);
    assert_int_not_equal(work_on(base, base + 4, last), work_on(base, other + 4, last));
    assert_int_not_equal(work_on(base + 4, base, last), work_on(base, base + 4, last));
}

static void work_depends_on_numbers_and_on_the_alignment_of_addresses(void **state)
{
    (void)state;
    const uint64_t work = work_of(0x7f0000000100, 5, 7);
    assert_int_equal(work_of(0x7f0000000100, 5, 7), work);
    assert_int_equal(work_of(0x7f0000002100, 5, 7), work);
    assert_int_not_equal(work_of(0x7f0000002104, 5, 7), work);
    assert_int_not_equal(work_of(0x7f0000012100, 5, 7), work); /* no memory that it reaches */
    assert_int_not_equal(work_of(0x7f0000000100, 6, 7), work);
    assert_int_not_equal(work_of(0x7f0000000100, 5, 8), work);
    assert_int_equal(parameters_hash_work(NULL, 0, is_pretended_address, NULL, 0), 0);
}

static void work_does_not_depend_on_words_that_are_data_only(void **state)
{
    (void)state;
    data_words = 0x1c; /* the second parameter's two, and the last one */
    const uint64_t work = work_of(0x7f0000000100, 5, 7);
    assert_int_equal(work_of(0x7f0000000100, UINT64_MAX, 8), work);
    assert_int_not_equal(work_of(0x7f0000000104, 5, 7), work);
    data_words = 0x8; /* the upper half alone */
    assert_int_equal(work_of(0x7f0000000100, 5 + (UINT64_C(9) << 32), 7),
                     work_of(0x7f0000000100, 5, 7));
    assert_int_not_equal(work_of(0x7f0000000100, 6, 7), work_of(0x7f0000000100, 5, 7));
    assert_int_not_equal(work_of(0x7f0000000100, 5, 8), work_of(0x7f0000000100, 5, 7));
    data_words = 0;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, begin)
    const struct CMUnitTest tests[] = {
        TEST(parameters_are_laid_out_as_the_device_sees_them),
        TEST(a_kernel_without_parameters_has_none),
        TEST(a_driver_that_does_not_tell_leaves_them_unknown),
        TEST(a_driver_that_never_ends_is_not_believed),
        TEST(a_block_of_the_programs_own_is_taken_as_it_is),
        TEST(work_depends_on_the_addresses_that_lead_to_the_same_data),
        TEST(work_depends_on_numbers_and_on_the_alignment_of_addresses),
        TEST(work_does_not_depend_on_words_that_are_data_only),
        TEST(a_kernel_is_watched_at_first_and_now_and_then),
        TEST(a_new_grid_is_watched_a_few_times),
        TEST(a_launch_that_did_not_count_is_verified_again),
        TEST(a_failed_verification_stays_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
