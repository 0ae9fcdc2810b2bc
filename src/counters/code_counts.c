#include "counters/code_counts.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/mix.h"
#include "base/sha256.h"
#include "counters/inside.h"

#include <stdlib.h>
#include <string.h>

#define MOST_KERNELS 2048
#define MOST_OF_A_NAME 64
#define MOST_NUMBERS 8
#define MOST_FUNCTIONS 64               /* of one kernel: those it calls */
#define MOST_BYTES ((size_t)64 << 20)   /* of all counts and cubins */
#define LARGEST_CUBIN ((size_t)8 << 20) /* of one kernel */
/* Seconds in all that may be spent on the search for cubins: to find one may unpack a module's
 * image, and its hash takes time. */
#define MOST_SECONDS 0.5

struct kernel {
    UT_hash_handle hh;
    struct kernel *namesake;        /* of the same name, with other code; NULL: none more */
    uint64_t numbers[MOST_NUMBERS]; /* of its code (gp_run), which has a new one each time that it
                                     * is loaded, if it cannot be known again */
    unsigned loaded;                /* so often; the last ones are kept */
    int cc;
    uint64_t launches, sampled;
    unsigned kinds;
    void *cubin;
    size_t cubin_size;
    char hash[GP_SHA256_TEXT];
    char *functions[MOST_FUNCTIONS];
    size_t function_count;
    struct gp_instruction_counts *instructions;
    size_t count, capacity;
    uint32_t
        *positions; /* by a hash of function and offset: index into instructions + 1; 0: free */
    size_t position_count;
    char name[];
};

static struct {
    struct kernel *kernels, *current;
    size_t count, bytes;
    double seconds;
    const char *last_name; /* of a function, as CUPTI gives it */
    uint32_t last_function;
} all;

enum gp_count_kind count_kind_of(const char *base_metric)
{
    static const char *const names[] = {
#define GP_COUNT(name, metric) metric,
#define GP_STALL(name, reason) "smsp__pcsamp_warps_issue_stalled_" reason,
        GP_COUNTS
#undef GP_STALL
#undef GP_COUNT
    };
    size_t i = 0;
    while (i < GP_COUNT_KINDS && strcmp(names[i], base_metric) != 0)
        i++;
    return (enum gp_count_kind)i;
}

static size_t room_left(void)
{
    return all.bytes < MOST_BYTES ? MOST_BYTES - all.bytes : 0;
}

static void find_cubin(struct kernel *k, const struct gp_run *run)
{
    size_t room = room_left();
    if (!run->find_cubin || all.seconds > MOST_SECONDS)
        return;
    double begun = gp_clock_seconds();
    k->cubin = run->find_cubin(run->find_code_data, room < LARGEST_CUBIN ? room : LARGEST_CUBIN,
                               &k->cubin_size);
    if (k->cubin) {
        all.bytes += k->cubin_size;
        gp_sha256_text(k->cubin, k->cubin_size, k->hash);
    }
    all.seconds += gp_clock_seconds() - begun;
}

static void add_number(struct kernel *k, uint64_t number)
{
    k->numbers[k->loaded++ % MOST_NUMBERS] = number;
}

static bool has_number(const struct kernel *k, uint64_t number)
{
    unsigned i = k->loaded < MOST_NUMBERS ? k->loaded : MOST_NUMBERS;
    while (i > 0 && k->numbers[i - 1] != number)
        i--;
    return i > 0;
}

static void free_kernel(struct kernel *k)
{
    all.count--;
    all.bytes -= sizeof(*k) + strlen(k->name) + (k->cubin ? k->cubin_size : 0);
    free(k->cubin);
    free(k);
}

static struct kernel *make_kernel(const struct gp_run *run, uint64_t number)
{
    size_t length = strlen(run->kernel);
    if (all.count == MOST_KERNELS || length > room_left())
        return NULL;
    struct kernel *k = calloc(1, sizeof(*k) + length + 1);
    if (!k)
        return NULL;
    memcpy(k->name, run->kernel, length);
    add_number(k, number);
    all.count++;
    all.bytes += sizeof(*k) + length;
    find_cubin(k, run);
    return k;
}

static bool have_one_cubin(const struct kernel *a, const struct kernel *b)
{
    return a->cubin && b->cubin && strcmp(a->hash, b->hash) == 0;
}

/* The kernel with the name and code of the run. */
static struct kernel *find_kernel(const struct gp_run *run)
{
    struct kernel *first = NULL, *k, *same;
    uint64_t number = run->code ? *run->code : 0;
    unsigned namesakes = 0;
    HASH_FIND_STR(all.kernels, run->kernel, first);
    for (k = first; k && !has_number(k, number); k = k->namesake)
        namesakes++;
    if (k || namesakes == MOST_OF_A_NAME || !(k = make_kernel(run, number)))
        return k;
    for (same = first; same && !have_one_cubin(same, k); same = same->namesake)
        ;
    if (same) {
        free_kernel(k);
        add_number(same, number);
        return same;
    }
    if (first) {
        k->namesake = first->namesake;
        first->namesake = k;
        return k;
    }
    HASH_ADD_KEYPTR(hh, all.kernels, k->name, strlen(k->name), k);
    if (k->hh.tbl)
        return k;
    free_kernel(k);
    return NULL;
}

bool gp_code_counts_note(const struct gp_run *run, int cc)
{
    run_shape_and_code(run, cc);
    struct kernel *k = find_kernel(run);
    if (k)
        k->cc = cc;
    return k != NULL;
}

bool code_counts_begin(const struct gp_run *run, int cc, unsigned kinds)
{
    struct kernel *k = all.current = find_kernel(run);
    all.last_name = NULL;
    if (!k)
        return false;
    k->cc = cc;
    k->kinds |= kinds;
    k->launches++;
    return true;
}

bool code_counts_begin_samples(const struct gp_run *run, int cc)
{
    struct kernel *k = all.current = find_kernel(run);
    all.last_name = NULL;
    if (!k)
        return false;
    k->cc = cc;
    k->kinds |= GP_SAMPLE_COUNTS;
    k->sampled++;
    return true;
}

/* ---- instructions ---------------------------------------------------------------------------- */

static bool find_function(struct kernel *k, const char *name, uint32_t *function)
{
    /* Records of one function follow each other, with one pointer to its name. */
    if (name == all.last_name) {
        *function = all.last_function;
        return true;
    }
    size_t i = 0;
    while (i < k->function_count && strcmp(k->functions[i], name) != 0)
        i++;
    if (i == k->function_count) {
        if (i == MOST_FUNCTIONS || !(k->functions[i] = strdup(name)))
            return false;
        k->function_count++;
        all.bytes += strlen(name);
    }
    all.last_name = name;
    all.last_function = *function = (uint32_t)i;
    return true;
}

static size_t position_of(const struct kernel *k, uint32_t function, uint32_t offset)
{
    uint64_t hash = gp_mix(function, offset);
    size_t position = (size_t)(hash >> 32) & (k->position_count - 1);
    for (uint32_t i; (i = k->positions[position]);
         position = (position + 1) & (k->position_count - 1))
        if (k->instructions[i - 1].offset == offset && k->instructions[i - 1].function == function)
            break;
    return position;
}

/* Twice as much room for instructions, and four positions for each. */
static bool grow(struct kernel *k)
{
    size_t capacity = k->capacity ? 2 * k->capacity : 64;
    size_t size = capacity * (sizeof(*k->instructions) + 4 * sizeof(*k->positions));
    if (size > room_left())
        return false;
    void *instructions = realloc(k->instructions, capacity * sizeof(*k->instructions));
    uint32_t *positions = calloc(4 * capacity, sizeof(*positions));
    if (instructions)
        k->instructions = instructions;
    if (!instructions || !positions) {
        free(positions);
        return false;
    }
    all.bytes += size / 2;
    free(k->positions);
    k->positions = positions;
    k->position_count = 4 * capacity;
    k->capacity = capacity;
    for (size_t i = 0; i < k->count; i++)
        k->positions[position_of(k, k->instructions[i].function, k->instructions[i].offset)] =
            (uint32_t)i + 1;
    return true;
}

void code_counts_add(const char *function_name, uint32_t offset, enum gp_count_kind kind,
                     uint64_t value)
{
    struct kernel *k = all.current;
    uint32_t function;
    if (!value || !find_function(k, function_name, &function) ||
        (k->count == k->capacity && !grow(k)))
        return;
    size_t position = position_of(k, function, offset);
    if (!k->positions[position]) {
        k->instructions[k->count] =
            (struct gp_instruction_counts){.function = function, .offset = offset};
        k->positions[position] = (uint32_t)++k->count;
    }
    k->instructions[k->positions[position] - 1].values[kind] += value;
}

/* ---- giving them out ------------------------------------------------------------------------- */

static int compare(const void *x, const void *y)
{
    const struct gp_instruction_counts *a = x, *b = y;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* In order; from now on positions would be wrong, so there are none. */
static void sort(struct kernel *k)
{
    if (k->count > 0)
        qsort(k->instructions, k->count, sizeof(*k->instructions), compare);
    for (size_t i = 0; i < k->position_count; i++)
        k->positions[i] = 0;
    for (size_t i = 0; i < k->count; i++)
        k->positions[position_of(k, k->instructions[i].function, k->instructions[i].offset)] =
            (uint32_t)i + 1;
}

static void give(struct kernel *k,
                 void (*take_cubin)(void *user, const struct gp_cubin_image *cubin),
                 void (*take)(void *user, const struct gp_code_counts *source), void *user)
{
    if (k->launches == 0 && k->sampled == 0 && !k->cubin)
        return;
    const struct gp_cubin_image cubin = {.hash = k->hash, .bytes = k->cubin, .size = k->cubin_size};
    if (k->cubin)
        take_cubin(user, &cubin);
    sort(k);
    const struct gp_code_counts source = {.kernel = k->name,
                                          .cc = k->cc,
                                          .launches = k->launches ? k->launches : 1,
                                          .sampled = k->sampled,
                                          .kinds = k->kinds,
                                          .function_count = k->function_count,
                                          .functions = (const char *const *)k->functions,
                                          .instruction_count = k->count,
                                          .instructions = k->instructions,
                                          .code = k->hash};
    take(user, &source);
}

void gp_code_counts_visit(void (*take_cubin)(void *user, const struct gp_cubin_image *cubin),
                          void (*take)(void *user, const struct gp_code_counts *source), void *user)
{
    struct kernel *first, *next;
    HASH_ITER(hh, all.kernels, first, next)
    {
        for (struct kernel *k = first; k; k = k->namesake)
            give(k, take_cubin, take, user);
    }
}
