#include "profile/code_lines.h"

#include "base/base64.h"
#include "base/sha256.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define INSTRUCTIONS "instructions"
#define CUBIN "cubin"

/* Nothing larger is unpacked, even if a profile asks for it; the writer's are up to 8 MiB. */
#define LARGEST_CUBIN ((size_t)16 << 20)
#define MOST_FUNCTIONS 4096
#define MOST_COLUMNS 256 /* with kinds that later versions write */
#define COMPRESSION 3

static const char *const count_names[GP_COUNT_KINDS] = {
#define GP_COUNT(name, metric) [GP_COUNT_##name] = metric,
#define GP_STALL(name, reason) [GP_STALL_##name] = "smsp__pcsamp_warps_issue_stalled_" reason,
    GP_COUNTS
#undef GP_STALL
#undef GP_COUNT
};

/* ---- writing --------------------------------------------------------------------------------- */

/* Both take the value over; they answer false where it is NULL or when out of memory. */
static bool put(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

static bool add(json_t *array, json_t *value)
{
    return json_array_append_new(array, value) == 0;
}

/* The kinds to be written: of the reasons those that there are. */
static unsigned written_kinds(const struct gp_code_counts *counts)
{
    unsigned kinds = counts->kinds & ~GP_SAMPLE_COUNTS;
    for (size_t i = 0; i < counts->instruction_count; i++)
        for (unsigned k = GP_COUNT_SAMPLES; k < GP_COUNT_KINDS; k++)
            kinds |= counts->instructions[i].values[k] > 0 ? counts->kinds & 1u << k : 0;
    return kinds;
}

static json_t *kinds_of(unsigned kinds)
{
    json_t *array = json_array();
    for (unsigned k = 0; array && k < GP_COUNT_KINDS; k++)
        if (kinds & 1u << k)
            add(array, json_string(count_names[k]));
    return array;
}

static json_t *functions_of(const struct gp_code_counts *counts, bool *ok)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < counts->function_count; i++)
        *ok = add(array, json_string(counts->functions[i])) && *ok;
    return array;
}

/* [function, offset, counts ...] */
static json_t *row_of(unsigned kinds, const struct gp_instruction_counts *i, bool *ok)
{
    json_t *row = json_array();
    *ok = row && add(row, json_integer(i->function)) && add(row, json_integer(i->offset)) && *ok;
    for (unsigned k = 0; row && k < GP_COUNT_KINDS; k++)
        if (kinds & 1u << k)
            *ok = add(row, json_integer((json_int_t)i->values[k])) && *ok;
    return row;
}

bool gp_write_instructions(struct gp_writer *w, const struct gp_code_counts *counts)
{
    const unsigned kinds = written_kinds(counts);
    json_t *line = json_object(), *rows = json_array();
    bool ok = line && rows;
    for (size_t i = 0; ok && i < counts->instruction_count; i++)
        ok = add(rows, row_of(kinds, &counts->instructions[i], &ok)) && ok;
    ok = ok && put(line, "kernel", json_string(counts->kernel)) &&
         put(line, "cc", json_integer(counts->cc)) &&
         put(line, "launches", json_integer((json_int_t)counts->launches)) &&
         put(line, "code", json_string(counts->code)) && put(line, "counts", kinds_of(kinds)) &&
         put(line, "functions", functions_of(counts, &ok));
    if (counts->sampled > 0)
        ok = ok && put(line, "sampled", json_integer((json_int_t)counts->sampled));
    ok = put(line, "at", rows) && ok;
    if (ok)
        return gp_writer_line(w, INSTRUCTIONS, line);
    json_decref(line);
    return gp_writer_line(w, INSTRUCTIONS, NULL);
}

bool gp_write_cubin(struct gp_writer *w, const struct gp_cubin_image *cubin)
{
    size_t bound = ZSTD_compressBound(cubin->size);
    void *packed = malloc(bound);
    size_t size = packed ? ZSTD_compress(packed, bound, cubin->bytes, cubin->size, COMPRESSION) : 0;
    struct gp_text text = {0};
    bool is_packed = packed && !ZSTD_isError(size);
    if (is_packed)
        gp_base64_add(packed, size, &text);
    json_t *line = is_packed && !text.failed ? json_object() : NULL;
    free(packed);
    if (line && !(put(line, "hash", json_string(cubin->hash)) &&
                  put(line, "size", json_integer((json_int_t)cubin->size)) &&
                  put(line, "zstd", json_string_nocheck(gp_text_string(&text))))) {
        json_decref(line);
        line = NULL;
    }
    gp_text_free(&text);
    return gp_writer_line(w, CUBIN, line);
}

/* ---- reading --------------------------------------------------------------------------------- */

static const char *string_of(const json_t *line, const char *key)
{
    return json_string_value(json_object_get(line, key));
}

/* Which kinds the columns hold, in *columns; GP_COUNT_KINDS for one that is not known. */
static bool read_kinds(const json_t *line, struct gp_code_counts *counts, unsigned *columns,
                       size_t *column_count)
{
    const json_t *names = json_object_get(line, "counts");
    *column_count = json_array_size(names);
    if (!json_is_array(names) || *column_count > MOST_COLUMNS)
        return false;
    for (size_t i = 0; i < *column_count; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        unsigned k = 0;
        if (!name)
            return false;
        while (k < GP_COUNT_KINDS && strcmp(count_names[k], name) != 0)
            k++;
        columns[i] = k;
        if (k < GP_COUNT_KINDS)
            counts->kinds |= 1u << k;
    }
    return true;
}

static bool read_row(const json_t *row, size_t functions, const unsigned *columns,
                     size_t column_count, struct gp_instruction_counts *into)
{
    json_int_t function = json_integer_value(json_array_get(row, 0));
    json_int_t offset = json_integer_value(json_array_get(row, 1));
    if (json_array_size(row) != column_count + 2 || function < 0 || (size_t)function >= functions ||
        offset < 0 || offset > UINT32_MAX)
        return false;
    into->function = (uint32_t)function;
    into->offset = (uint32_t)offset;
    for (size_t i = 0; i < column_count; i++) {
        json_int_t value = json_integer_value(json_array_get(row, i + 2));
        if (value < 0)
            return false;
        if (columns[i] < GP_COUNT_KINDS)
            into->values[columns[i]] = (uint64_t)value;
    }
    return true;
}

static bool read_instructions(const json_t *line, const struct gp_code_visitor *visitor,
                              const char **why)
{
    struct gp_code_counts counts = {.kernel = string_of(line, "kernel"),
                                    .cc = (int)json_integer_value(json_object_get(line, "cc")),
                                    .code = string_of(line, "code")};
    const json_t *functions = json_object_get(line, "functions"),
                 *rows = json_object_get(line, "at");
    json_int_t launches = json_integer_value(json_object_get(line, "launches")),
               sampled = json_integer_value(json_object_get(line, "sampled"));
    unsigned columns[MOST_COLUMNS];
    size_t column_count;
    *why =
        "its \"kernel\", \"code\", \"launches\", \"counts\", \"functions\" or \"at\" make no sense";
    counts.function_count = json_array_size(functions);
    counts.instruction_count = json_array_size(rows);
    if (!counts.kernel || !counts.code || launches < 1 || counts.function_count > MOST_FUNCTIONS ||
        !json_is_array(rows) || !read_kinds(line, &counts, columns, &column_count))
        return false;
    counts.launches = (uint64_t)launches;
    counts.sampled = sampled > 0 ? (uint64_t)sampled : 0;
    const char **names = calloc(counts.function_count + 1, sizeof(*names));
    struct gp_instruction_counts *list = calloc(counts.instruction_count + 1, sizeof(*list));
    bool ok = names && list;
    if (!ok)
        *why = "out of memory";
    for (size_t i = 0; ok && i < counts.function_count; i++)
        ok = (names[i] = json_string_value(json_array_get(functions, i))) != NULL;
    for (size_t i = 0; ok && i < counts.instruction_count; i++)
        ok = read_row(json_array_get(rows, i), counts.function_count, columns, column_count,
                      &list[i]);
    counts.functions = names;
    counts.instructions = list;
    if (ok && visitor->instructions)
        visitor->instructions(visitor->user, &counts);
    free(names);
    free(list);
    return ok;
}

static bool read_cubin(const json_t *line, const struct gp_code_visitor *visitor, const char **why)
{
    const char *hash = string_of(line, "hash"), *text = string_of(line, "zstd");
    json_int_t size = json_integer_value(json_object_get(line, "size"));
    char found[GP_SHA256_TEXT];
    size_t packed_size = 0;
    *why = "its \"hash\", \"size\" or \"zstd\" make no sense";
    if (!hash || !text || size < 1 || (json_int_t)LARGEST_CUBIN < size)
        return false;
    if (visitor->wants_cubin && !visitor->wants_cubin(visitor->user, hash, (size_t)size))
        return true;
    void *packed = gp_base64_read(text, &packed_size), *bytes = malloc((size_t)size);
    bool ok = packed && bytes &&
              ZSTD_decompress(bytes, (size_t)size, packed, packed_size) == (size_t)size;
    free(packed);
    if (ok) {
        gp_sha256_text(bytes, (size_t)size, found);
        *why = "its bytes are not those of its \"hash\"";
        ok = strcmp(found, hash) == 0;
    }
    const struct gp_cubin_image cubin = {.hash = hash, .bytes = bytes, .size = (size_t)size};
    if (ok && visitor->cubin)
        visitor->cubin(visitor->user, &cubin);
    free(bytes);
    return ok;
}

bool gp_read_code_line(const char *type, const struct json_t *line,
                       const struct gp_code_visitor *visitor, const char **why)
{
    if (strcmp(type, INSTRUCTIONS) == 0)
        return read_instructions(line, visitor, why);
    if (strcmp(type, CUBIN) == 0)
        return read_cubin(line, visitor, why);
    return true;
}
