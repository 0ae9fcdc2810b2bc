/*
 * The simulated kernels' code and the counts of their instructions agree: gpuprof's counters,
 * computed from single instructions and their encodings, are those that the model has for the whole
 * launch.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "counters/inside.h"
#include "model/code.h"
#include "test_grid.h"

#define SECTORS "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_"
#define FLOPS "smsp__sass_thread_inst_executed_op_"

/* The counters, and the same of the model. */
#define COUNTERS                                                                              \
    COUNTER("smsp__sass_inst_executed.sum", c->inst)                                          \
    COUNTER(FLOPS "fadd_pred_on.sum", c->fadd_on)                                             \
    COUNTER(FLOPS "fmul_pred_on.sum", c->fmul_on)                                             \
    COUNTER(FLOPS "ffma_pred_on.sum", c->ffma_on)                                             \
    COUNTER(FLOPS "dadd_pred_on.sum", c->dadd_on)                                             \
    COUNTER(FLOPS "dmul_pred_on.sum", c->dmul_on)                                             \
    COUNTER(FLOPS "dfma_pred_on.sum", c->dfma_on)                                             \
    COUNTER(FLOPS "hadd_pred_on.sum", c->hadd_on)                                             \
    COUNTER(FLOPS "hmul_pred_on.sum", c->hmul_on)                                             \
    COUNTER(FLOPS "hfma_pred_on.sum", c->hfma_on)                                             \
    COUNTER("smsp__sass_data_bytes_mem_global_op_ld.sum", c->global_ld_bytes)                 \
    COUNTER("smsp__sass_data_bytes_mem_global_op_st.sum", c->global_st_bytes)                 \
    COUNTER("smsp__sass_data_bytes_mem_shared.sum",                                           \
            c->shared_ld_bytes + c->shared_st_bytes + c->shared_atom_bytes)                   \
    COUNTER(SECTORS "ld.sum", c->global_ld_sectors)                                           \
    COUNTER(SECTORS "st.sum", c->global_st_sectors)                                           \
    COUNTER("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",                  \
            c->global_ld_sectors                                                              \
                ? 100.0 * (double)c->global_ld_bytes / (32.0 * (double)c->global_ld_sectors)  \
                : 0)                                                                          \
    COUNTER("smsp__sass_average_branch_targets_threads_uniform.pct",                          \
            c->branches                                                                       \
                ? 100.0 * (double)(c->branches - c->divergent_branches) / (double)c->branches \
                : 0)

#define COUNTER(name, value) name,
static const char *const names[] = {COUNTERS};
#undef COUNTER

static const double *expected_of(const struct gpusim_counters *c)
{
    static double values[sizeof(names) / sizeof(names[0])];
    size_t i = 0;

#define COUNTER(name, value) values[i++] = (double)(value);
    COUNTERS
#undef COUNTER
    return values;
}

/* CUPTI's count for an instruction; false where it has no such metric. */
#define WIDTH(bits) (c->global_ld_##bits + c->global_st_##bits ? c->global_ld + c->global_st : 0)
static bool base_value(const char *metric, const struct gpusim_counters *c, uint64_t *value)
{
#define GPUSIM_SASS(name, value_, description) \
    if (strcmp(metric, #name) == 0) {          \
        *value = (uint64_t)(value_);           \
        return true;                           \
    }
#define ASYNC_SECTORS c->async_copy_sectors
#include "cupti/sass.def"
#undef ASYNC_SECTORS
#undef GPUSIM_SASS
    return false;
}

static bool has(const char *name, void *data)
{
    static const struct gpusim_counters none;
    uint64_t unused;

    (void)data;
    return base_value(name, &none, &unused);
}

static void check(const char *kernel, struct gpusim_result *r)
{
    size_t count = sizeof(names) / sizeof(names[0]), base_count, size;
    struct gp_instrumented *sums = instrumented_open(names, count, has, NULL);
    const char *const *bases = instrumented_bases(sums, &base_count);
    const double *expected = expected_of(&r->total);
    const char *code = gpusim_kernel_code(kernel, &size);
    struct gp_reason why;
    double value;

    assert_non_null(code);
    instrumented_begin(sums);
    for (size_t b = 0; b < base_count; b++)
        for (size_t i = 0; i < r->instruction_count; i++) {
            const struct gpusim_instruction_counts *one = &r->instructions[i];
            struct gp_instruction instruction;
            uint64_t got = 0;
            assert_true(one->offset + GP_INSTRUCTION_BYTES <= size);
            instruction = gp_instruction_decode(code + one->offset, 90);
            assert_int_not_equal(instruction.op, GP_OP_UNKNOWN);
            assert_true(base_value(bases[b], &one->counts, &got));
            if (got)
                instrumented_add(sums, b, &instruction, GP_NO_REASON, got);
        }
    for (size_t i = 0; i < count; i++) {
        if (!instrumented_value(sums, i, &value, &why))
            fail_msg("%s: %s is absent: %s", kernel, names[i], why.text);
        if (value != expected[i])
            fail_msg("%s: %s is %g, not %g", kernel, names[i], value, expected[i]);
    }
    instrumented_close(sums);
    free((void *)(uintptr_t)code);
    gpusim_result_free(r);
}

/* A kernel of up to three buffers of n elements and then numbers. */
static void check_on_buffers(const char *kernel, uint64_t n, unsigned block, unsigned shared,
                             unsigned buffers, uint64_t first, uint64_t second)
{
    struct shape shape = {(unsigned)(n / block), 1, block, 1, shared, 16};
    struct gpusim_result *r;
    struct device d;
    uint64_t at[3];

    device_open(&d, "hopper", 3 * (n * 16 + BUFFER_ALIGNMENT));
    for (unsigned i = 0; i < buffers; i++)
        at[i] = device_buffer(&d, n * 16);
    if (buffers == 1)
        r = device_profile(&d, kernel, shape, at[0], first, second);
    else if (buffers == 2)
        r = device_profile(&d, kernel, shape, at[0], at[1], first, second);
    else
        r = device_profile(&d, kernel, shape, at[0], at[1], at[2], first, second);
    check(kernel, r);
    device_close(&d);
}

static void arithmetic(void **state)
{
    (void)state;
    check_on_buffers("flops_float", 1024, 128, 0, 1, 4, 0);
    check_on_buffers("flops_double", 1024, 128, 0, 1, 4, 0);
    check_on_buffers("flops_half", 1024, 128, 0, 1, 4, 0);
    check_on_buffers("flops_constant", 1024, 128, 0, 1, 4, 0);
    check_on_buffers("predicated", 1024, 128, 0, 1, 0, 0);
    check_on_buffers("one_lane", 1024, 128, 0, 1, 1000, 0);
}

static void global_memory(void **state)
{
    (void)state;
    check_on_buffers("vector_add", 1024, 128, 0, 3, 1000, 0);
    check_on_buffers("vector_add_float", 1024, 128, 0, 3, 1024, 0);
    check_on_buffers("read_offset", 1024, 128, 0, 3, 900, 7);
    check_on_buffers("write_offset", 1024, 128, 0, 3, 900, 11);
}

static void shared_memory(void **state)
{
    (void)state;
    check_on_buffers("sum_shared", 4096, 256, 1024, 2, 4096, 0);
    check_on_buffers("sum_interleaved", 4096, 256, 1024, 2, 4096, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic),
        cmocka_unit_test(global_memory),
        cmocka_unit_test(shared_memory),
    };
    return cmocka_run_group_tests_name("code", tests, NULL, NULL);
}
