/* Advice on products of matrices in FP32: the rules tensor_cores, matrix_product and library_fp32,
 * with the code that nvcc made of tests/products/products.cu. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "beside.h"
#include "found.h"
#include "h200.h"

#define CC 90

/* A kernel whose FFMA pipe is busy by that share. */
static void make_busy(struct sample *s, const char *kernel, double busy)
{
    const double warps = busy * 0.95 * 4 * SMS * CYCLES;
    make_sample(s, kernel);
    set(s, "smsp__inst_executed.sum", warps);
    set(s, "smsp__thread_inst_executed.sum", 32 * warps);
    set(s, "smsp__thread_inst_executed_pred_on.sum", 32 * warps);
    set(s, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 32 * 0.9 * warps);
    set(s, "dram__bytes_read.sum", 1e8);
}

/* Its code, and counts of one access without waste. */
static struct gp_sources *sources_of(const char *kernel, const char *cubin, size_t size,
                                     uint64_t sectors)
{
    const char *const functions[] = {kernel};
    const struct gp_instruction_counts counts[] = {
        {.values = {[GP_COUNT_SECTORS] = sectors,
                    [GP_COUNT_SECTORS_IDEAL] = 1000,
                    [GP_COUNT_WAVEFRONTS] = 1000,
                    [GP_COUNT_WAVEFRONTS_IDEAL] = 1000}}};
    const struct gp_code_counts source = {.kernel = kernel,
                                          .cc = CC,
                                          .launches = 1,
                                          .kinds = (1u << GP_COUNT_WARPS) - 1,
                                          .function_count = 1,
                                          .functions = functions,
                                          .instruction_count = 1,
                                          .instructions = counts,
                                          .code = "c"};
    const struct gp_cubin_image image = {.hash = "c", .bytes = cubin, .size = size};
    struct gp_sources *sources = gp_sources_new();
    assert_non_null(sources);
    assert_true(gp_sources_add_cubin(sources, &image));
    assert_true(gp_sources_add(sources, &source));
    return sources;
}

struct answers {
    bool tensor_cores, matrix_product, library;
    size_t at; /* of the last one of these among all advice */
    size_t count;
    double gain;
};

static struct answers ask(const struct sample *s, struct gp_sources *sources)
{
    struct found f;
    find(&f, s, sources);
    struct answers answers = {.count = f.findings.advice.count};
    for (size_t i = 0; i < answers.count; i++) {
        const struct gp_advice *a = &f.findings.advice.list[i];
        const bool tensor_cores = strcmp(a->rule->name, "tensor_cores") == 0;
        const bool matrix_product = strcmp(a->rule->name, "matrix_product") == 0;
        const bool library = strcmp(a->rule->name, "library_fp32") == 0;
        answers.tensor_cores |= tensor_cores;
        answers.matrix_product |= matrix_product;
        answers.library |= library;
        if (tensor_cores || matrix_product || library) {
            answers.at = i;
            answers.gain = a->kernel_gain;
        }
    }
    forget(&f);
    return answers;
}

static struct answers ask_of(const char *kernel, double busy, uint64_t sectors)
{
    struct sample s;
    size_t size;
    char *cubin = read_beside("products.90.cubin", &size);
    if (!cubin)
        skip(); /* the toolkit does not know 9.0 */
    struct gp_sources *sources = sources_of(kernel, cubin, size, sectors);
    make_busy(&s, kernel, busy);
    const struct answers answers = ask(&s, sources);
    gp_sources_free(sources);
    free(cubin);
    return answers;
}

static void products_at_the_roof_are_for_tensor_cores(void **state)
{
    (void)state;
    static const char *const kernels[] = {"product_of_tiles", "product_in_a_row_of_threads",
                                          "product_in_registers", "product_with_two_buffers"};
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        const struct answers a = ask_of(kernels[i], 0.9, 1000);
        assert_true(a.tensor_cores && !a.matrix_product);
        assert_int_equal(a.at, 0);
        assert_true(a.gain > 0.8 && a.gain < 1);
    }
}

/* Then other rules name the first step. */
static void products_with_waste_or_waits_stand_behind(void **state)
{
    (void)state;
    struct answers a = ask_of("product_in_registers", 0.9, 2000);
    assert_true(a.matrix_product && !a.tensor_cores);
    a = ask_of("product_in_registers", 0.4, 1000);
    assert_true(a.matrix_product && !a.tensor_cores);
    assert_int_equal(a.at, a.count - 1);
    a = ask_of("plain_product", 0.7, 1000);
    assert_true(a.matrix_product && !a.tensor_cores);
}

static void other_arithmetic_is_not_for_tensor_cores(void **state)
{
    (void)state;
    static const char *const kernels[] = {"none_a_polynomial",
                                          "none_forces_of_bodies",
                                          "none_an_orbit",
                                          "none_a_stencil",
                                          "none_a_filter",
                                          "none_distances",
                                          "none_a_matrix_and_a_vector",
                                          "none_squares",
                                          "none_a_transform"};
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        for (double busy = 0.4; busy < 1; busy += 0.5) {
            const struct answers a = ask_of(kernels[i], busy, 1000);
            assert_true(!a.tensor_cores && !a.matrix_product);
        }
    }
}

static struct answers ask_by_name(const char *kernel, double tensor)
{
    struct sample s;
    make_busy(&s, kernel, 0.9);
    set(&s, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", tensor);
    return ask(&s, NULL);
}

static void products_of_libraries_are_known_by_their_names(void **state)
{
    (void)state;
    static const char *const in_fp32[] = {
        "ampere_sgemm_128x64_tn",
        "_ZN7cutlass7Kernel2I47cutlass_80_simt_sgemm_256x128_8x4_nn_align1EEvNT_6ParamsE",
        "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_"
        "aligna4"};
    static const char *const others[] = {
        "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x16_cublas",
        "cutlass_80_tensorop_s1688gemm_128x256_16x3_nn_align4",
        "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_tn", "sgemm_of_mine"};
    for (size_t i = 0; i < sizeof(in_fp32) / sizeof(in_fp32[0]); i++) {
        const struct answers a = ask_by_name(in_fp32[i], 0);
        assert_true(a.library);
        assert_int_equal(a.at, 0);
        assert_false(ask_by_name(in_fp32[i], 50).library);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(ask_by_name(others[i], 0).library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_at_the_roof_are_for_tensor_cores),
        cmocka_unit_test(products_with_waste_or_waits_stand_behind),
        cmocka_unit_test(other_arithmetic_is_not_for_tensor_cores),
        cmocka_unit_test(products_of_libraries_are_known_by_their_names),
    };
    return cmocka_run_group_tests_name("advice on products", tests, NULL, NULL);
}
