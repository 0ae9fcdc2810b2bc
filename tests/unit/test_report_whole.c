/* report/whole: the summary of the program. */
#include "report/copies.h"
#include "report/lines.h"
#include "report/whole.h"

#include "h200.h"
#include "sample.h"
#include "shipped.h"

#include <elf.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A program: its launches, and all that the report makes of them. */
struct program {
    struct gp_metrics *metrics;
    struct gp_summary *summary;
    struct gp_rows rows;
    struct gp_rules *rules;
    struct gp_findings findings;
    struct gp_copies copies[GP_COPY_KINDS];
    struct gp_whole whole;
};

static const struct gp_settings all_measured;

static void begin(struct program *p)
{
    *p = (struct program){.metrics = selected("default")};
    p->summary = gp_summary_new(p->metrics);
    gp_summary_settings(p->summary, &all_measured);
    gp_summary_device(p->summary, &h200);
}

static void end_process(struct program *p, double seconds, double added_seconds)
{
    const struct gp_end end = {.seconds = seconds, .added_seconds = added_seconds};
    gp_summary_end(p->summary, &end);
}

static void launch(struct program *p, const struct sample *s)
{
    gp_summary_launch(p->summary, &s->launch);
}

static void make_of(struct program *p,
                    const struct gp_lines *(*lines)(void *, const struct gp_row *), void *user)
{
    struct gp_text problems = {0};
    assert_true(gp_rows_make(&p->rows, p->summary));
    p->rules = gp_rules_open(p->metrics, &problems);
    assert_string_equal(gp_text_string(&problems), "");
    assert_true(gp_findings_make(&p->findings, p->rules, &p->rows, lines, user));
    gp_whole_make(&p->whole, &p->rows, &p->findings, p->copies, lines, user);
}

static void make(struct program *p)
{
    make_of(p, NULL, NULL);
}

static void forget(struct program *p)
{
    gp_findings_free(&p->findings);
    gp_rules_close(p->rules);
    gp_rows_free(&p->rows);
    gp_summary_free(p->summary);
    gp_metrics_close(p->metrics);
}

enum { PROGRAM, WINDOW, LIMIT, APART, GRAPHS, HOST, ARITHMETIC, MEMORY, BOUNDS, ORIGINS };

static void says(const struct program *p, size_t line, const char *expected)
{
    struct gp_text text = {0};
    gp_whole_line(&p->whole, line, &text);
    assert_string_equal(gp_text_string(&text), expected);
    gp_text_free(&text);
}

#define FFMA "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
#define DFMA "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum"
#define HFMA "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum"
#define BF16 "gpuprof__sass_ops_tensor_src_bf16.sum"

/* The peaks of an H200 at its boost clock. */
#define PEAK_FP32 66.908e12
#define PEAK_DRAM 4.814e12

/* A millisecond with a quarter of the FP32 peak and half of DRAM's bandwidth. */
static void make_busy(struct sample *s, const char *kernel)
{
    make_sample(s, kernel);
    set(s, FFMA, 0.25 * PEAK_FP32 * 1e-3 / 2);
    set(s, "dram__bytes_read.sum", 0.3 * PEAK_DRAM * 1e-3);
    set(s, "dram__bytes_write.sum", 0.2 * PEAK_DRAM * 1e-3);
}

static void the_time_of_graphs_is_no_kernels(void **state)
{
    (void)state;
    struct program p;
    struct sample s;
    const struct gp_whole_times few = {
        .kernel = "k", .kernels = 3, .launches = 2, .timed = 1, .seconds = 1e-3};
    const struct gp_whole_times most = {
        .kernel = "_Z4loopPi", .kernels = 1, .launches = 4, .timed = 4, .seconds = 3e-3};
    const struct gp_whole_times none = {.kernel = "", .launches = 1, .timed = 1, .seconds = 2e-3};
    make_busy(&s, "k");
    begin(&p);
    launch(&p, &s);
    gp_summary_graph(p.summary, &few);
    gp_summary_graph(p.summary, &most);
    gp_summary_graph(p.summary, &none);
    end_process(&p, 20e-3, 0);
    make(&p);
    says(&p, PROGRAM, "ran ~20.00 ms without gpuprof; the GPU ran kernels in ~5.00 % of it");
    says(&p, GRAPHS,
         "6 launches of graphs took 6.000 ms on the GPU, which no kernel's time holds: they were "
         "launched as they are, and timed as a whole; most of it one of 1 kernel, loop first");
    forget(&p);
    begin(&p);
    launch(&p, &s);
    gp_summary_graph(p.summary, &none);
    end_process(&p, 20e-3, 0);
    make(&p);
    says(&p, GRAPHS,
         "1 launch of graphs took 2.000 ms on the GPU, which no kernel's time holds: they were "
         "launched as they are, and timed as a whole");
    forget(&p);
}

/* ---- shares of time -------------------------------------------------------------------------- */

static void shares_are_of_all_the_time_and_of_that_of_kernels(void **state)
{
    (void)state;
    struct program p;
    struct sample s;
    make_busy(&s, "k");
    begin(&p);
    launch(&p, &s);
    launch(&p, &s);
    end_process(&p, 25e-3, 5e-3); /* 5 of 25 ms were gpuprof's */
    make(&p);
    says(&p, PROGRAM, "ran ~20.00 ms without gpuprof; the GPU ran kernels in ~10.0 % of it");
    says(&p, ARITHMETIC,
         "33.45 GFLOP (100 % FP32): 1.673 TFLOP/s, ~2.50 % of the peak in all that time, 25.0 % "
         "while "
         "kernels ran");
    says(
        &p, MEMORY,
        "4.814 GB of DRAM traffic, ~5.00 % of its bandwidth in all that time, 50.0 % while kernels "
        "ran");
    assert_true(isnan(p.whole.copy_share));
    forget(&p);
}

static void without_the_programs_time_shares_are_of_kernels_alone(void **state)
{
    (void)state;
    struct program p;
    struct sample s;
    make_busy(&s, "k");
    begin(&p);
    launch(&p, &s);
    make(&p);
    says(&p, PROGRAM, "");
    says(&p, ARITHMETIC,
         "16.73 GFLOP (100 % FP32): 16.73 TFLOP/s, 25.0 % of the peak while kernels ran");
    assert_true(isnan(p.whole.gpu_share));
    forget(&p);
}

/* Nothing was timed: no share of any time is there, nor a division by no time. */
static void without_any_time_there_is_no_share(void **state)
{
    (void)state;
    struct program p;
    struct sample s;
    make_busy(&s, "k");
    for (size_t i = 0; i < s.launch.counter_count; i++)
        if (strcmp(s.counters[i].name, "gpu__time_duration.sum") == 0)
            s.counters[i].absent = GP_REASON_TEXT(OTHER, "it could not be timed");
    begin(&p);
    launch(&p, &s);
    end_process(&p, 20e-3, 0);
    make(&p);
    says(&p, PROGRAM, "ran ~20.00 ms without gpuprof");
    for (size_t line = ARITHMETIC; line < GP_WHOLE_LINES; line++)
        says(&p, line, "");
    forget(&p);
}

/* ---- a window ------------------------------------------------------------------------------- */

static void begin_windowed(struct program *p, const char *window)
{
    gp_summary_settings(p->summary, &(struct gp_settings){.window = window});
}

static void end_windowed(struct program *p, double seconds, double window_seconds, uint64_t outside)
{
    const struct gp_end end = {.seconds = seconds,
                               .added_seconds = 5e-3,
                               .has_window = 1,
                               .outside_launches = outside,
                               .window_seconds = window_seconds,
                               .window_added_seconds = 4e-3};
    gp_summary_end(p->summary, &end);
}

static void shares_are_of_the_window(void **state)
{
    (void)state;
    struct program p;
    struct sample s;
    make_busy(&s, "k");
    p = (struct program){.metrics = selected("default")};
    p.summary = gp_summary_new(p.metrics);
    begin_windowed(&p, "delay:5s");
    gp_summary_device(p.summary, &h200);
    launch(&p, &s);
    launch(&p, &s);
    end_windowed(&p, 125e-3, 24e-3, 812);
    make(&p);
    says(&p, PROGRAM,
         "ran ~20.00 ms in the window without gpuprof; the GPU ran kernels in ~10.0 % of it");
    says(&p, WINDOW,
         "812 launches and ~100.0 ms without gpuprof lay outside, not measured (delay:5s)");
    assert_float_equal(p.whole.run_seconds, 20e-3, 1e-9);
    /* Another process of the run adds to it. */
    gp_findings_free(&p.findings);
    gp_rules_close(p.rules);
    gp_rows_free(&p.rows);
    begin_windowed(&p, "delay:5s");
    launch(&p, &s);
    end_windowed(&p, 25e-3, 24e-3, 1);
    make(&p);
    says(&p, PROGRAM,
         "2 processes ran ~40.00 ms together in the window without gpuprof; the GPU ran kernels in "
         "~7.50 % of it");
    says(&p, WINDOW,
         "813 launches and ~100.0 ms without gpuprof lay outside, not measured (delay:5s)");
    forget(&p);
}

/* It was killed, say. */
static void a_window_whose_end_is_not_known_has_no_numbers(void **state)
{
    (void)state;
    struct program p;
    struct sample s;
    make_busy(&s, "k");
    begin(&p);
    says(&(struct program){0}, WINDOW, "");
    begin_windowed(&p, "warm-up:3");
    launch(&p, &s);
    make(&p);
    says(&p, WINDOW, "launches that lay outside were not measured (warm-up:3)");
    forget(&p);
}

static void kernels_of_several_streams_are_a_bound(void **state)
{
    (void)state;
    struct program p;
    struct sample s;
    make_sample(&s, "k");
    begin(&p);
    launch(&p, &s);
    s.launch.stream = 7;
    launch(&p, &s);
    end_process(&p, 20e-3, 0);
    make(&p);
    says(&p, PROGRAM,
         "ran ~20.00 ms without gpuprof; the GPU ran kernels in at most ~10.0 % of it");
    forget(&p);
    /* Side by side they may take more than there is. */
    begin(&p);
    s.launch.stream = 0;
    launch(&p, &s);
    s.launch.stream = 7;
    launch(&p, &s);
    end_process(&p, 1e-3, 0);
    make(&p);
    says(&p, PROGRAM, "ran ~1.000 ms without gpuprof; the GPU ran kernels in at most ~100 % of it");
    forget(&p);
}

/* Such as NCCL's, which is not measured: the GPU ran it all the same. */
static void kernels_without_a_time_make_shares_lower_bounds(void **state)
{
    (void)state;
    struct program p;
    struct sample s;
    make_busy(&s, "k");
    begin(&p);
    launch(&p, &s);
    const struct gp_count count = {
        .kernel = "collective", .configuration = s.launch.configuration, .launches = 3};
    gp_summary_count(p.summary, &count);
    end_process(&p, 20e-3, 0);
    make(&p);
    says(&p, PROGRAM,
         "ran ~20.00 ms without gpuprof; the GPU ran kernels in at least ~5.00 % of it (3 launches "
         "have no time)");
    assert_int_equal(p.whole.untimed, 3);
    /* Nobody knows their work either. */
    says(&p, ARITHMETIC,
         "at least 16.73 GFLOP (100 % FP32): 836.4 GFLOP/s, ~1.25 % of the peak in all that time, "
         "~25.0 % while kernels ran");
    forget(&p);
    /* Both at once: no bound at all. */
    begin(&p);
    launch(&p, &s);
    s.launch.stream = 7;
    launch(&p, &s);
    gp_summary_count(p.summary, &count);
    end_process(&p, 20e-3, 0);
    make(&p);
    says(&p, PROGRAM,
         "ran ~20.00 ms without gpuprof; the GPU ran kernels in ~10.0 % of it (3 launches have no "
         "time)");
    forget(&p);
}

static void times_that_stand_for_others_are_estimates(void **state)
{
    (void)state;
    struct program p;
    struct sample s;
    make_busy(&s, "k");
    begin(&p);
    launch(&p, &s);
    const struct gp_count count = {
        .kernel = "k", .configuration = s.launch.configuration, .launches = 4};
    gp_summary_count(p.summary, &count);
    make(&p);
    says(&p, ARITHMETIC,
         "66.91 GFLOP (100 % FP32): 16.73 TFLOP/s, ~25.0 % of the peak while kernels ran");
    forget(&p);
}

static void copies_have_a_share_where_they_were_timed(void **state)
{
    (void)state;
    struct program p;
    struct sample s;
    make_sample(&s, "k");
    begin(&p);
    launch(&p, &s);
    end_process(&p, 10e-3, 0);
    /* A half of the calls was timed: it stands for the other. */
    p.copies[0] = (struct gp_copies){.calls = 4, .timed = 2, .seconds = 1e-3};
    p.copies[1] = (struct gp_copies){.calls = 9};
    make(&p);
    says(&p, PROGRAM,
         "ran ~10.00 ms without gpuprof; the GPU ran kernels in ~10.0 % of it, and copied in ~20.0 "
         "%");
    forget(&p);
}

static void copies_that_stand_for_others_are_estimates(void **state)
{
    (void)state;
    const struct gp_copies copies[GP_COPY_KINDS] = {
        [GP_HOST_TO_DEVICE] =
            {.calls = 4, .bytes = 4000, .timed = 2, .timed_bytes = 2000, .seconds = 2e-5},
        [GP_FILL] = {.calls = 2, .bytes = 4000, .timed = 2, .timed_bytes = 4000, .seconds = 2e-5},
    };
    struct gp_text out = {0};
    gp_copies_table(copies, &out);
    assert_string_equal(
        out.data,
        "\nMEMORY COPIES AND FILLS\n"
        "   direction                      calls       bytes        time    throughput\n"
        "   host to device                2 of 4    4.000 kB   ~40.00 us    100.0 MB/s\n"
        "   fill                               2    4.000 kB    20.00 us    200.0 MB/s\n");
    gp_text_free(&out);
}

static void a_program_that_hardly_uses_the_gpu(void **state)
{
    (void)state;
    struct program p;
    struct sample s;
    make_busy(&s, "k");
    begin(&p);
    launch(&p, &s);
    end_process(&p, 60, 0);
    make(&p);
    says(&p, PROGRAM,
         "ran ~60.00 s without gpuprof; the GPU ran kernels in less than 0.01 % of it");
    forget(&p);
}

/* ---- several processes and GPUs -------------------------------------------------------------- */

static void another_process(struct program *p, const struct sample *s, double seconds)
{
    gp_summary_settings(p->summary, &all_measured);
    launch(p, s);
    if (seconds > 0)
        end_process(p, seconds, 0);
}

static void times_of_processes_add_up(void **state)
{
    (void)state;
    struct program p;
    struct sample s;
    make_busy(&s, "k");
    begin(&p);
    launch(&p, &s);
    end_process(&p, 4e-3, 0);
    another_process(&p, &s, 6e-3);
    make(&p);
    says(
        &p, PROGRAM,
        "2 processes ran ~10.00 ms together without gpuprof; the GPU ran kernels in ~20.0 % of it");
    says(&p, ARITHMETIC,
         "33.45 GFLOP (100 % FP32): 3.345 TFLOP/s of each process, ~5.00 % of the peak in all that "
         "time, 25.0 % while kernels ran");
    forget(&p);
    /* Each has one stream, of another address. */
    begin(&p);
    launch(&p, &s);
    end_process(&p, 4e-3, 0);
    s.launch.stream = 7;
    another_process(&p, &s, 6e-3);
    make(&p);
    assert_false(p.whole.side_by_side);
    forget(&p);
    /* How long the second ran is not known: neither is a share of all. */
    begin(&p);
    launch(&p, &s);
    end_process(&p, 4e-3, 0);
    another_process(&p, &s, 0);
    make(&p);
    says(&p, PROGRAM, "");
    says(&p, ARITHMETIC,
         "33.45 GFLOP (100 % FP32): 16.73 TFLOP/s, 25.0 % of the peak while kernels ran");
    forget(&p);
}

/* Two GPUs, each at work for a fifth of the time: not two. */
static void shares_are_of_all_gpus_that_a_process_used(void **state)
{
    (void)state;
    struct program p;
    struct sample s;
    struct gp_device other = h200;
    other.ordinal = 1;
    make_busy(&s, "k");
    begin(&p);
    gp_summary_device(p.summary, &other);
    launch(&p, &s);
    s.launch.device = 1;
    launch(&p, &s);
    end_process(&p, 5e-3, 0);
    make(&p);
    says(&p, PROGRAM,
         "ran ~5.000 ms without gpuprof; a GPU, in the mean, ran kernels in ~20.0 % of it");
    says(&p, ARITHMETIC,
         "33.45 GFLOP (100 % FP32): 6.691 TFLOP/s, ~5.00 % of the peak in all that time, 25.0 % "
         "while kernels ran");
    forget(&p);
}

/* ---- operations and bytes -------------------------------------------------------------------- */

static void operations_are_divided_by_precision(void **state)
{
    (void)state;
    struct program p;
    struct sample s;
    make_sample(&s, "k");
    set(&s, FFMA, 1e9);
    set(&s, DFMA, 0.3e9);
    set(&s, BF16, 7.38e9);
    set(&s, HFMA, 0.01e9);
    begin(&p);
    launch(&p, &s);
    make(&p);
    struct gp_text text = {0};
    gp_whole_line(&p.whole, ARITHMETIC, &text);
    /* The largest first; parts of less than half a percent are left out. */
    static const char begins[] =
        "10 GFLOP (73.8 % BF16 on tensor cores, 20.0 % FP32, 6.00 % FP64): 10 TFLOP/s, ";
    if (strncmp(gp_text_string(&text), begins, strlen(begins)) != 0)
        fail_msg("%s", gp_text_string(&text));
    gp_text_free(&text);
    forget(&p);
}

/* A kernel's code, for one kind of lines. */
struct code {
    struct gp_lines lines;
    char cubin[1024];
};

static const struct gp_lines *code_lines(void *user, const struct gp_row *row)
{
    (void)row;
    return &((struct code *)user)->lines;
}

static void put_section(struct code *code, unsigned index, unsigned name, unsigned type,
                        const void *bytes, size_t size, size_t at)
{
    Elf64_Ehdr *header = (Elf64_Ehdr *)code->cubin;
    Elf64_Shdr *section = (Elf64_Shdr *)(code->cubin + header->e_shoff) + index;
    *section = (Elf64_Shdr){.sh_name = name, .sh_type = type, .sh_offset = at, .sh_size = size};
    memcpy(code->cubin + at, bytes, size);
}

/* A cubin with one function of a few instructions. */
static void make_code(struct code *code, const uint64_t (*words)[2], size_t count)
{
    static const char names[] = "\0.shstrtab\0.text.k";
    *code = (struct code){.lines = {.source = {.kernel = "k", .cc = 90, .launches = 1, .code = ""},
                                    .cubin = code->cubin,
                                    .cubin_size = sizeof(code->cubin),
                                    .no_lines = "none"}};
    *(Elf64_Ehdr *)code->cubin =
        (Elf64_Ehdr){.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                     .e_type = ET_EXEC,
                     .e_machine = 190,
                     .e_version = EV_CURRENT,
                     .e_shoff = sizeof(Elf64_Ehdr),
                     .e_ehsize = sizeof(Elf64_Ehdr),
                     .e_shentsize = sizeof(Elf64_Shdr),
                     .e_shnum = 3,
                     .e_shstrndx = 1};
    put_section(code, 1, 1, SHT_STRTAB, names, sizeof(names), 400);
    put_section(code, 2, 11, SHT_PROGBITS, words, count * sizeof(*words), 512);
    assert_true(gp_lines_total(&code->lines, GP_WEIGHT_FP64) == 0); /* it can be read */
}

/* Counters have the constants that HFMA2 loads, as ptxas writes them. */
static void constants_are_no_arithmetic(void **state)
{
    (void)state;
    static const uint64_t constant[][2] = {{0x40000000ff057435, 0x000fe200000001ff}},
                          arithmetic[][2] = {{0x40000000ff057435, 0x000fe200000001ff},
                                             {0x0000000702077231, 0x000fca0000000000}};
    struct program p;
    struct sample s;
    struct code code;
    make_sample(&s, "k");
    set(&s, FFMA, 1e9);
    set(&s, HFMA, 1e9);
    begin(&p);
    launch(&p, &s);
    make_code(&code, constant, 1);
    make_of(&p, code_lines, &code);
    says(&p, ARITHMETIC, "2 GFLOP (100 % FP32): 2 TFLOP/s, 2.99 % of the peak while kernels ran");
    forget(&p);
    begin(&p);
    launch(&p, &s);
    make_code(&code, arithmetic, 2);
    make_of(&p, code_lines, &code);
    assert_true(p.whole.flop.value == 4e9);
    forget(&p);
    /* Nothing is known of the code. */
    begin(&p);
    launch(&p, &s);
    make(&p);
    assert_true(p.whole.flop.value == 4e9);
    forget(&p);
}

/* ---- counted in a part of the launches ------------------------------------------------------- */

static void leave_out(struct sample *s, const char *part)
{
    for (size_t i = 0; i < s->launch.counter_count; i++)
        if (strstr(s->counters[i].name, part))
            s->counters[i].absent = GP_REASON_TEXT(OTHER, "not counted");
}

/* Kernel k was counted for so many milliseconds, and kernel x was not for so many. */
static void counted(struct program *p, int with, int without)
{
    struct sample s;
    begin(p);
    make_busy(&s, "k");
    for (int i = 0; i < with; i++)
        launch(p, &s);
    make_busy(&s, "x");
    leave_out(&s, "ffma");
    leave_out(&s, "dram__");
    for (int i = 0; i < without; i++)
        launch(p, &s);
    make(p);
}

static void a_part_that_was_counted_is_the_least(void **state)
{
    (void)state;
    struct program p;
    counted(&p, 98, 2);
    says(&p, ARITHMETIC,
         "1.639 TFLOP (100 % FP32): 16.39 TFLOP/s, 24.5 % of the peak while kernels ran");
    forget(&p);
    counted(&p, 9, 1);
    says(&p, ARITHMETIC,
         "at least 150.5 GFLOP (100 % FP32): 15.05 TFLOP/s, 22.5 % of the peak while kernels ran");
    says(&p, MEMORY,
         "at least 21.66 GB of DRAM traffic, 45.0 % of its bandwidth while kernels ran");
    forget(&p);
    counted(&p, 4, 6);
    says(&p, ARITHMETIC, "");
    says(&p, MEMORY, "");
    assert_true(isnan(p.whole.flop.share) && isnan(p.whole.dram_bytes.share));
    forget(&p);
}

/* Counters of a launch may be known, and its time not. */
static void counts_without_a_time_are_in_no_rate(void **state)
{
    (void)state;
    struct program p;
    struct sample s;
    begin(&p);
    make_busy(&s, "k");
    launch(&p, &s);
    make_busy(&s, "untimed");
    leave_out(&s, "gpu__time_duration");
    launch(&p, &s);
    make(&p);
    says(&p, ARITHMETIC,
         "at least 16.73 GFLOP (100 % FP32): 16.73 TFLOP/s, ~25.0 % of the peak while kernels "
         "ran");
    assert_false(isnan(p.whole.flop.share) || isnan(p.whole.dram_bytes.share));
    forget(&p);
}

/* ---- by bound and by origin ------------------------------------------------------------------ */

/* Times of a kernel stand for its grids without one, as in the sum of all kernels. */
static void grids_without_a_time_have_a_part_of_it(void **state)
{
    (void)state;
    struct program p;
    struct sample s;
    begin(&p);
    make_sample(&s, "k");
    for (int i = 0; i < 3; i++)
        launch(&p, &s);
    s.launch.grid[0] = 16;
    const struct gp_count count = {
        .kernel = "k", .configuration = s.launch.configuration, .launches = 1};
    gp_summary_count(p.summary, &count);
    end_process(&p, 20e-3, 0);
    make(&p);
    says(&p, BOUNDS, "75.0 % latency, 25.0 % not known");
    says(&p, PROGRAM, "ran ~20.00 ms without gpuprof; the GPU ran kernels in ~20.0 % of it");
    assert_int_equal(p.whole.untimed, 0);
    forget(&p);
}

static void time_is_divided_by_bound(void **state)
{
    (void)state;
    struct program p;
    struct sample s;
    begin(&p);
    make_sample(&s, "waits");
    for (int i = 0; i < 6; i++)
        launch(&p, &s);
    s.launch.grid[0] = 16; /* of the same row */
    launch(&p, &s);
    make_sample(&s, "copies");
    set(&s, "dram__bytes_read.sum", 0.8 * PEAK_DRAM * 1e-3);
    launch(&p, &s);
    launch(&p, &s);
    make_sample(&s, "unknown");
    leave_out(&s, "__t_sectors");
    launch(&p, &s);
    make(&p);
    says(&p, BOUNDS, "60.0 % latency, 20.0 % DRAM, 10.0 % too small, 10.0 % not known");
    forget(&p);
}

static void time_is_divided_by_origin(void **state)
{
    (void)state;
    static const char *const kernels[] = {"ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                                          "_ZN2at6native29vectorized_elementwise_kernelILi4EEEvv",
                                          "triton_per_fused_native_layer_norm_2",
                                          "loop_add_fusion_3",
                                          "cupy_add__float32_float32_float32",
                                          "_ZN6cudapy8__main__3addB2v1Ev",
                                          "_ZN3cub12DeviceReduceILi4EEEvv",
                                          "ampere_sgemm_128x64_tn",
                                          "mine"};
    struct program p;
    struct sample s;
    begin(&p);
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        make_sample(&s, kernels[i]);
        for (size_t n = 0; n <= i; n++)
            launch(&p, &s);
    }
    make(&p);
    /* 45 launches; four lines at most, and the rest. */
    says(&p, ORIGINS,
         "20.0 % the program's own, 17.8 % libraries, 15.6 % CUB and Thrust, 13.3 % Numba, 11.1 % "
         "CuPy, 22.2 % others");
    forget(&p);
}

/* Types of PyTorch and Thrust among the arguments, and a word of XLA's, make no kernel theirs. */
static void names_of_others_among_arguments_are_no_origin(void **state)
{
    (void)state;
    static const struct {
        const char *kernel, *full_name;
        enum gp_origin origin;
    } cases[] = {
        {"_Z4mineIN3c104HalfEEvPT_", "void mine<c10::Half>(c10::Half*)", GP_OF_PROGRAM},
        {"_Z4mineN6thrust10device_ptrIfEE", "mine(thrust::device_ptr<float>)", GP_OF_PROGRAM},
        {"_ZN12_GLOBAL__N_14mineEN3cub3SumE", "(anonymous namespace)::mine(cub::Sum)",
         GP_OF_PROGRAM},
        {"_Z13sensor_fusionPf", "sensor_fusion(float*)", GP_OF_PROGRAM},
        {"diffusions", "diffusions", GP_OF_PROGRAM},
        {"fusion", "fusion", GP_OF_XLA},
        {"fusion_519", "fusion_519", GP_OF_XLA},
        {"gemm_fusion_dot_1", "gemm_fusion_dot_1", GP_OF_XLA},
        {"k", "void thrust::cuda_cub::core::_kernel_agent<int>(int)", GP_OF_CUB},
        {"k", "void (anonymous namespace)::softmax_warp_forward<c10::BFloat16>(int)",
         GP_OF_PYTORCH},
        {"k", "void at::native::(anonymous namespace)::cat<c10::Half>(int)", GP_OF_PYTORCH},
        {"k", "void c10::cuda::impl::kernel<int>(int)", GP_OF_PYTORCH},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        enum gp_origin origin = gp_origin_of(cases[i].kernel, cases[i].full_name, NULL);
        if (origin != cases[i].origin)
            fail_msg("%s: %s", cases[i].full_name, gp_origin_title(origin));
    }
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void lines_keep_to_the_width(void **state)
{
    (void)state;
    static const size_t widths[] = {60, 80, 120, 200};
    struct program p;
    struct sample s;
    make_busy(&s, "k");
    begin(&p);
    launch(&p, &s);
    end_process(&p, 4e-3, 0);
    make(&p);
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        struct gp_text text = {0};
        gp_whole_text(&p.whole, widths[i], &text);
        for (const char *line = text.data; *line; line = strchr(line, '\n') + 1) {
            assert_true(strcspn(line, "\n") <= widths[i]);
            /* A percent sign stays with its number. */
            assert_int_not_equal(line[strspn(line, " ")], '%');
        }
        assert_int_equal(strncmp(text.data, "Program:       ran ~", 20), 0);
        assert_non_null(strstr(text.data, "\nTime bound by: "));
        gp_text_free(&text);
    }
    forget(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_time_of_graphs_is_no_kernels),
        cmocka_unit_test(shares_are_of_all_the_time_and_of_that_of_kernels),
        cmocka_unit_test(without_the_programs_time_shares_are_of_kernels_alone),
        cmocka_unit_test(without_any_time_there_is_no_share),
        cmocka_unit_test(shares_are_of_the_window),
        cmocka_unit_test(a_window_whose_end_is_not_known_has_no_numbers),
        cmocka_unit_test(kernels_of_several_streams_are_a_bound),
        cmocka_unit_test(kernels_without_a_time_make_shares_lower_bounds),
        cmocka_unit_test(times_that_stand_for_others_are_estimates),
        cmocka_unit_test(copies_have_a_share_where_they_were_timed),
        cmocka_unit_test(copies_that_stand_for_others_are_estimates),
        cmocka_unit_test(a_program_that_hardly_uses_the_gpu),
        cmocka_unit_test(times_of_processes_add_up),
        cmocka_unit_test(shares_are_of_all_gpus_that_a_process_used),
        cmocka_unit_test(operations_are_divided_by_precision),
        cmocka_unit_test(constants_are_no_arithmetic),
        cmocka_unit_test(a_part_that_was_counted_is_the_least),
        cmocka_unit_test(counts_without_a_time_are_in_no_rate),
        cmocka_unit_test(grids_without_a_time_have_a_part_of_it),
        cmocka_unit_test(time_is_divided_by_bound),
        cmocka_unit_test(time_is_divided_by_origin),
        cmocka_unit_test(names_of_others_among_arguments_are_no_origin),
        cmocka_unit_test(lines_keep_to_the_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
