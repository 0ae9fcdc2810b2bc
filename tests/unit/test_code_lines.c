/* code/: line tables of a cubin that nvcc made from tests/lines/lines.cu, against CUPTI's
 * answers; slim cubins; damage. report/: counts by line, and their sums. profile/: the lines
 * that hold them. */
#include "base/base64.h"
#include "base/sha256.h"
#include "beside.h"
#include "code/instruction.h"
#include "code/line_table.h"
#include "code/slim.h"
#include "profile/code_lines.h"
#include "profile/reader.h"
#include "report/by_line.h"
#include "report/html_lines.h"
#include "report/sources.h"
#include "sanitized.h"

#include <cupti_pcsampling.h>
#include <dlfcn.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define FIRST "_Z5firstIfEvPT_PKS0_i"
#define SECOND "_Z6secondPd"
#define THIRD "_Z5thirdPfPKf"
#define FOURTH "_Z6fourthPdPKd"
#define SIXTH "_Z5sixthPfPKf"

static char *cubin;
static size_t cubin_size;

/* The cubin lies beside the program, in ../tests. */
static int load(void **state)
{
    (void)state;
    cubin = read_beside("lines.cubin", &cubin_size);
    assert_non_null(cubin);
    return 0;
}

static int unload(void **state)
{
    (void)state;
    free(cubin);
    return 0;
}

/* The line of lines.cu that ends in that comment. */
static unsigned line_of(const char *comment)
{
    char path[4096], mark[64];
    size_t size;
    snprintf(path, sizeof(path), "%s", __FILE__);
    strcpy(strstr(path, "unit/"), "lines/lines.cu");
    snprintf(mark, sizeof(mark), "// %s\n", comment);
    char *text = read_if_there(path, &size), *at = strstr(text, mark);
    unsigned line = 1;
    assert_non_null(at);
    for (char *p = text; p < at; p++)
        line += *p == '\n';
    free(text);
    return line;
}

static struct gp_line_table *open_table(void)
{
    const char *why;
    struct gp_line_table *t = gp_line_table_open(cubin, cubin_size, &why);
    assert_non_null(t);
    return t;
}

/* ---- line tables ----------------------------------------------------------------------------- */

static void inlined_code_has_its_chain(void **state)
{
    (void)state;
    struct gp_line_table *t = open_table();
    struct gp_frame frames[GP_MOST_FRAMES];
    unsigned found = 0;
    for (uint64_t at = 0; at < 0x2000; at += GP_INSTRUCTION_BYTES) {
        size_t count = gp_line_table_find(t, FIRST, at, frames, GP_MOST_FRAMES);
        if (count == 0 || frames[0].line != line_of("deepest"))
            continue;
        found++;
        assert_int_equal(count, 3);
        assert_non_null(strstr(frames[0].file, "lines.cu"));
        assert_string_equal(frames[0].function, "_Z7deepestfi");
        assert_int_equal(frames[1].line, line_of("call of deepest"));
        assert_string_equal(frames[1].function, "_Z6middlefi");
        assert_int_equal(frames[2].line, line_of("call of middle"));
        assert_null(frames[2].function);
        assert_int_equal(gp_line_table_find(t, FIRST, at, frames, 1), 1);
    }
    assert_true(found > 0);
    assert_int_equal(gp_line_table_find(t, FIRST, 1 << 20, frames, 1), 0);
    assert_int_equal(gp_line_table_find(t, "nothing", 0, frames, 1), 0);
    gp_line_table_close(t);
}

static uint64_t size_of_code(const char *function)
{
    struct gp_cubin c;
    assert_true(gp_cubin_open(&c, cubin, cubin_size));
    for (unsigned i = 0; i < c.count; i++)
        if (strncmp(gp_cubin_section_name(&c, i), ".text.", 6) == 0 &&
            strcmp(gp_cubin_section_name(&c, i) + 6, function) == 0)
            return gp_cubin_section(&c, i).sh_size;
    fail_msg("no code of %s", function);
    return 0;
}

static CUptiResult (*correlate)(CUpti_GetSassToSourceCorrelationParams *);

static void lines_are_those_that_cupti_says(void **state)
{
    (void)state;
    static const char *const where[] = {"libcupti.so.13", "/usr/local/cuda/lib64/libcupti.so",
                                        "build/cuda/lib/libcupti.so.13"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof(where) / sizeof(where[0]) && !library && !SANITIZED; i++)
        library = dlopen(where[i], RTLD_NOW);
    if (!library) {
        print_message("skipped: no libcupti can be loaded\n");
        skip();
    }
    *(void **)&correlate = dlsym(library, "cuptiGetSassToSourceCorrelation");
    assert_non_null(correlate);
    static const char *const functions[] = {FIRST, SECOND, "_Z5firstIiEvPT_PKS0_i"};
    struct gp_line_table *t = open_table();
    unsigned compared = 0;
    for (size_t f = 0; f < sizeof(functions) / sizeof(functions[0]); f++) {
        for (uint32_t at = 0; at < size_of_code(functions[f]); at += GP_INSTRUCTION_BYTES) {
            struct gp_frame frame;
            CUpti_GetSassToSourceCorrelationParams c = {
                .size = CUpti_GetSassToSourceCorrelationParamsSize,
                .cubin = cubin,
                .functionName = functions[f],
                .cubinSize = cubin_size,
                .pcOffset = at};
            assert_int_equal(correlate(&c), CUPTI_SUCCESS);
            size_t count = gp_line_table_find(t, functions[f], at, &frame, 1);
            if ((c.fileName != NULL) != (count == 1) || (count && c.lineNumber != frame.line))
                fail_msg("%s+0x%x is line %u, for CUPTI %u", functions[f], at,
                         count ? frame.line : 0, c.lineNumber);
            if (count)
                assert_non_null(strstr(c.fileName, "lines.cu"));
            compared += count == 1;
            free(c.fileName);
            free(c.dirName);
        }
    }
    assert_true(compared > 50);
    gp_line_table_close(t);
}

/* As compilers write it up to compute capability 8.9: relocations have no addends. */
static void older_line_tables_are_read(void **state)
{
    (void)state;
    struct gp_frame frame[GP_MOST_FRAMES];
    struct gp_cubin whole;
    size_t size, slim_size;
    const char *why;
    char *older = read_beside("causes.75.cubin", &size);
    if (!older)
        older = read_beside("causes.80.cubin", &size);
    assert_non_null(older);
    assert_true(gp_cubin_open(&whole, older, size));
    void *slim = gp_cubin_slim(&whole, "shared_tile", 1 << 20, &slim_size);
    assert_non_null(slim);
    struct gp_line_table *t = gp_line_table_open(older, size, &why),
                         *s = gp_line_table_open(slim, slim_size, &why);
    assert_non_null(t);
    assert_non_null(s);
    assert_true(gp_line_table_find(t, "shared_tile", 0, frame, GP_MOST_FRAMES) > 0);
    assert_string_equal(frame[0].file, "causes.cu");
    const unsigned line = frame[0].line;
    assert_true(gp_line_table_find(s, "shared_tile", 0, frame, GP_MOST_FRAMES) > 0);
    assert_int_equal(frame[0].line, line);
    gp_line_table_close(s);
    gp_line_table_close(t);
    free(slim);
    free(older);
}

static void a_slim_cubin_says_the_same(void **state)
{
    (void)state;
    struct gp_cubin whole;
    struct gp_frame a[GP_MOST_FRAMES], b[GP_MOST_FRAMES];
    size_t size;
    const char *why;
    assert_true(gp_cubin_open(&whole, cubin, cubin_size));
    void *slim = gp_cubin_slim(&whole, FIRST, 1 << 20, &size);
    assert_non_null(slim);
    assert_true(size < cubin_size / 2);
    struct gp_line_table *t = open_table(), *s = gp_line_table_open(slim, size, &why);
    assert_non_null(s);
    for (uint64_t at = 0; at < 0x2000; at += GP_INSTRUCTION_BYTES) {
        size_t count = gp_line_table_find(t, FIRST, at, a, GP_MOST_FRAMES);
        assert_int_equal(gp_line_table_find(s, FIRST, at, b, GP_MOST_FRAMES), count);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(a[i].line, b[i].line);
            assert_string_equal(a[i].file, b[i].file);
        }
    }
    gp_line_table_close(s);
    gp_line_table_close(t);
    free(slim);
    assert_null(gp_cubin_slim(&whole, FIRST, 100, &size));
    assert_null(gp_cubin_slim(&whole, "nothing", 1 << 20, &size));
}

/* For any bytes the answer is some line or none. */
static void damage_does_no_harm(void **state)
{
    (void)state;
    char *damaged = malloc(cubin_size);
    uint64_t random = 1;
    assert_non_null(damaged);
    for (int round = 0; round < 1500; round++) {
        struct gp_frame frames[GP_MOST_FRAMES];
        const char *why;
        memcpy(damaged, cubin, cubin_size);
        for (int k = 0; k < 1 + round % 8; k++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            /* More often where the tables are. */
            size_t end = round % 2 ? cubin_size : cubin_size / 3;
            damaged[(random >> 33) % end] = (char)(random >> 20);
        }
        struct gp_line_table *t =
            gp_line_table_open(damaged, round % 5 ? cubin_size : cubin_size / 2, &why);
        for (uint64_t at = 0; t && at < 0x400; at += GP_INSTRUCTION_BYTES)
            gp_line_table_find(t, FIRST, at, frames, GP_MOST_FRAMES);
        gp_line_table_close(t);
    }
    free(damaged);
}

/* ---- counts by line -------------------------------------------------------------------------- */

#define COUNTED 60

/* Counts at the first instructions of the kernel. */
static void make_counts(struct gp_instruction_counts counts[COUNTED])
{
    for (uint32_t i = 0; i < COUNTED; i++) {
        counts[i] = (struct gp_instruction_counts){.offset = i * GP_INSTRUCTION_BYTES};
        for (uint64_t k = 0; k < GP_COUNT_KINDS; k++)
            counts[i].values[k] = 1000 * i + k * k;
    }
}

static struct gp_code_counts counts_of(const struct gp_instruction_counts *counts, const char *hash)
{
    static const char *const functions[] = {FIRST};
    return (struct gp_code_counts){.kernel = FIRST,
                                   .cc = 90,
                                   .launches = 2,
                                   .sampled = 3,
                                   .kinds = (1u << GP_COUNT_KINDS) - 1,
                                   .function_count = 1,
                                   .functions = functions,
                                   .instruction_count = COUNTED,
                                   .instructions = counts,
                                   .code = hash};
}

/* The counts, and the code they are of. */
static struct gp_sources *sources_of(const struct gp_code_counts *counts, const char *hash)
{
    const struct gp_cubin_image image = {.hash = hash, .bytes = cubin, .size = cubin_size};
    struct gp_sources *sources = gp_sources_new();
    assert_true(gp_sources_add(sources, counts));
    assert_true(gp_sources_add_cubin(sources, &image));
    return sources;
}

/* Instructions that are found in the code, with a line of their own each, or with several on one.
 */
static void lines_of_the_code_are_counted_and_named(void **state)
{
    (void)state;
    char hash[GP_SHA256_TEXT], expected[64];
    const struct gp_instruction_counts none = {0};
    gp_sha256_text(cubin, cubin_size, hash);
    static const char *const functions[] = {FOURTH};
    struct gp_code_counts source = counts_of(&none, hash);
    source.kernel = FOURTH;
    source.functions = functions;
    source.instruction_count = 1;
    struct gp_sources *sources = sources_of(&source, hash);
    const struct gp_lines *lines = gp_sources_of(sources, FOURTH);
    struct gp_by_line b;
    unsigned operations = 0;
    assert_true(gp_by_line_make(&b, lines));
    for (size_t i = 0; i < b.count; i++)
        if (b.list[i].line == line_of("two operations"))
            operations += b.list[i].in_code[GP_WEIGHT_FP64];
    assert_true(operations >= 2);
    assert_true(gp_lines_total(lines, GP_WEIGHT_FP64) == operations);
    gp_by_line_free(&b);
    struct gp_text line = {0};
    assert_true(gp_lines_heaviest(lines, GP_WEIGHT_FP64, &line));
    snprintf(expected, sizeof(expected), "lines.cu:%u", line_of("two operations"));
    assert_string_equal(gp_text_string(&line), expected);
    /* Which of two barriers warps wait at was not counted. */
    gp_text_clear(&line);
    assert_true(gp_lines_heaviest(lines, GP_WEIGHT_BARRIERS, &line));
    snprintf(expected, sizeof(expected), "lines.cu:%u and 1 more line",
             line_of("the first barrier"));
    assert_string_equal(gp_text_string(&line), expected);
    gp_text_free(&line);
    gp_sources_free(sources);
}

static void lines_sum_up_to_the_counts(void **state)
{
    (void)state;
    struct gp_instruction_counts counts[COUNTED];
    char hash[GP_SHA256_TEXT];
    make_counts(counts);
    gp_sha256_text(cubin, cubin_size, hash);
    const struct gp_code_counts source = counts_of(counts, hash);
    struct gp_sources *sources = sources_of(&source, hash);
    const struct gp_lines *lines = gp_sources_of(sources, FIRST);
    assert_non_null(lines);
    assert_non_null(lines->table);
    unsigned line = 0;
    char *begin = gp_lines_begin(lines, &line);
    assert_non_null(begin);
    /* The line of the kernel's own begin, also where code was inlined there. */
    assert_non_null(strstr(begin, "/tests/lines/lines.cu"));
    assert_int_equal(line, 20);
    free(begin);
    struct gp_by_line b;
    assert_true(gp_by_line_make(&b, lines));
    assert_true(b.count > 3);
    for (size_t k = 0; k < GP_COUNT_KINDS; k++) {
        uint64_t all = 0, own = 0, most = 0;
        for (size_t i = 0; i < COUNTED; i++)
            all += counts[i].values[k];
        for (size_t i = 0; i < b.count; i++) {
            own += b.list[i].own[k];
            most = b.list[i].inclusive[k] > most ? b.list[i].inclusive[k] : most;
            assert_true(b.list[i].inclusive[k] >= b.list[i].own[k]);
        }
        assert_int_equal(own, all);
        assert_true(most <= all);
    }
    /* The weights that are found in the code add up as well. */
    for (enum gp_weight w = GP_WEIGHT_NONE + 1; w < GP_WEIGHT_COUNT; w++) {
        unsigned in_lines = 0;
        for (size_t i = 0; i < b.count && gp_lines_in_code(w); i++)
            in_lines += b.list[i].in_code[w];
        if (gp_lines_in_code(w))
            assert_true(gp_lines_total(lines, w) == in_lines);
    }
    /* The line that calls has more than its own. */
    bool called = false;
    for (size_t i = 0; i < b.count; i++)
        called = called || (b.list[i].line == line_of("call of middle") &&
                            b.list[i].inclusive[0] > b.list[i].own[0]);
    assert_true(called);
    /* And the one that is called says from where. */
    char chain[80];
    bool deepest = false;
    snprintf(chain, sizeof(chain), "lines.cu:%u in middle, lines.cu:%u", line_of("call of deepest"),
             line_of("call of middle"));
    for (size_t i = 0; i < b.count; i++) {
        if (b.list[i].line != line_of("deepest"))
            continue;
        assert_true(b.list[i].chain_count > 0);
        assert_string_equal(b.list[i].chains[0], chain);
        deepest = true;
    }
    assert_true(deepest);
    gp_by_line_free(&b);
    gp_sources_free(sources);
}

static size_t lines_in_page(const struct gp_lines *lines, size_t *room)
{
    struct gp_text text = {0};
    size_t count = 0;
    gp_html_lines(lines, room, &text);
    assert_false(text.failed);
    for (const char *at = gp_text_string(&text); (at = strstr(at, "{\"line\":")); at++)
        count++;
    gp_text_free(&text);
    return count;
}

/* However many kernels there are, and lines. */
static void a_page_has_room_for_so_many_lines(void **state)
{
    (void)state;
    static const char *const functions[] = {SIXTH};
    enum { ACCESSES = 64 };
    struct gp_instruction_counts counts[ACCESSES] = {0};
    char hash[GP_SHA256_TEXT];
    for (size_t i = 0; i < ACCESSES; i++) {
        counts[i].offset = (uint32_t)(i * GP_INSTRUCTION_BYTES);
        counts[i].values[GP_COUNT_SECTORS] = 100;
    }
    gp_sha256_text(cubin, cubin_size, hash);
    struct gp_code_counts source = counts_of(counts, hash);
    source.kernel = SIXTH;
    source.functions = functions;
    source.instruction_count = ACCESSES;
    struct gp_sources *sources = sources_of(&source, hash);
    const struct gp_lines *lines = gp_sources_of(sources, SIXTH);
    size_t room = 100000;
    assert_true(lines_in_page(lines, &room) >= 14);
    assert_true(room > 0 && room < 100000);
    room = 1;
    assert_true(lines_in_page(lines, &room) >= 14);
    assert_int_equal(room, 0);
    assert_true(lines_in_page(lines, &room) <= 10);
    assert_int_equal(room, 0);
    gp_sources_free(sources);
}

/* A line of CUDA's headers is named with the line that calls it, not with the outermost call. */
static void a_header_is_named_with_the_line_that_calls_it(void **state)
{
    (void)state;
    static const char *const functions[] = {THIRD};
    struct gp_line_table *t = open_table();
    struct gp_frame frames[GP_MOST_FRAMES];
    struct gp_instruction_counts load = {.values = {[GP_COUNT_SECTORS] = 5}};
    char hash[GP_SHA256_TEXT], expected[64];
    for (size_t count = 0; count < 3; load.offset += GP_INSTRUCTION_BYTES) {
        assert_true(load.offset < size_of_code(THIRD));
        count = gp_line_table_find(t, THIRD, load.offset, frames, GP_MOST_FRAMES);
        if (count >= 3 && !strstr(frames[0].file, "lines.cu"))
            break;
        count = 0;
    }
    gp_line_table_close(t);
    gp_sha256_text(cubin, cubin_size, hash);
    struct gp_code_counts source = counts_of(&load, hash);
    source.kernel = THIRD;
    source.functions = functions;
    source.instruction_count = 1;
    struct gp_sources *sources = sources_of(&source, hash);
    struct gp_text line = {0};
    assert_true(gp_lines_heaviest(gp_sources_of(sources, THIRD), GP_WEIGHT_SECTORS, &line));
    snprintf(expected, sizeof(expected), "lines.cu:%u (", line_of("call into a header"));
    if (strncmp(gp_text_string(&line), expected, strlen(expected)) != 0)
        fail_msg("%s instead of %s", gp_text_string(&line), expected);
    gp_text_free(&line);
    gp_sources_free(sources);
}

/* ---- profiles -------------------------------------------------------------------------------- */

static void take_instructions(void *sources, const struct gp_code_counts *counts)
{
    assert_true(gp_sources_add(sources, counts));
}

static void take_cubin(void *sources, const struct gp_cubin_image *image)
{
    assert_true(gp_sources_add_cubin(sources, image));
}

static bool take(void *sources, const char *type, const struct json_t *line)
{
    const struct gp_code_visitor visitor = {
        .user = sources, .instructions = take_instructions, .cubin = take_cubin};
    const char *why = "";
    if (!gp_read_code_line(type, line, &visitor, &why))
        fail_msg("%s: %s", type, why);
    return true;
}

/* Two modules have a kernel of that name. */
static void of_two_codes_that_of_more_launches_is_shown(void **state)
{
    (void)state;
    struct gp_instruction_counts counts[COUNTED];
    make_counts(counts);
    struct gp_code_counts often = counts_of(counts, "one"), once = counts_of(counts, "other");
    often.launches = 1000;
    once.launches = 1;
    for (int order = 0; order < 2; order++) {
        struct gp_sources *sources = gp_sources_new();
        assert_true(gp_sources_add(sources, order ? &once : &often));
        assert_true(gp_sources_add(sources, order ? &often : &once));
        assert_int_equal(gp_sources_of(sources, FIRST)->source.launches, 1000);
        assert_string_equal(gp_sources_of(sources, FIRST)->source.code, "one");
        gp_sources_free(sources);
    }
}

static void a_profile_holds_the_data_of_lines(void **state)
{
    (void)state;
    char path[] = "/tmp/gpuprof-lines-XXXXXX", why[256], hash[GP_SHA256_TEXT];
    struct gp_instruction_counts counts[COUNTED];
    static const char *const command[] = {"x", NULL};
    close(mkstemp(path));
    make_counts(counts);
    counts[7].values[0] = UINT64_C(1) << 60;
    gp_sha256_text(cubin, cubin_size, hash);
    const struct gp_code_counts source = counts_of(counts, hash);
    const struct gp_cubin_image image = {.hash = hash, .bytes = cubin, .size = cubin_size};
    struct gp_writer *w = gp_writer_open(path, command, NULL, why, sizeof(why));
    assert_non_null(w);
    assert_true(gp_write_cubin(w, &image));
    assert_true(gp_write_instructions(w, &source));
    gp_writer_close(w);
    struct gp_sources *sources = gp_sources_new();
    const struct gp_profile_visitor visitor = {.user = sources, .other = take};
    if (!gp_profile_read(path, &visitor, NULL, why, sizeof(why)))
        fail_msg("%s", why);
    const struct gp_lines *lines = gp_sources_of(sources, FIRST);
    assert_non_null(lines);
    assert_int_equal(lines->source.launches, 2);
    assert_int_equal(lines->source.sampled, 3);
    assert_int_equal(lines->source.cc, 90);
    assert_int_equal(lines->source.kinds, source.kinds);
    assert_int_equal(lines->source.instruction_count, COUNTED);
    assert_memory_equal(lines->source.instructions, counts, sizeof(counts));
    assert_int_equal(lines->cubin_size, cubin_size);
    assert_memory_equal(lines->cubin, cubin, cubin_size);
    gp_sources_free(sources);
    unlink(path);
}

static void makes_no_sense(const char *type, const char *json, const char *reason)
{
    const struct gp_code_visitor visitor = {.user = NULL};
    const char *why = "";
    json_t *line = json_loads(json, 0, NULL);
    assert_non_null(line);
    assert_false(gp_read_code_line(type, line, &visitor, &why));
    assert_non_null(strstr(why, reason));
    json_decref(line);
}

static void lines_that_make_no_sense_are_refused(void **state)
{
    (void)state;
#define HEAD \
    "\"kernel\":\"k\",\"code\":\"\",\"launches\":1,\"functions\":[\"k\"],\"counts\":[\"x\"]"
    makes_no_sense("instructions", "{}", "make no sense");
    makes_no_sense("instructions", "{" HEAD "}", "make no sense");
    makes_no_sense("instructions", "{" HEAD ",\"at\":[[1,0,1]]}", "make no sense");
    makes_no_sense("instructions", "{" HEAD ",\"at\":[[0,-1,1]]}", "make no sense");
    makes_no_sense("instructions", "{" HEAD ",\"at\":[[0,0,-1]]}", "make no sense");
    makes_no_sense("instructions", "{" HEAD ",\"at\":[[0,0]]}", "make no sense");
    makes_no_sense("cubin", "{}", "make no sense");
    makes_no_sense("cubin", "{\"hash\":\"0\",\"size\":9000000000,\"zstd\":\"\"}", "make no sense");
    makes_no_sense("cubin", "{\"hash\":\"0\",\"size\":3,\"zstd\":\"!!!!\"}", "make no sense");
    /* Three bytes, with the hash of others. */
    makes_no_sense("cubin", "{\"hash\":\"0\",\"size\":3,\"zstd\":\"KLUv/QBYGQAAYWJj\"}",
                   "not those of its");
    const struct gp_code_visitor visitor = {.user = NULL};
    const char *why;
    assert_true(gp_read_code_line("another", NULL, &visitor, &why));
}

static bool wants_none(void *user, const char *hash, size_t size)
{
    *(size_t *)user += size;
    assert_string_equal(hash, "0");
    return false;
}

/* A line of a few letters may unpack to much, and its hash takes long to compute. */
static void cubins_are_unpacked_up_to_a_limit(void **state)
{
    (void)state;
    char hash[16];
    size_t asked = 0, taken = 0;
    const char *why;
    json_t *line = json_loads("{\"hash\":\"0\",\"size\":3,\"zstd\":\"!!!!\"}", 0, NULL);
    const struct gp_code_visitor visitor = {.user = &asked, .wants_cubin = wants_none};
    assert_true(gp_read_code_line("cubin", line, &visitor, &why));
    assert_int_equal(asked, 3);
    json_decref(line);
    makes_no_sense("cubin", "{\"hash\":\"0\",\"size\":16777217,\"zstd\":\"\"}", "make no sense");

    struct gp_sources *sources = gp_sources_new();
    const struct gp_cubin_image known = {.hash = "known", .bytes = "abc", .size = 3};
    assert_true(gp_sources_wants_cubin(sources, "known", 3));
    assert_true(gp_sources_add_cubin(sources, &known));
    for (int i = 0; i < 100; i++) {
        snprintf(hash, sizeof(hash), "%d", i);
        taken += gp_sources_wants_cubin(sources, hash, (size_t)16 << 20);
        assert_false(gp_sources_wants_cubin(sources, "known", 3));
    }
    assert_int_equal(taken, 15);
    assert_true(gp_sources_wants_cubin(sources, "small", 1000));
    gp_sources_free(sources);
}

static void base64_is_that_of_the_rfc(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        size_t size;
        struct gp_text text = {0};
        gp_base64_add(pairs[i][0], strlen(pairs[i][0]), &text);
        assert_string_equal(gp_text_string(&text), pairs[i][1]);
        char *bytes = gp_base64_read(gp_text_string(&text), &size);
        assert_int_equal(size, strlen(pairs[i][0]));
        assert_memory_equal(bytes, pairs[i][0], size);
        free(bytes);
        gp_text_free(&text);
    }
    size_t size;
    assert_null(gp_base64_read("Zg=", &size));
    assert_null(gp_base64_read("Z===", &size));
}

static void sha256_is_that_of_fips_180(void **state)
{
    (void)state;
    char text[GP_SHA256_TEXT];
    gp_sha256_text("abc", 3, text);
    assert_string_equal(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    gp_sha256_text("", 0, text);
    assert_string_equal(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    const char *two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    gp_sha256_text(two, strlen(two), text);
    assert_string_equal(text, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inlined_code_has_its_chain),
        cmocka_unit_test(lines_are_those_that_cupti_says),
        cmocka_unit_test(a_slim_cubin_says_the_same),
        cmocka_unit_test(older_line_tables_are_read),
        cmocka_unit_test(damage_does_no_harm),
        cmocka_unit_test(lines_sum_up_to_the_counts),
        cmocka_unit_test(lines_of_the_code_are_counted_and_named),
        cmocka_unit_test(a_header_is_named_with_the_line_that_calls_it),
        cmocka_unit_test(a_page_has_room_for_so_many_lines),
        cmocka_unit_test(of_two_codes_that_of_more_launches_is_shown),
        cmocka_unit_test(a_profile_holds_the_data_of_lines),
        cmocka_unit_test(lines_that_make_no_sense_are_refused),
        cmocka_unit_test(cubins_are_unpacked_up_to_a_limit),
        cmocka_unit_test(base64_is_that_of_the_rfc),
        cmocka_unit_test(sha256_is_that_of_fips_180),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
