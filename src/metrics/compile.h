/* Makes a metric of a section of a definition file, or says why it makes no sense. */
#ifndef GPUPROF_METRICS_COMPILE_H
#define GPUPROF_METRICS_COMPILE_H

#include "metrics/definitions.h"
#include "metrics/metrics.h"

/* Where sections go while files are read. */

struct gp_loading {
    struct gp_metrics *m;
    struct gp_text *problems;
    bool user_defined;
};

/* Takes one section; `user` is a struct gp_loading. */
void gp_definition_compile(void *user, const struct gp_definition *d);

#endif
