/* report/: why warps wait, and where, from samples made by hand: of kernels of tests/lines, and of
 * kernels without code. */
#include "base/sha256.h"
#include "beside.h"
#include "code/instruction.h"
#include "report/flame.h"
#include "report/html_stalls.h"
#include "report/own_line.h"
#include "report/sources.h"
#include "report/stalls.h"
#include "report/stalls_json.h"

#include <jansson.h>
#include <math.h>

#define FIRST "_Z5firstIfEvPT_PKS0_i"
#define THIRD "_Z5thirdPfPKf"
#define MOST_INSTRUCTIONS 64

static char *cubin, hash[GP_SHA256_TEXT];
static size_t cubin_size;

/* The cubin lies beside the program, in ../tests. */
static int load(void **state)
{
    (void)state;
    cubin = read_beside("lines.cubin", &cubin_size);
    assert_non_null(cubin);
    gp_sha256_text(cubin, cubin_size, hash);
    return 0;
}

static int unload(void **state)
{
    (void)state;
    free(cubin);
    return 0;
}

/* ---- samples by hand ------------------------------------------------------------------------- */

/* The counts of one kernel, of functions that it may call as well. */
struct made {
    struct gp_instruction_counts list[MOST_INSTRUCTIONS];
    const char *functions[2];
    struct gp_code_counts counts;
};

static void begin(struct made *m, const char *kernel, const char *code)
{
    memset(m, 0, sizeof(*m));
    m->functions[0] = kernel;
    m->counts = (struct gp_code_counts){.kernel = kernel,
                                        .cc = 90,
                                        .launches = 1,
                                        .sampled = 1,
                                        .kinds = GP_SAMPLE_COUNTS,
                                        .function_count = 1,
                                        .functions = m->functions,
                                        .instructions = m->list,
                                        .code = code};
}

static void add_in(struct made *m, uint32_t function, uint32_t offset, enum gp_count_kind reason,
                   uint64_t samples)
{
    struct gp_instruction_counts *c = m->list;
    while (c < m->list + m->counts.instruction_count &&
           (c->function != function || c->offset != offset))
        c++;
    assert_true(c < m->list + MOST_INSTRUCTIONS);
    if (c == m->list + m->counts.instruction_count)
        m->counts.instruction_count++;
    c->function = function;
    c->offset = offset;
    c->values[reason] += samples;
    c->values[GP_COUNT_SAMPLES] += samples;
}

static void add(struct made *m, uint32_t offset, enum gp_count_kind reason, uint64_t samples)
{
    add_in(m, 0, offset, reason, samples);
}

static struct gp_sources *sources_of(const struct made *m)
{
    const struct gp_cubin_image image = {.hash = hash, .bytes = cubin, .size = cubin_size};
    struct gp_sources *sources = gp_sources_new();
    assert_true(gp_sources_add(sources, &m->counts));
    assert_true(gp_sources_add_cubin(sources, &image));
    return sources;
}

/* Without code. */
static struct gp_lines bare(const struct made *m)
{
    return (struct gp_lines){.source = m->counts, .no_lines = "its code was not recorded"};
}

static void brief_is(const struct gp_lines *lines, size_t width, const char *expected)
{
    struct gp_stalls s;
    struct gp_text text = {0};
    assert_true(gp_stalls_make(&s, lines));
    gp_stalls_brief(&s, width, &text);
    assert_string_equal(gp_text_string(&text), expected);
    gp_text_free(&text);
    gp_stalls_free(&s);
}

/* A file of the repository, by its path from tests/, to be freed. */
static char *read_of_repository(const char *name)
{
    char path[4096];
    size_t size;
    snprintf(path, sizeof(path), "%s", __FILE__);
    strcpy(strstr(path, "unit/"), name);
    char *text = read_if_there(path, &size);
    assert_non_null(text);
    return text;
}

/* The line of lines.cu that ends in that comment. */
static unsigned line_of(const char *comment)
{
    char mark[64];
    snprintf(mark, sizeof(mark), "// %s\n", comment);
    char *text = read_of_repository("lines/lines.cu"), *at = strstr(text, mark);
    unsigned line = 1;
    assert_non_null(at);
    for (char *p = text; p < at; p++)
        line += *p == '\n';
    free(text);
    return line;
}

/* The offset of the nth instruction of a function whose innermost line is that one of that file. */
static uint32_t offset_of(const char *function, const char *file, unsigned line, unsigned nth)
{
    struct gp_frame frames[GP_MOST_FRAMES];
    const char *why;
    struct gp_line_table *t = gp_line_table_open(cubin, cubin_size, &why);
    uint32_t at = 0;
    assert_non_null(t);
    for (;; at += GP_INSTRUCTION_BYTES) {
        assert_true(at < 0x2000);
        size_t count = gp_line_table_find(t, function, at, frames, GP_MOST_FRAMES);
        if (count > 0 && strstr(frames[0].file, file) && (!line || frames[0].line == line) &&
            nth-- == 0)
            break;
    }
    gp_line_table_close(t);
    return at;
}

/* ---- reasons --------------------------------------------------------------------------------- */

static void each_reason_has_its_name_and_words(void **state)
{
    (void)state;
    static const char *const names[] = {
#define GP_STALL(kind, name) name,
        GP_STALLS
#undef GP_STALL
    };
    char *page = read_of_repository("../docs/report.md"),
         *colors = read_of_repository("../src/report/page/stalls.js");
    assert_int_equal(sizeof(names) / sizeof(names[0]), GP_STALL_COUNT);
    for (size_t r = 0; r < GP_STALL_COUNT; r++) {
        const struct gp_stall_reason *reason = &gp_stall_reasons[r];
        assert_non_null(reason->name);
        assert_string_equal(reason->name, names[r]);
        assert_true(reason->brief && strlen(reason->brief) > 3);
        assert_true(reason->meaning && strlen(reason->meaning) > 10);
        assert_int_equal(reason->waits, !strstr(reason->name, "selected"));
        assert_int_equal(strncmp(reason->meaning, "wait", 4) == 0 ||
                             strstr(reason->meaning, "waits") || strstr(reason->meaning, "sleeps"),
                         reason->waits);
        char row[512];
        snprintf(row, sizeof(row), "\n| `%s` | %s |\n", reason->name, reason->meaning);
        if (!strstr(page, row))
            fail_msg("docs/report.md lacks the row %s", row);
        snprintf(row, sizeof(row), " %s: '#", reason->name);
        if (!strstr(colors, row))
            fail_msg("the page has no color for %s", reason->name);
    }
    free(page);
    free(colors);
}

static void reasons_are_in_the_order_of_their_samples(void **state)
{
    (void)state;
    uint64_t counts[GP_COUNT_KINDS] = {[GP_STALL_WAIT] = 5,
                                       [GP_STALL_BARRIER] = 7,
                                       [GP_STALL_SELECTED] = 9,
                                       [GP_COUNT_SAMPLES] = 21};
    size_t order[GP_STALL_COUNT];
    assert_int_equal(gp_stalls_order(counts, order), 3);
    assert_string_equal(gp_stall_reasons[order[0]].name, "selected");
    assert_string_equal(gp_stall_reasons[order[1]].name, "barrier");
    assert_string_equal(gp_stall_reasons[order[2]].name, "wait");
    assert_int_equal(gp_samples_by(counts, order[1]), 7);
    /* All samples are also more than those of the reasons that we know, if one is new. */
    counts[GP_COUNT_SAMPLES] = 30;
    assert_int_equal(gp_samples_of(counts), 30);
    counts[GP_COUNT_SAMPLES] = 0;
    assert_int_equal(gp_samples_of(counts), 21);
}

static void the_line_says_the_reasons_that_matter(void **state)
{
    (void)state;
    struct made m;
    begin(&m, "k", "");
    add(&m, 0x10, GP_STALL_LONG_SCOREBOARD, 6000);
    add(&m, 0x20, GP_STALL_LONG_SCOREBOARD, 1000);
    add(&m, 0x20, GP_STALL_BARRIER, 1200);
    add(&m, 0x30, GP_STALL_WAIT, 900);
    add(&m, 0x30, GP_STALL_SELECTED, 900);
    const struct gp_lines lines = bare(&m);
    static const char first[] =
        "warps wait: 70 % for a load from memory (long_scoreboard), most at +0x10",
                      both[] = "warps wait: 70 % for a load from memory (long_scoreboard), most at "
                               "+0x10; 12 % at a barrier, at +0x20";
    brief_is(&lines, 200, both);
    brief_is(&lines, strlen(both), both);
    brief_is(&lines, strlen(both) - 1, first);
    brief_is(&lines, 10, first); /* one reason at least */
}

static void a_reason_of_many_lines_has_the_part_of_the_first(void **state)
{
    (void)state;
    struct made m;
    begin(&m, "k", "");
    for (uint32_t i = 0; i < 4; i++)
        add(&m, 16 * i, GP_STALL_MEMBAR, i == 2 ? 4000 : 2000);
    const struct gp_lines lines = bare(&m);
    brief_is(&lines, 200, "warps wait: 100 % at a memory fence (membar), 40 % of it at +0x20");
}

static void few_samples_are_said_to_be_few(void **state)
{
    (void)state;
    struct made m;
    begin(&m, "k", "");
    add(&m, 0, GP_STALL_SLEEPING, 100);
    struct gp_lines lines = bare(&m);
    brief_is(&lines, 200,
             "warps wait: 100 % asleep (sleeping), at +0x0 (100 samples: \302\26110 points)");
    assert_true(fabs(gp_stalls_error(100) - 0.098) < 1e-9);
    begin(&m, "k", "");
    add(&m, 0, GP_STALL_SLEEPING, 49); /* too few to say anything */
    lines = bare(&m);
    brief_is(&lines, 200, "");
    begin(&m, "k", "");
    lines = bare(&m);
    brief_is(&lines, 200, "");
    brief_is(NULL, 200, "");
}

static void warps_that_hardly_wait_are_said_to_issue(void **state)
{
    (void)state;
    struct made m;
    begin(&m, "k", "");
    add(&m, 0, GP_STALL_SELECTED, 2500);
    add(&m, 0, GP_STALL_NOT_SELECTED, 7000);
    add(&m, 0, GP_STALL_WAIT, 500);
    const struct gp_lines lines = bare(&m);
    brief_is(&lines, 200, "warps hardly wait for any one reason: 25 % issue, 70 % are ready");
}

/* ---- lines ----------------------------------------------------------------------------------- */

static const char *where(const struct made *m, enum gp_count_kind reason, double *part,
                         struct gp_text *text)
{
    struct gp_sources *sources = sources_of(m);
    struct gp_stalls s;
    gp_text_clear(text);
    assert_true(gp_stalls_make(&s, gp_sources_of(sources, m->counts.kernel)));
    *part = gp_stalls_where(&s, reason - GP_FIRST_STALL, text);
    gp_stalls_free(&s);
    gp_sources_free(sources);
    return gp_text_string(text);
}

static void instructions_of_a_line_count_together(void **state)
{
    (void)state;
    struct made m;
    struct gp_text text = {0};
    char expected[64];
    double part;
    begin(&m, FIRST, hash);
    /* The first has most of single instructions. */
    add(&m, offset_of(FIRST, "lines.cu", line_of("call of middle"), 0), GP_STALL_WAIT, 50);
    for (unsigned i = 0; i < 4; i++)
        add(&m, offset_of(FIRST, "lines.cu", line_of("deepest"), i), GP_STALL_WAIT, 25 + i);
    snprintf(expected, sizeof(expected), "lines.cu:%u", line_of("deepest"));
    assert_string_equal(where(&m, GP_STALL_WAIT, &part, &text), expected);
    assert_true(fabs(part - 106.0 / 156.0) < 1e-9);
    where(&m, GP_STALL_DRAIN, &part, &text);
    assert_true(part == 0);
    gp_text_free(&text);
    struct gp_sources *sources = sources_of(&m);
    struct gp_stalls s;
    assert_true(gp_stalls_make(&s, gp_sources_of(sources, FIRST)));
    assert_int_equal(s.count, 2);
    gp_stalls_free(&s);
    gp_sources_free(sources);
}

static void a_header_stands_behind_the_line_that_calls_it(void **state)
{
    (void)state;
    struct made m;
    struct gp_text text = {0};
    char expected[64];
    double part;
    const unsigned call = line_of("call into a header");
    begin(&m, THIRD, hash);
    add(&m, offset_of(THIRD, "intrinsics", 0, 0), GP_STALL_LONG_SCOREBOARD, 60);
    add(&m, offset_of(THIRD, "lines.cu", call, 0), GP_STALL_LONG_SCOREBOARD, 30);
    snprintf(expected, sizeof(expected), "lines.cu:%u (sm_", call);
    assert_int_equal(
        strncmp(where(&m, GP_STALL_LONG_SCOREBOARD, &part, &text), expected, strlen(expected)), 0);
    assert_true(part == 1); /* both are that line for its author */
    /* The header has not half of the line's samples. */
    add(&m, offset_of(THIRD, "lines.cu", call, 0), GP_STALL_LONG_SCOREBOARD, 100);
    snprintf(expected, sizeof(expected), "lines.cu:%u", call);
    assert_string_equal(where(&m, GP_STALL_LONG_SCOREBOARD, &part, &text), expected);
    gp_text_free(&text);
}

/* Two headers and the line itself. */
static void a_header_has_half_of_the_line_to_be_named(void **state)
{
    (void)state;
    const struct gp_frame own = {"/src", "train.cu", 42, NULL};
    struct gp_stall_line list[] = {
        {.own = own, .innermost = {"/src", "a.h", 1, "f"}, .counts = {[GP_STALL_WAIT] = 40}},
        {.own = own, .innermost = {"/src", "b.h", 1, "g"}, .counts = {[GP_STALL_WAIT] = 35}},
        {.own = own, .innermost = own, .counts = {[GP_STALL_WAIT] = 25}},
    };
    const struct gp_stalls s = {
        .samples = 100, .counts = {[GP_STALL_WAIT] = 100}, .list = list, .count = 3};
    struct gp_text text = {0};
    assert_true(gp_stalls_where(&s, GP_STALL_WAIT - GP_FIRST_STALL, &text) == 1);
    assert_string_equal(gp_text_string(&text), "train.cu:42");
    gp_text_clear(&text);
    list[0].counts[GP_STALL_WAIT] = 60;
    gp_stalls_where(&s, GP_STALL_WAIT - GP_FIRST_STALL, &text);
    assert_string_equal(gp_text_string(&text), "train.cu:42 (a.h:1)");
    gp_text_free(&text);
}

static void an_instruction_without_a_line_is_named(void **state)
{
    (void)state;
    struct made m;
    struct gp_text text = {0};
    double part;
    begin(&m, FIRST, hash);
    m.functions[1] = "_Z6calledf";
    m.counts.function_count = 2;
    add(&m, 0x100000, GP_STALL_MISC, 5);
    assert_string_equal(where(&m, GP_STALL_MISC, &part, &text), "+0x100000");
    add_in(&m, 1, 0x100010, GP_STALL_MISC, 6);
    assert_string_equal(where(&m, GP_STALL_MISC, &part, &text), "+0x100010 of called");
    gp_text_free(&text);
}

/* The code is there, its lines are not. */
static void an_instruction_has_its_operation(void **state)
{
    (void)state;
    struct made m;
    struct gp_stalls s;
    struct gp_text text = {0};
    const uint32_t load = offset_of(THIRD, "intrinsics", 0, 0);
    char expected[64];
    begin(&m, THIRD, "");
    add(&m, load, GP_STALL_MISC, 5);
    struct gp_lines lines = bare(&m);
    lines.cubin = cubin;
    lines.cubin_size = cubin_size;
    assert_true(gp_stalls_make(&s, &lines));
    assert_true(gp_stalls_where(&s, GP_STALL_MISC - GP_FIRST_STALL, &text) == 1);
    snprintf(expected, sizeof(expected), "+0x%x (LDG)", load);
    assert_string_equal(gp_text_string(&text), expected);
    gp_text_free(&text);
    gp_stalls_free(&s);
}

static void the_line_of_the_author_is_outside_of_libraries(void **state)
{
    (void)state;
    const struct gp_frame functor = {"/src/net", "epilogue.h", 7, "f"},
                          gemm = {"/opt/cutlass/include/cutlass/gemm", "mma.h", 300, "mma"},
                          kernel = {"/opt/cutlass/include/cutlass", "device_kernel.h", 80, NULL},
                          header = {"", "/usr/local/cuda/targets/x86_64-linux/include/sm_32.hpp", 9,
                                    "g"},
                          own_header = {"/src/net/include", "block.cuh", 4, "h"},
                          mine = {"/src/net", "train.cu", 42, NULL},
                          call = {"/src/net", "train.cu", 30, "i"};
    /* A functor that CUTLASS calls; the innermost call of it is in another header. */
    const struct gp_frame in_cutlass[] = {header, functor, gemm, kernel};
    assert_int_equal(gp_own_frame(in_cutlass, 4)->line, 7);
    /* Nothing is the author's: the innermost line in the file of the kernel. */
    const struct gp_frame all_cutlass[] = {header, gemm, kernel};
    assert_int_equal(gp_own_frame(all_cutlass, 3)->line, 80);
    /* The author's own kernel, with a header of the author's. */
    const struct gp_frame in_mine[] = {header, own_header, call, mine};
    assert_int_equal(gp_own_frame(in_mine, 4)->line, 30);
    assert_int_equal(gp_own_frame(in_mine + 3, 1)->line, 42);
    /* A lambda that the author's own template runs. */
    const struct gp_frame lambda[] = {header, call, own_header};
    assert_int_equal(gp_own_frame(lambda, 3)->line, 30);
    assert_int_equal(gp_own_frame(lambda + 2, 1)->line, 4);
    struct gp_text text = {0};
    gp_own_line_text(&mine, &own_header, &text);
    assert_string_equal(gp_text_string(&text), "train.cu:42 (block.cuh:4)");
    gp_text_clear(&text);
    const struct gp_frame hostile = {"", "x\033[2Jy.cu", 1, NULL};
    gp_own_line_text(&hostile, &hostile, &text);
    assert_null(strchr(gp_text_string(&text), '\033'));
    gp_text_free(&text);
}

/* ---- several processes ----------------------------------------------------------------------- */

/* Each process saw other instructions and reasons, and came upon the functions in another order. */
static void samples_of_processes_add_up(void **state)
{
    (void)state;
    struct made a, b;
    begin(&a, "k", "one");
    begin(&b, "k", "one");
    add(&a, 0x10, GP_STALL_WAIT, 10);
    a.counts.kinds = 1u << GP_COUNT_SAMPLES | 1u << GP_STALL_WAIT;
    a.counts.sampled = 2;
    b.functions[0] = "called";
    b.functions[1] = "k";
    b.counts.function_count = 2;
    add_in(&b, 1, 0x10, GP_STALL_BARRIER, 5);
    add_in(&b, 0, 0x10, GP_STALL_BARRIER, 3);
    add_in(&b, 1, 0x20, GP_STALL_BARRIER, 1);
    b.counts.kinds = 1u << GP_COUNT_SAMPLES | 1u << GP_STALL_BARRIER;
    for (int order = 0; order < 2; order++) {
        struct gp_sources *sources = gp_sources_new();
        assert_true(gp_sources_add(sources, order ? &a.counts : &b.counts));
        assert_true(gp_sources_add(sources, order ? &b.counts : &a.counts));
        const struct gp_code_counts *both = &gp_sources_of(sources, "k")->source;
        assert_int_equal(both->sampled, 3);
        assert_int_equal(both->function_count, 2);
        assert_int_equal(both->instruction_count, 3);
        assert_true(both->kinds & 1u << GP_STALL_WAIT && both->kinds & 1u << GP_STALL_BARRIER);
        bool joined = false;
        for (size_t i = 0; i < 3; i++) {
            const struct gp_instruction_counts *c = &both->instructions[i];
            if (strcmp(both->functions[c->function], "k") == 0 && c->offset == 0x10) {
                joined = true;
                assert_int_equal(c->values[GP_COUNT_SAMPLES], 15);
                assert_int_equal(c->values[GP_STALL_WAIT], 10);
                assert_int_equal(c->values[GP_STALL_BARRIER], 5);
            }
        }
        assert_true(joined);
        gp_sources_free(sources);
    }
}

/* Counts are means over the launches of those that counted; samples are of all. */
static void counts_stay_where_another_process_has_samples_alone(void **state)
{
    (void)state;
    struct made counted, sampled;
    begin(&counted, "k", "one");
    counted.counts.kinds = 1u << GP_COUNT_SECTORS;
    counted.counts.launches = 4;
    counted.counts.sampled = 0;
    counted.counts.instruction_count = 1;
    counted.list[0].values[GP_COUNT_SECTORS] = 80;
    begin(&sampled, "k", "one");
    sampled.counts.launches = 9;
    add(&sampled, 0, GP_STALL_WAIT, 10);
    for (int order = 0; order < 2; order++) {
        struct gp_sources *sources = gp_sources_new();
        assert_true(gp_sources_add(sources, order ? &counted.counts : &sampled.counts));
        assert_true(gp_sources_add(sources, order ? &sampled.counts : &counted.counts));
        const struct gp_lines *lines = gp_sources_of(sources, "k");
        assert_true(gp_lines_total(lines, GP_WEIGHT_SECTORS) == 20);
        assert_int_equal(lines->source.sampled, 1);
        assert_int_equal(lines->source.instructions[0].values[GP_STALL_WAIT], 10);
        gp_sources_free(sources);
    }
}

/* ---- the tree -------------------------------------------------------------------------------- */

static uint64_t samples_below(const struct gp_flame *f, size_t node, size_t depth, size_t *deepest)
{
    uint64_t sum = 0, before = UINT64_MAX;
    *deepest = depth > *deepest ? depth : *deepest;
    for (size_t i = f->nodes[node].first; i; i = f->nodes[i].next) {
        const uint64_t samples = gp_samples_of(f->nodes[i].counts);
        assert_true(samples <= before); /* the most first */
        before = samples;
        sum += samples;
        assert_true(samples_below(f, i, depth + 1, deepest) <= samples);
    }
    return sum;
}

static void make_tree(struct made *m)
{
    begin(m, FIRST, hash);
    for (uint32_t i = 0; i < MOST_INSTRUCTIONS; i++)
        add(m, i * GP_INSTRUCTION_BYTES, GP_STALL_WAIT, 10 + i * 37 % 11);
}

static void the_tree_has_each_sample_once_on_each_level(void **state)
{
    (void)state;
    struct made m;
    struct gp_flame f;
    uint64_t all = 0;
    size_t deepest = 0;
    make_tree(&m);
    for (size_t i = 0; i < m.counts.instruction_count; i++)
        all += gp_samples_of(m.list[i].values);
    struct gp_sources *sources = sources_of(&m);
    assert_true(gp_flame_make(&f, gp_sources_of(sources, FIRST)));
    assert_int_equal(gp_samples_of(f.nodes[0].counts), all);
    assert_int_equal(samples_below(&f, 0, 0, &deepest), all);
    assert_int_equal(deepest, 3); /* the kernel, its line, middle's, deepest's */
    unsigned calls = 0;
    for (size_t i = f.nodes[0].first; i; i = f.nodes[i].next) {
        if (!f.nodes[i].frame.file || f.nodes[i].frame.line != line_of("call of middle"))
            continue;
        const struct gp_flame_node *middle = &f.nodes[f.nodes[i].first];
        calls++;
        assert_string_equal(middle->frame.function, "_Z6middlefi");
        assert_int_equal(middle->frame.line, line_of("call of deepest"));
        assert_string_equal(f.nodes[middle->first].frame.function, "_Z7deepestfi");
    }
    assert_int_equal(calls, 1);
    gp_flame_free(&f);
    assert_true(gp_flame_make(&f, NULL));
    assert_int_equal(f.count, 0);
    gp_flame_free(&f);
    gp_sources_free(sources);
}

static json_t *page_of(const struct gp_lines *lines, size_t *room)
{
    struct gp_text text = {0}, whole = {0};
    json_error_t error;
    gp_html_stalls(lines, room, &text);
    gp_text_addf(&whole, "{%s}", gp_text_string(&text));
    json_t *page = json_loads(gp_text_string(&whole), 0, &error);
    if (!page)
        fail_msg("%s: %s", error.text, gp_text_string(&whole));
    gp_text_free(&text);
    gp_text_free(&whole);
    return page;
}

static size_t nodes_of(const json_t *node)
{
    size_t count = 1;
    for (size_t i = 0; i < json_array_size(json_object_get(node, "children")); i++)
        count += nodes_of(json_array_get(json_object_get(node, "children"), i));
    return count;
}

static void a_page_has_room_for_so_many_nodes(void **state)
{
    (void)state;
    struct made m;
    size_t room = 100000;
    begin(&m, "k", "");
    for (uint32_t i = 0; i < 50; i++)
        add(&m, 16 * i, GP_STALL_WAIT, 100 + i);
    struct gp_lines lines = bare(&m);
    json_t *page = page_of(&lines, &room), *stalls = json_object_get(page, "stalls");
    assert_int_equal(nodes_of(json_object_get(stalls, "tree")), 51);
    assert_int_equal(json_integer_value(json_object_get(stalls, "samples")), 6225);
    assert_true(room < 100000);
    json_decref(page);
    room = 0;
    page = page_of(&lines, &room);
    assert_true(nodes_of(json_object_get(json_object_get(page, "stalls"), "tree")) <= 21);
    json_decref(page);
    page = page_of(NULL, &room);
    assert_true(json_is_null(json_object_get(page, "stalls")));
    json_decref(page);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static double share_in(const json_t *list, size_t i, const char *key)
{
    return json_real_value(json_object_get(json_array_get(list, i), key));
}

static void json_has_lines_with_and_without_inlined_code(void **state)
{
    (void)state;
    struct made m;
    struct gp_object o = gp_object_new(NULL);
    begin(&m, FIRST, hash);
    add(&m, offset_of(FIRST, "lines.cu", line_of("deepest"), 0), GP_STALL_WAIT, 60);
    add(&m, offset_of(FIRST, "lines.cu", line_of("call of middle"), 0), GP_STALL_SELECTED, 40);
    struct gp_sources *sources = sources_of(&m);
    json_t *stalls = gp_stalls_json(&o, gp_sources_of(sources, FIRST));
    const json_t *lines = json_object_get(stalls, "lines"),
                 *hot = json_object_get(stalls, "instructions");
    assert_false(o.failed);
    assert_int_equal(json_array_size(lines),
                     3); /* deepest's, the kernel's, middle's with inlined */
    assert_int_equal(json_integer_value(json_object_get(json_array_get(lines, 0), "line")),
                     line_of("deepest"));
    assert_true(share_in(lines, 0, "share") == 0.6);
    assert_true(share_in(lines, 1, "share") == 0.4);
    assert_true(share_in(lines, 1, "share_with_inlined") == 1);
    assert_true(share_in(lines, 2, "share") == 0 &&
                share_in(lines, 2, "share_with_inlined") == 0.6);
    assert_int_equal(json_array_size(hot), 2);
    assert_true(share_in(hot, 0, "share") == 0.6);
    json_decref(stalls);
    stalls = gp_stalls_json(&o, NULL);
    assert_true(json_is_null(stalls));
    json_decref(stalls);
    json_decref(o.object);
    gp_sources_free(sources);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_reason_has_its_name_and_words),
        cmocka_unit_test(reasons_are_in_the_order_of_their_samples),
        cmocka_unit_test(the_line_says_the_reasons_that_matter),
        cmocka_unit_test(a_reason_of_many_lines_has_the_part_of_the_first),
        cmocka_unit_test(few_samples_are_said_to_be_few),
        cmocka_unit_test(warps_that_hardly_wait_are_said_to_issue),
        cmocka_unit_test(instructions_of_a_line_count_together),
        cmocka_unit_test(a_header_stands_behind_the_line_that_calls_it),
        cmocka_unit_test(a_header_has_half_of_the_line_to_be_named),
        cmocka_unit_test(an_instruction_without_a_line_is_named),
        cmocka_unit_test(an_instruction_has_its_operation),
        cmocka_unit_test(the_line_of_the_author_is_outside_of_libraries),
        cmocka_unit_test(samples_of_processes_add_up),
        cmocka_unit_test(counts_stay_where_another_process_has_samples_alone),
        cmocka_unit_test(the_tree_has_each_sample_once_on_each_level),
        cmocka_unit_test(a_page_has_room_for_so_many_nodes),
        cmocka_unit_test(json_has_lines_with_and_without_inlined_code),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
