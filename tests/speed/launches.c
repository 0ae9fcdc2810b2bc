/* launches FILE COUNT: a profile of so many launches, as a program with 50 kernels would leave it:
 * the counters of the default set, every launch written early and then in full. */
#include "metrics/metrics.h"
#include "profile/writer.h"

#include "../unit/h200.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNELS 50
#define GRIDS 150
#define MOST_COUNTERS 200

/* The counters of the default set on a GPU of compute capability 9.0. */
static const char **names;
static size_t count;

/* Counters of instrumented code are the same in all launches of a kernel and grid, and counters of
 * the hardware never. */
static void fill(struct gp_counter *counters, unsigned long i)
{
    for (size_t k = 0; k < count; k++) {
        bool of_code = strstr(names[k], "__sass_") != NULL,
             whole = strstr(names[k], ".sum") != NULL;
        double of_launch = (double)(1 + rand() % 100000000);
        double of_kind = (double)(1 + i % KERNELS) * (double)(1 + i % GRIDS) * 1e4 * (double)k;
        double value = of_code ? of_kind : of_launch;
        counters[k] =
            (struct gp_counter){.name = names[k], .value = whole ? value : value / 1234567};
    }
}

static bool is_late(size_t k)
{
    return !strstr(names[k], "__sass_") && strcmp(names[k], "gpu__time_duration.sum") != 0;
}

static bool write_launch(struct gp_writer *w, unsigned long i)
{
    char kernel[96];
    struct gp_counter counters[MOST_COUNTERS];
    snprintf(kernel, sizeof(kernel),
             "_ZN2at6native29vectorized_elementwise_kernelILi%luENS0_11CUDAFunctorIfEEEEviT0_",
             i % KERNELS);
    struct gp_record launch = {.index = i,
                               .kernel = kernel,
                               .context = 0x563e0d2c5ce0,
                               .grid = {(unsigned)(1 + i % GRIDS), 1, 1},
                               .block = {256, 1, 1},
                               .registers = 32,
                               .shared_carveout = -1,
                               .passes = 3,
                               .saved_bytes = 100000000,
                               .restored_bytes = 1000000,
                               .recalled = 1,
                               .overhead_ms = (double)(rand() % 100000) / 1e3,
                               .start_ms = 81234.5 + (double)i,
                               .counter_count = count,
                               .counters = counters};
    fill(counters, i);
    for (size_t k = 0; k < count; k++)
        counters[k].absent = is_late(k) ? "the process ended before it was read" : NULL;
    if (!gp_writer_early(w, &launch))
        return false;
    for (size_t k = 0; k < count; k++)
        counters[k].absent = NULL;
    return gp_writer_launch(w, &launch);
}

int main(int argc, char **argv)
{
    char why[512];
    if (argc != 3)
        return 2;
    const char *const command[] = {"./app", NULL};
    struct gp_text problems = {0};
    struct gp_metrics *m = gp_metrics_open(&problems);
    if (!m || !gp_metrics_counters(m, &h200, &names, &count) || count > MOST_COUNTERS)
        return 1;
    struct gp_writer *w = gp_writer_open(argv[1], command, NULL, why, sizeof(why));
    if (!w) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    bool written = gp_writer_device(w, &h200);
    for (unsigned long i = 0; i < strtoul(argv[2], NULL, 10) && written; i++)
        written = write_launch(w, i);
    written = written && gp_writer_end(w, &(struct gp_end){.added_seconds = 1});
    gp_writer_close(w);
    free(names);
    gp_metrics_close(m);
    return !written ? 1 : 0;
}
