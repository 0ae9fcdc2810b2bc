/* One side of a comparison: the values that some runs of a program measured, kernel by kernel and
 * configuration by configuration. It is folded from profiles, or read from a baseline or a history.
 * Owns all of it. */
#ifndef GPUPROF_CHECK_SIDE_H
#define GPUPROF_CHECK_SIDE_H

#include "base/sketch.h"
#include "metrics/metrics.h"

#include <stdbool.h>
#include <stdint.h>

/* One metric of one subject. */
struct gp_series {
    double *medians; /* of each run that has a value, in the order of the runs */
    size_t runs;
    uint64_t launches; /* in all runs, with a value */
    double min, max;   /* over all launches that were evaluated */
    double spread;     /* of the launches within a run: a robust standard deviation */
    char *absent;      /* why there is no value */
    enum gp_cause absent_cause;
    size_t absent_named; /* bytes of it that name the missing counter */
};

#define GP_CODE_HASH 33

/* The machine code of a kernel, as far as a comparison needs it. All zero: not known. */
struct gp_code_mark {
    char hash[GP_CODE_HASH]; /* of its bytes: 32 hexadecimal digits */
    struct gp_sketch sketch; /* of its operations */
};

/* One kernel in one configuration. */
struct gp_side_kernel {
    char *name;   /* demangled, with parameters */
    char *former; /* its name on the other side, where the user says it; else NULL */
    GP_CONFIGURATION;
    /* as the compiler and the driver made it */
    unsigned shared_static, registers, local_bytes;
    uint64_t launches; /* in all runs, measured or not */
    size_t runs;       /* in which it was launched */
    char *source;      /* NULL: not known */
    int source_line;
    struct gp_code_mark code;
    struct gp_series *series; /* one per metric of the side */
};

#define GP_SEVERAL_WINDOWS "several parts of the program"

/* Where it was measured, and how. */
struct gp_side_origin {
    struct gp_device device; /* the facts that a comparison needs; an empty name: not known */
    char gpuprof[32];        /* the version that measured */
    bool window_known;
    char window[128]; /* the part of the program, as GPUPROF_WINDOW has it; empty: all of it */
};

struct gp_side {
    struct gp_side_origin origin;
    bool several_models; /* runs were on GPUs of different models */
    size_t runs;
    size_t metric_count;
    char **metrics; /* names */
    struct gp_side_kernel *subjects;
    size_t count, capacity;
};

#define GP_MOST_SUBJECTS 4096
#define GP_MOST_SIDE_METRICS 1024
#define GP_MOST_RUNS 10000

/* Sets the names; false when out of memory. */
bool gp_side_set_metrics(struct gp_side *side, const char *const *names, size_t count);

/* A new subject with empty series, all else zero. NULL where there are too many or when out of
 * memory. It moves when the next one is added. */
struct gp_side_kernel *gp_side_add(struct gp_side *side, const char *name);

/* Adds the median of one more run; false when out of memory. */
bool gp_series_add_run(struct gp_series *s, double median);

/* The metric's index, or -1. */
int gp_side_metric(const struct gp_side *side, const char *name);

/* Adds the medians of later runs to the series that `side`, which is sorted, has; all else stays.
 * False when out of memory. */
bool gp_side_continue(struct gp_side *side, const struct gp_side *later);

/* By name, grid, block, cluster, shared memory. */
void gp_side_sort(struct gp_side *side);
void gp_side_free(struct gp_side *side);

int gp_subject_compare(const struct gp_side_kernel *a, const struct gp_side_kernel *b);

/* "grid 1024, block 32x8, shared 2048 B" */
void gp_subject_configuration(const struct gp_side_kernel *s, char *out, size_t size);

/* The median of the runs' medians; false where there is none. */
bool gp_series_median(const struct gp_series *s, double *median);

#endif
