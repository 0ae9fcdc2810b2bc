/* Memory copies and fills: a table, and the lines that a profile has for them. */
#ifndef GPUPROF_REPORT_COPIES_H
#define GPUPROF_REPORT_COPIES_H

#include "base/text.h"
#include "profile/record.h"

#include <stdbool.h>

struct json_t;
struct gp_writer;

/* Arrays have GP_COPY_KINDS elements. */

/* "HtoD", as nvprof has it: "[CUDA memcpy HtoD]". */
const char *gp_copies_name(enum gp_copy_kind kind);

/* Appends the report's table; nothing where there were none. */
void gp_copies_table(const struct gp_copies *totals, struct gp_text *out);

/* Lines of the type "copies". */
void gp_copies_write(const struct gp_copies *totals, struct gp_writer *writer);

/* Adds such a line up; false where it is none, or makes no sense. */
bool gp_copies_add(struct gp_copies *totals, const char *type, const struct json_t *line);

#endif
