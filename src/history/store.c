#include "history/store.h"

#include "base/clock.h"
#include "history/internal.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define APPLICATION 0x67707266 /* "gprf" */
#define VERSION 1
#define WAIT_MS 10000
#define LONGEST_S 300 /* that a command works on the file */
/* A larger file takes too long to read. */
#define LARGEST_CHECKED (256ll << 20)
/* Bytes that a file beside the history takes for a few kernels. */
#define LEAST_ROOM (128u << 10)

static const char schema[] =
    "CREATE TABLE run (id INTEGER PRIMARY KEY, time TEXT NOT NULL, \"commit\" TEXT NOT NULL,"
    " branch TEXT NOT NULL, host TEXT NOT NULL, gpu TEXT NOT NULL, chip TEXT NOT NULL,"
    " cc_major INTEGER NOT NULL, cc_minor INTEGER NOT NULL, driver INTEGER NOT NULL,"
    " cupti INTEGER NOT NULL, gpuprof TEXT NOT NULL, profile TEXT NOT NULL);"
    "CREATE TABLE kernel (id INTEGER PRIMARY KEY, name TEXT NOT NULL, grid TEXT NOT NULL,"
    " block TEXT NOT NULL, cluster TEXT NOT NULL, shared INTEGER NOT NULL,"
    " UNIQUE (name, grid, block, cluster, shared));"
    "CREATE TABLE launched (run INTEGER NOT NULL REFERENCES run, kernel INTEGER NOT NULL"
    " REFERENCES kernel, launches INTEGER NOT NULL, registers INTEGER NOT NULL,"
    " local_bytes INTEGER NOT NULL, shared_static INTEGER NOT NULL, PRIMARY KEY (run, kernel))"
    " WITHOUT ROWID;"
    "CREATE TABLE value (run INTEGER NOT NULL REFERENCES run, kernel INTEGER NOT NULL"
    " REFERENCES kernel, metric TEXT NOT NULL, median REAL NOT NULL, min REAL NOT NULL,"
    " max REAL NOT NULL, spread REAL NOT NULL, launches INTEGER NOT NULL,"
    " PRIMARY KEY (kernel, metric, run)) WITHOUT ROWID;"
    "CREATE INDEX value_of_run ON value (run);"
    "CREATE VIEW history AS SELECT run.id AS run, time, \"commit\", branch, host, gpu, name AS"
    " kernel, grid, block, cluster, shared, metric, median, min, max, spread, value.launches"
    " FROM value JOIN run ON run.id = value.run JOIN kernel ON kernel.id = value.kernel;"
    "PRAGMA application_id = 1735422566; PRAGMA user_version = 1;";
_Static_assert(APPLICATION == 1735422566 && VERSION == 1, "as the schema has them");

/* SQLite does not keep the system's reason. */
static bool is_write_error(int code)
{
    return code == SQLITE_IOERR || code == SQLITE_FULL;
}

static bool has_limit(unsigned long long *bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return false;
    *bytes = limit.rlim_cur;
    return true;
}

/* By which a kernel that has another name is found again. A history of a version before gets it
 * with its next run; that version goes on reading it. */
static const char code_schema[] =
    "CREATE TABLE IF NOT EXISTS code (run INTEGER NOT NULL REFERENCES run, kernel INTEGER NOT NULL"
    " REFERENCES kernel, hash TEXT NOT NULL, sketch TEXT NOT NULL, source TEXT NOT NULL,"
    " line INTEGER NOT NULL, PRIMARY KEY (run, kernel)) WITHOUT ROWID;";

bool gp_sql_failed(const struct gp_history *h, char *why, size_t why_size)
{
    int code = sqlite3_errcode(h->db);
    unsigned long long limit;
    const char *what = sqlite3_errmsg(h->db);
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED || code == SQLITE_PROTOCOL)
        snprintf(why, why_size,
                 "%s: locked by another process for more than %d s; nothing was "
                 "changed",
                 h->path, WAIT_MS / 1000);
    else if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
        snprintf(why, why_size, "%s: damaged, or no database (%s); nothing was changed", h->path,
                 what);
    else if (is_write_error(code) && has_limit(&limit))
        snprintf(why, why_size,
                 "%s: %s, perhaps as the limit on the size of a file (ulimit -f) is %llu bytes; "
                 "nothing was changed",
                 h->path, what, limit);
    else if (code == SQLITE_READONLY)
        snprintf(why, why_size, "%s: it or its folder cannot be written, which SQLite has to",
                 h->path);
    else
        snprintf(why, why_size, "%s: %s", h->path, what);
    return false;
}

sqlite3_stmt *gp_sql_prepare(const struct gp_history *h, const char *sql, char *why,
                             size_t why_size)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(h->db, sql, -1, &s, NULL) == SQLITE_OK)
        return s;
    gp_sql_failed(h, why, why_size);
    return NULL;
}

static bool run_sql(const struct gp_history *h, const char *sql, char *why, size_t why_size)
{
    return sqlite3_exec(h->db, sql, NULL, NULL, NULL) == SQLITE_OK ||
           gp_sql_failed(h, why, why_size);
}

static bool read_number(const struct gp_history *h, const char *sql, long long *number, char *why,
                        size_t why_size)
{
    sqlite3_stmt *s = gp_sql_prepare(h, sql, why, why_size);
    if (!s)
        return false;
    bool read = sqlite3_step(s) == SQLITE_ROW;
    *number = read ? sqlite3_column_int64(s, 0) : 0;
    if (!read)
        gp_sql_failed(h, why, why_size);
    sqlite3_finalize(s);
    return read;
}

/* SQLite may write for a long time into a file of which a page is damaged. */
static bool is_whole(const struct gp_history *h, char *why, size_t why_size)
{
    struct stat about;
    if (stat(h->path, &about) == 0 && about.st_size > LARGEST_CHECKED)
        return true;
    sqlite3_stmt *s = gp_sql_prepare(h, "PRAGMA quick_check(1)", why, why_size);
    if (!s)
        return false;
    int answer = sqlite3_step(s);
    const char *said = answer == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0) : NULL;
    bool whole = said && strcmp(said, "ok") == 0;
    if (!whole && said)
        snprintf(why, why_size, "%s: damaged (%.200s); nothing was changed", h->path, said);
    else if (!whole)
        gp_sql_failed(h, why, why_size);
    sqlite3_finalize(s);
    return whole;
}

/* A file may hold more than tables: triggers and views that compute for ever. Ours has no trigger,
 * and its one view is for people. */
static int is_too_long(void *user)
{
    const struct gp_history *h = user;
    return time(NULL) - h->opened > LONGEST_S;
}

static void run_nothing_foreign(struct gp_history *h)
{
    sqlite3_db_config(h->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(h->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(h->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(h->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    h->opened = time(NULL);
    sqlite3_progress_handler(h->db, 1000000, is_too_long, h);
}

/* Whether it is a history of ours, made now if the file is new. */
static bool prepare(struct gp_history *h, bool create, char *why, size_t why_size)
{
    long long application = 0, version = 0, tables = 0, code = 0;
    if (!read_number(h, "SELECT count(*) FROM sqlite_master", &tables, why, why_size) ||
        !read_number(h, "PRAGMA application_id", &application, why, why_size) ||
        !read_number(h, "PRAGMA user_version", &version, why, why_size))
        return false;
    if (tables > 0 && application != APPLICATION) {
        snprintf(why, why_size, "%s: a database, but no history of gpuprof", h->path);
        return false;
    }
    if (tables > 0 && version != VERSION) {
        snprintf(why, why_size, "%s: version %lld; this gpuprof knows version %d", h->path, version,
                 VERSION);
        return false;
    }
    if (!read_number(h, "SELECT count(*) FROM sqlite_master WHERE name = 'code'", &code, why,
                     why_size))
        return false;
    h->has_code = create || code > 0;
    if (tables > 0) /* all reads are of one moment */
        return is_whole(h, why, why_size) &&
               (create ? code > 0 || run_sql(h, code_schema, why, why_size)
                       : run_sql(h, "BEGIN", why, why_size));
    if (!create) {
        snprintf(why, why_size, "%s: empty, no history of gpuprof", h->path);
        return false;
    }
    /* Two processes may begin at the same time: the second finds the tables there. */
    if (!run_sql(h, "PRAGMA journal_mode = WAL; BEGIN IMMEDIATE", why, why_size) ||
        !read_number(h, "SELECT count(*) FROM sqlite_master", &tables, why, why_size))
        return false;
    if ((tables == 0 && !run_sql(h, schema, why, why_size)) ||
        !run_sql(h, code_schema, why, why_size) || !run_sql(h, "COMMIT", why, why_size)) {
        sqlite3_exec(h->db, "ROLLBACK", NULL, NULL, NULL);
        return false;
    }
    return true;
}

/* SQLite makes other files beside the history, and says no more than that it cannot. */
static bool can_write_beside(const struct gp_history *h, char *why, size_t why_size)
{
    const char *slash = strrchr(h->path, '/');
    char *folder = slash ? strndup(h->path, (size_t)(slash - h->path) + 1) : strdup(".");
    bool can = folder && access(folder, W_OK | X_OK) == 0;
    if (!folder)
        snprintf(why, why_size, "out of memory");
    else if (!can)
        snprintf(why, why_size, "%s: its folder %s cannot be written: %s", h->path, folder,
                 strerror(errno));
    free(folder);
    return can;
}

/* Where the limit stops SQLite in the middle, it leaves files beside the history. */
static bool has_room(const struct gp_history *h, char *why, size_t why_size)
{
    struct stat about = {0};
    unsigned long long limit, size = stat(h->path, &about) == 0 ? (uint64_t)about.st_size : 0;
    if (!has_limit(&limit) || limit >= size + LEAST_ROOM)
        return true;
    snprintf(why, why_size,
             "%s: the limit on the size of a file (ulimit -f) is %llu bytes, and has to be %llu at "
             "least; nothing was changed",
             h->path, limit, size + LEAST_ROOM);
    return false;
}

static bool open_once(struct gp_history *h, bool create, char *why, size_t why_size)
{
    if (create && (!can_write_beside(h, why, why_size) || !has_room(h, why, why_size)))
        return false;
    int flags = SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0);
    if (sqlite3_open_v2(h->path, &h->db, flags, NULL) != SQLITE_OK) {
        snprintf(why, why_size, "%s: %s", h->path,
                 h->db && sqlite3_system_errno(h->db) ? strerror(sqlite3_system_errno(h->db))
                                                      : "cannot be opened");
        return false;
    }
    run_nothing_foreign(h);
    sqlite3_busy_timeout(h->db, WAIT_MS);
    return prepare(h, create, why, why_size);
}

static bool is_locked(const struct gp_history *h)
{
    int code = h->db ? sqlite3_errcode(h->db) : SQLITE_OK;
    return code == SQLITE_BUSY || code == SQLITE_LOCKED || code == SQLITE_PROTOCOL;
}

/* SQLite waits for locks, but not for one that two processes would wait for for ever: of several
 * that begin a file at the same time it sends all but one back at once. These begin again. */
static bool open_in_time(struct gp_history *h, bool create, char *why, size_t why_size)
{
    const double end = gp_clock_seconds() + 1e-3 * WAIT_MS;
    const struct timespec nap = {.tv_nsec = 5000000};
    while (!open_once(h, create, why, why_size)) {
        if (!is_locked(h) || gp_clock_seconds() >= end)
            return false;
        sqlite3_close(h->db);
        h->db = NULL;
        nanosleep(&nap, NULL);
    }
    return true;
}

/* SQLite has names that stand for no file, or for one with settings. */
static bool is_name_of_file(const char *path, char *why, size_t why_size)
{
    if (!*path)
        snprintf(why, why_size, "the history has no name");
    else if (*path == ':' || strncmp(path, "file:", 5) == 0)
        snprintf(why, why_size,
                 "%s: SQLite takes that for no name of a file; './%s' is one, in this folder", path,
                 path);
    else
        return true;
    return false;
}

struct gp_history *gp_history_open(const char *path, bool create, char *why, size_t why_size)
{
    if (!is_name_of_file(path, why, why_size))
        return NULL;
    struct gp_history *h = calloc(1, sizeof(*h));
    if (h)
        h->path = strdup(path);
    if (!h || !h->path) {
        free(h);
        snprintf(why, why_size, "out of memory");
        return NULL;
    }
    if (open_in_time(h, create, why, why_size))
        return h;
    gp_history_close(h);
    return NULL;
}

void gp_history_close(struct gp_history *h)
{
    if (!h)
        return;
    sqlite3_close(h->db);
    free(h->path);
    free(h);
}
