/* The model against the sources of gpuprof's metrics: their tables, with matrices of 1024 x 1024
 * instead of 16384 x 16384, must come out of the addresses to the last digit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test_grid.h"

#define SIDE 512
#define CELLS ((uint64_t)SIDE * SIDE)

static double percent(uint64_t part, uint64_t whole)
{
    return 100.0 * (double)part / (double)whole;
}

static void assert_percent(uint64_t part, uint64_t whole, double expected, double tolerance)
{
    double value = percent(part, whole);

    if (value < expected - tolerance || value > expected + tolerance)
        fail_msg("%.4f %% instead of %.4f %%", value, expected);
}

/* ---- matrix add ---- */

struct matrix_row {
    const char *kernel;
    unsigned block_x, block_y;
    uint64_t gld_lines, gst_segments; /* for 512 x 512 */
    double gld_lines_pct, gst_pct;    /* 128-byte load lines */
    double gld_sectors_pct;           /* 32-byte sectors */
};

static const struct matrix_row matrix_table[] = {
    {"matrix_add_row", 32, 32, 16384, 8192, 100, 100, 100},
    {"matrix_add_row", 32, 16, 16384, 8192, 100, 100, 100},
    {"matrix_add_row", 16, 16, 32768, 16384, 50, 100, 100},
    {"matrix_add_column", 32, 32, 524288, 262144, 3.125, 12.5, 12.5},
    {"matrix_add_column", 32, 16, 524288, 262144, 3.125, 12.5, 12.5},
    {"matrix_add_column", 16, 16, 262144, 131072, 6.25, 25, 25},
    {"matrix_add_linear", 256, 1, 16384, 8192, 100, 100, 100},
    {"matrix_add_linear", 64, 1, 16384, 8192, 100, 100, 100},
};

static void matrix_add_on(const char *chip)
{
    for (size_t i = 0; i < sizeof(matrix_table) / sizeof(matrix_table[0]); i++) {
        const struct matrix_row *row = &matrix_table[i];
        bool linear = row->block_y == 1;
        struct shape shape = {linear ? (unsigned)(CELLS / row->block_x) : SIDE / row->block_x,
                              linear ? 1 : SIDE / row->block_y,
                              row->block_x,
                              row->block_y,
                              0,
                              16};
        struct gpusim_result *r;
        struct device d;
        uint64_t a, b, c;

        device_open(&d, chip, 4 * CELLS * 4);
        a = device_buffer(&d, CELLS * 4);
        b = device_buffer(&d, CELLS * 4);
        c = device_buffer(&d, CELLS * 4);
        for (uint64_t k = 0; k < CELLS; k++)
            ((uint32_t *)device_bytes(&d, a))[k] = (uint32_t)k;
        r = device_profile(&d, row->kernel, shape, a, b, c, (uint64_t)SIDE);
        for (uint64_t k = 0; k < CELLS; k++)
            assert_int_equal(((uint32_t *)device_bytes(&d, c))[k], k);

        assert_int_equal(r->total.global_ld_bytes, 2 * CELLS * 4);
        assert_int_equal(r->total.global_st_bytes, CELLS * 4);
        assert_percent(r->total.global_ld_bytes, r->total.global_ld_sectors * 32,
                       row->gld_sectors_pct, 0);
        assert_percent(r->total.global_st_bytes, r->total.global_st_sectors * 32, row->gst_pct, 0);
        if (d.chip->l1_lines) {
            assert_int_equal(r->total.l1_ld_hits + r->total.l1_ld_misses, row->gld_lines);
            assert_int_equal(r->total.global_ld_lines, row->gld_lines);
            assert_int_equal(r->total.global_st_segments, row->gst_segments);
            assert_percent(r->total.global_ld_bytes, r->total.global_ld_lines * 128,
                           row->gld_lines_pct, 0);
        }
        gpusim_result_free(r);
        device_close(&d);
    }
}

static void matrix_add_by_128_byte_lines(void **state)
{
    (void)state;
    matrix_add_on("kepler");
}

static void matrix_add_by_sectors(void **state)
{
    (void)state;
    matrix_add_on("hopper");
}

/* ---- offsets and structs ---- */

static struct gpusim_result *offset_result(const char *kernel, unsigned offset, unsigned per_thread)
{
    const uint64_t n = 1 << 20;
    struct shape shape = {(unsigned)(n / 512 / per_thread), 1, 512, 1, 0, 16};
    struct gpusim_result *r;
    struct device d;
    uint64_t a, b, c;

    device_open(&d, "kepler", 4 * n * 4);
    a = device_buffer(&d, n * 4);
    b = device_buffer(&d, n * 4);
    c = device_buffer(&d, n * 4);
    r = device_profile(&d, kernel, shape, a, b, c, n, (uint64_t)offset);
    device_close(&d);
    return r;
}

static void read_offset_efficiency(void **state)
{
    static const struct {
        unsigned offset;
        double lines, sectors;
    } table[] = {{0, 100, 100}, {11, 50, 80}, {128, 100, 100}};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct gpusim_result *r = offset_result("read_offset", table[i].offset, 1);
        assert_percent(r->total.global_ld_bytes, r->total.global_ld_lines * 128, table[i].lines,
                       0.01);
        assert_percent(r->total.global_ld_bytes, r->total.global_ld_sectors * 32, table[i].sectors,
                       0.01);
        assert_percent(r->total.global_st_bytes, r->total.global_st_sectors * 32, 100, 0.01);
        gpusim_result_free(r);
    }
}

static void read_offset_unrolled_is_the_same(void **state)
{
    struct gpusim_result *r = offset_result("read_offset_unrolled", 11, 4);

    (void)state;
    assert_percent(r->total.global_ld_bytes, r->total.global_ld_lines * 128, 50, 0.01);
    assert_percent(r->total.global_ld_bytes, r->total.global_ld_sectors * 32, 80, 0.01);
    gpusim_result_free(r);
}

static void write_offset_efficiency(void **state)
{
    static const struct {
        unsigned offset;
        double stores;
    } table[] = {{0, 100}, {11, 80}, {128, 100}};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct gpusim_result *r = offset_result("write_offset", table[i].offset, 1);
        assert_percent(r->total.global_st_bytes, r->total.global_st_sectors * 32, table[i].stores,
                       0.01);
        assert_percent(r->total.global_ld_bytes, r->total.global_ld_lines * 128, 100, 0.01);
        gpusim_result_free(r);
    }
}

static void structs_of_arrays_and_arrays_of_structs(void **state)
{
    const uint64_t n = 1 << 16;

    (void)state;
    for (int of_arrays = 0; of_arrays < 2; of_arrays++) {
        struct shape shape = {(unsigned)(n / 128), 1, 128, 1, 0, 12};
        double expected = of_arrays ? 100 : 50;
        struct gpusim_result *r;
        struct device d;
        uint64_t in, out;

        device_open(&d, "hopper", 4 * n * 8);
        in = device_buffer(&d, n * 8);
        out = device_buffer(&d, n * 8);
        r = device_profile(&d, of_arrays ? "structs_soa" : "structs_aos", shape, in, out, n);
        assert_percent(r->total.global_ld_bytes, r->total.global_ld_sectors * 32, expected, 0);
        assert_percent(r->total.global_st_bytes, r->total.global_st_sectors * 32, expected, 0);
        assert_percent(r->total.global_ld_bytes, r->total.global_ld_lines * 128, expected, 0);
        gpusim_result_free(r);
        device_close(&d);
    }
}

/* ---- occupancy and instructions ---- */

static struct gpusim_result *vector_add(const char *chip, uint64_t n, unsigned block)
{
    struct shape shape = {(unsigned)((n + block - 1) / block), 1, block, 1, 0, 12};
    struct gpusim_result *r;
    struct device d;
    uint64_t a, b, c;

    device_open(&d, chip, 4 * n * 4 + 4 * BUFFER_ALIGNMENT);
    a = device_buffer(&d, n * 4);
    b = device_buffer(&d, n * 4);
    c = device_buffer(&d, n * 4);
    r = device_profile(&d, "vector_add", shape, a, b, c, n);
    device_close(&d);
    return r;
}

static double occupancy(const struct gpusim_result *r, unsigned max_warps)
{
    return (double)r->total.warp_cycles / (double)r->total.active_cycles / max_warps;
}

static void vector_add_occupancy_by_block_size(void **state)
{
    static const struct {
        unsigned block;
        double limit; /* 16 blocks and 64 warps an SM */
        double measured;
    } table[] = {{1024, 1, 0.767550}, {512, 1, 0.780929},  {256, 1, 0.818572},
                 {128, 1, 0.840699},  {64, 0.5, 0.415732}, {32, 0.25, 0.202111}};

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct gpusim_result *r = vector_add("kepler", 1 << 18, table[i].block);
        double value = occupancy(r, 64);
        /* The model is no K80: it keeps the limit, and comes near the measured values. */
        assert_true(value <= table[i].limit);
        assert_true(value > 0.7 * table[i].limit);
        gpusim_result_free(r);
    }
}

static void vector_add_instructions(void **state)
{
    const uint64_t n = 1 << 18;
    struct gpusim_result *r = vector_add("kepler", n, 1024);

    (void)state;
    /* 9437184 for 1 << 24 elements: 18 for each warp. */
    assert_int_equal(r->total.inst, 18 * n / 32);
    assert_int_equal(r->total.inst * 64, 9437184);
    assert_int_equal(r->total.thread_inst, 18 * n);
    assert_int_equal(r->total.thread_inst_on, r->total.thread_inst);
    assert_int_equal(r->total.threads, n);
    assert_int_equal(r->total.warps, n / 32);
    assert_int_equal(r->total.blocks, n / 1024);
    gpusim_result_free(r);
}

static void a_ragged_end_diverges_in_one_warp(void **state)
{
    struct gpusim_result *r = vector_add("hopper", 1000, 128);

    (void)state;
    assert_int_equal(r->total.divergent_branches, 1);
    assert_int_equal(r->total.branches, 32);
    assert_int_equal(r->total.global_st_bytes, 4000);
    gpusim_result_free(r);
}

static void resident_blocks_by_every_limit(void **state)
{
    const struct gpusim_chip *kepler = gpusim_chip_find("kepler");
    const struct gpusim_chip *hopper = gpusim_chip_find("hopper");

    (void)state;
    assert_int_equal(gpusim_chip_resident_blocks(kepler, 32, 16, 0), 16);
    assert_int_equal(gpusim_chip_resident_blocks(kepler, 1024, 16, 0), 2);
    assert_int_equal(gpusim_chip_resident_blocks(kepler, 256, 16, 40000), 2);
    assert_int_equal(gpusim_chip_resident_blocks(hopper, 32, 16, 0), 32);
    assert_int_equal(gpusim_chip_resident_blocks(hopper, 1024, 37, 8192), 1);
    assert_int_equal(gpusim_chip_resident_blocks(hopper, 256, 128, 0), 2);
    assert_int_equal(gpusim_chip_resident_blocks(hopper, 2048 + 32, 16, 0), 0);
}

/* ---- divergence and predication ---- */

static struct gpusim_result *in_place(const char *kernel, uint64_t n, unsigned block,
                                      unsigned shared, uint64_t parameter)
{
    struct shape shape = {(unsigned)(n / block), 1, block, 1, shared, 16};
    struct gpusim_result *r;
    struct device d;
    uint64_t a;

    device_open(&d, "hopper", n * 8 + BUFFER_ALIGNMENT);
    a = device_buffer(&d, n * 8);
    r = device_profile(&d, kernel, shape, a, parameter);
    device_close(&d);
    return r;
}

static void predication_counts_apart(void **state)
{
    struct gpusim_result *r = in_place("predicated", 1024, 128, 0, 0);

    (void)state;
    /* Nine instructions, three of which only every other lane has a use for. */
    assert_int_equal(r->total.thread_inst, 9 * 1024);
    assert_int_equal(r->total.thread_inst_on, 6 * 1024 + 3 * 512);
    assert_int_equal(r->total.fadd_on, 2 * 512);
    assert_int_equal(r->total.divergent_branches, 0);
    gpusim_result_free(r);
}

static void one_lane_of_each_warp(void **state)
{
    struct gpusim_result *r = in_place("one_lane", 1024, 128, 0, 1000);
    double lanes = (double)r->total.thread_inst / (double)r->total.inst;

    (void)state;
    assert_true(lanes > 1.0 && lanes < 1.1);
    assert_int_equal(r->total.divergent_branches, 1024 / 32);
    gpusim_result_free(r);
}

static void lanes_in_the_same_iteration_run_together(void **state)
{
    struct gpusim_result *r = in_place("flops_float", 1024, 128, 0, 10);

    (void)state;
    assert_int_equal(r->total.fadd_on, 10 * 1024);
    assert_int_equal(r->total.fmul_on, 10 * 1024);
    assert_int_equal(r->total.ffma_on, 10 * 1024);
    assert_int_equal(r->total.inst_fp32, 30 * 1024 / 32);
    assert_int_equal(r->total.branches, 11 * 1024 / 32);
    assert_int_equal(r->total.thread_inst, 32 * r->total.inst);
    gpusim_result_free(r);
}

static void flops_by_precision(void **state)
{
    struct gpusim_result *r = in_place("flops_double", 1024, 128, 0, 4);

    (void)state;
    assert_int_equal(r->total.dadd_on, 4096);
    assert_int_equal(r->total.dmul_on, 4096);
    assert_int_equal(r->total.dfma_on, 4096);
    assert_int_equal(r->total.fadd_on + r->total.hadd_on, 0);
    gpusim_result_free(r);
    r = in_place("flops_half", 1024, 128, 0, 4);
    assert_int_equal(r->total.hadd_on, 4096);
    assert_int_equal(r->total.hmul_on, 4096);
    assert_int_equal(r->total.hfma_on, 4096);
    gpusim_result_free(r);
}

static struct gpusim_result *reduction(const char *kernel, uint64_t n, unsigned block,
                                       unsigned shared)
{
    struct shape shape = {(unsigned)(n / block), 1, block, 1, shared, 16};
    struct gpusim_result *r;
    struct device d;
    uint64_t in, out;
    int total = 0;

    device_open(&d, "hopper", n * 8);
    in = device_buffer(&d, n * 4);
    out = device_buffer(&d, n / block * 4);
    for (uint64_t i = 0; i < n; i++)
        ((int *)device_bytes(&d, in))[i] = 1;
    r = device_profile(&d, kernel, shape, in, out, n);
    for (uint64_t i = 0; i < n / block; i++)
        total += ((int *)device_bytes(&d, out))[i];
    assert_int_equal(total, n);
    device_close(&d);
    return r;
}

static void neighbour_pairs_diverge_and_halves_do_not(void **state)
{
    struct gpusim_result *worse = reduction("sum_neighbours", 1 << 12, 256, 0);
    struct gpusim_result *better = reduction("sum_interleaved", 1 << 12, 256, 0);

    (void)state;
    /* Steps 1 to 16 split all eight warps of a block; of 32, 64 and 128 lanes one warp each is
     * split; so is the last branch. The other way only steps 16 to 1 split, and only one warp. */
    assert_int_equal(worse->total.divergent_branches, 16 * (5 * 8 + 4 + 2 + 1 + 1));
    assert_int_equal(better->total.divergent_branches, 16 * (5 + 1));
    assert_true(worse->total.inst > better->total.inst);
    gpusim_result_free(worse);
    gpusim_result_free(better);
}

/* ---- shared memory ---- */

static struct gpusim_result *transpose(const char *kernel, unsigned shared)
{
    struct shape shape = {8, 8, 32, 32, shared, 16};
    struct gpusim_result *r;
    struct device d;
    uint64_t in, out;

    device_open(&d, "hopper", 4 * 256 * 256 * 4);
    in = device_buffer(&d, 256 * 256 * 4);
    out = device_buffer(&d, 256 * 256 * 4);
    r = device_profile(&d, kernel, shape, in, out, (uint64_t)256);
    device_close(&d);
    return r;
}

static void a_column_of_a_tile_lies_in_one_bank(void **state)
{
    struct gpusim_result *r = transpose("transpose_shared", 4096);

    (void)state;
    assert_int_equal(r->total.shared_st_wavefronts, r->total.shared_st);
    assert_int_equal(r->total.shared_ld_wavefronts, 32 * r->total.shared_ld);
    assert_int_equal(r->total.shared_ld_ideal, r->total.shared_ld);
    /* Half the accesses at full width, half at a thirty-second. */
    assert_percent(r->total.shared_ld_bytes + r->total.shared_st_bytes,
                   128 * (r->total.shared_ld_wavefronts + r->total.shared_st_wavefronts),
                   200.0 / 33, 0.0001);
    assert_percent(r->total.global_st_bytes, 32 * r->total.global_st_sectors, 100, 0);
    gpusim_result_free(r);
}

static void one_word_of_padding_frees_the_banks(void **state)
{
    struct gpusim_result *r = transpose("transpose_padded", 4224);

    (void)state;
    assert_int_equal(r->total.shared_ld_wavefronts, r->total.shared_ld);
    assert_int_equal(r->total.shared_st_wavefronts, r->total.shared_st);
    gpusim_result_free(r);
}

static void without_shared_memory_the_columns_are_stored_apart(void **state)
{
    struct gpusim_result *r = transpose("transpose_naive", 0);

    (void)state;
    assert_percent(r->total.global_ld_bytes, 32 * r->total.global_ld_sectors, 100, 0);
    assert_percent(r->total.global_st_bytes, 32 * r->total.global_st_sectors, 12.5, 0);
    gpusim_result_free(r);
}

static void structs_of_32_bytes_share_banks(void **state)
{
    struct gpusim_result *r = in_place("wide_structs_shared", 512, 128, 128 * 32, 0);

    (void)state;
    /* Lanes n and n + 4 meet: four banks serve 32 lanes. */
    assert_int_equal(r->total.shared_ld_wavefronts, 8 * r->total.shared_ld);
    assert_int_equal(r->total.shared_st_wavefronts, 8 * r->total.shared_st);
    gpusim_result_free(r);
}

static void lanes_that_read_one_word_share_it(void **state)
{
    struct gpusim_access access = {UINT32_MAX, 4, {0}};
    unsigned ideal;

    (void)state;
    assert_int_equal(gpusim_wavefronts(&access, &ideal), 1);
    for (unsigned lane = 0; lane < 32; lane++)
        access.address[lane] = lane * 8;
    assert_int_equal(gpusim_wavefronts(&access, &ideal), 2);
    access.size = 8;
    assert_int_equal(gpusim_wavefronts(&access, &ideal), 2);
    assert_int_equal(ideal, 2);
    access.lanes = 1;
    assert_int_equal(gpusim_wavefronts(&access, &ideal), 1);
}

/* ---- transactions of single accesses ---- */

static struct gpusim_access lanes_at(uint64_t start, unsigned stride, unsigned size)
{
    struct gpusim_access access = {UINT32_MAX, size, {0}};

    for (unsigned lane = 0; lane < 32; lane++)
        access.address[lane] = start + (uint64_t)lane * stride;
    return access;
}

static void stores_in_segments(void **state)
{
    static const struct {
        uint64_t start;
        uint32_t lanes;
        unsigned transactions;
    } table[] = {
        {0, UINT32_MAX, 1},  /* a whole line: one of four sectors */
        {0, 0x0000ffff, 1},  /* half of it: one of two */
        {0, 0x000000ff, 1},  /* a sector */
        {32, 0x0000ffff, 2}, /* the two in the middle belong to different halves */
        {64, UINT32_MAX, 2}, /* half of one line, half of the next */
        {44, UINT32_MAX, 3}, /* 1 + 2 sectors, then two of the next line */
    };
    uint64_t sectors[GPUSIM_MAX_SECTORS];

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct gpusim_access access = lanes_at(4096 + table[i].start, 4, 4);
        access.lanes = table[i].lanes;
        assert_int_equal(gpusim_segment_transactions(&access), table[i].transactions);
    }
    assert_int_equal(
        gpusim_units(&(struct gpusim_access){1, 4, {126}}, UINT32_MAX, GPUSIM_SECTOR, sectors), 2);
}

static void wide_loads_go_in_parts(void **state)
{
    struct gpusim_access four = lanes_at(4096, 4, 4);
    struct gpusim_access eight = lanes_at(4096, 8, 8);
    struct gpusim_access sixteen = lanes_at(4096, 16, 16);
    struct gpusim_access same = lanes_at(4096, 0, 16);

    (void)state;
    assert_int_equal(gpusim_line_transactions(&four), 1);
    assert_int_equal(gpusim_line_transactions(&eight), 2);
    assert_int_equal(gpusim_line_transactions(&sixteen), 4);
    assert_int_equal(gpusim_line_transactions(&same), 4);
    assert_int_equal(gpusim_ideal_sectors(&sixteen), 16);
}

/* ---- caches ---- */

static void a_cache_forgets_what_was_not_used(void **state)
{
    struct gpusim_cache *cache = gpusim_cache_new(16 * 128, 4);
    uint64_t written = 0;

    (void)state;
    assert_non_null(cache);
    assert_false(gpusim_cache_touch(cache, 0, true, &written));
    assert_true(gpusim_cache_touch(cache, 16, false, &written));
    assert_false(gpusim_cache_touch(cache, 32, false, &written)); /* another sector of the line */
    assert_int_equal(written, 0);
    gpusim_cache_sweep(cache, 1 << 20, 1 << 20, false);
    assert_false(gpusim_cache_touch(cache, 0, false, &written));
    /* Dirty lines go to memory when they must leave. */
    for (uint64_t at = 0; at < 64 * 128; at += 128)
        (void)gpusim_cache_touch(cache, at, true, &written);
    assert_true(written >= 40);
    gpusim_cache_free(cache);
}

static void a_second_read_comes_from_the_cache(void **state)
{
    const uint64_t n = 1 << 16;
    struct shape shape = {(unsigned)(n / 256), 1, 256, 1, 0, 12};
    struct gpusim_result *first, *second;
    struct device d;
    uint64_t a, b, c;

    (void)state;
    device_open(&d, "hopper", 4 * n * 4);
    a = device_buffer(&d, n * 4);
    b = device_buffer(&d, n * 4);
    c = device_buffer(&d, n * 4);
    first = device_profile(&d, "vector_add", shape, a, b, c, n);
    second = device_profile(&d, "vector_add", shape, a, b, c, n);
    assert_int_equal(first->total.dram_read_sectors, 2 * n * 4 / 32);
    assert_int_equal(second->total.dram_read_sectors, 0);
    assert_true(second->duration_ns < first->duration_ns);
    gpusim_result_free(first);
    gpusim_result_free(second);
    device_close(&d);
}

/* ---- odds and ends ---- */

static void halves_are_rounded(void **state)
{
    (void)state;
    assert_true(gpusim_half(1.0f) == 1.0f);
    assert_true(gpusim_half(1.0f + 0x1p-11f) == 1.0f); /* a tie, to even */
    assert_true(gpusim_half(1.0f + 0x1.8p-10f) == 1.0f + 0x1p-9f);
    assert_true(gpusim_half(65504.0f) == 65504.0f);
    assert_true(isinf(gpusim_half(65520.0f)));
    assert_true(gpusim_half(0x1p-25f) == 0.0f);
    assert_true(gpusim_half(0x1p-24f) == 0x1p-24f);
    assert_true(gpusim_half(-0x1.004p-14f) == -0x1.004p-14f);
}

static void counts_are_the_same_every_time(void **state)
{
    struct gpusim_result *a = transpose("transpose_shared", 4096);
    struct gpusim_result *b = transpose("transpose_shared", 4096);

    (void)state;
    assert_memory_equal(&a->total, &b->total, sizeof(a->total));
    assert_memory_equal(a->sm, b->sm, sizeof(a->sm));
    assert_int_equal(a->cycles, b->cycles);
    assert_int_equal(a->instruction_count, b->instruction_count);
    gpusim_result_free(a);
    gpusim_result_free(b);
}

static void instructions_add_up_to_the_launch(void **state)
{
    struct gpusim_result *r = reduction("sum_shared", 1 << 12, 256, 1024);
    struct gpusim_counters sum = {0};

    (void)state;
    for (size_t i = 0; i < r->instruction_count; i++) {
        gpusim_counters_add(&sum, &r->instructions[i].counts);
        assert_int_equal(r->instructions[i].offset % 16, 0);
        if (i > 0)
            assert_true(r->instructions[i].offset > r->instructions[i - 1].offset);
    }
    assert_int_equal(sum.inst, r->total.inst);
    assert_int_equal(sum.shared_ld_wavefronts, r->total.shared_ld_wavefronts);
    assert_int_equal(sum.global_ld_sectors, r->total.global_ld_sectors);
    gpusim_result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrix_add_by_128_byte_lines),
        cmocka_unit_test(matrix_add_by_sectors),
        cmocka_unit_test(read_offset_efficiency),
        cmocka_unit_test(read_offset_unrolled_is_the_same),
        cmocka_unit_test(write_offset_efficiency),
        cmocka_unit_test(structs_of_arrays_and_arrays_of_structs),
        cmocka_unit_test(vector_add_occupancy_by_block_size),
        cmocka_unit_test(vector_add_instructions),
        cmocka_unit_test(a_ragged_end_diverges_in_one_warp),
        cmocka_unit_test(resident_blocks_by_every_limit),
        cmocka_unit_test(predication_counts_apart),
        cmocka_unit_test(one_lane_of_each_warp),
        cmocka_unit_test(lanes_in_the_same_iteration_run_together),
        cmocka_unit_test(flops_by_precision),
        cmocka_unit_test(neighbour_pairs_diverge_and_halves_do_not),
        cmocka_unit_test(a_column_of_a_tile_lies_in_one_bank),
        cmocka_unit_test(one_word_of_padding_frees_the_banks),
        cmocka_unit_test(without_shared_memory_the_columns_are_stored_apart),
        cmocka_unit_test(structs_of_32_bytes_share_banks),
        cmocka_unit_test(lanes_that_read_one_word_share_it),
        cmocka_unit_test(stores_in_segments),
        cmocka_unit_test(wide_loads_go_in_parts),
        cmocka_unit_test(a_cache_forgets_what_was_not_used),
        cmocka_unit_test(a_second_read_comes_from_the_cache),
        cmocka_unit_test(halves_are_rounded),
        cmocka_unit_test(counts_are_the_same_every_time),
        cmocka_unit_test(instructions_add_up_to_the_launch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
