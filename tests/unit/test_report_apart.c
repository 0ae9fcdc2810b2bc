/* Programs made up: which of their kernels a report keeps apart as tries of an autotuner. */
#include "sample.h"

#include "profile/record.h"
#include "report/rows.h"

#include <inttypes.h>
#include <stdio.h>

#define MOST_COUNTS 256

/* A program that launches and reads times, and the counts that gpuprof has of it. */
struct program {
    struct gp_metrics *metrics;
    struct gp_summary *summary;
    struct gp_rows rows;
    struct gp_count counts[MOST_COUNTS];
    uint64_t before[MOST_COUNTS]; /* launches up to the last reading's first */
    char names[MOST_COUNTS][96];
    size_t count;
    uint64_t launches, readings;
    bool launched;
};

static void begin(struct program *p)
{
    memset(p, 0, sizeof(*p));
    p->metrics = selected("default");
    p->summary = gp_summary_new(p->metrics);
    gp_summary_settings(p->summary, &(struct gp_settings){0});
    gp_summary_device(p->summary, &h200);
}

static void read_time(struct program *p)
{
    p->readings += p->launched;
    p->launched = false;
}

static size_t count_of(struct program *p, const struct gp_record *l)
{
    size_t i = 0;
    while (i < p->count && (strcmp(p->names[i], l->kernel) != 0 ||
                            memcmp(p->counts[i].grid, l->grid, sizeof(l->grid)) != 0 ||
                            memcmp(p->counts[i].block, l->block, sizeof(l->block)) != 0))
        i++;
    if (i < p->count)
        return i;
    assert_true(i < MOST_COUNTS);
    snprintf(p->names[i], sizeof(p->names[i]), "%s", l->kernel);
    p->counts[i] =
        (struct gp_count){.kernel = p->names[i], .first_reading = p->readings, .reason = {0}};
    p->counts[i].configuration = l->configuration;
    p->counts[i].last_reading = p->readings;
    p->count++;
    return i;
}

/* A launch with so many blocks of so many threads, operations in thousands, bytes and time. */
static void launch(struct program *p, const char *kernel, unsigned grid, unsigned block,
                   double kflop, double bytes, double us)
{
    struct sample s;
    make_sample(&s, kernel);
    s.launch.index = p->launches++;
    s.launch.grid[0] = grid;
    s.launch.block[0] = block;
    set(&s, "gpu__time_duration.sum", us * 1e3);
    set(&s, "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", kflop * 1e3);
    set(&s, "smsp__sass_data_bytes_mem_global_op_ld.sum", bytes);
    gp_summary_launch(p->summary, &s.launch);
    const size_t i = count_of(p, &s.launch);
    struct gp_count *c = &p->counts[i];
    if (c->last_reading != p->readings) {
        c->last_reading = p->readings;
        p->before[i] = c->launches;
    }
    c->launches++;
    p->launched = true;
}

static void timed(struct program *p, const char *kernel, unsigned grid, unsigned block,
                  double kflop, double bytes, double us)
{
    launch(p, kernel, grid, block, kflop, bytes, us);
    read_time(p);
}

static void end(struct program *p)
{
    for (size_t i = 0; i < p->count; i++) {
        p->counts[i].behind_reading = p->counts[i].launches - p->before[i];
        gp_summary_count(p->summary, &p->counts[i]);
    }
    assert_true(gp_rows_make(&p->rows, p->summary));
}

static void forget(struct program *p)
{
    gp_rows_free(&p->rows);
    gp_summary_free(p->summary);
    gp_metrics_close(p->metrics);
}

/* The groups and launches that are kept apart; forgets the program. */
static void keeps_apart(struct program *p, uint64_t kernels, uint64_t launches)
{
    end(p);
    if (p->rows.apart.kernels != kernels || p->rows.apart.launches != launches)
        fail_msg("%" PRIu64 " kernels and %" PRIu64 " launches are kept apart",
                 p->rows.apart.kernels, p->rows.apart.launches);
    for (size_t i = 0; i < gp_rows_all(&p->rows); i++)
        assert_int_equal(p->rows.rows[i].apart, i >= p->rows.count);
    forget(p);
}

static void steps(struct program *p, unsigned count, const char *kernel, unsigned grid,
                  unsigned block, double kflop, double us)
{
    for (unsigned i = 0; i < count; i++) {
        launch(p, "normalize", 640, 256, 5, 4e6, 30);
        launch(p, kernel, grid, block, kflop, 1e6, us);
        launch(p, "step", 320, 256, 7, 4e6, 20);
    }
}

/* ---- autotuners ------------------------------------------------------------------------------ */

/* Triton's: for each configuration an estimate of five runs, then a hundred, caches emptied in
 * between; the third one is the fastest. */
static void try_with_flushes(struct program *p)
{
    static const double us[] = {140, 120, 90, 130, 200};
    for (unsigned i = 0; i < 5; i++) {
        const unsigned block = 64 << i, grid = 8192 >> i;
        for (unsigned n = 0; n < 25; n++) {
            launch(p, "fill", 65536, 1024, 0, 256e6, 60);
            launch(p, "matmul_kernel", grid, block, 2000, 1e6 + 1e5 * i, us[i]);
            if (n == 5)
                read_time(p);
        }
        for (unsigned n = 0; n < 25; n++)
            read_time(p);
    }
}

static void configurations_that_triton_tries_are_kept_apart(void **state)
{
    (void)state;
    struct program p;
    begin(&p);
    launch(&p, "initialize", 640, 256, 1, 4e6, 30);
    try_with_flushes(&p);
    steps(&p, 20, "matmul_kernel", 2048, 256, 2000, 90);
    keeps_apart(&p, 5, 4 * 25 + 5 * 25);
}

static void so_are_those_of_a_program_that_times_its_steps(void **state)
{
    (void)state;
    struct program p;
    begin(&p);
    launch(&p, "initialize", 640, 256, 1, 4e6, 30);
    try_with_flushes(&p);
    for (unsigned i = 0; i < 20; i++) {
        steps(&p, 1, "matmul_kernel", 2048, 256, 2000, 90);
        read_time(&p);
    }
    keeps_apart(&p, 5, 4 * 25 + 5 * 25);
}

/* cuDNN's, at the first step of a training: algorithms of one convolution, one of them with less
 * operations and a kernel that transforms, then those of the next one. */
static void find_algorithm(struct program *p, const char *of, double kflop)
{
    static const double us[] = {300, 250, 220, 100, 400};
    char name[96];
    for (unsigned i = 0; i < 5; i++) {
        snprintf(name, sizeof(name), "sm80_xmma_fprop_implicit_gemm_%s_tile%c", of,
                 (char)('a' + i));
        timed(p, name, 640, 128, kflop, 1e6, us[i]);
        timed(p, name, 640, 128, kflop, 1e6, us[i]);
        if (i != 2)
            continue;
        launch(p, "cudnn::winograd_transform", 64, 128, 3, 1e6, 30);
        timed(p, "cudnn::winograd_product", 64, 128, kflop / 4, 1e6, 350);
    }
    snprintf(name, sizeof(name), "sm80_xmma_fprop_implicit_gemm_%s_tiled", of);
    launch(p, name, 640, 128, kflop, 1e6, 100);
}

static void algorithms_that_cudnn_tries_are_kept_apart(void **state)
{
    (void)state;
    struct program p;
    begin(&p);
    for (unsigned i = 0; i < 12; i++)
        launch(&p, i % 2 ? "fill" : "uniform", 100 + i, 256, 1, 4e6, 20);
    find_algorithm(&p, "3x3", 9000);
    launch(&p, "batch_norm", 640, 256, 50, 4e6, 40);
    find_algorithm(&p, "1x1", 2000);
    launch(&p, "batch_norm", 640, 256, 50, 4e6, 40);
    launch(&p, "sgd", 640, 256, 2, 4e6, 40);
    for (unsigned i = 0; i < 10; i++) {
        launch(&p, "sm80_xmma_fprop_implicit_gemm_3x3_tiled", 640, 128, 9000, 1e6, 100);
        launch(&p, "batch_norm", 640, 256, 50, 4e6, 40);
        launch(&p, "sm80_xmma_fprop_implicit_gemm_1x1_tiled", 640, 128, 2000, 1e6, 100);
        launch(&p, "sgd", 640, 256, 2, 4e6, 40);
    }
    /* The second trial of Winograd is one of kernels that the first one had: in doubt. */
    keeps_apart(&p, 8, 16);
}

/* XLA's: kernels of cuBLAS under any names, behind one that waits for the host; results are
 * compared. */
static void kernels_that_xla_tries_are_kept_apart(void **state)
{
    static const char *const tried[] = {"nvjet_tst_128x64_NNT", "nvjet_tst_64x32_splitK_NNN",
                                        "cutlass_80_tensorop_s1688gemm_64x128_nt_align1",
                                        "nvjet_tst_192x192_v_bz_NNT", "nvjet_tst_64x8_h_bz_TNN"};
    (void)state;
    struct program p;
    begin(&p);
    launch(&p, "wrapped_iota", 640, 256, 1, 4e6, 30);
    for (size_t i = 0; i < 5; i++) {
        launch(&p, tried[i], 132, 128, 4000, 1e6, i == 1 ? 70 : 100);
        launch(&p, "_ZN15stream_executor3gpu12_GLOBAL__N_111DelayKernelE", 1, 1, 0, 4, 80);
        timed(&p, tried[i], 132, 128, 4000, 1e6, i == 1 ? 70 : 100);
        launch(&p, "RedzoneAllocatorKernelImpl", 1024, 1024, 0, 8e6, 300);
        launch(&p, "xla_fp_comparison", 1024, 1024, 0, 8e6, 90);
    }
    steps(&p, 4, tried[1], 132, 128, 4000, 70);
    keeps_apart(&p, 7, 4 * 2 + 3 * 5);
}

/* A loser that the measured times do not show to be one: the library chose by its own. */
static void a_library_may_choose_another_than_the_fastest(void **state)
{
    static const char *const tried[] = {"nvjet_a_1", "nvjet_b_2", "nvjet_c_3", "nvjet_d_4"};
    (void)state;
    struct program p;
    for (unsigned own = 0; own < 2; own++) {
        char name[32];
        begin(&p);
        for (size_t i = 0; i < 4; i++) {
            snprintf(name, sizeof(name), "gemm_%zu", i);
            timed(&p, own ? name : tried[i], 132, 128, 4000, 1e6, i == 1 ? 100 : 70);
        }
        steps(&p, 5, own ? "gemm_1" : tried[1], 132, 128, 4000, 100);
        keeps_apart(&p, own ? 0 : 3, own ? 0 : 3);
    }
}

static void processes_that_tune_alike_are_one(void **state)
{
    (void)state;
    struct program p;
    begin(&p);
    try_with_flushes(&p);
    steps(&p, 20, "matmul_kernel", 2048, 256, 2000, 90);
    for (size_t i = 0; i < p.count; i++)
        p.counts[i].behind_reading = p.counts[i].launches - p.before[i];
    for (size_t i = 0; i < p.count; i++)
        gp_summary_count(p.summary, &p.counts[i]);
    gp_summary_settings(p.summary, &(struct gp_settings){0});
    keeps_apart(&p, 5, 2 * (4 * 25 + 5 * 25));
}

/* ---- programs of their own ------------------------------------------------------------------- */

static void a_pipeline_has_no_tries(void **state)
{
    (void)state;
    struct program p;
    for (unsigned is_timed = 0; is_timed < 2; is_timed++) {
        begin(&p);
        for (unsigned i = 0; i < 40; i++) {
            char name[32];
            snprintf(name, sizeof(name), "stage_%u", i);
            launch(&p, name, 640, 256, 100, 4e6, 20 + i);
            if (is_timed)
                read_time(&p);
        }
        keeps_apart(&p, 0, 0);
    }
}

/* Frontiers grow and shrink: the smallest one comes back. */
static void levels_of_a_search_are_no_tries(void **state)
{
    static const unsigned grids[] = {1, 5, 60, 700, 90, 9, 1, 4, 80, 600, 70, 6, 1, 1, 1, 1};
    (void)state;
    struct program p;
    begin(&p);
    for (size_t i = 0; i < sizeof(grids) / sizeof(grids[0]); i++) {
        timed(&p, "expand", grids[i], 256, 0, 1e4 * grids[i], 3 + 0.1 * grids[i]);
        timed(&p, "mark", 256, 256, 0, 1e6, 5);
    }
    keeps_apart(&p, 0, 0);
}

static void shrinking_grids_are_no_tries(void **state)
{
    (void)state;
    struct program p;
    begin(&p);
    for (unsigned n = 40; n > 0; n--) {
        const unsigned grid = (n + 7) / 8;
        timed(&p, "eliminate", grid * grid, 256, 2.0 * n * n, 4.0 * n * n, 2 + n);
        timed(&p, "pivot", 1, 64, 0.1 * n, 4.0 * n, 2);
    }
    keeps_apart(&p, 0, 0);
}

/* Each kernel of the setup is timed; one of them is used again, and does as many operations. */
static void the_setup_of_a_solver_stays(void **state)
{
    static const char *const setup[] = {"read_matrix", "scale", "axpy", "shift", "invert", "copy"};
    (void)state;
    struct program p;
    begin(&p);
    for (size_t i = 0; i < 6; i++)
        timed(&p, setup[i], 640, 256, 1000, 8e6, 40);
    for (unsigned i = 0; i < 100; i++) {
        launch(&p, "spmv", 640, 256, 6000, 80e6, 90);
        launch(&p, "dot", 640, 256, 2000, 8e6, 30);
        launch(&p, "axpy", 640, 256, 1000, 8e6, 40);
    }
    keeps_apart(&p, 0, 0);
}

/* Levels of a grid, each by a template of its own; the coarse ones once. */
static void template_instances_that_are_used_once_stay(void **state)
{
    (void)state;
    struct program p;
    begin(&p);
    for (unsigned level = 0; level < 8; level++) {
        char name[32];
        snprintf(name, sizeof(name), "_Z7smoothILi%uEEvPf", 8u << level);
        timed(&p, name, 1u << level, 256, 10 << level, 4e4 * (1 << level), 5 + level);
    }
    for (unsigned i = 0; i < 20; i++)
        launch(&p, "_Z7smoothILi1024EEvPf", 128, 256, 10 << 7, 4e4 * (1 << 7), 12);
    keeps_apart(&p, 0, 0);
}

/* The variants are all that matters of a comparison. */
static void variants_that_a_program_compares_stay(void **state)
{
    static const double us[] = {900, 500, 300, 200, 150, 100};
    (void)state;
    struct program p;
    for (unsigned again = 0; again < 4; again++) {
        char name[32];
        begin(&p);
        for (unsigned i = 0; i < 6; i++) {
            snprintf(name, sizeof(name), "sgemm_%u", i);
            launch(&p, name, 640, 256, 4000, 1e6, us[i]);
            for (unsigned n = 0; n < 10; n++)
                launch(&p, name, 640, 256, 4000, 1e6, us[i]);
            read_time(&p);
        }
        /* The last one goes on; the fastest but for one goes on; one of them is checked. */
        for (unsigned n = 0; again == 1 && n < 20; n++)
            launch(&p, "sgemm_5", 640, 256, 4000, 1e6, us[5]);
        for (unsigned n = 0; again == 2 && n < 20; n++)
            launch(&p, "sgemm_4", 640, 256, 4000, 1e6, us[4]);
        for (unsigned n = 0; again == 3 && n < 2; n++)
            launch(&p, "sgemm_5", 640, 256, 4000, 1e6, us[5]);
        keeps_apart(&p, 0, 0);
    }
}

/* The first of several is the fastest, and is run twice more, or often. */
static void a_few_launches_of_the_winner_prove_nothing(void **state)
{
    (void)state;
    struct program p;
    for (unsigned more = 2; more <= 3; more++) {
        begin(&p);
        for (unsigned i = 0; i < 4; i++)
            timed(&p, "blur", 640 >> i, 64 << i, 4000, 1e6, 100 + 20 * i);
        for (unsigned n = 0; n < more; n++)
            launch(&p, "blur", 640, 64, 4000, 1e6, 100);
        keeps_apart(&p, more < 3 ? 0 : 3, more < 3 ? 0 : 3);
    }
}

static void two_others_are_a_comparison(void **state)
{
    (void)state;
    struct program p;
    begin(&p);
    for (unsigned i = 0; i < 3; i++)
        timed(&p, "blur", 640 >> i, 64 << i, 4000, 1e6, 100 + 20 * i);
    steps(&p, 20, "blur", 640, 64, 4000, 100);
    keeps_apart(&p, 0, 0);
}

/* Without the time of each, without its work, and launched in turns they may be anything. */
static void what_is_not_known_to_be_a_try_stays(void **state)
{
    (void)state;
    struct program p;
    for (unsigned how = 0; how < 3; how++) {
        begin(&p);
        for (unsigned n = 0; n < (how == 2 ? 2 : 1); n++)
            for (unsigned i = 0; i < 6; i++)
                timed(&p, "blur", 640 >> i, 32 << i, how == 1 ? 0 : 4000, how == 1 ? 0 : 1e6,
                      100 + 20 * i);
        steps(&p, 20, "blur", 640, 32, how == 1 ? 0 : 4000, 100);
        for (size_t i = 0; how == 0 && i < p.count; i++)
            p.counts[i].first_reading = p.counts[i].last_reading = p.before[i] = 0;
        keeps_apart(&p, 0, 0);
    }
}

/* The program's own are those before the first try, and those between two that are no library's. */
static void kernels_beside_the_tries_stay(void **state)
{
    (void)state;
    struct program p;
    begin(&p);
    launch(&p, "cublas_setup", 640, 256, 3, 4e6, 50);
    for (unsigned i = 0; i < 5; i++) {
        timed(&p, "blur", 640 >> i, 64 << i, 4000, 1e6, 100 + 20 * i);
        if (i == 2)
            launch(&p, "load_image", 640, 256, 3, 4e6, 50);
    }
    steps(&p, 20, "blur", 640, 64, 4000, 100);
    keeps_apart(&p, 4, 4);
}

/* All that is left of a profile may be of a tuner. */
static void a_report_is_of_some_kernel(void **state)
{
    (void)state;
    struct program p;
    begin(&p);
    launch(&p, "RedzoneAllocatorKernelImpl", 1024, 1024, 0, 8e6, 300);
    keeps_apart(&p, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(configurations_that_triton_tries_are_kept_apart),
        cmocka_unit_test(so_are_those_of_a_program_that_times_its_steps),
        cmocka_unit_test(algorithms_that_cudnn_tries_are_kept_apart),
        cmocka_unit_test(kernels_that_xla_tries_are_kept_apart),
        cmocka_unit_test(a_library_may_choose_another_than_the_fastest),
        cmocka_unit_test(processes_that_tune_alike_are_one),
        cmocka_unit_test(a_pipeline_has_no_tries),
        cmocka_unit_test(levels_of_a_search_are_no_tries),
        cmocka_unit_test(shrinking_grids_are_no_tries),
        cmocka_unit_test(the_setup_of_a_solver_stays),
        cmocka_unit_test(template_instances_that_are_used_once_stay),
        cmocka_unit_test(variants_that_a_program_compares_stay),
        cmocka_unit_test(a_few_launches_of_the_winner_prove_nothing),
        cmocka_unit_test(two_others_are_a_comparison),
        cmocka_unit_test(what_is_not_known_to_be_a_try_stays),
        cmocka_unit_test(kernels_beside_the_tries_stay),
        cmocka_unit_test(a_report_is_of_some_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
