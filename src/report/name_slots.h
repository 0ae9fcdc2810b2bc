/* Names in lines that are written before all kernels of a report are known: each gets its columns,
 * and the name when they are known, short and different from the others. Owns the names. */
#ifndef GPUPROF_REPORT_NAME_SLOTS_H
#define GPUPROF_REPORT_NAME_SLOTS_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct gp_name_slots;

/* With `mangled` names stay as they are. NULL when out of memory. */
struct gp_name_slots *gp_name_slots_new(bool mangled);
void gp_name_slots_free(struct gp_name_slots *slots);

/* Appends columns for the name of a kernel, `width` of them. */
void gp_name_slots_add(struct gp_name_slots *slots, const char *kernel, size_t width,
                       struct gp_text *lines);

/* Writes the names into the columns that were appended to `lines` since the last time, each at
 * their right end. When out of memory, lines->failed is set. */
void gp_name_slots_fill(struct gp_name_slots *slots, struct gp_text *lines);

#endif
