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
    for (size_t i = 0; e->functions && i < e->lines.source.function_count; i++)
        free(e->functions[i]);
    free(e->functions);
    free(e->instructions);
    free(e->code);
    e->functions = NULL;
    e->instructions = NULL;
    e->code = NULL;
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

/* The same kernel of another GPU, say: both sum up where both are of the same instructions. */
static bool merge(struct entry *e, const struct gp_code_counts *source)
{
    struct gp_code_counts *own = &e->lines.source;
    bool same = own->launches > 0 && strcmp(own->code, source->code) == 0 && *own->code &&
                own->kinds == source->kinds && own->function_count == source->function_count &&
                own->instruction_count == source->instruction_count;
    for (size_t i = 0; same && i < own->function_count; i++)
        same = strcmp(own->functions[i], source->functions[i]) == 0;
    for (size_t i = 0; same && i < own->instruction_count; i++)
        same = e->instructions[i].function == source->instructions[i].function &&
               e->instructions[i].offset == source->instructions[i].offset;
    if (!same)
        return false;
    for (size_t i = 0; i < own->instruction_count; i++)
        for (size_t k = 0; k < GP_COUNT_KINDS; k++)
            e->instructions[i].values[k] += source->instructions[i].values[k];
    own->launches += source->launches;
    own->sampled += source->sampled;
    gp_waits_free(e->lines.waits);
    e->lines.waits = NULL;
    return true;
}

bool gp_sources_add(struct gp_sources *s, const struct gp_code_counts *source)
{
    struct entry *e = entry_of(s, source->kernel);
    size_t size = source->instruction_count * sizeof(*source->instructions);
    if (!e)
        return false;
    if (merge(e, source) || e->lines.source.launches > source->launches)
        return true;
    if (size > MOST_BYTES - s->bytes || !fill(e, source))
        return false;
    s->bytes += size;
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

const struct gp_lines *gp_sources_of(const struct gp_sources *s, const char *kernel)
{
    struct entry *e = NULL;
    if (s)
        HASH_FIND_STR(s->entries, kernel, e);
    if (e && !e->lines.waits)
        e->lines.waits = gp_waits_make(&e->lines);
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
