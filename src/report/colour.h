/* Colour for a report that a terminal shows. */
#ifndef GPUPROF_REPORT_COLOUR_H
#define GPUPROF_REPORT_COLOUR_H

#include "base/text.h"

#include <stdbool.h>

/* Whether a report may have colour: on a terminal that knows it (TERM), unless NO_COLOR is set and
 * not empty. */
bool gp_colour_wanted(bool is_terminal);

/* Appends the report line by line, with headings, column heads and gains marked. Without its marks
 * it is the same text. */
void gp_colour(const char *report, struct gp_text *out);

#endif
