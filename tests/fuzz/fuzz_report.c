/* The report of any devices and launches that a profile can hold: records are made of the bytes
 * without going through JSON, in which few changes of a byte make sense. The writer's lines of them
 * must be readable, and the page's data must be JSON without markup. */
#include "profile/fields.h"
#include "profile/reader.h"
#include "profile/writer.h"
#include "report/html.h"
#include "report/table.h"

#include <jansson.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static struct gp_metrics *metrics;
static char path[64];
static const char **counter_names[2];
static size_t counter_counts[2];

struct bytes {
    const uint8_t *at, *end;
};

static unsigned take(struct bytes *b)
{
    return b->at < b->end ? *b->at++ : 0;
}

/* Numbers that real devices have, the ends of the types, and any other. */
static int64_t take_number(struct bytes *b)
{
    static const int64_t usual[] = {0,       1,       2,          8,       16,     32,
                                    64,      128,     255,        256,     1024,   2048,
                                    49152,   65536,   233472,     1980000, -1,     100000,
                                    INT_MAX, INT_MIN, UINT32_MAX, 1 << 30, 1 << 20};
    unsigned which = take(b);
    if (which < sizeof(usual) / sizeof(usual[0]))
        return usual[which];
    if (which < 128)
        return which;
    uint32_t any = 0;
    for (int i = 0; i < 4; i++)
        any = any << 8 | take(b);
    return which % 2 ? (int64_t)any : (int64_t)((uint64_t)any << 32 | any);
}

static double take_double(struct bytes *b)
{
    static const double usual[] = {0, -0.0, 1, 1e308, -1e308, 5e-324, 1e-9, 99.995, -1, 1e15};
    unsigned which = take(b);
    if (which < sizeof(usual) / sizeof(usual[0]))
        return usual[which];
    return (double)take_number(b) * (which % 2 ? 0.001 : 1);
}

/* A string that lives as long as the pool. */
static const char *take_string(struct bytes *b, char *out, size_t size)
{
    size_t length = take(b);
    size_t repeats = 1 + take(b) % 8;
    struct bytes text = *b;
    size_t used = 0;
    for (size_t r = 0; r < repeats; r++) {
        text.at = b->at;
        for (size_t i = 0; i < length && used + 1 < size; i++) {
            char c = (char)take(&text);
            if (!c)
                break;
            out[used++] = c;
        }
    }
    b->at = text.at;
    out[used] = '\0';
    return out;
}

static void fill(struct bytes *b, const struct gp_field *fields, size_t count, void *record,
                 char (*strings)[2100])
{
    for (size_t i = 0; i < count; i++) {
        char *at = (char *)record + fields[i].offset;
        switch (fields[i].kind) {
        case GP_FIELD_INT:
            *(int *)at = (int)take_number(b);
            break;
        case GP_FIELD_UNSIGNED:
        case GP_FIELD_U32:
            *(uint32_t *)at = (uint32_t)take_number(b);
            break;
        case GP_FIELD_U64:
        case GP_FIELD_SIZE:
            *(uint64_t *)at = (uint64_t)take_number(b);
            break;
        case GP_FIELD_DOUBLE:
            *(double *)at = take_double(b);
            break;
        case GP_FIELD_TEXT:
            take_string(b, at, fields[i].size);
            break;
        case GP_FIELD_STRING:
            *(const char **)at = take(b) % 4 ? take_string(b, *strings, sizeof(*strings)) : NULL;
            strings++;
            break;
        case GP_FIELD_REASON:
            if (take(b) % 4)
                *(struct gp_reason *)at =
                    (struct gp_reason){(enum gp_cause)(1 + take(b) % (GP_CAUSES - 1)),
                                       take_string(b, *strings, sizeof(*strings))};
            strings++;
            break;
        case GP_FIELD_EXTENT:
            for (int k = 0; k < 3; k++)
                ((unsigned *)at)[k] = (unsigned)take_number(b);
            break;
        }
    }
}

static void add_launch(struct bytes *b, struct gp_summary *summary,
                       struct gp_launch_columns *columns, struct gp_writer *writer)
{
    static char strings[2][2100]; /* kernel, skipped */
    struct gp_record launch = {.shared_carveout = -1};
    fill(b, gp_launch_fields, gp_launch_field_count, &launch, strings);
    if (!launch.kernel)
        launch.kernel = "k";
    launch.device = take(b) % 4 ? 0 : launch.device;
    unsigned events = take(b) % 2, every = 1 + take(b) % 4;
    struct gp_counter *counters = calloc(counter_counts[events] + 1, sizeof(*counters));
    if (!counters)
        return;
    for (size_t i = 0; i < counter_counts[events]; i += every)
        counters[launch.counter_count++] = (struct gp_counter){
            .name = counter_names[events][i],
            .value = take_double(b),
            .absent = take(b) % 16 ? GP_NO_REASON : GP_REASON_TEXT(OTHER, "not there")};
    launch.counters = counters;
    for (unsigned repeats = 1 + take(b) % 3; repeats > 0; repeats--) {
        gp_summary_launch(summary, &launch);
        gp_launch_columns_add(columns, gp_summary_get_device(summary, launch.device), &launch);
        if (!gp_writer_launch(writer, &launch))
            abort();
        launch.grid[0]++;
    }
    free(counters);
}

static void prepare(void)
{
    /* No files of the user. */
    setenv("HOME", "/nowhere", 1);
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("GPUPROF_METRICS_PATH");
    const struct gp_device devices[2] = {{.cc_major = 9},
                                         {.cc_major = 3, .cc_minor = 5, .event_counters = 1}};
    struct gp_text problems = {0};
    metrics = gp_metrics_open(&problems);
    if (!metrics || !gp_metrics_select(metrics, "all", &problems))
        abort();
    for (int i = 0; i < 2; i++)
        if (!gp_metrics_counters(metrics, &devices[i], &counter_names[i], &counter_counts[i]))
            abort();
    gp_text_free(&problems);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", memfd_create("profile", MFD_CLOEXEC));
}

static void read_back(struct gp_writer *writer)
{
    char why[512];
    const struct gp_profile_visitor nobody = {0};
    gp_writer_close(writer);
    if (!gp_profile_read(path, &nobody, NULL, why, sizeof(why))) {
        fprintf(stderr, "%s\n", why);
        abort();
    }
}

static void check_page(const struct gp_summary *summary, struct gp_launch_columns *columns)
{
    struct gp_text page = {0}, processes = {0};
    const struct gp_html_profile profile = {.path = "a <profile>",
                                            .processes = &processes,
                                            .summary = summary,
                                            .columns = columns,
                                            .notes = ""};
    gp_html_add_profile(&page, &profile);
    json_t *read = json_loads(gp_text_string(&page), JSON_DECODE_INT_AS_REAL, NULL);
    if (!read || strpbrk(page.data, "<>&")) {
        fprintf(stderr, "%s\n", gp_text_string(&page));
        abort();
    }
    json_decref(read);
    gp_text_free(&page);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (!metrics)
        prepare();
    struct bytes b = {bytes, bytes + size};
    struct gp_summary *summary = gp_summary_new(metrics);
    struct gp_launch_columns *columns = gp_launch_columns_new(metrics);
    if (!summary || !columns)
        abort();
    const char *const command[] = {"./app", NULL};
    char why[256];
    struct gp_writer *writer = gp_writer_open(path, command, NULL, why, sizeof(why));
    if (!writer)
        abort();
    for (unsigned devices = 1 + take(&b) % 2; devices > 0; devices--) {
        struct gp_device device = {0};
        fill(&b, gp_device_fields, gp_device_field_count, &device, NULL);
        device.ordinal = devices > 1 ? device.ordinal : 0;
        gp_summary_device(summary, &device);
        gp_writer_device(writer, &device);
    }
    while (b.at < b.end)
        add_launch(&b, summary, columns, writer);
    read_back(writer);
    struct gp_text out = {0};
    const struct gp_table_options options = {.top = size % 2 ? 2 : 0};
    gp_table_report(summary, &options, &out);
    check_page(summary, columns);
    gp_launch_columns_free(columns);
    gp_summary_free(summary);
    gp_text_free(&out);
    return 0;
}
