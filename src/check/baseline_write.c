#include "check/baseline.h"

#include "check/format.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_string(struct gp_text *out, const char *s)
{
    struct gp_text clean = {0};
    gp_add_clean(&clean, s);
    json_t *string = clean.failed ? NULL : json_string(gp_text_string(&clean));
    char *quoted = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    if (quoted)
        gp_text_add(out, quoted);
    else
        out->failed = true;
    free(quoted);
    json_decref(string);
    gp_text_free(&clean);
}

/* Nine digits: values that differ less are equal. Whole numbers have all of theirs. */
static void add_number(struct gp_text *out, double value)
{
    char digits[32];
    snprintf(digits, sizeof(digits), "%.9g", value);
    if (value != floor(value))
        value = strtod(digits, NULL);
    if (value == floor(value) && fabs(value) < 1e15)
        gp_text_addf(out, "%.0f", value == 0 ? 0 : value);
    else
        gp_text_add(out, digits);
}

static void add_extent(struct gp_text *out, const char *name, const unsigned e[3])
{
    gp_text_addf(out, "      \"%s\": [%u, %u, %u],\n", name, e[0], e[1], e[2]);
}

static void add_unsigned(struct gp_text *out, const char *name, unsigned long long value)
{
    gp_text_addf(out, "      \"%s\": %llu,\n", name, value);
}

/* A value that is the same at every launch is one number. */
/* The folder is that of the machine at hand, or of a build. */
static void add_source(struct gp_text *out, const char *path, int line)
{
    const char *slash = strrchr(path, '/');
    struct gp_text source = {0};
    gp_text_addf(&source, "%s:%d", slash ? slash + 1 : path, line);
    gp_text_add(out, "      \"source\": ");
    add_string(out, gp_text_string(&source));
    gp_text_add(out, ",\n");
    out->failed |= source.failed;
    gp_text_free(&source);
}

/* By which a kernel that has another name is found again. */
static void add_identity(struct gp_text *out, const struct gp_side_kernel *s)
{
    char sketch[GP_SKETCH_TEXT];
    gp_sketch_write(&s->code.sketch, sketch);
    if (s->source)
        add_source(out, s->source, s->source_line);
    if (s->code.hash[0])
        gp_text_addf(out, "      \"code\": \"%s\",\n", s->code.hash);
    if (sketch[0])
        gp_text_addf(out, "      \"sketch\": \"%s\",\n", sketch);
}

static void add_series(struct gp_text *out, const struct gp_series *s)
{
    if (s->min == s->max) {
        add_number(out, s->min);
        return;
    }
    gp_text_add(out, "{\"medians\": [");
    for (size_t i = 0; i < s->runs; i++) {
        gp_text_add(out, i ? ", " : "");
        add_number(out, s->medians[i]);
    }
    gp_text_add(out, "], \"spread\": ");
    add_number(out, s->spread);
    gp_text_add(out, ", \"min\": ");
    add_number(out, s->min);
    gp_text_add(out, ", \"max\": ");
    add_number(out, s->max);
    gp_text_addf(out, ", \"launches\": %llu}", (unsigned long long)s->launches);
}

struct named {
    const char *name;
    const struct gp_series *series;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static void add_metrics(struct gp_text *out, const struct gp_side *side,
                        const struct gp_side_kernel *s)
{
    struct named *sorted = calloc(side->metric_count + 1, sizeof(*sorted));
    size_t count = 0;
    if (!sorted) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < side->metric_count; i++)
        if (s->series[i].runs > 0)
            sorted[count++] = (struct named){side->metrics[i], &s->series[i]};
    qsort(sorted, count, sizeof(*sorted), by_name);
    gp_text_add(out, "      \"metrics\": {");
    for (size_t i = 0; i < count; i++) {
        gp_text_add(out, i ? ",\n        " : "\n        ");
        add_string(out, sorted[i].name);
        gp_text_add(out, ": ");
        add_series(out, sorted[i].series);
    }
    gp_text_add(out, count ? "\n      }\n" : "}\n");
    free(sorted);
}

static void add_subject(struct gp_text *out, const struct gp_side *side,
                        const struct gp_side_kernel *s)
{
    gp_text_add(out, "    {\n      \"name\": ");
    add_string(out, s->name);
    gp_text_add(out, ",\n");
    add_extent(out, "grid", s->grid);
    add_extent(out, "block", s->block);
    if (s->cluster[0] > 0)
        add_extent(out, "cluster", s->cluster);
    add_unsigned(out, "shared_dynamic", s->shared_dynamic);
    add_unsigned(out, "shared_static", s->shared_static);
    add_unsigned(out, "registers", s->registers);
    add_unsigned(out, "local_bytes", s->local_bytes);
    add_unsigned(out, "launches", s->launches);
    add_unsigned(out, "runs", s->runs);
    add_identity(out, s);
    add_metrics(out, side, s);
    gp_text_add(out, "    }");
}

void gp_baseline_write(const struct gp_side *side, struct gp_text *out)
{
    const struct gp_device *d = &side->origin.device;
    gp_text_addf(out, "{\n  \"type\": \"gpuprof baseline\",\n  \"format\": %d,\n  \"gpuprof\": ",
                 GP_BASELINE_FORMAT);
    add_string(out, side->origin.gpuprof);
    if (side->origin.window[0]) {
        gp_text_add(out, ",\n  \"window\": ");
        add_string(out, side->origin.window);
    }
    gp_text_add(out, ",\n  \"gpu\": {\"name\": ");
    add_string(out, d->name);
    gp_text_add(out, ", \"chip\": ");
    add_string(out, d->chip);
    gp_text_addf(
        out,
        ", \"cc_major\": %d, \"cc_minor\": %d, \"event_counters\": %d, "
        "\"driver_version\": %d, \"cupti_version\": %u},\n  \"runs\": %zu,\n  \"kernels\": "
        "[",
        d->cc_major, d->cc_minor, d->event_counters, d->driver_version, d->cupti_version,
        side->runs);
    for (size_t i = 0; i < side->count; i++) {
        gp_text_add(out, i ? ",\n" : "\n");
        add_subject(out, side, &side->subjects[i]);
    }
    gp_text_add(out, side->count ? "\n  ]\n}\n" : "]\n}\n");
}
