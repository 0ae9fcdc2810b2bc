/* The lines of a kernel's source with their counts, as a part of a page's data. */
#ifndef GPUPROF_REPORT_HTML_LINES_H
#define GPUPROF_REPORT_HTML_LINES_H

#include "base/text.h"
#include "report/lines.h"

/* Appends `"source":` with the lines that counted most, in order of file and line: where, counts of
 * one launch in the mean by name, and the text, where the file is there and the kernel has one.
 * `lines` may be NULL: then it is null. */
void gp_html_lines(const struct gp_lines *lines, struct gp_text *out);

#endif
