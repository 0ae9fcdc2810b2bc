#include "report/view_json.h"

#include "profile/object.h"
#include "report/copies.h"
#include "report/findings_json.h"
#include "report/plain_numbers.h"
#include "report/stalls_json.h"

#include <math.h>

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *gp_report_json_header(const char *file, const struct gp_profile_header *header)
{
    struct gp_object o = gp_object_new(NULL);
    json_t *command = header->command ? json_array() : json_null();
    for (size_t i = 0; i < header->argument_count; i++)
        gp_object_append(&o, command, gp_object_text(header->command[i]));
    gp_object_put(&o, o.object, "file", gp_object_text(file));
    gp_object_put(&o, o.object, "gpuprof", gp_object_text(header->version));
    gp_object_put(&o, o.object, "command", command);
    gp_object_put(&o, o.object, "pid", json_integer(header->pid));
    gp_object_put(&o, o.object, "host",
                  header->host[0] ? gp_object_text(header->host) : json_null());
    gp_object_put(&o, o.object, "time", gp_object_text(header->time));
    gp_object_put(&o, o.object, "sample",
                  header->settings.sample ? gp_object_text(header->settings.sample) : json_null());
    gp_object_put(&o, o.object, "overhead",
                  header->settings.overhead ? gp_object_text(header->settings.overhead)
                                            : json_null());
    gp_object_put(&o, o.object, "window",
                  header->settings.window ? gp_object_text(header->settings.window) : json_null());
    gp_object_put(&o, o.object, "replayed", json_boolean(!header->settings.replay_off));
    if (!o.failed)
        return o.object;
    json_decref(o.object);
    return NULL;
}

static json_t *stat_object(struct gp_object *o, const struct gp_metric *metric,
                           const struct gp_stat *stat)
{
    json_t *value = json_object();
    gp_object_put(o, value, "unit", json_string(metric->unit));
    gp_object_put(o, value, "launches", gp_object_whole(stat->count));
    if (stat->count > 0) {
        double mean;
        gp_stat_mean(stat, &mean);
        gp_object_put(o, value, "min", stat->combined ? json_null() : number(stat->min));
        gp_object_put(o, value, "max", stat->combined ? json_null() : number(stat->max));
        gp_object_put(o, value, "mean", number(mean));
        gp_object_put(o, value, "interval", number(gp_stat_error(stat)));
        gp_object_put(o, value, "combined", json_boolean(stat->combined));
    }
    if (stat->absent_count > 0 || stat->count == 0) {
        const struct gp_reason why = gp_stat_absence(stat);
        gp_object_put(o, value, "absent_launches", gp_object_whole(stat->absent_count));
        gp_object_put_reason(o, value, "absent", why);
    }
    return value;
}

/* Each grid of a row that has several, with its own bound. */
static json_t *configurations(struct gp_object *o, const struct gp_rows *rows,
                              const struct gp_row *row, const struct gp_findings *findings)
{
    json_t *all = json_array();
    for (size_t g = 0; row->grids > 1 && g < row->grids; g++) {
        const struct gp_row one = gp_rows_of_group(rows, row, g);
        json_t *object = json_object();
        gp_object_put(o, object, "grid", gp_object_extent(o, one.launch->grid));
        gp_object_put(o, object, "launches", gp_object_whole(one.launches));
        gp_object_put(o, object, "seconds", one.timed > 0 ? number(one.seconds) : json_null());
        gp_object_put(o, object, "bound",
                      gp_bound_json(o, findings->rules, &findings->group_bounds[one.first_group]));
        gp_object_append(o, all, object);
    }
    return all;
}

static json_t *row_object(struct gp_object *o, const struct gp_rows *rows, const struct gp_row *row,
                          const struct gp_findings *findings, const struct gp_sources *sources)
{
    const struct gp_metrics *m = gp_summary_metrics(rows->summary);
    const struct gp_record *l = row->launch;
    json_t *kernel = json_object(), *metrics = json_object();
    gp_object_put(o, kernel, "name", gp_object_text(row->full_name));
    gp_object_put(o, kernel, "symbol", gp_object_text(l->kernel));
    gp_object_put(o, kernel, "device", json_integer(l->device));
    gp_object_put(o, kernel, "grids", gp_object_whole(row->grids));
    gp_object_put(o, kernel, "smallest_grid", gp_object_extent(o, row->smallest_grid));
    gp_object_put(o, kernel, "largest_grid", gp_object_extent(o, row->largest_grid));
    gp_object_put(o, kernel, "block", gp_object_extent(o, l->block));
    gp_object_put(o, kernel, "cluster", gp_object_extent(o, l->cluster));
    gp_object_put(o, kernel, "registers", gp_object_whole(l->registers));
    gp_object_put(o, kernel, "shared_static", gp_object_whole(l->shared_static));
    gp_object_put(o, kernel, "shared_dynamic", gp_object_whole(l->shared_dynamic));
    gp_object_put(o, kernel, "apart", json_boolean(row->apart));
    gp_object_put(o, kernel, "launches", gp_object_whole(row->launches));
    gp_object_put(o, kernel, "recorded", gp_object_whole(row->recorded));
    gp_object_put(o, kernel, "measured", gp_object_whole(row->measured));
    gp_object_put(o, kernel, "seconds", row->seconds > 0 ? number(row->seconds) : json_null());
    gp_object_put(o, kernel, "bound",
                  gp_bound_json(o, findings->rules, &findings->bounds[row - rows->rows]));
    gp_object_put(o, kernel, "configurations", configurations(o, rows, row, findings));
    for (size_t i = 0; i < gp_metrics_selected_count(m); i++) {
        const struct gp_metric *metric = gp_metrics_selected(m, i);
        gp_object_put(o, metrics, metric->name, stat_object(o, metric, &row->stats[i]));
    }
    gp_object_put(o, kernel, "metrics", metrics);
    gp_object_put(o, kernel, "stalls", gp_stalls_json(o, gp_sources_of(sources, l->kernel)));
    return kernel;
}

static void put_devices(struct gp_object *o, const struct gp_summary *s)
{
    json_t *devices = json_array();
    for (int i = 0; i < GP_MAX_DEVICES; i++) {
        const struct gp_device *device = gp_summary_get_device(s, i);
        if (!device)
            continue;
        struct gp_object facts = gp_object_new(NULL);
        gp_object_put_fields(&facts, gp_device_fields, gp_device_field_count, GP_FIELDS_ALL,
                             device);
        o->failed |= facts.failed;
        gp_object_append(o, devices, facts.object);
    }
    gp_object_put(o, o->object, "devices", devices);
}

static void put_not_measured(struct gp_object *o, const struct gp_summary *s)
{
    json_t *all = json_array();
    for (size_t i = 0; i < gp_summary_skip_count(s); i++) {
        const struct gp_skip *skip = gp_summary_skip(s, i);
        json_t *one = json_object();
        gp_object_put(o, one, "symbol", gp_object_text(skip->kernel));
        gp_object_put(o, one, "launches", gp_object_whole(skip->launches));
        gp_object_put_reason(o, one, "reason", skip->reason);
        gp_object_append(o, all, one);
    }
    gp_object_put(o, o->object, "not_measured", all);
}

/* Copies and fills of one kind; those that were timed stand for all. */
static json_t *copies_object(struct gp_object *o, enum gp_copy_kind kind, const struct gp_copies *c)
{
    json_t *one = json_object();
    double mean = c->timed > 0 ? c->seconds / (double)c->timed : NAN;
    double rate = c->seconds > 0 ? (double)c->timed_bytes / c->seconds : NAN;
    gp_object_put(o, one, "kind", json_string(gp_copies_name(kind)));
    gp_object_put(o, one, "calls", gp_object_whole(c->calls));
    gp_object_put(o, one, "bytes", gp_object_whole(c->bytes));
    gp_object_put(o, one, "timed", gp_object_whole(c->timed));
    gp_object_put(o, one, "seconds", number(mean * (double)c->calls));
    gp_object_put(o, one, "mean", number(mean));
    gp_object_put(o, one, "min", number(c->timed > 0 ? c->shortest : NAN));
    gp_object_put(o, one, "max", number(c->timed > 0 ? c->longest : NAN));
    gp_object_put(o, one, "bytes_per_second", number(rate));
    return one;
}

static void put_copies(struct gp_object *o, const struct gp_copies *copies)
{
    json_t *all = json_array();
    for (int i = 0; i < GP_COPY_KINDS; i++)
        if (copies[i].calls > 0)
            gp_object_append(o, all, copies_object(o, i, &copies[i]));
    gp_object_put(o, o->object, "copies", all);
}

static const struct gp_lines *lines_of(void *sources, const struct gp_row *row)
{
    return gp_sources_of(sources, row->launch->kernel);
}

/* Kernels and advice; of kernels at most `top`. */
static void put_findings(struct gp_object *o, const struct gp_rows *rows,
                         const struct gp_copies *copies, struct gp_sources *sources, size_t top)
{
    struct gp_whole whole;
    struct gp_text problems = {0};
    struct gp_findings findings = {0};
    struct gp_rules *rules = gp_rules_open(gp_summary_metrics(rows->summary), &problems);
    json_t *kernels = json_array();
    if (!rules || !gp_findings_make(&findings, rules, rows, sources ? lines_of : NULL, sources))
        o->failed = true;
    for (size_t i = 0; !o->failed && i < gp_rows_all(rows) && (top == 0 || i < top); i++)
        gp_object_append(o, kernels, row_object(o, rows, &rows->rows[i], &findings, sources));
    if (!o->failed) {
        gp_whole_make(&whole, rows, &findings, copies, sources ? lines_of : NULL, sources);
        gp_object_put(o, o->object, "summary", gp_whole_json(o, &whole));
        gp_object_put(o, o->object, "tunings", gp_tunings_json(o, rows, &findings.tunings));
    }
    gp_object_put(o, o->object, "kernels", kernels);
    gp_object_put(o, o->object, "advice",
                  rules ? gp_advice_json(o, rows, &findings, sources) : NULL);
    gp_object_put(o, o->object, "wrong_rules", gp_object_text(gp_text_string(&problems)));
    gp_findings_free(&findings);
    gp_rules_close(rules);
    gp_text_free(&problems);
}

json_t *gp_report_json(json_t *about, const struct gp_summary *s, const struct gp_copies *copies,
                       struct gp_sources *sources, size_t top)
{
    struct gp_object o = {.object = about ? about : json_object()};
    struct gp_plain_numbers plain;
    struct gp_rows rows;
    gp_plain_numbers_begin(&plain);
    if (!gp_rows_make(&rows, s))
        o.failed = true;
    else
        put_findings(&o, &rows, copies, sources, top);
    put_devices(&o, s);
    gp_object_put(&o, o.object, "launches", gp_object_whole(gp_summary_launches(s)));
    put_not_measured(&o, s);
    put_copies(&o, copies);
    gp_rows_free(&rows);
    gp_plain_numbers_end(&plain);
    if (!o.failed)
        return o.object;
    json_decref(o.object);
    return NULL;
}
