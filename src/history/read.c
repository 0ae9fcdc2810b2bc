/* Runs of the history as a side of a comparison, and as lists. */
#include "base/escape.h"
#include "check/quantity.h"
#include "history/internal.h"
#include "history/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The last `count` runs of a filter, behind `skip` newer ones: a table of the connection's own. */
static bool choose_runs(const struct gp_history *h, const struct gp_history_filter *filter,
                        unsigned skip, unsigned count, char *why, size_t why_size)
{
    if (sqlite3_exec(h->db,
                     "DROP TABLE IF EXISTS temp.chosen; CREATE TEMP TABLE chosen (run INTEGER "
                     "PRIMARY KEY)",
                     NULL, NULL, NULL) != SQLITE_OK)
        return gp_sql_failed(h, why, why_size);
    sqlite3_stmt *s = gp_sql_prepare(
        h,
        "INSERT INTO chosen SELECT id FROM run WHERE (?1 IS NULL OR branch = ?1) AND (?2 IS NULL "
        "OR gpu = ?2) ORDER BY id DESC LIMIT ?4 OFFSET ?3",
        why, why_size);
    if (!s)
        return false;
    if (filter->branch)
        sqlite3_bind_text(s, 1, filter->branch, -1, SQLITE_STATIC);
    if (filter->gpu)
        sqlite3_bind_text(s, 2, filter->gpu, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 3, skip);
    sqlite3_bind_int64(s, 4, count);
    bool chosen = sqlite3_step(s) == SQLITE_DONE || gp_sql_failed(h, why, why_size);
    sqlite3_finalize(s);
    return chosen;
}

static const char *text_of(sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sqlite3_column_text(s, column);
    return text ? text : "";
}

/* ---- a side ---- */

struct reading {
    const struct gp_history *h;
    struct gp_side *side;
    char *why;
    size_t why_size;
};

static bool out_of_memory(const struct reading *r)
{
    snprintf(r->why, r->why_size, "%s: out of memory, or too many kernels", r->h->path);
    return false;
}

/* Calls `take` for each row. */
static bool each_row(const struct reading *r, const char *sql,
                     bool (*take)(const struct reading *r, sqlite3_stmt *s))
{
    sqlite3_stmt *s = gp_sql_prepare(r->h, sql, r->why, r->why_size);
    if (!s)
        return false;
    int answer;
    bool taken = true;
    while (taken && (answer = sqlite3_step(s)) == SQLITE_ROW)
        taken = take(r, s);
    if (taken && answer != SQLITE_DONE)
        taken = gp_sql_failed(r->h, r->why, r->why_size);
    sqlite3_finalize(s);
    return taken;
}

static bool take_run(const struct reading *r, sqlite3_stmt *s)
{
    struct gp_side *side = r->side;
    struct gp_device *d = &side->origin.device;
    side->several_models |= d->name[0] && strcmp(d->name, text_of(s, 0)) != 0;
    snprintf(d->name, sizeof(d->name), "%s", text_of(s, 0));
    snprintf(d->chip, sizeof(d->chip), "%s", text_of(s, 1));
    d->cc_major = sqlite3_column_int(s, 2);
    d->cc_minor = sqlite3_column_int(s, 3);
    d->driver_version = sqlite3_column_int(s, 4);
    snprintf(side->origin.gpuprof, sizeof(side->origin.gpuprof), "%s", text_of(s, 5));
    side->runs++;
    return true;
}

static bool take_metric(const struct reading *r, sqlite3_stmt *s)
{
    struct gp_side *side = r->side;
    char **more = realloc(side->metrics, (side->metric_count + 1) * sizeof(*more));
    if (!more || side->metric_count >= GP_MOST_SIDE_METRICS)
        return out_of_memory(r);
    side->metrics = more;
    more[side->metric_count] = strdup(text_of(s, 0));
    return more[side->metric_count] ? (side->metric_count++, true) : out_of_memory(r);
}

static void read_extent(const char *text, unsigned e[3])
{
    if (sscanf(text, "%9ux%9ux%9u", &e[0], &e[1], &e[2]) != 3)
        memset(e, 0, 3 * sizeof(*e));
}

/* The kernel and configuration in the first columns of a row; the name lives as long as the row. */
static struct gp_side_kernel key_of(sqlite3_stmt *s)
{
    struct gp_side_kernel key = {.name = (char *)text_of(s, 0)};
    read_extent(text_of(s, 1), key.grid);
    read_extent(text_of(s, 2), key.block);
    read_extent(text_of(s, 3), key.cluster);
    key.shared_dynamic = (unsigned)sqlite3_column_int64(s, 4);
    return key;
}

/* As it was in the newest run. */
static bool take_code(const struct reading *r, sqlite3_stmt *s, struct gp_side_kernel *subject)
{
    if (!r->h->has_code || sqlite3_column_type(s, 9) == SQLITE_NULL)
        return true;
    const char *hash = text_of(s, 9), *source = text_of(s, 11);
    snprintf(subject->code.hash, sizeof(subject->code.hash), "%s", hash);
    gp_sketch_read(text_of(s, 10), &subject->code.sketch);
    free(subject->source);
    subject->source = *source ? strdup(source) : NULL;
    subject->source_line = sqlite3_column_int(s, 12);
    return !*source || subject->source || out_of_memory(r);
}

/* A row for each kernel and run, of one kernel the oldest first. */
static bool take_launched(const struct reading *r, sqlite3_stmt *s)
{
    struct gp_side *side = r->side;
    const struct gp_side_kernel key = key_of(s);
    struct gp_side_kernel *last = side->count ? &side->subjects[side->count - 1] : NULL;
    if (!last || gp_subject_compare(last, &key) != 0) {
        last = gp_side_add(side, key.name);
        if (!last)
            return out_of_memory(r);
        last->configuration = key.configuration;
    }
    last->launches += (uint64_t)sqlite3_column_int64(s, 5);
    last->registers = (unsigned)sqlite3_column_int64(s, 6);
    last->local_bytes = (unsigned)sqlite3_column_int64(s, 7);
    last->shared_static = (unsigned)sqlite3_column_int64(s, 8);
    last->runs++;
    return take_code(r, s, last);
}

static int by_subject(const void *key, const void *subject)
{
    return gp_subject_compare(key, subject);
}

static bool take_value(const struct reading *r, sqlite3_stmt *s)
{
    struct gp_side *side = r->side;
    const struct gp_side_kernel key = key_of(s);
    const struct gp_side_kernel *subject =
        side->count ? bsearch(&key, side->subjects, side->count, sizeof(key), by_subject) : NULL;
    int metric = gp_side_metric(side, text_of(s, 5));
    if (!subject || metric < 0)
        return true;
    struct gp_series *series = &subject->series[metric];
    double min = sqlite3_column_double(s, 7), max = sqlite3_column_double(s, 8);
    double spread = sqlite3_column_double(s, 9);
    if (series->runs == 0 || min < series->min)
        series->min = min;
    if (series->runs == 0 || max > series->max)
        series->max = max;
    series->spread += (spread - series->spread) / (double)(series->runs + 1);
    series->launches += (uint64_t)sqlite3_column_int64(s, 10);
    return gp_series_add_run(series, sqlite3_column_double(s, 6)) || out_of_memory(r);
}

bool gp_history_side(struct gp_history *h, const struct gp_history_filter *filter, unsigned skip,
                     unsigned count, struct gp_side *side, char *why, size_t why_size)
{
    const struct reading r = {.h = h, .side = side, .why = why, .why_size = why_size};
    if (!choose_runs(h, filter, skip, count, why, why_size) ||
        !each_row(&r,
                  "SELECT gpu, chip, cc_major, cc_minor, driver, gpuprof FROM chosen JOIN run ON "
                  "id = chosen.run ORDER BY id",
                  take_run) ||
        !each_row(&r, "SELECT DISTINCT metric FROM value JOIN chosen USING (run) ORDER BY metric",
                  take_metric) ||
        !each_row(&r,
                  h->has_code
                      ? "SELECT name, grid, block, cluster, shared, launches, registers, "
                        "local_bytes, shared_static, hash, sketch, source, line FROM launched JOIN "
                        "chosen USING (run) JOIN kernel ON id = kernel LEFT JOIN code USING (run, "
                        "kernel) ORDER BY kernel, run"
                      : "SELECT name, grid, block, cluster, shared, launches, registers, "
                        "local_bytes, shared_static FROM launched JOIN chosen USING (run) JOIN "
                        "kernel ON id = kernel ORDER BY kernel, run",
                  take_launched))
        return false;
    gp_side_sort(side);
    return each_row(&r,
                    "SELECT name, grid, block, cluster, shared, metric, median, min, max, spread, "
                    "launches FROM value JOIN chosen USING (run) JOIN kernel ON id = kernel "
                    "ORDER BY run",
                    take_value);
}

/* ---- lists ---- */

/* The begin of a text, which a run was added with, in its column. */
static void add_cell(sqlite3_stmt *s, int column, int width, struct gp_text *out)
{
    struct gp_text cell = {0};
    const char *text = text_of(s, column);
    gp_text_add_escaped(&cell, text, strlen(text));
    gp_text_addf(out, " %-*.*s", width, width, gp_text_string(&cell));
    out->failed |= cell.failed;
    gp_text_free(&cell);
}

/* Time, commit and branch, in columns that follow one another. */
static void add_run(sqlite3_stmt *s, int id, struct gp_text *out)
{
    gp_text_addf(out, "%5lld", (long long)sqlite3_column_int64(s, id));
    add_cell(s, id + 1, 20, out);
    add_cell(s, id + 2, 12, out);
    add_cell(s, id + 3, 16, out);
}

bool gp_history_list(struct gp_history *h, const struct gp_history_filter *filter, unsigned count,
                     struct gp_text *out, char *why, size_t why_size)
{
    if (!choose_runs(h, filter, 0, count, why, why_size))
        return false;
    sqlite3_stmt *s = gp_sql_prepare(
        h,
        "SELECT id, time, \"commit\", branch, host, gpu, (SELECT count(*) FROM launched WHERE "
        "launched.run = id), (SELECT sum(median * l.launches) FROM value v JOIN launched l USING "
        "(run, kernel) WHERE v.run = id AND metric = 'duration') FROM chosen JOIN run ON id = "
        "chosen.run ORDER BY id",
        why, why_size);
    if (!s)
        return false;
    int answer;
    gp_text_addf(out, "%5s %-20s %-12s %-16s %-16s %7s %12s  %s\n", "run", "time", "commit",
                 "branch", "host", "kernels", "by medians", "GPU");
    while ((answer = sqlite3_step(s)) == SQLITE_ROW) {
        char time[64];
        gp_quantity_format(sqlite3_column_double(s, 7), "s", time, sizeof(time));
        add_run(s, 0, out);
        add_cell(s, 4, 16, out);
        gp_text_add_linef(out, " %7lld %12s  %s", (long long)sqlite3_column_int64(s, 6), time,
                          text_of(s, 5));
    }
    bool read = answer == SQLITE_DONE || gp_sql_failed(h, why, why_size);
    sqlite3_finalize(s);
    return read;
}

bool gp_history_list_metric(struct gp_history *h, const struct gp_history_filter *filter,
                            const char *kernel, const char *metric, const char *unit,
                            unsigned count, struct gp_text *out, char *why, size_t why_size)
{
    if (!choose_runs(h, filter, 0, count, why, why_size))
        return false;
    sqlite3_stmt *s = gp_sql_prepare(
        h,
        "SELECT kernel.id, name, grid, block, run.id, time, \"commit\", branch, median FROM chosen "
        "JOIN run ON run.id = chosen.run JOIN value ON value.run = run.id JOIN kernel ON kernel.id "
        "= value.kernel WHERE metric = ?1 AND name GLOB ?2 ORDER BY name, kernel.id, run.id",
        why, why_size);
    if (!s)
        return false;
    sqlite3_bind_text(s, 1, metric, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, kernel, -1, SQLITE_STATIC);
    int answer;
    long long last = -1;
    double before = 0;
    while ((answer = sqlite3_step(s)) == SQLITE_ROW) {
        char value[64], change[32] = "";
        double median = sqlite3_column_double(s, 8);
        gp_quantity_format(median, unit, value, sizeof(value));
        if (sqlite3_column_int64(s, 0) != last) {
            last = sqlite3_column_int64(s, 0);
            gp_text_add_linef(out, "%s [grid %s, block %s], %s", text_of(s, 1), text_of(s, 2),
                              text_of(s, 3), metric);
        } else if (before != 0) {
            snprintf(change, sizeof(change), "%+.2f %%", 100 * (median / before - 1));
        }
        add_run(s, 4, out);
        gp_text_addf(out, " %14s %10s\n", value, change);
        before = median;
    }
    bool read = answer == SQLITE_DONE || gp_sql_failed(h, why, why_size);
    sqlite3_finalize(s);
    return read;
}
