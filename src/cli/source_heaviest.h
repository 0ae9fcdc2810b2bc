/* The lines of a kernel that have most of something, in front of its annotated source. */
#ifndef GPUPROF_CLI_SOURCE_HEAVIEST_H
#define GPUPROF_CLI_SOURCE_HEAVIEST_H

#include "base/text.h"
#include "report/by_line.h"

/* A line of text for each count that is there: "wasted sectors   71 % a.cu:12, 20 % a.cu:14".
 * Nothing where no line of the source is known. */
void cli_add_heaviest(const struct gp_lines *lines, const struct gp_by_line *by_line,
                      struct gp_text *out);

#endif
