/* Finds the definitions: in the program, in the user's files. */
#ifndef GPUPROF_METRICS_LOAD_H
#define GPUPROF_METRICS_LOAD_H

#include "metrics/compile.h"

void gp_load_text(struct gp_loading *l, const char *file, const char *text, size_t length);
void gp_load_shipped(struct gp_loading *l);

/* The *.ini files of the folders that gp_metrics_open names. */
void gp_load_users_files(struct gp_loading *l);

#endif
