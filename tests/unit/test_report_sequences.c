/* report/sequences: kernels that follow each other on the same arrays, and the rules about them.
 * The code is that of tests/products/products.cu: most of its kernels have no barrier. */
#include <math.h>
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

#define ONE "none_element_by_element"
#define TWO "none_a_polynomial"
#define THREE "none_a_stencil"
#define FOUR "none_squares"
#define WITH_BARRIERS "none_forces_of_bodies"
#define SPARSE "none_a_sparse_matrix"
#define BYTES 1.9e9 /* of an array: two of them take a millisecond */
#define ROUNDS 10

struct world {
    struct gp_metrics *metrics;
    struct gp_summary *summary;
    struct gp_rows rows;
    struct gp_rules *rules;
    struct gp_findings findings;
    struct gp_sources *sources;
    char *cubin;
    size_t size;
    uint64_t launches;
};

static void add_code(struct world *w, const char *kernel)
{
    const char *const functions[] = {kernel};
    const struct gp_code_counts source = {.kernel = kernel,
                                          .cc = 90,
                                          .launches = 1,
                                          .kinds = (1u << GP_COUNT_WARPS) - 1,
                                          .function_count = 1,
                                          .functions = functions,
                                          .code = "c"};
    assert_true(gp_sources_add(w->sources, &source));
}

static void begin(struct world *w)
{
    struct gp_device device = h200;
    *w = (struct world){.metrics = selected("default")};
    w->cubin = read_beside("products.90.cubin", &w->size);
    if (!w->cubin)
        skip(); /* the toolkit does not know 9.0 */
    const struct gp_cubin_image image = {.hash = "c", .bytes = w->cubin, .size = w->size};
    device.l2_bytes = 50 << 20;
    w->summary = gp_summary_new(w->metrics);
    w->sources = gp_sources_new();
    gp_summary_device(w->summary, &device);
    assert_true(gp_sources_add_cubin(w->sources, &image));
    static const char *const kernels[] = {ONE, TWO, THREE, FOUR, WITH_BARRIERS, SPARSE};
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
        add_code(w, kernels[i]);
}

/* ROUNDS launches that read and write so many arrays, as fast as DRAM is, and load `asked` times
 * the bytes that they read. */
static void launch(struct world *w, const char *kernel, double reads, double writes, double asked)
{
    struct sample s;
    const double ms = (reads + writes) / 2;
    make_sample(&s, kernel);
    set(&s, "dram__bytes_read.sum", reads * BYTES);
    set(&s, "dram__bytes_write.sum", writes * BYTES);
    set(&s, "gpu__time_duration.sum", 1e6 * ms);
    set(&s, "gpc__cycles_elapsed.max", ms * CYCLES);
    set(&s, "sm__cycles_active.avg", ms * CYCLES);
    set(&s, "sm__cycles_active.max", ms * CYCLES);
    set(&s, "smsp__sass_data_bytes_mem_global_op_ld.sum", asked * reads * BYTES);
    set(&s, "smsp__sass_data_bytes_mem_global_op_st.sum", writes * BYTES);
    for (int i = 0; i < ROUNDS; i++) {
        s.launch.index = w->launches++;
        gp_summary_launch(w->summary, &s.launch);
    }
}

/* Launches of `kernel` behind those of `before` share that many arrays each. */
static void follow(struct world *w, const char *before, const char *kernel, uint64_t launches,
                   double passed, double shared)
{
    struct sample s;
    make_sample(&s, kernel);
    const struct gp_succession succession = {
        .kernel = kernel,
        .configuration = s.launch.configuration,
        .before = before,
        .configuration_before = s.launch.configuration,
        .launches = launches,
        .passed_bytes = (uint64_t)(passed * BYTES * (double)launches),
        .shared_bytes = (uint64_t)(shared * BYTES * (double)launches)};
    gp_summary_succession(w->summary, &succession);
}

static const struct gp_advice *find_fusion(struct world *w, const char *rule)
{
    struct gp_text problems = {0};
    const struct gp_advice *found = NULL;
    assert_true(gp_rows_make(&w->rows, w->summary));
    w->rules = gp_rules_open(w->metrics, &problems);
    assert_string_equal(gp_text_string(&problems), "");
    assert_true(gp_findings_make(&w->findings, w->rules, &w->rows, lines_of, w->sources));
    for (size_t i = 0; i < w->findings.advice.count && !found; i++)
        if (strcmp(w->findings.advice.list[i].rule->name, rule) == 0)
            found = &w->findings.advice.list[i];
    return found;
}

static void end(struct world *w)
{
    gp_findings_free(&w->findings);
    gp_rules_close(w->rules);
    gp_rows_free(&w->rows);
    gp_summary_free(w->summary);
    gp_metrics_close(w->metrics);
    gp_sources_free(w->sources);
    free(w->cubin);
}

/* y = a x, y = y + b, y = relu(y): of seven arrays that are read and written three are left. */
static void a_chain_is_one_piece_of_advice(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    launch(&w, ONE, 1, 1, 1);
    launch(&w, TWO, 2, 1, 1);
    launch(&w, THREE, 1, 1, 1);
    follow(&w, "", ONE, 1, 0, 0);
    follow(&w, THREE, ONE, ROUNDS - 1, 0, 0);
    follow(&w, ONE, TWO, ROUNDS, 1, 0);
    follow(&w, TWO, THREE, ROUNDS, 1, 0);
    const struct gp_advice *a = find_fusion(&w, "fusion");
    assert_non_null(a);
    assert_true(a == &w.findings.advice.list[0]);
    assert_int_equal(w.findings.sequences.count, 1);
    assert_non_null(strstr(a->evidence, ONE ", " TWO " and " THREE " follow each other in 100"));
    assert_string_equal(a->row->launch->kernel, ONE);
    /* The rest comes at the rate of the ceiling, which these kernels nearly have. */
    assert_true(a->gain >= 4.0 / 7 && a->gain < 4.0 / 7 + 0.1);
    assert_true(a->up_to && a->grid_gain == a->gain);
    end(&w);
}

/* z = x + 1, w = x + 2: x is read once. */
static void what_both_read_is_read_once(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    launch(&w, ONE, 1, 1, 1);
    launch(&w, TWO, 1, 1, 1);
    follow(&w, ONE, TWO, ROUNDS, 0, 1);
    const struct gp_advice *a = find_fusion(&w, "fusion");
    assert_non_null(a);
    assert_true(a->gain >= 1.0 / 4 && a->gain < 1.0 / 4 + 0.1);
    end(&w);
}

/* A sum of squares: the kernel before it makes the numbers. The sum may have barriers. */
static void a_sum_can_be_made_where_its_numbers_are(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    launch(&w, ONE, 1, 1, 1);
    launch(&w, WITH_BARRIERS, 1, 0, 1);
    follow(&w, ONE, WITH_BARRIERS, ROUNDS, 1, 0);
    const struct gp_advice *a = find_fusion(&w, "fusion");
    assert_non_null(a);
    assert_true(a->gain >= 2.0 / 3 && a->gain < 2.0 / 3 + 0.1);
    end(&w);
}

/* So many of these launches need all that the one before has made. */
static void note_need(struct world *w, const char *before, const char *kernel, uint64_t launches)
{
    struct sample s;
    make_sample(&s, kernel);
    const struct gp_succession more = {.kernel = kernel,
                                       .configuration = s.launch.configuration,
                                       .before = before,
                                       .configuration_before = s.launch.configuration,
                                       .needing = launches};
    gp_summary_succession(w->summary, &more);
}

/* Two kernels, the second of which follows the first so; whether that is advised on. */
struct two {
    const char *second;
    double reads, writes, asked; /* of the second one, which the first one has before it */
    double first_reads, first_writes, passed, shared;
    uint64_t launches, needing;
};

static bool is_advised(const struct two *two)
{
    struct world w;
    begin(&w);
    launch(&w, ONE, two->first_reads, two->first_writes, 1);
    launch(&w, two->second, two->reads, two->writes, two->asked);
    follow(&w, "", two->second, ROUNDS - two->launches, 0, 0);
    follow(&w, ONE, two->second, two->launches, two->passed, two->shared);
    if (two->needing)
        note_need(&w, ONE, two->second, two->needing);
    const bool found = find_fusion(&w, "fusion") != NULL;
    end(&w);
    return found;
}

static void others_are_left_alone(void **state)
{
    (void)state;
    const struct two good = {TWO, 1, 1, 1, 1, 1, 1, 0, ROUNDS, 0};
    assert_true(is_advised(&good));
    struct two t = good;
    t.passed = 0; /* arrays of their own */
    assert_false(is_advised(&t));
    t = good;
    t.launches = 1; /* most of them follow other work */
    assert_false(is_advised(&t));
    t = good;
    t.asked = 4; /* neighbours */
    assert_false(is_advised(&t));
    t = good;
    t.second = WITH_BARRIERS; /* threads exchange them */
    assert_false(is_advised(&t));
    t = good;
    t.second = SPARSE; /* it needs the elements that its indices name */
    assert_false(is_advised(&t));
    t = good;
    t.needing = ROUNDS; /* a sum of all, say */
    assert_false(is_advised(&t));
    t = good;
    t.passed = 0.02; /* L2 keeps them */
    assert_false(is_advised(&t));
    /* The second one reads the same, and the sum that the first one has made of it. */
    t = good;
    t.first_writes = 1e-6;
    t.passed = 1, t.shared = 1;
    assert_false(is_advised(&t));
}

/* sum = all of x, y = x / sum, and so on: y and the next sum read the same x. */
static bool is_loop_advised(uint64_t needing, double passed)
{
    struct world w;
    begin(&w);
    launch(&w, FOUR, 1, 0, 1);
    launch(&w, ONE, 1, 1, 1);
    follow(&w, FOUR, ONE, ROUNDS, 1e-9, 1);
    note_need(&w, FOUR, ONE, needing);
    follow(&w, "", FOUR, 1, 0, 0);
    follow(&w, ONE, FOUR, ROUNDS - 1, passed, 1 - passed);
    const bool found = find_fusion(&w, "fusion") != NULL;
    end(&w);
    return found;
}

static void rounds_of_a_loop_are_not_mixed(void **state)
{
    (void)state;
    assert_false(is_loop_advised(ROUNDS, 0));
    assert_true(is_loop_advised(0, 0));
    assert_true(is_loop_advised(ROUNDS, 1)); /* the next sum is that of y */
}

/* Constants go through the pipe of the tensor cores (HFMA2), which is no product of matrices. */
static bool is_chain_advised(double tensor)
{
    struct world w;
    struct sample s;
    begin(&w);
    launch(&w, ONE, 1, 1, 1);
    make_sample(&s, TWO);
    set(&s, "dram__bytes_read.sum", BYTES);
    set(&s, "dram__bytes_write.sum", BYTES);
    set(&s, "smsp__sass_data_bytes_mem_global_op_ld.sum", BYTES);
    set(&s, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 100 * tensor);
    for (int i = 0; i < ROUNDS; i++) {
        s.launch.index = w.launches++;
        gp_summary_launch(w.summary, &s.launch);
    }
    follow(&w, ONE, TWO, ROUNDS, 1, 0);
    const bool found = find_fusion(&w, "fusion") != NULL;
    end(&w);
    return found;
}

static void constants_are_no_products(void **state)
{
    (void)state;
    assert_true(is_chain_advised(0));
    assert_true(is_chain_advised(0.03));
    assert_false(is_chain_advised(0.3));
}

/* The allocation may be larger than the array. */
static void no_more_goes_than_came(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    launch(&w, ONE, 1, 1, 1);
    launch(&w, TWO, 2, 1, 1);
    follow(&w, ONE, TWO, ROUNDS, 10, 0);
    const struct gp_advice *a = find_fusion(&w, "fusion");
    assert_non_null(a);
    assert_true(a->gain >= 2.0 / 5 && a->gain < 2.0 / 5 + 0.1);
    end(&w);
}

/* A kernel that computes is not bound by memory. */
static void arithmetic_is_left_alone(void **state)
{
    (void)state;
    struct world w;
    struct sample s;
    begin(&w);
    launch(&w, ONE, 1, 1, 1);
    make_sample(&s, TWO);
    set(&s, "dram__bytes_read.sum", 0.4 * BYTES);
    set(&s, "dram__bytes_write.sum", 0.4 * BYTES);
    set(&s, "smsp__sass_data_bytes_mem_global_op_ld.sum", 0.4 * BYTES);
    set(&s, "smsp__inst_executed.sum", 0.9 * 4 * SMS * CYCLES);
    for (int i = 0; i < ROUNDS; i++) {
        s.launch.index = w.launches++;
        gp_summary_launch(w.summary, &s.launch);
    }
    follow(&w, ONE, TWO, ROUNDS, 1, 0);
    assert_null(find_fusion(&w, "fusion"));
    end(&w);
}

/* One that follows itself, in place: a loop inside of it. */
static void a_kernel_may_follow_itself(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    launch(&w, ONE, 1, 1, 1);
    follow(&w, "", ONE, 1, 0, 0);
    follow(&w, ONE, ONE, ROUNDS - 1, 1, 0);
    const struct gp_advice *a = find_fusion(&w, "fusion");
    assert_non_null(a);
    assert_int_equal(a->sequence->count, 1);
    assert_true(a->gain > 0.8 && a->gain < 1);
    end(&w);
}

/* A circle of three has an end: the least shared. */
static void a_circle_is_parted(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    launch(&w, ONE, 1, 1, 1);
    launch(&w, TWO, 1, 1, 1);
    launch(&w, FOUR, 1, 1, 1);
    follow(&w, ONE, TWO, ROUNDS, 1, 0);
    follow(&w, TWO, FOUR, ROUNDS, 1, 0);
    follow(&w, "", ONE, 1, 0, 0);
    follow(&w, FOUR, ONE, ROUNDS - 1, 1, 0);
    const struct gp_advice *a = find_fusion(&w, "fusion");
    assert_non_null(a);
    assert_int_equal(w.findings.sequences.count, 1);
    assert_string_equal(a->row->launch->kernel, ONE);
    assert_true(a->gain >= 4.0 / 6 && a->gain < 4.0 / 6 + 0.1);
    end(&w);
}

static void frameworks_fuse_by_themselves(void **state)
{
    (void)state;
    static const char first[] = "_ZN2at6native29vectorized_elementwise_kernelILi4EaEEviT0_",
                      second[] = "_ZN2at6native29vectorized_elementwise_kernelILi4EbEEviT0_";
    struct world w;
    begin(&w);
    launch(&w, first, 1, 1, 1);
    launch(&w, second, 1, 1, 1);
    follow(&w, first, second, ROUNDS, 1, 0);
    /* Without its code it is not known whether the second one exchanges numbers. */
    assert_null(find_fusion(&w, "fusion_of_frameworks"));
    end(&w);
    begin(&w);
    launch(&w, first, 1, 1, 1);
    launch(&w, second, 1, 0, 1);
    follow(&w, first, second, ROUNDS, 1, 0);
    const struct gp_advice *a = find_fusion(&w, "fusion_of_frameworks");
    assert_non_null(a);
    assert_non_null(strstr(a->text, "torch.compile"));
    assert_true(w.findings.sequences.has[0] && w.findings.sequences.has[1]);
    end(&w);
}

#define PRODUCT "ampere_sgemm_128x64_tn"

/* A product of a library, of ten times the time that its bytes take. */
static void launch_product(struct world *w, const char *kernel)
{
    struct sample s;
    make_sample(&s, kernel);
    set(&s, "dram__bytes_read.sum", BYTES);
    set(&s, "dram__bytes_write.sum", BYTES);
    set(&s, "gpu__time_duration.sum", 1e6 * 10);
    set(&s, "gpc__cycles_elapsed.max", 10 * CYCLES);
    set(&s, "sm__cycles_active.avg", 10 * CYCLES);
    set(&s, "sm__cycles_active.max", 10 * CYCLES);
    set(&s, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 70);
    for (int i = 0; i < ROUNDS; i++) {
        s.launch.index = w->launches++;
        gp_summary_launch(w->summary, &s.launch);
    }
}

/* An activation in place: its millisecond of eleven goes, and the product's ten stay. */
static void a_product_has_an_epilogue(void **state)
{
    (void)state;
    static const char *const products[] = {
        PRODUCT, "nvjet_sm90_tst_128x128_64x6_2x1_v_bz_TNT",
        "_ZN7cutlass7Kernel2I47cutlass_80_simt_sgemm_256x128_8x4_nn_align1EEvNT_6ParamsE"};
    for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
        struct world w;
        begin(&w);
        launch_product(&w, products[i]);
        launch(&w, TWO, 1, 1, 1);
        follow(&w, products[i], TWO, ROUNDS, 1, 0);
        const struct gp_advice *a = find_fusion(&w, "epilogue");
        assert_non_null(a);
        assert_true(a->gain > 0.99 / 11 && a->gain < 1.01 / 11);
        assert_non_null(strstr(a->text, "cublasLt"));
        for (size_t r = 0; r < w.findings.advice.count; r++)
            assert_null(strstr(w.findings.advice.list[r].rule->name, "fusion"));
        end(&w);
    }
}

/* A matrix that is added comes from memory as before: a third of the bytes. */
static void other_arrays_of_an_epilogue_come_as_before(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    launch_product(&w, PRODUCT);
    launch(&w, TWO, 2, 1, 1);
    follow(&w, PRODUCT, TWO, ROUNDS, 1, 0);
    const struct gp_advice *a = find_fusion(&w, "epilogue");
    assert_non_null(a);
    assert_true(a->gain > 1.0 / 11.5 && a->gain < 1.1 / 11.5);
    end(&w);
}

/* A bias, and an activation behind it. */
static void several_kernels_are_one_epilogue(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    launch_product(&w, PRODUCT);
    launch(&w, ONE, 1, 1, 1);
    launch(&w, TWO, 1, 1, 1);
    follow(&w, PRODUCT, ONE, ROUNDS, 1, 0);
    follow(&w, ONE, TWO, ROUNDS, 1, 0);
    const struct gp_advice *a = find_fusion(&w, "epilogue");
    assert_non_null(a);
    assert_int_equal(a->sequence->count, 3);
    assert_true(a->gain > 1.99 / 12 && a->gain < 2.01 / 12);
    end(&w);
}

static bool has_epilogue(const char *product, const char *second, double passed, double writes)
{
    struct world w;
    begin(&w);
    launch_product(&w, product);
    launch(&w, second, 1, writes, 1);
    follow(&w, product, second, ROUNDS, passed, 0);
    const bool found = find_fusion(&w, "epilogue") != NULL;
    end(&w);
    return found;
}

static void others_behind_a_product_are_none(void **state)
{
    (void)state;
    assert_true(has_epilogue(PRODUCT, TWO, 1, 1));
    assert_false(has_epilogue(PRODUCT, TWO, 0, 1));           /* other arrays */
    assert_false(has_epilogue(PRODUCT, WITH_BARRIERS, 1, 1)); /* rows need each other's numbers */
    assert_false(has_epilogue(PRODUCT, TWO, 1, 0));           /* a sum */
    assert_false(has_epilogue(PRODUCT, PRODUCT "_2", 1, 1));  /* the next product */
    assert_false(has_epilogue("sgemm_of_mine", TWO, 1, 1));   /* the author's own */
}

/* Kernels of CUB's sort: the second one counts the keys that the first one has written. */
static void steps_of_a_sort_are_left_alone(void **state)
{
    (void)state;
    static const char sort[] = "_ZN3cub19DeviceRadixSortStepIiEEvPT_",
                      count[] = "_ZN3cub20DeviceRadixSortCountIiEEvPT_";
    const char *const before[] = {sort, ONE};
    for (size_t i = 0; i < 2; i++) {
        struct world w;
        begin(&w);
        launch(&w, before[i], 1, 1, 1);
        launch(&w, count, 1, 0, 1);
        follow(&w, before[i], count, ROUNDS, 1, 0);
        assert_true((find_fusion(&w, "fusion") != NULL) == (before[i] != sort));
        end(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_is_one_piece_of_advice),
        cmocka_unit_test(what_both_read_is_read_once),
        cmocka_unit_test(a_sum_can_be_made_where_its_numbers_are),
        cmocka_unit_test(others_are_left_alone),
        cmocka_unit_test(rounds_of_a_loop_are_not_mixed),
        cmocka_unit_test(constants_are_no_products),
        cmocka_unit_test(no_more_goes_than_came),
        cmocka_unit_test(arithmetic_is_left_alone),
        cmocka_unit_test(a_kernel_may_follow_itself),
        cmocka_unit_test(a_circle_is_parted),
        cmocka_unit_test(frameworks_fuse_by_themselves),
        cmocka_unit_test(steps_of_a_sort_are_left_alone),
        cmocka_unit_test(a_product_has_an_epilogue),
        cmocka_unit_test(other_arrays_of_an_epilogue_come_as_before),
        cmocka_unit_test(several_kernels_are_one_epilogue),
        cmocka_unit_test(others_behind_a_product_are_none),
    };
    return cmocka_run_group_tests_name("sequences", tests, NULL, NULL);
}
