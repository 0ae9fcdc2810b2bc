#include "report/columns.h"

#include "base/demangle.h"
#include "base/nearest.h"
#include "profile/devices.h"
#include "profile/fields.h"
#include "profile/number.h"
#include "report/layout.h"
#include "report/nvprof_values.h"
#include "report/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_COLUMNS 256

struct column {
    const struct gp_metric *metric; /* or */
    const struct gp_field *field;   /* or neither: the kernel's name */
    const char *name;
    int width;
};

struct gp_columns {
    const struct gp_metrics *metrics;
    const struct gp_view *view;
    struct gp_name_slots *later; /* NULL: names are cut as they come */
    struct gp_devices devices;
    struct column columns[MOST_COLUMNS];
    size_t count;
    char *list; /* names point into it */
};

/* ---- which ----------------------------------------------------------------------------------- */

static const struct gp_field *field_of(const char *name)
{
    for (size_t i = 0; i < gp_launch_field_count; i++)
        if (strcmp(gp_launch_fields[i].name, name) == 0)
            return &gp_launch_fields[i];
    return NULL;
}

/* All names, for the message on a wrong one. */
static const char *known_name(const void *user, size_t i)
{
    const struct gp_metrics *m = user;
    if (i < gp_launch_field_count)
        return gp_launch_fields[i].name;
    return gp_metrics_at(m, i - gp_launch_field_count)->name;
}

static bool is_text_kind(enum gp_field_kind kind)
{
    return kind == GP_FIELD_STRING || kind == GP_FIELD_REASON;
}

static bool add_column(struct gp_columns *c, const char *name, char *why, size_t why_size)
{
    struct column column = {.name = name, .metric = gp_metrics_find(c->metrics, name)};
    column.field = column.metric ? NULL : field_of(name);
    bool is_name = strcmp(name, "name") == 0;
    if (c->count == MOST_COLUMNS) {
        snprintf(why, why_size, "--columns: there are more than %d", MOST_COLUMNS);
        return false;
    }
    if (!column.metric && !column.field && !is_name) {
        const char *nearest = gp_nearest(name, gp_launch_field_count + gp_metrics_count(c->metrics),
                                         known_name, c->metrics);
        snprintf(why, why_size, "--columns: there is no column '%s'%s%s%s", name,
                 nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
        return false;
    }
    bool is_text = is_name || (column.field && is_text_kind(column.field->kind));
    size_t length = strlen(name), least = is_text ? 40 : 14;
    column.width = (int)(length > least ? length : least);
    c->columns[c->count++] = column;
    return true;
}

struct gp_columns *gp_columns_new(const char *list, const struct gp_metrics *m,
                                  const struct gp_view *view, char *why, size_t why_size)
{
    struct gp_columns *c = calloc(1, sizeof(*c));
    char *text = strdup(list), *rest = text, *name;
    if (!c || !text) {
        snprintf(why, why_size, "out of memory");
        free(text);
        free(c);
        return NULL;
    }
    c->metrics = m;
    c->view = view;
    c->list = text;
    while ((name = strsep(&rest, ","))) {
        if (!add_column(c, name, why, why_size)) {
            gp_columns_free(c);
            return NULL;
        }
    }
    return c;
}

void gp_columns_free(struct gp_columns *c)
{
    if (c)
        free(c->list);
    free(c);
}

void gp_columns_defer_names(struct gp_columns *c, struct gp_name_slots *names)
{
    c->later = names;
}

void gp_columns_device(struct gp_columns *c, const struct gp_device *device)
{
    gp_devices_add(&c->devices, device);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void add_cell(const struct gp_columns *c, size_t i, const char *text, bool quoted,
                     struct gp_text *out)
{
    if (c->view->csv) {
        gp_text_add(out, i > 0 ? "," : "");
        if (quoted)
            gp_csv_text(text, out);
        else
            gp_text_add(out, text);
        return;
    }
    char brief[128];
    int width = c->columns[i].width;
    gp_shorten(text, brief, (size_t)(width < 120 ? width : 120));
    gp_text_addf(out, "%s%*s", i > 0 ? "  " : "", width, *brief ? brief : "-");
}

void gp_columns_heading(const struct gp_columns *c, struct gp_text *out)
{
    for (size_t i = 0; i < c->count; i++)
        add_cell(c, i, c->columns[i].name, true, out);
    gp_text_add(out, "\n");
}

static void metric_text(const struct gp_columns *c, const struct gp_metric *metric,
                        const struct gp_record *launch, struct gp_text *text)
{
    const struct gp_device *device = gp_devices_get(&c->devices, launch->device);
    char shown[64];
    double value;
    if (!device || !gp_metric_evaluate(metric, device, launch, &value, NULL))
        return;
    if (c->view->csv) {
        gp_number_add(text, c->view->unit && strcmp(metric->unit, "s") == 0
                                ? gp_nvprof_time_in(value, c->view->unit)
                                : value);
        return;
    }
    if (c->view->unit && strcmp(metric->unit, "s") == 0)
        gp_nvprof_time(value, c->view->unit, shown, sizeof(shown));
    else
        gp_unit_format(value, metric->unit, shown, sizeof(shown));
    gp_text_add(text, shown);
}

static void field_text(const struct gp_field *f, const struct gp_record *launch,
                       struct gp_text *text)
{
    const char *at = (const char *)launch + f->offset;
    char extent[48];
    switch (f->kind) {
    case GP_FIELD_INT:
        gp_text_addf(text, "%d", *(const int *)at);
        break;
    case GP_FIELD_UNSIGNED:
    case GP_FIELD_U32:
        gp_text_addf(text, "%" PRIu32, *(const uint32_t *)at);
        break;
    case GP_FIELD_U64:
    case GP_FIELD_SIZE:
        gp_text_addf(text, "%" PRIu64, *(const uint64_t *)at);
        break;
    case GP_FIELD_DOUBLE:
        gp_number_add(text, *(const double *)at);
        break;
    case GP_FIELD_TEXT:
        gp_text_add(text, at);
        break;
    case GP_FIELD_STRING:
        gp_text_add(text, *(const char *const *)at ? *(const char *const *)at : "");
        break;
    case GP_FIELD_REASON:
        if (((const struct gp_reason *)at)->cause)
            gp_text_add(text, ((const struct gp_reason *)at)->text);
        break;
    case GP_FIELD_EXTENT:
        gp_extent((const unsigned *)at, extent, sizeof(extent));
        gp_text_add(text, extent);
        break;
    }
}

static void name_text(const struct gp_columns *c, const char *mangled, struct gp_text *text)
{
    char *name = c->view->mangled ? NULL : gp_demangle(mangled, GP_NAME_FULL);
    gp_text_add(text, name ? name : mangled);
    free(name);
}

/* A name's columns, to be written later. */
static void add_later(struct gp_columns *c, size_t i, const char *kernel, struct gp_text *out)
{
    gp_text_add(out, i > 0 ? "  " : "");
    gp_name_slots_add(c->later, kernel, (size_t)c->columns[i].width, out);
}

void gp_columns_launch(struct gp_columns *c, const struct gp_record *launch, struct gp_text *out)
{
    struct gp_text text = {0};
    for (size_t i = 0; i < c->count; i++) {
        const struct column *column = &c->columns[i];
        bool is_name = !column->metric && !column->field;
        if (is_name && c->later && !c->view->csv) {
            add_later(c, i, launch->kernel, out);
            continue;
        }
        gp_text_clear(&text);
        if (column->metric)
            metric_text(c, column->metric, launch, &text);
        else if (column->field)
            field_text(column->field, launch, &text);
        else
            name_text(c, launch->kernel, &text);
        bool quoted = is_name || (column->field && is_text_kind(column->field->kind));
        add_cell(c, i, gp_text_string(&text), quoted, out);
        out->failed |= text.failed;
    }
    gp_text_free(&text);
    gp_text_add(out, "\n");
}
