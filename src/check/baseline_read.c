#include "check/baseline.h"

#include "check/lines.h"
#include "profile/json_fields.h"
#include "profile/printable.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_BASELINE (64u << 20)

struct reading {
    const char *file;
    struct gp_side *side;
    char where[600]; /* "kernel vectorAdd(int*)" */
    char *why;
    size_t why_size;
};

static bool fail(struct reading *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool fail(struct reading *r, const char *fmt, ...)
{
    int n = snprintf(r->why, r->why_size, "%s: %s%s", r->file, r->where, r->where[0] ? ": " : "");
    if (n >= 0 && (size_t)n < r->why_size) {
        va_list args;
        va_start(args, fmt);
        vsnprintf(r->why + n, r->why_size - (size_t)n, fmt, args);
        va_end(args);
    }
    return false;
}

static bool read_number(struct reading *r, const json_t *object, const char *key, double most,
                        double *value)
{
    const json_t *number = json_object_get(object, key);
    *value = json_number_value(number);
    if (!json_is_number(number) || !(*value >= 0 && *value <= most) || *value != floor(*value))
        return fail(r, "\"%s\" must be a whole number from 0 to %.0f", key, most);
    return true;
}

static bool read_unsigned(struct reading *r, const json_t *object, const char *key, unsigned *out)
{
    double value;
    if (!read_number(r, object, key, UINT_MAX, &value))
        return false;
    *out = (unsigned)value;
    return true;
}

static bool read_extent(struct reading *r, const json_t *object, const char *key, unsigned out[3])
{
    const json_t *array = json_object_get(object, key);
    bool right = json_array_size(array) == 3;
    for (size_t i = 0; i < 3 && right; i++) {
        const json_t *part = json_array_get(array, i);
        json_int_t value = json_integer_value(part);
        right = json_is_integer(part) && value >= 0 && value <= UINT_MAX;
        out[i] = (unsigned)value;
    }
    return right || fail(r, "\"%s\" must be an array of three whole numbers", key);
}

static bool read_text(struct reading *r, const json_t *object, const char *key, char *out,
                      size_t size)
{
    const char *s = json_string_value(json_object_get(object, key));
    if (!s || strlen(s) >= size)
        return fail(r, "\"%s\" must be a string of less than %zu letters", key, size);
    snprintf(out, size, "%s", s);
    return true;
}

/* ---- metrics ---- */

static bool add_runs(struct reading *r, struct gp_series *series, double value, size_t runs)
{
    for (size_t i = 0; i < runs; i++)
        if (!gp_series_add_run(series, value))
            return fail(r, "out of memory");
    return true;
}

static bool is_finite_number(const json_t *value)
{
    return json_is_number(value) && isfinite(json_number_value(value));
}

static bool read_series(struct reading *r, const char *name, const json_t *value,
                        const struct gp_side_kernel *s, struct gp_series *series)
{
    if (is_finite_number(value)) {
        series->min = series->max = json_number_value(value);
        series->launches = s->launches;
        return add_runs(r, series, series->min, s->runs ? s->runs : 1);
    }
    const json_t *medians = json_object_get(value, "medians");
    const char *const keys[] = {"spread", "min", "max", "launches"};
    double numbers[4];
    size_t count = json_array_size(medians);
    bool right = count > 0 && count <= GP_MOST_RUNS;
    for (size_t i = 0; i < 4 && right; i++) {
        const json_t *number = json_object_get(value, keys[i]);
        right = is_finite_number(number);
        numbers[i] = json_number_value(number);
    }
    for (size_t i = 0; i < count && right; i++)
        right = is_finite_number(json_array_get(medians, i));
    if (!right || numbers[0] < 0 || numbers[3] < 1 || numbers[3] > 1e15)
        return fail(r,
                    "metric \"%s\" must be a number, or an object with medians, spread, min, max "
                    "and launches",
                    name);
    series->spread = numbers[0];
    series->min = numbers[1];
    series->max = numbers[2];
    series->launches = (uint64_t)numbers[3];
    for (size_t i = 0; i < count; i++)
        if (!add_runs(r, series, json_number_value(json_array_get(medians, i)), 1))
            return false;
    return true;
}

/* The names of all metrics that any kernel has, each once. */
static bool read_metric_names(struct reading *r, const json_t *kernels)
{
    json_t *names = json_object();
    const json_t *kernel;
    size_t i;
    bool read = names != NULL;
    json_array_foreach(kernels, i, kernel)
    {
        const char *name;
        json_t *value;
        json_object_foreach(json_object_get(kernel, "metrics"), name, value) read =
            read && json_object_set_new(names, name, json_true()) == 0;
    }
    size_t count = json_object_size(names);
    const char **list = calloc(count + 1, sizeof(*list));
    const char *name;
    json_t *value;
    size_t at = 0;
    if (list) {
        json_object_foreach(names, name, value) list[at++] = name;
    }
    if (count > GP_MOST_SIDE_METRICS)
        read = fail(r, "more than %d metrics", GP_MOST_SIDE_METRICS);
    else if (!read || !list || !gp_side_set_metrics(r->side, list, count))
        read = fail(r, "out of memory");
    free(list);
    json_decref(names);
    return read;
}

/* ---- kernels ---- */

static bool read_facts(struct reading *r, const json_t *object, struct gp_side_kernel *s)
{
    double launches, runs;
    if (!read_extent(r, object, "grid", s->grid) || !read_extent(r, object, "block", s->block) ||
        (json_object_get(object, "cluster") && !read_extent(r, object, "cluster", s->cluster)) ||
        !read_unsigned(r, object, "shared_dynamic", &s->shared_dynamic) ||
        !read_unsigned(r, object, "shared_static", &s->shared_static) ||
        !read_unsigned(r, object, "registers", &s->registers) ||
        !read_unsigned(r, object, "local_bytes", &s->local_bytes) ||
        !read_number(r, object, "launches", 1e15, &launches) ||
        !read_number(r, object, "runs", GP_MOST_RUNS, &runs))
        return false;
    s->launches = (uint64_t)launches;
    s->runs = (size_t)runs;
    return true;
}

/* An optional text, "" where it is not there. */
static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* "file.cu:12" */
static bool read_source(struct reading *r, const char *text, struct gp_side_kernel *s)
{
    const char *colon = strrchr(text, ':');
    char *end = NULL;
    long line = colon ? strtol(colon + 1, &end, 10) : 0;
    if (!colon || colon == text || *end || line < 1 || line > INT_MAX)
        return fail(r, "\"source\" must be a file and a line, as in \"sum.cu:12\"");
    s->source = strndup(text, (size_t)(colon - text));
    s->source_line = (int)line;
    return s->source || fail(r, "out of memory");
}

/* Baselines of versions before these fields have none. */
static bool read_identity(struct reading *r, const json_t *object, struct gp_side_kernel *s)
{
    const char *source = text_of(object, "source"), *hash = text_of(object, "code");
    if (*source && !read_source(r, source, s))
        return false;
    if (*hash &&
        (strlen(hash) != GP_CODE_HASH - 1 || strspn(hash, "0123456789abcdef") != GP_CODE_HASH - 1))
        return fail(r, "\"code\" must be %d hexadecimal digits", GP_CODE_HASH - 1);
    snprintf(s->code.hash, sizeof(s->code.hash), "%s", hash);
    return gp_sketch_read(text_of(object, "sketch"), &s->code.sketch) ||
           fail(r, "\"sketch\" must be %d hexadecimal digits", GP_SKETCH_TEXT - 1);
}

static bool read_kernel(struct reading *r, const json_t *object)
{
    const char *name = json_string_value(json_object_get(object, "name"));
    if (!name)
        return fail(r, "a kernel has no \"name\"");
    snprintf(r->where, sizeof(r->where), "kernel %.500s", name);
    struct gp_side_kernel *s = gp_side_add(r->side, name);
    if (!s)
        return fail(r, "out of memory, or more than %d kernels", GP_MOST_SUBJECTS);
    if (!read_facts(r, object, s) || !read_identity(r, object, s))
        return false;
    const json_t *metrics = json_object_get(object, "metrics");
    if (!json_is_object(metrics))
        return fail(r, "there is no object \"metrics\"");
    for (size_t i = 0; i < r->side->metric_count; i++) {
        const json_t *value = json_object_get(metrics, r->side->metrics[i]);
        if (value && !read_series(r, r->side->metrics[i], value, s, &s->series[i]))
            return false;
    }
    r->where[0] = '\0';
    return true;
}

static bool read_gpu(struct reading *r, const json_t *gpu)
{
    struct gp_device *d = &r->side->origin.device;
    unsigned major, minor, events, driver;
    snprintf(r->where, sizeof(r->where), "gpu");
    if (!read_text(r, gpu, "name", d->name, sizeof(d->name)) ||
        !read_text(r, gpu, "chip", d->chip, sizeof(d->chip)) ||
        !read_unsigned(r, gpu, "cc_major", &major) || !read_unsigned(r, gpu, "cc_minor", &minor) ||
        !read_unsigned(r, gpu, "event_counters", &events) ||
        !read_unsigned(r, gpu, "driver_version", &driver) ||
        !read_unsigned(r, gpu, "cupti_version", &d->cupti_version))
        return false;
    if (major > 1000 || minor > 1000 || driver > INT_MAX)
        return fail(r, "a number is too large");
    d->cc_major = (int)major;
    d->cc_minor = (int)minor;
    d->event_counters = events != 0;
    d->driver_version = (int)driver;
    r->where[0] = '\0';
    return true;
}

/* Baselines of a program as a whole, and of earlier versions, have none. */
static bool read_window(struct reading *r, const json_t *root)
{
    struct gp_side_origin *origin = &r->side->origin;
    origin->window_known = true;
    return !json_object_get(root, "window") ||
           read_text(r, root, "window", origin->window, sizeof(origin->window));
}

static bool read_root(struct reading *r, const json_t *root)
{
    double runs, format;
    const char *type = json_string_value(json_object_get(root, "type"));
    if (!type || strcmp(type, "gpuprof baseline") != 0)
        return fail(r, "not a baseline of gpuprof (its \"type\" is \"gpuprof baseline\")");
    if (!read_number(r, root, "format", INT_MAX, &format))
        return false;
    if (format != GP_BASELINE_FORMAT)
        return fail(r, "format %.0f; this gpuprof reads format %d", format, GP_BASELINE_FORMAT);
    const json_t *kernels = json_object_get(root, "kernels");
    if (!read_text(r, root, "gpuprof", r->side->origin.gpuprof, sizeof(r->side->origin.gpuprof)) ||
        !read_window(r, root) || !read_gpu(r, json_object_get(root, "gpu")) ||
        !read_number(r, root, "runs", GP_MOST_RUNS, &runs))
        return false;
    if (!json_is_array(kernels))
        return fail(r, "\"kernels\" must be an array");
    r->side->runs = (size_t)runs;
    if (!read_metric_names(r, kernels))
        return false;
    const json_t *kernel;
    size_t i;
    json_array_foreach(kernels, i, kernel) if (!read_kernel(r, kernel)) return false;
    gp_side_sort(r->side);
    return true;
}

/* Whether the text begins as a profile does, with its header or compressed. */
static bool is_profile(const char *text, size_t length)
{
    static const char compressed[] = "\x28\xb5\x2f\xfd";
    if (length > 4 && memcmp(text, compressed, 4) == 0)
        return true;
    json_t *first = json_loadb(text, length, JSON_DISABLE_EOF_CHECK, NULL);
    const char *type = json_string_value(json_object_get(first, "type"));
    bool is = type && strcmp(type, "header") == 0;
    json_decref(first);
    return is;
}

bool gp_baseline_parse(const char *file, const char *text, size_t length, struct gp_side *side,
                       char *why, size_t why_size)
{
    struct reading r = {.file = file, .side = side, .why = why, .why_size = why_size};
    json_error_t error;
    if (is_profile(text, length)) {
        snprintf(why, why_size,
                 "%s: a profile, no baseline: 'gpuprof baseline -o FILE PROFILE...' makes one",
                 file);
        return false;
    }
    if (gp_json_is_too_large(text, length)) {
        snprintf(why, why_size, "%s: no baseline: it has more than a million objects and arrays",
                 file);
        return false;
    }
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        snprintf(why, why_size, "%s:%d:%d: %s", file, error.line, error.column, error.text);
        return false;
    }
    bool read = gp_make_printable(root) ? read_root(&r, root) : fail(&r, "out of memory");
    json_decref(root);
    return read;
}

bool gp_baseline_read(const char *path, struct gp_side *side, char *why, size_t why_size)
{
    size_t length;
    char *text = gp_file_read(path, LARGEST_BASELINE, &length, why, why_size);
    if (!text)
        return false;
    bool read = gp_baseline_parse(path, text, length, side, why, why_size);
    free(text);
    return read;
}
