#include "report/launch_columns.h"

#include "base/hash.h"
#include "report/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_KERNEL 0xFFFF
#define MOST_KERNELS NO_KERNEL
#define OTHER_STREAMS 255

static const char *const usual[] = {
    "duration",       "achieved_occupancy", "dram_utilization",  "flops",
    "gld_efficiency", "gst_efficiency",     "shared_efficiency", "warp_execution_efficiency",
};
enum { USUAL = sizeof(usual) / sizeof(usual[0]) };

/* The common part of launches of one row of the report. No padding: it is compared bytewise. */
struct shape {
    int device;
    struct gp_configuration configuration; /* of a row */
};

struct kernel {
    UT_hash_handle hh;
    unsigned number;
    struct shape shape;
    size_t key_length;
    char *key; /* the shape, then the kernel's name with its NUL */
};

struct stream {
    int device;
    uint64_t context, stream;
};

struct entry {
    double start_ms, overhead_ms;
    uint32_t process, index;
    float blocks;
    uint16_t kernel;
    uint8_t stream;
    float values[USUAL]; /* NAN where there is none */
};

struct gp_launch_columns {
    const struct gp_metric *metrics[USUAL]; /* NULL where not selected */
    struct kernel *kernels;
    unsigned kernel_count;
    struct stream streams[GP_COLUMNS_STREAMS];
    size_t stream_count;
    bool other_streams;
    struct entry *entries;
    size_t count, capacity;
    uint64_t seen, stride;
    uint32_t processes;
    struct gp_text key; /* scratch */
};

struct gp_launch_columns *gp_launch_columns_new(const struct gp_metrics *m)
{
    struct gp_launch_columns *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->stride = 1;
    for (size_t i = 0; i < USUAL; i++)
        for (size_t k = 0; k < gp_metrics_selected_count(m); k++)
            if (strcmp(gp_metrics_selected(m, k)->name, usual[i]) == 0)
                c->metrics[i] = gp_metrics_selected(m, k);
    return c;
}

void gp_launch_columns_free(struct gp_launch_columns *c)
{
    if (!c)
        return;
    struct kernel *k, *next;
    HASH_ITER(hh, c->kernels, k, next)
    {
        HASH_DEL(c->kernels, k);
        free(k->key);
        free(k);
    }
    gp_text_free(&c->key);
    free(c->entries);
    free(c);
}

static struct kernel *new_kernel(struct gp_launch_columns *c, const struct shape *shape)
{
    struct kernel *k = calloc(1, sizeof(*k));
    char *key = malloc(c->key.length);
    if (k && key) {
        memcpy(key, c->key.data, c->key.length);
        k->key = key;
        k->key_length = c->key.length;
        k->shape = *shape;
        k->number = c->kernel_count;
        HASH_ADD_KEYPTR(hh, c->kernels, k->key, k->key_length, k);
        if (k->hh.tbl) {
            c->kernel_count++;
            return k;
        }
    }
    free(key);
    free(k);
    return NULL;
}

static unsigned kernel_of(struct gp_launch_columns *c, const struct gp_record *launch)
{
    const struct shape shape = {
        .device = launch->device,
        .configuration = gp_configuration_of_row(&launch->configuration),
    };
    gp_text_clear(&c->key);
    gp_text_add_bytes(&c->key, (const char *)&shape, sizeof(shape));
    gp_text_add_bytes(&c->key, launch->kernel, strlen(launch->kernel) + 1);
    if (c->key.failed)
        return NO_KERNEL;
    struct kernel *k = NULL;
    HASH_FIND(hh, c->kernels, c->key.data, c->key.length, k);
    if (!k && c->kernel_count < MOST_KERNELS)
        k = new_kernel(c, &shape);
    return k ? k->number : NO_KERNEL;
}

static uint8_t stream_of(struct gp_launch_columns *c, const struct gp_record *launch)
{
    for (size_t i = 0; i < c->stream_count; i++)
        if (c->streams[i].stream == launch->stream && c->streams[i].context == launch->context &&
            c->streams[i].device == launch->device)
            return (uint8_t)i;
    if (c->stream_count == GP_COLUMNS_STREAMS) {
        c->other_streams = true;
        return OTHER_STREAMS;
    }
    c->streams[c->stream_count] = (struct stream){launch->device, launch->context, launch->stream};
    return (uint8_t)c->stream_count++;
}

/* Every other launch goes, and from now on as many more are passed over. */
static void thin_out(struct gp_launch_columns *c)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->count; i += 2)
        c->entries[kept++] = c->entries[i];
    c->count = kept;
    c->stride *= 2;
}

static bool has_room(struct gp_launch_columns *c)
{
    if (c->count < c->capacity)
        return true;
    size_t capacity = c->capacity ? 2 * c->capacity : 1024;
    struct entry *entries = realloc(c->entries, capacity * sizeof(*entries));
    if (!entries)
        return false;
    c->entries = entries;
    c->capacity = capacity;
    return true;
}

void gp_launch_columns_begin(struct gp_launch_columns *c)
{
    c->processes++;
}

bool gp_launch_columns_add(struct gp_launch_columns *c, const struct gp_device *device,
                           const struct gp_record *launch)
{
    uint64_t number = c->seen++;
    if (c->count == GP_COLUMNS_MOST && number % c->stride == 0)
        thin_out(c);
    if (number % c->stride != 0)
        return true;
    if (!has_room(c))
        return false;
    struct entry *e = &c->entries[c->count++];
    e->process = c->processes;
    e->index = (uint32_t)launch->index;
    e->start_ms = launch->start_ms;
    e->overhead_ms = launch->overhead_ms;
    e->blocks = (float)gp_blocks_of(launch->grid);
    e->kernel = (uint16_t)kernel_of(c, launch);
    e->stream = stream_of(c, launch);
    for (size_t i = 0; i < USUAL; i++) {
        double value;
        bool known = c->metrics[i] && device &&
                     gp_metric_evaluate(c->metrics[i], device, launch, &value, NULL);
        e->values[i] = known ? (float)value : NAN;
    }
    return true;
}

/* ---- as JSON ---- */

/* A profile has launches in the order in which they were read. */
static int compare_entries(const void *x, const void *y)
{
    const struct entry *a = x, *b = y;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* When each launch was made, in seconds after the first, less the time that measuring had taken by
 * then: left out where it is not known of each launch, or the launches are of several processes. */
static void add_starts(const struct gp_launch_columns *c, double *starts, struct gp_text *out)
{
    double added_ms = 0;
    if (c->stride > 1 || c->processes > 1)
        return;
    for (size_t i = 0; i < c->count; i++) {
        const struct entry *e = &c->entries[i];
        if (!(e->start_ms > 0) || e->start_ms < c->entries[0].start_ms)
            return;
        starts[i] = (e->start_ms - c->entries[0].start_ms - added_ms) / 1e3;
        added_ms += e->overhead_ms;
    }
    gp_json_key(out, "start");
    gp_json_bytes(out, starts, c->count * sizeof(*starts));
}

static void add_streams(const struct gp_launch_columns *c, struct gp_text *out)
{
    gp_json_key(out, "streams");
    gp_text_add(out, "[");
    for (size_t i = 0; i < c->stream_count; i++) {
        gp_json_next(out);
        gp_text_addf(out, "{\"device\":%d,\"context\":\"%llx\",\"stream\":\"%llx\"}",
                     c->streams[i].device, (unsigned long long)c->streams[i].context,
                     (unsigned long long)c->streams[i].stream);
    }
    gp_text_addf(out, "],\"other_streams\":%s", c->other_streams ? "true" : "false");
}

static void add_column(const struct gp_launch_columns *c, size_t metric, float *values,
                       struct gp_text *out)
{
    bool any = false;
    for (size_t i = 0; i < c->count; i++) {
        values[i] = c->entries[i].values[metric];
        any = any || !isnan(values[i]);
    }
    if (!any)
        return;
    gp_json_key(out, usual[metric]);
    gp_json_bytes(out, values, c->count * sizeof(*values));
}

static void add_blocks(const struct gp_launch_columns *c, float *values, struct gp_text *out)
{
    for (size_t i = 0; i < c->count; i++)
        values[i] = c->entries[i].blocks;
    gp_json_key(out, "blocks");
    gp_json_bytes(out, values, c->count * sizeof(*values));
}

/* Numbers of launches; left out where they go up by the same step, from "first" by "stride". */
static void add_indexes(const struct gp_launch_columns *c, uint32_t *indexes, struct gp_text *out)
{
    bool even = true;
    for (size_t i = 0; i < c->count; i++) {
        indexes[i] = c->entries[i].index;
        even = even && indexes[i] - indexes[0] == i * c->stride;
    }
    if (even) {
        gp_text_addf(out, ",\"first\":%u", c->count > 0 ? indexes[0] : 0);
        return;
    }
    gp_json_key(out, "index");
    gp_json_bytes(out, indexes, c->count * sizeof(*indexes));
}

static void add_stream_numbers(const struct gp_launch_columns *c, uint8_t *streams,
                               struct gp_text *out)
{
    for (size_t i = 0; i < c->count; i++)
        streams[i] = c->entries[i].stream;
    gp_json_key(out, "stream");
    gp_json_bytes(out, streams, c->count);
}

/* Fills `rows`, by kernel, with the row that each belongs to. */
static void find_rows(const struct gp_launch_columns *c,
                      int (*row_of)(const void *user, const struct gp_record *launch),
                      const void *user, uint16_t *rows)
{
    for (const struct kernel *k = c->kernels; k; k = k->hh.next) {
        const struct gp_record like = {
            .kernel = k->key + sizeof(struct shape),
            .device = k->shape.device,
            .configuration = k->shape.configuration,
        };
        int row = row_of(user, &like);
        rows[k->number] = row >= 0 && row < NO_KERNEL ? (uint16_t)row : NO_KERNEL;
    }
}

static void add_kernels(const struct gp_launch_columns *c, const uint16_t *rows, void *scratch,
                        struct gp_text *out)
{
    uint16_t *kernels = scratch;
    for (size_t i = 0; i < c->count; i++) {
        uint16_t number = c->entries[i].kernel;
        kernels[i] = number == NO_KERNEL ? NO_KERNEL : rows[number];
    }
    gp_json_key(out, "kernel");
    gp_json_bytes(out, kernels, c->count * sizeof(*kernels));
}

void gp_launch_columns_json(struct gp_launch_columns *c,
                            int (*row_of)(const void *user, const struct gp_record *launch),
                            const void *user, struct gp_text *out)
{
    void *scratch = malloc(c->count * sizeof(double) + 1);
    uint16_t *rows = calloc(c->kernel_count + 1, sizeof(*rows));
    if (scratch && rows) {
        if (c->count > 0)
            qsort(c->entries, c->count, sizeof(*c->entries), compare_entries);
        gp_text_addf(out, "{\"count\":%zu,\"stride\":%llu", c->count,
                     (unsigned long long)c->stride);
        add_streams(c, out);
        find_rows(c, row_of, user, rows);
        add_kernels(c, rows, scratch, out);
        add_indexes(c, scratch, out);
        add_stream_numbers(c, scratch, out);
        add_starts(c, scratch, out);
        add_blocks(c, scratch, out);
        gp_json_key(out, "metrics");
        gp_text_add(out, "{");
        for (size_t i = 0; i < USUAL; i++)
            add_column(c, i, scratch, out);
        gp_text_add(out, "}}");
    } else {
        out->failed = true;
    }
    free(scratch);
    free(rows);
}
