/* Adding a run. */
#include "history/internal.h"
#include "history/store.h"

#include <stdio.h>

struct adding {
    struct gp_history *h;
    char *why;
    size_t why_size;
    sqlite3_stmt *find_kernel, *add_kernel, *add_launched, *add_code, *add_value;
};

static bool failed(const struct adding *a)
{
    return gp_sql_failed(a->h, a->why, a->why_size);
}

static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
    sqlite3_bind_text(s, at, text ? text : "", -1, SQLITE_TRANSIENT);
}

static void bind_extent(sqlite3_stmt *s, int at, const unsigned e[3])
{
    char text[64];
    snprintf(text, sizeof(text), "%ux%ux%u", e[0], e[1], e[2]);
    bind_text(s, at, text);
}

/* Runs a statement that gives no rows. */
static bool done(const struct adding *a, sqlite3_stmt *s)
{
    int answer = sqlite3_step(s);
    sqlite3_reset(s);
    return answer == SQLITE_DONE || failed(a);
}

static bool add_run(const struct adding *a, const struct gp_history_run *run,
                    const struct gp_side_origin *origin, sqlite3_int64 *id)
{
    sqlite3_stmt *s = gp_sql_prepare(
        a->h,
        "INSERT INTO run (time, \"commit\", branch, host, gpu, chip, cc_major, cc_minor, driver, "
        "cupti, gpuprof, profile) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        a->why, a->why_size);
    if (!s)
        return false;
    const struct gp_device *d = &origin->device;
    bind_text(s, 1, run->time);
    bind_text(s, 2, run->commit);
    bind_text(s, 3, run->branch);
    bind_text(s, 4, run->host);
    bind_text(s, 5, d->name);
    bind_text(s, 6, d->chip);
    sqlite3_bind_int(s, 7, d->cc_major);
    sqlite3_bind_int(s, 8, d->cc_minor);
    sqlite3_bind_int(s, 9, d->driver_version);
    sqlite3_bind_int64(s, 10, d->cupti_version);
    bind_text(s, 11, origin->gpuprof);
    bind_text(s, 12, run->profile);
    bool added = done(a, s);
    sqlite3_finalize(s);
    *id = sqlite3_last_insert_rowid(a->h->db);
    return added;
}

static void bind_kernel(sqlite3_stmt *s, const struct gp_side_kernel *subject)
{
    bind_text(s, 1, subject->name);
    bind_extent(s, 2, subject->grid);
    bind_extent(s, 3, subject->block);
    bind_extent(s, 4, subject->cluster);
    sqlite3_bind_int64(s, 5, subject->shared_dynamic);
}

static bool find_kernel(const struct adding *a, const struct gp_side_kernel *subject,
                        sqlite3_int64 *id)
{
    bind_kernel(a->add_kernel, subject);
    bind_kernel(a->find_kernel, subject);
    if (!done(a, a->add_kernel))
        return false;
    bool found = sqlite3_step(a->find_kernel) == SQLITE_ROW;
    *id = found ? sqlite3_column_int64(a->find_kernel, 0) : 0;
    sqlite3_reset(a->find_kernel);
    return found || failed(a);
}

static bool add_series(const struct adding *a, sqlite3_int64 run, sqlite3_int64 kernel,
                       const char *metric, const struct gp_series *series)
{
    double median;
    sqlite3_stmt *s = a->add_value;
    if (!gp_series_median(series, &median))
        return true;
    sqlite3_bind_int64(s, 1, run);
    sqlite3_bind_int64(s, 2, kernel);
    bind_text(s, 3, metric);
    sqlite3_bind_double(s, 4, median);
    sqlite3_bind_double(s, 5, series->min);
    sqlite3_bind_double(s, 6, series->max);
    sqlite3_bind_double(s, 7, series->spread);
    sqlite3_bind_int64(s, 8, (sqlite3_int64)series->launches);
    return done(a, s);
}

static bool add_code(const struct adding *a, sqlite3_int64 run, sqlite3_int64 kernel,
                     const struct gp_side_kernel *subject)
{
    sqlite3_stmt *s = a->add_code;
    char sketch[GP_SKETCH_TEXT];
    if (!subject->code.hash[0] && !subject->source)
        return true;
    gp_sketch_write(&subject->code.sketch, sketch);
    sqlite3_bind_int64(s, 1, run);
    sqlite3_bind_int64(s, 2, kernel);
    bind_text(s, 3, subject->code.hash);
    bind_text(s, 4, sketch);
    bind_text(s, 5, subject->source);
    sqlite3_bind_int64(s, 6, subject->source_line);
    return done(a, s);
}

static bool add_subject(const struct adding *a, sqlite3_int64 run, const struct gp_side *side,
                        const struct gp_side_kernel *subject)
{
    sqlite3_int64 kernel;
    sqlite3_stmt *s = a->add_launched;
    if (!find_kernel(a, subject, &kernel))
        return false;
    sqlite3_bind_int64(s, 1, run);
    sqlite3_bind_int64(s, 2, kernel);
    sqlite3_bind_int64(s, 3, (sqlite3_int64)subject->launches);
    sqlite3_bind_int64(s, 4, subject->registers);
    sqlite3_bind_int64(s, 5, subject->local_bytes);
    sqlite3_bind_int64(s, 6, subject->shared_static);
    bool added = done(a, s) && add_code(a, run, kernel, subject);
    for (size_t i = 0; i < side->metric_count && added; i++)
        added = add_series(a, run, kernel, side->metrics[i], &subject->series[i]);
    return added;
}

static bool prepare(struct adding *a)
{
    static const char *const sql[] = {
        "SELECT id FROM kernel WHERE name = ? AND grid = ? AND block = ? AND cluster = ? AND "
        "shared = ?",
        "INSERT OR IGNORE INTO kernel (name, grid, block, cluster, shared) VALUES (?, ?, ?, ?, ?)",
        /* Two kernels of a program may have one name: the first stands for both. */
        "INSERT OR IGNORE INTO launched (run, kernel, launches, registers, local_bytes, "
        "shared_static) VALUES (?, ?, ?, ?, ?, ?)",
        "INSERT OR IGNORE INTO code (run, kernel, hash, sketch, source, line) VALUES (?, ?, ?, ?, "
        "?, ?)",
        "INSERT OR IGNORE INTO value (run, kernel, metric, median, min, max, spread, launches) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    };
    sqlite3_stmt **const statements[] = {&a->find_kernel, &a->add_kernel, &a->add_launched,
                                         &a->add_code, &a->add_value};
    for (size_t i = 0; i < sizeof(sql) / sizeof(sql[0]); i++) {
        *statements[i] = gp_sql_prepare(a->h, sql[i], a->why, a->why_size);
        if (!*statements[i])
            return false;
    }
    return true;
}

static bool add_all(struct adding *a, const struct gp_history_run *run, const struct gp_side *side)
{
    sqlite3_int64 id = 0; /* gcc 14 does not see that add_run sets it */
    bool added = prepare(a) && add_run(a, run, &side->origin, &id);
    for (size_t i = 0; i < side->count && added; i++)
        added = add_subject(a, id, side, &side->subjects[i]);
    sqlite3_finalize(a->find_kernel);
    sqlite3_finalize(a->add_kernel);
    sqlite3_finalize(a->add_launched);
    sqlite3_finalize(a->add_code);
    sqlite3_finalize(a->add_value);
    return added;
}

bool gp_history_add(struct gp_history *h, const struct gp_history_run *run,
                    const struct gp_side *side, char *why, size_t why_size)
{
    struct adding a = {.h = h, .why = why, .why_size = why_size};
    if (sqlite3_exec(h->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
        return failed(&a);
    bool added = add_all(&a, run, side);
    if (added && sqlite3_exec(h->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK)
        return true;
    if (added)
        failed(&a);
    sqlite3_exec(h->db, "ROLLBACK", NULL, NULL, NULL);
    return false;
}
