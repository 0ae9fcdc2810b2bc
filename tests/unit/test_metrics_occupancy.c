/* metrics/occupancy and metrics/peaks on devices whose numbers are known. */
#include "metrics/occupancy.h"
#include "metrics/peaks.h"

#include "h200.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* One of the two chips of a K80. */
static const struct gp_device k80 = {
    .cc_major = 3,
    .cc_minor = 7,
    .sm_count = 13,
    .clock_khz = 823500,
    .memory_clock_khz = 2505000,
    .memory_bus_bits = 384,
    .sp_dp_ratio = 3,
    .warp_size = 32,
    .max_threads_per_sm = 2048,
    .max_blocks_per_sm = 16,
    .max_threads_per_block = 1024,
    .registers_per_sm = 131072,
    .registers_per_block = 65536,
    .shared_per_sm = 114688,
    .shared_per_block = 49152,
};

static const struct gp_device a6000 = {
    .cc_major = 8,
    .cc_minor = 6,
    .sm_count = 84,
    .warp_size = 32,
    .max_threads_per_sm = 1536,
    .max_blocks_per_sm = 16,
    .max_threads_per_block = 1024,
    .registers_per_sm = 65536,
    .registers_per_block = 65536,
    .shared_per_sm = 102400,
    .shared_per_block = 49152,
    .shared_per_block_optin = 101376,
    .reserved_shared_per_block = 1024,
};

struct kernel {
    unsigned threads, registers, shared_static, shared_dynamic;
};

static void has(const struct gp_device *device, struct kernel kernel, int warps,
                const char *limiter)
{
    const struct gp_record launch = {
        .grid = {1000, 1, 1},
        .block = {kernel.threads, 1, 1},
        .registers = kernel.registers,
        .shared_static = kernel.shared_static,
        .shared_dynamic = kernel.shared_dynamic,
        .shared_carveout = -1,
    };
    struct gp_occupancy o;
    char why[256] = "";
    if (!gp_occupancy_of(device, &launch, &o, why, sizeof(why)))
        fail_msg("%s", why);
    assert_int_equal(o.warps_per_sm, warps);
    assert_string_equal(o.limiter, limiter);
    assert_true(o.ratio == (double)warps / o.max_warps_per_sm);
}

static void is_absent(struct gp_device device, struct gp_record launch, const char *reason)
{
    struct gp_occupancy o;
    char why[256] = "";
    assert_false(gp_occupancy_of(&device, &launch, &o, why, sizeof(why)));
    assert_string_equal(why, reason);
}

static void vector_add_on_h200_by_block_size(void **state)
{
    (void)state;
    has(&h200, (struct kernel){32, 16, 0, 0}, 32, "blocks");
    has(&h200, (struct kernel){64, 16, 0, 0}, 64, "threads/warps and blocks");
    has(&h200, (struct kernel){128, 16, 0, 0}, 64, "threads/warps");
    has(&h200, (struct kernel){1024, 16, 0, 0}, 64, "threads/warps");
}

static void vector_add_on_k80_by_block_size(void **state)
{
    (void)state;
    has(&k80, (struct kernel){32, 16, 0, 0}, 16, "blocks");
    has(&k80, (struct kernel){64, 16, 0, 0}, 32, "blocks");
    has(&k80, (struct kernel){128, 16, 0, 0}, 64, "threads/warps and blocks");
    has(&k80, (struct kernel){1024, 16, 0, 0}, 64, "threads/warps");
}

static void a_shared_tile_kernel_on_a6000(void **state)
{
    (void)state;
    /* 1024 threads, 37 registers, 8 KiB of tiles: one block, 32 of 48 warps. */
    has(&a6000, (struct kernel){1024, 37, 8192, 0}, 32, "threads/warps and registers");
}

static void registers_limit(void **state)
{
    (void)state;
    has(&h200, (struct kernel){256, 128, 0, 0}, 16, "registers");
    has(&h200, (struct kernel){32, 255, 0, 0}, 8, "registers");
}

static void shared_memory_limits(void **state)
{
    (void)state;
    has(&h200, (struct kernel){256, 32, 40000, 0}, 40, "shared memory");
    has(&h200, (struct kernel){256, 32, 0, 100 * 1024}, 16, "shared memory");
    has(&h200, (struct kernel){256, 32, 0, 200 * 1024}, 8, "shared memory");
}

static void blocks_that_are_no_multiple_of_a_warp(void **state)
{
    (void)state;
    has(&h200, (struct kernel){33, 16, 0, 0}, 64, "threads/warps and blocks");
    has(&h200, (struct kernel){16, 16, 0, 0}, 32, "blocks");
}

static void unknown_values_are_absent(void **state)
{
    (void)state;
    struct gp_record launch = {.block = {32, 1, 1}, .registers = 16, .shared_carveout = -1};
    struct gp_device device = h200;
    device.registers_per_sm = 0;
    is_absent(device, launch, "device.registers_per_sm is not known");
    device = h200;
    device.cc_major = 99;
    is_absent(device, launch, "cuda_occupancy.h does not know compute capability 99.0");
    launch.registers = 0;
    is_absent(h200, launch, "launch.registers is not known");
    launch.registers = 255;
    launch.block[0] = 1024;
    is_absent(h200, launch, "cuda_occupancy.h finds no room for this block on the device");
    launch.block[0] = launch.block[1] = launch.block[2] = 1u << 31;
    is_absent(h200, launch, "cuda_occupancy.h finds no room for this block on the device");
}

static void peaks(const struct gp_device *device, double single, double dbl, double dram)
{
    char why[256] = "";
    double value;
    assert_true(gp_peak_flops(device, GP_SINGLE, &value, why, sizeof(why)));
    assert_true(fabs(value - single) < 1e-9 * single);
    assert_true(gp_peak_flops(device, GP_DOUBLE, &value, why, sizeof(why)));
    assert_true(fabs(value - dbl) < 1e-9 * dbl);
    assert_true(gp_peak_dram(device, &value, why, sizeof(why)));
    assert_true(fabs(value - dram) < 1e-9 * dram);
}

static void peaks_of_devices(void **state)
{
    (void)state;
    peaks(&h200, 132 * 128 * 2 * 1.98e9, 132 * 64 * 2 * 1.98e9, 2 * 6016 / 8 * 3.201e9);
    /* Half of the 8.222 TFLOP/s and 480.96 GB/s of the two chips. */
    peaks(&k80, 13 * 192 * 2 * 823.5e6, 13 * 64 * 2 * 823.5e6, 240.48e9);
}

static void half_precision_peaks(void **state)
{
    (void)state;
    char why[256] = "";
    double value;
    assert_true(gp_peak_flops(&h200, GP_HALF, &value, why, sizeof(why)));
    assert_true(value == 132.0 * 256 * 2 * 1.98e9);
    assert_false(gp_peak_flops(&k80, GP_HALF, &value, why, sizeof(why)));
    assert_string_equal(why, "the half precision peak of compute capability 3.7 is not known");
}

/* Results per clock cycle and SM, 0 where no source says. */
static int results_of(int major, int minor, enum gp_precision precision)
{
    char why[256] = "";
    double value = 0;
    const struct gp_device device = {
        .cc_major = major, .cc_minor = minor, .sm_count = 1, .clock_khz = 1};
    int known = gp_peak_flops(&device, precision, &value, why, sizeof(why));
    if (!known)
        assert_non_null(strstr(why, "is not known"));
    return known ? (int)(value / 2e3) : 0;
}

static void peaks_of_chips_after_the_first_of_their_kind(void **state)
{
    (void)state;
    static const int expected[][5] = {
        {8, 7, 0, 128, 2}, {10, 3, 0, 128, 2}, {11, 0, 0, 128, 2}, {12, 1, 128, 128, 2}};
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        const int *e = expected[i];
        assert_int_equal(results_of(e[0], e[1], GP_HALF), e[2]);
        assert_int_equal(results_of(e[0], e[1], GP_SINGLE), e[3]);
        assert_int_equal(results_of(e[0], e[1], GP_DOUBLE), e[4]);
    }
}

static void peaks_that_are_not_known_are_absent(void **state)
{
    (void)state;
    char why[256] = "";
    double value;
    struct gp_device device = h200;
    device.cc_major = 77;
    assert_false(gp_peak_flops(&device, GP_SINGLE, &value, why, sizeof(why)));
    assert_string_equal(why, "the single precision peak of compute capability 77.0 is not known");
    device = h200;
    device.clock_khz = 0;
    assert_false(gp_peak_flops(&device, GP_DOUBLE, &value, why, sizeof(why)));
    assert_string_equal(why, "device.clock_khz is not known");
    device.memory_clock_khz = 0;
    assert_false(gp_peak_dram(&device, &value, why, sizeof(why)));
    assert_string_equal(why, "device.memory_clock_khz is not known");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vector_add_on_h200_by_block_size),
        cmocka_unit_test(vector_add_on_k80_by_block_size),
        cmocka_unit_test(a_shared_tile_kernel_on_a6000),
        cmocka_unit_test(registers_limit),
        cmocka_unit_test(shared_memory_limits),
        cmocka_unit_test(blocks_that_are_no_multiple_of_a_warp),
        cmocka_unit_test(unknown_values_are_absent),
        cmocka_unit_test(peaks_of_devices),
        cmocka_unit_test(half_precision_peaks),
        cmocka_unit_test(peaks_of_chips_after_the_first_of_their_kind),
        cmocka_unit_test(peaks_that_are_not_known_are_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
