/* The history of runs: one SQLite file, to be asked by SQL as well. docs/ci.md describes its
 * tables. Owns the connection. Linked into the command only. */
#ifndef GPUPROF_HISTORY_STORE_H
#define GPUPROF_HISTORY_STORE_H

#include "base/text.h"
#include "check/side.h"

struct gp_history;

/* Opens the file, and makes it where `create` is set. Every function here waits some seconds for
 * another process that writes. NULL with one line in `why`: locked, damaged, no history of ours. An
 * existing file is left as it is. */
struct gp_history *gp_history_open(const char *path, bool create, char *why, size_t why_size);
void gp_history_close(struct gp_history *h);

struct gp_history_run {
    const char *commit, *branch, *host, *time, *profile;
};

/* Adds a side of one run, whole or not at all. */
bool gp_history_add(struct gp_history *h, const struct gp_history_run *run,
                    const struct gp_side *side, char *why, size_t why_size);

/* Which runs: all NULL is every one. */
struct gp_history_filter {
    const char *branch, *gpu;
};

/* Fills `side`, which is all zero, with the last `count` runs before the newest `skip`, the oldest
 * first. The side has no runs where there are none. */
bool gp_history_side(struct gp_history *h, const struct gp_history_filter *filter, unsigned skip,
                     unsigned count, struct gp_side *side, char *why, size_t why_size);

/* Lists the last `count` runs, the newest last; or, with a kernel (a glob) and a metric, its values
 * in them. */
bool gp_history_list(struct gp_history *h, const struct gp_history_filter *filter, unsigned count,
                     struct gp_text *out, char *why, size_t why_size);
bool gp_history_list_metric(struct gp_history *h, const struct gp_history_filter *filter,
                            const char *kernel, const char *metric, const char *unit,
                            unsigned count, struct gp_text *out, char *why, size_t why_size);

#endif
