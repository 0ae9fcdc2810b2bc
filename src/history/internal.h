/* Shared by the files of this room. */
#ifndef GPUPROF_HISTORY_INTERNAL_H
#define GPUPROF_HISTORY_INTERNAL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct gp_history {
    sqlite3 *db;
    char *path;
    bool has_code; /* its table; histories of versions before have none until a run is added */
    time_t opened;
};

/* False with SQLite's message in `why`. */
bool gp_sql_failed(const struct gp_history *h, char *why, size_t why_size);

/* Prepares; NULL with the reason in `why`. */
sqlite3_stmt *gp_sql_prepare(const struct gp_history *h, const char *sql, char *why,
                             size_t why_size);

#endif
