/* Why the warps of a kernel waited, as a part of a page's data. */
#ifndef GPUPROF_REPORT_HTML_STALLS_H
#define GPUPROF_REPORT_HTML_STALLS_H

#include "base/text.h"
#include "report/lines.h"

/* Appends `"stalls":` with the reasons, and the tree of lines that were inlined in each other; null
 * where there are no samples. `lines` may be NULL. Subtracts its bytes from *room; without room the
 * tree is small. */
void gp_html_stalls(const struct gp_lines *lines, size_t *room, struct gp_text *out);

#endif
