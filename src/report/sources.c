#include "report/sources.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* Limits of all kernels and of all cubins together; a process that ends waits for their reading. */
#define MOST_KERNELS 4096
#define MOST_BYTES ((size_t)256 << 20)

struct entry {
    UT_hash_handle hh;
    struct gp_lines lines;
    const void *searched; /* code whose products were searched for */
    char *kernel, *code;
    char **functions;
    struct gp_instruction_counts *instructions;
};

struct cubin {
    UT_hash_handle hh;
    char *hash;
    void *bytes;
    size_t size;
};

struct gp_sources {
    struct entry *entries; /* by kernel, in the order in which they came */
    struct entry *list[MOST_KERNELS];
    size_t count, bytes;
    size_t unpacked; /* bytes of cubins that were wanted */
    struct cubin *cubins;
};

struct gp_sources *gp_sources_new(void)
{
    return calloc(1, sizeof(struct gp_sources));
}

static void clear(struct entry *e)
{
    gp_line_table_close(e->lines.table);
    gp_waits_free(e->lines.waits);
    gp_products_free(e->lines.products);
    for (size_t i = 0; e->functions && i < e->lines.source.function_count; i++)
        free(e->functions[i]);
    free(e->functions);
    free(e->instructions);
    free(e->code);
    e->functions = NULL;
    e->instructions = NULL;
    e->code = NULL;
    e->searched = NULL;
    e->lines = (struct gp_lines){.no_lines = "its code was not recorded"};
}

void gp_sources_free(struct gp_sources *s)
{
    if (!s)
        return;
    HASH_CLEAR(hh, s->entries);
    for (size_t i = 0; i < s->count; i++) {
        clear(s->list[i]);
        free(s->list[i]->kernel);
        free(s->list[i]);
    }
    struct cubin *c, *next;
    HASH_ITER(hh, s->cubins, c, next)
    {
        HASH_DEL(s->cubins, c);
        free(c->hash);
        free(c->bytes);
        free(c);
    }
    free(s);
}

static struct entry *entry_of(struct gp_sources *s, const char *kernel)
{
    struct entry *e = NULL;
    HASH_FIND_STR(s->entries, kernel, e);
    if (e || s->count == MOST_KERNELS)
        return e;
    e = calloc(1, sizeof(*e));
    char *own = strdup(kernel);
    if (e && own) {
        e->kernel = own;
        e->lines.no_lines = "its code was not recorded";
        HASH_ADD_KEYPTR(hh, s->entries, e->kernel, strlen(e->kernel), e);
        if (e->hh.tbl) {
            s->list[s->count++] = e;
            return e;
        }
    }
    free(own);
    free(e);
    return NULL;
}

static void find_cubin(struct gp_sources *s, struct entry *e)
{
    struct cubin *c = NULL;
    if (e->lines.cubin || !e->code || !*e->code)
        return;
    HASH_FIND_STR(s->cubins, e->code, c);
    if (!c)
        return;
    e->lines.cubin = c->bytes;
    e->lines.cubin_size = c->size;
    e->lines.table = gp_line_table_open(c->bytes, c->size, &e->lines.no_lines);
}

static bool copy_names(struct entry *e, const struct gp_code_counts *source)
{
    e->functions = calloc(source->function_count + 1, sizeof(*e->functions));
    for (size_t i = 0; e->functions && i < source->function_count; i++)
        if (!(e->functions[i] = strdup(source->functions[i])))
            return false;
    return e->functions != NULL;
}

static bool fill(struct entry *e, const struct gp_code_counts *source)
{
    size_t size = source->instruction_count * sizeof(*e->instructions);
    clear(e);
    e->lines.source.function_count = source->function_count;
    e->code = strdup(source->code);
    e->instructions = malloc(size + 1);
    if (!e->code || !e->instructions || !copy_names(e, source)) {
        clear(e);
        return false;
    }
    if (size)
        memcpy(e->instructions, source->instructions, size);
    e->lines.source = *source;
    e->lines.source.kernel = e->kernel;
    e->lines.source.code = e->code;
    e->lines.source.functions = (const char *const *)e->functions;
    e->lines.source.instructions = e->instructions;
    return true;
}

/* ---- the same kernel of another process or GPU ------------------------------------------------
 */

#define SASS_COUNTS (GP_ALL_COUNTS & ~GP_SAMPLE_COUNTS)

static bool have_same_code(const struct gp_code_counts *a, const struct gp_code_counts *b)
{
    return a->launches > 0 && *a->code && strcmp(a->code, b->code) == 0;
}

/* The index of a function among those of the entry, which gets it; there is room for it. False when
 * out of memory. */
static bool find_function(struct entry *e, const char *name, uint32_t *index)
{
    size_t *count = &e->lines.source.function_count;
    for (*index = 0; *index < *count; ++*index)
        if (strcmp(e->functions[*index], name) == 0)
            return true;
    e->functions[*count] = strdup(name);
    *count += e->functions[*count] != NULL;
    return *index < *count;
}

/* Processes come upon functions in different orders. Returns the index of each of the source's
 * among those of the entry, to be freed; NULL when out of memory. */
static uint32_t *map_functions(struct entry *e, const struct gp_code_counts *source)
{
    const size_t most = e->lines.source.function_count + source->function_count;
    uint32_t *map = calloc(source->function_count + 1, sizeof(*map));
    char **functions = realloc(e->functions, (most + 1) * sizeof(*functions));
    bool mapped = map && functions;
    if (functions) {
        e->functions = functions;
        e->lines.source.functions = (const char *const *)functions;
    }
    for (size_t i = 0; mapped && i < source->function_count; i++)
        mapped = find_function(e, source->functions[i], &map[i]);
    if (mapped)
        return map;
    free(map);
    return NULL;
}

static int by_offset(const void *x, const void *y)
{
    const struct gp_instruction_counts *a = x, *b = y;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static void add_kinds(struct gp_instruction_counts *into, const struct gp_instruction_counts *from,
                      unsigned kinds)
{
    for (size_t k = 0; k < GP_COUNT_KINDS; k++)
        if (kinds & 1u << k)
            into->values[k] += from->values[k];
}

/* Joins those of one instruction, of a sorted list. Returns how many are left. */
static size_t join(struct gp_instruction_counts *list, size_t count)
{
    size_t kept = 0;
    for (size_t i = 1; i < count; i++) {
        if (by_offset(&list[kept], &list[i]) == 0)
            add_kinds(&list[kept], &list[i], GP_ALL_COUNTS);
        else
            list[++kept] = list[i];
    }
    return count > 0 ? kept + 1 : 0;
}

/* Copies instructions with some of their kinds alone; `map` has the indices of their functions,
 * NULL: they stay. */
static void copy_kinds(struct gp_instruction_counts *to, const struct gp_code_counts *source,
                       const uint32_t *map, unsigned kinds)
{
    for (size_t i = 0; i < source->instruction_count; i++) {
        const struct gp_instruction_counts *from = &source->instructions[i];
        to[i] = (struct gp_instruction_counts){
            .function = map ? map[from->function] : from->function, .offset = from->offset};
        add_kinds(&to[i], from, kinds);
    }
}

/* Samples always add up, as shares are of all of them. Counts do where both have the same kinds;
 * else those of more launches stay. Returns true, or false when out of memory. */
static bool merge(struct entry *e, const struct gp_code_counts *source)
{
    struct gp_code_counts *own = &e->lines.source;
    const unsigned ours = own->kinds & SASS_COUNTS, theirs = source->kinds & SASS_COUNTS;
    const bool add_up = ours == theirs;
    const bool take = !add_up && (ours == 0 || (theirs && source->launches > own->launches));
    const size_t count = own->instruction_count + source->instruction_count;
    struct gp_instruction_counts *list = calloc(count + 1, sizeof(*list));
    uint32_t *map = list ? map_functions(e, source) : NULL;
    if (!map) {
        free(list);
        return false;
    }
    copy_kinds(list, own, NULL, take ? GP_SAMPLE_COUNTS : GP_ALL_COUNTS);
    copy_kinds(list + own->instruction_count, source, map,
               take || add_up ? GP_ALL_COUNTS : GP_SAMPLE_COUNTS);
    if (count > 0)
        qsort(list, count, sizeof(*list), by_offset);
    free(map);
    free(e->instructions);
    e->instructions = list;
    own->instructions = list;
    own->instruction_count = join(list, count);
    own->kinds = ((own->kinds | source->kinds) & GP_SAMPLE_COUNTS) | (take ? theirs : ours);
    own->sampled += source->sampled;
    if (add_up)
        own->launches += source->launches;
    else if (take)
        own->launches = source->launches;
    gp_waits_free(e->lines.waits);
    e->lines.waits = NULL;
    return true;
}

bool gp_sources_add(struct gp_sources *s, const struct gp_code_counts *source)
{
    struct entry *e = entry_of(s, source->kernel);
    const size_t each = sizeof(*source->instructions), size = source->instruction_count * each;
    if (!e)
        return false;
    const bool same_code = have_same_code(&e->lines.source, source);
    if (!same_code && e->lines.source.launches > source->launches)
        return true;
    const size_t before = same_code ? e->lines.source.instruction_count : 0;
    if (size > MOST_BYTES - s->bytes || !(same_code ? merge(e, source) : fill(e, source)))
        return false;
    s->bytes += each * (e->lines.source.instruction_count - before);
    find_cubin(s, e);
    return true;
}

bool gp_sources_wants_cubin(struct gp_sources *s, const char *hash, size_t size)
{
    struct cubin *c = NULL;
    HASH_FIND_STR(s->cubins, hash, c);
    if (c || size > MOST_BYTES - s->unpacked)
        return false;
    s->unpacked += size;
    return true;
}

bool gp_sources_add_cubin(struct gp_sources *s, const struct gp_cubin_image *cubin)
{
    struct cubin *c = NULL;
    HASH_FIND_STR(s->cubins, cubin->hash, c);
    if (c)
        return true;
    if (cubin->size > MOST_BYTES - s->bytes)
        return false;
    c = calloc(1, sizeof(*c));
    if (c) {
        c->hash = strdup(cubin->hash);
        c->bytes = malloc(cubin->size + 1);
        c->size = cubin->size;
    }
    if (c && c->hash && c->bytes) {
        memcpy(c->bytes, cubin->bytes, cubin->size);
        HASH_ADD_KEYPTR(hh, s->cubins, c->hash, strlen(c->hash), c);
    }
    if (!c || !c->hh.tbl) {
        if (c) {
            free(c->hash);
            free(c->bytes);
        }
        free(c);
        return false;
    }
    s->bytes += c->size;
    for (size_t i = 0; i < s->count; i++)
        find_cubin(s, s->list[i]);
    return true;
}

static void find_products(struct entry *e)
{
    size_t size;
    const void *code = gp_lines_code(&e->lines, e->kernel, &size);
    if (code && code != e->searched)
        e->lines.products = gp_products_find(code, size, e->lines.source.cc);
    e->searched = code;
}

const struct gp_lines *gp_sources_of(const struct gp_sources *s, const char *kernel)
{
    struct entry *e = NULL;
    if (s)
        HASH_FIND_STR(s->entries, kernel, e);
    if (e && !e->lines.waits)
        e->lines.waits = gp_waits_make(&e->lines);
    if (e && !e->lines.products)
        find_products(e);
    return e && e->lines.source.launches > 0 ? &e->lines : NULL;
}

size_t gp_sources_count(const struct gp_sources *s)
{
    return s->count;
}

const struct gp_lines *gp_sources_at(const struct gp_sources *s, size_t i)
{
    return &s->list[i]->lines;
}

void gp_sources_hide(struct gp_sources *s)
{
    for (size_t i = 0; i < s->count; i++)
        s->list[i]->lines.hidden = true;
}
