/* Folds the launches of profiles, run by run, into one side of a comparison, in bounded memory.
 * Owns the values that it folds. */
#ifndef GPUPROF_CHECK_FOLD_H
#define GPUPROF_CHECK_FOLD_H

#include "check/side.h"

/* The launches of one subject in one run are evaluated in part: at most so many, evenly spread;
 * fewer where there are many subjects: the scatter from run to run matters more than that from
 * launch to launch. */
#define GP_FOLD_LAUNCHES 256
#define GP_FOLD_LAUNCHES_OF_MANY 64
#define GP_FOLD_MANY 200 /* subjects */

struct gp_fold;

/* Folds the metrics that are selected in `m` into `side`, which is all zero. NULL when out of
 * memory. */
struct gp_fold *gp_fold_new(const struct gp_metrics *m, struct gp_side *side);

/* A run is one profile, or several of processes that ran together. */
void gp_fold_run(struct gp_fold *f);
void gp_fold_process(struct gp_fold *f, const char *gpuprof_version);
/* The part of the process that was to be measured (GPUPROF_WINDOW); NULL: all of it. */
void gp_fold_window(struct gp_fold *f, const char *window);
void gp_fold_device(struct gp_fold *f, const struct gp_device *device);
void gp_fold_launch(struct gp_fold *f, const struct gp_record *launch);
void gp_fold_count(struct gp_fold *f, const struct gp_count *count);

/* Say where a kernel (its mangled name) begins in its source, and which machine code it has; the
 * first word counts. */
void gp_fold_source(struct gp_fold *f, const char *kernel, const char *file, int line);
void gp_fold_code(struct gp_fold *f, const char *kernel, const struct gp_code_mark *code);

/* Ends the last run; the side is then sorted and complete. False with the reason in `why` where it
 * is not. Frees the fold. */
bool gp_fold_finish(struct gp_fold *f, char *why, size_t why_size);

#endif
