/* The kernels of tests/causes/causes.cu, as nvcc made them, with samples as if their warps waited
 * at every instruction that waits for a scoreboard. */
#ifndef GPUPROF_TESTS_SAMPLED_H
#define GPUPROF_TESTS_SAMPLED_H

#include "beside.h"
#include "code/cubin.h"
#include "code/instruction.h"
#include "code/scoreboards.h"
#include "report/lines.h"
#include "report/sources.h"

#define SOURCE "causes.cu"
#define MOST_INSTRUCTIONS 8192

static const int capabilities[] = {75, 80, 90, 100, 120};

static char *read_cubin(int cc, size_t *size)
{
    char name[32];
    snprintf(name, sizeof(name), "causes.%d.cubin", cc);
    return read_beside(name, size);
}

/* The line of causes.cu that ends in "// MARK: KERNEL", from that line on; 0: there is none. */
static unsigned line_of(const char *kind, const char *kernel, unsigned after)
{
    char path[4096], mark[128];
    size_t size;
    unsigned line = 1, found = 0;
    snprintf(path, sizeof(path), "%s", __FILE__);
    strcpy(strstr(path, "unit/"), "causes/" SOURCE);
    snprintf(mark, sizeof(mark), "// %s: %s\n", kind, kernel);
    char *text = read_if_there(path, &size);
    assert_non_null(text);
    for (char *p = text, *end; (end = strchr(p, '\n')) && !found; p = end + 1, line++) {
        const size_t length = strlen(mark), have = (size_t)(end + 1 - p);
        if (line > after && have >= length && memcmp(end + 1 - length, mark, length) == 0)
            found = line;
    }
    free(text);
    return found;
}

/* ---- kernels with samples -------------------------------------------------------------------- */

struct kernel {
    char name[64];
    char *cubin;
    size_t size;
    int cc;
    const char *code;
    size_t code_size;
    struct gp_instruction_counts counts[MOST_INSTRUCTIONS];
    size_t count;
    unsigned kinds; /* that are counted besides; 0: samples alone */
    struct gp_sources *sources;
    const struct gp_lines *lines;
};

static struct gp_instruction_counts *at(struct kernel *k, size_t n)
{
    k->counts[n] = (struct gp_instruction_counts){.offset = (uint32_t)(n * GP_INSTRUCTION_BYTES)};
    return &k->counts[n];
}

static void add_samples(struct gp_instruction_counts *c, enum gp_count_kind reason, uint64_t count)
{
    c->values[reason] += count;
    c->values[GP_COUNT_SAMPLES] += count;
}

/* An instruction in a loop runs ten times. */
static void repeat_loops(struct kernel *k)
{
    for (size_t end = 0; end < k->count; end++) {
        const int64_t jump = gp_instruction_jump(k->code + end * GP_INSTRUCTION_BYTES, k->cc);
        const int64_t begin = (int64_t)end + jump / GP_INSTRUCTION_BYTES;
        for (int64_t n = begin; jump < 0 && begin >= 0 && n <= (int64_t)end; n++)
            for (unsigned kind = 0; kind < GP_COUNT_KINDS; kind++)
                k->counts[n].values[kind] *= 10;
    }
}

/* In a loop warps wait each time for the instructions of that loop. */
static bool waits_each_time(struct gp_paths *p, size_t n)
{
    size_t first, last;
    uint32_t found[64];
    if (!gp_paths_loop(p, n, &first, &last))
        return true;
    uint64_t own[2], word[2];
    gp_paths_word(p, n, own);
    const size_t count = gp_producers_find(p, n, GP_QUEUE_LONG, found, 64);
    if (count == 0 || found[0] < first || found[0] > last)
        return false;
    /* Operands are read soon: results are waited for. */
    gp_paths_word(p, found[0], word);
    const unsigned result = (unsigned)(word[1] >> 46) & 7;
    return gp_awaited_kind(word, p->cc) == GP_AWAITED_COPY ||
           (result < 7 && gp_scoreboards_awaited(own) & 1u << result);
}

/* A warp sleeps at the instruction behind a NANOSLEEP. */
static bool is_behind_sleep(const struct kernel *k, size_t n)
{
    uint64_t word;
    if (n == 0)
        return false;
    memcpy(&word, k->code + (n - 1) * GP_INSTRUCTION_BYTES, sizeof(word));
    return (word & 0x1ff) == 0x15d;
}

static void wait_for_scoreboards(struct kernel *k)
{
    struct gp_paths *paths = gp_paths_open(k->code, k->code_size, k->cc);
    assert_non_null(paths);
    k->count = k->code_size / GP_INSTRUCTION_BYTES;
    assert_true(k->count <= MOST_INSTRUCTIONS);
    for (size_t n = 0; n < k->count; n++) {
        struct gp_instruction_counts *c = at(k, n);
        uint64_t word[2];
        memcpy(word, k->code + n * GP_INSTRUCTION_BYTES, sizeof(word));
        add_samples(c, GP_STALL_SELECTED, 1);
        if (is_behind_sleep(k, n))
            add_samples(c, GP_STALL_SLEEPING, 50);
        if (!gp_scoreboards_awaited(word) || !waits_each_time(paths, n))
            continue;
        add_samples(c, GP_STALL_LONG_SCOREBOARD, 10);
        add_samples(c, GP_STALL_SHORT_SCOREBOARD, 10);
    }
    repeat_loops(k);
    gp_paths_close(paths);
}

/* As a profile has it. */
static void take_in(struct kernel *k)
{
    const char *const functions[] = {k->name};
    const struct gp_code_counts source = {.kernel = k->name,
                                          .cc = k->cc,
                                          .launches = 1,
                                          .sampled = 1,
                                          .kinds = k->kinds | GP_SAMPLE_COUNTS,
                                          .function_count = 1,
                                          .functions = functions,
                                          .instruction_count = k->count,
                                          .instructions = k->counts,
                                          .code = "c"};
    const struct gp_cubin_image image = {.hash = "c", .bytes = k->cubin, .size = k->size};
    k->sources = gp_sources_new();
    assert_non_null(k->sources);
    assert_true(gp_sources_add_cubin(k->sources, &image));
    assert_true(gp_sources_add(k->sources, &source));
    k->lines = gp_sources_of(k->sources, k->name);
    assert_non_null(k->lines);
    assert_non_null(k->lines->waits);
}

static void name_kernel(struct kernel *k, const struct gp_cubin *cubin, const char *section)
{
    Elf64_Shdr text;
    assert_true(gp_cubin_find(cubin, section, &text));
    snprintf(k->name, sizeof(k->name), "%s", section + strlen(".text."));
    k->code = k->cubin + text.sh_offset;
    k->code_size = text.sh_size;
}

/* Calls `check` for each kernel of each cubin; how many there were of the name's begin. */
static unsigned for_kernels(const char *begin, void (*check)(struct kernel *k))
{
    static struct kernel k;
    unsigned kernels = 0, cubins = 0;
    for (size_t c = 0; c < sizeof(capabilities) / sizeof(capabilities[0]); c++) {
        struct gp_cubin cubin;
        memset(&k, 0, sizeof(k));
        k.cc = capabilities[c];
        k.cubin = read_cubin(k.cc, &k.size);
        if (!k.cubin)
            continue;
        cubins++;
        assert_true(gp_cubin_open(&cubin, k.cubin, k.size));
        for (unsigned i = 1; i < cubin.count; i++) {
            const char *name = gp_cubin_section_name(&cubin, i);
            if (strncmp(name, ".text.", 6) != 0 || strncmp(name + 6, begin, strlen(begin)) != 0)
                continue;
            name_kernel(&k, &cubin, name);
            k.sources = NULL;
            check(&k);
            if (k.sources)
                gp_sources_free(k.sources);
            kernels++;
        }
        free(k.cubin);
    }
    assert_true(cubins >= 2);
    return kernels;
}

static bool is_a_line_of(const char *where, const char *kind, const char *kernel)
{
    for (unsigned line = 0; (line = line_of(kind, kernel, line)) > 0;) {
        char text[64];
        snprintf(text, sizeof(text), "%s:%u", SOURCE, line);
        const size_t length = strlen(text);
        if (strncmp(where, text, length) == 0 && (where[length] < '0' || where[length] > '9'))
            return true;
    }
    return false;
}

/* Warps that wait at a barrier for others, which compute. */
static void wait_at_barriers(struct kernel *k)
{
    k->count = k->code_size / GP_INSTRUCTION_BYTES;
    for (size_t n = 0; n < k->count; n++) {
        struct gp_instruction_counts *c = at(k, n);
        uint64_t word[2];
        memcpy(word, k->code + n * GP_INSTRUCTION_BYTES, sizeof(word));
        const bool computes = gp_instruction_decode(word, k->cc).op == GP_OP_FFMA;
        add_samples(c, GP_STALL_SELECTED, 1);
        if (computes && line_of("cause", k->name, 0) > 0)
            add_samples(c, GP_STALL_WAIT, 50);
        if ((word[0] & 0x1ff) == 0x11d)
            add_samples(c, GP_STALL_BARRIER, 500);
    }
}

#endif
