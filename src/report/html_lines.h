/* The lines of a kernel's source with their counts, as a part of a page's data. */
#ifndef GPUPROF_REPORT_HTML_LINES_H
#define GPUPROF_REPORT_HTML_LINES_H

#include "base/text.h"
#include "report/lines.h"

/* Bytes for the lines of all kernels; those behind get few lines, so that a page stays small. */
#define GP_HTML_LINES_ROOM 2000000

/* Appends `"source":` with the lines that counted most, in order of file and line: where, counts of
 * one launch in the mean by name, and the text, where the file is there and the kernel has one.
 * `lines` may be NULL: then it is null. Subtracts its bytes from *room. */
void gp_html_lines(const struct gp_lines *lines, size_t *room, struct gp_text *out);

#endif
