/* What the instructions of a kernel counted, and where in the source they stand. Owns what it was
 * given; calls base/ and report/rules. */
#ifndef GPUPROF_REPORT_LINES_H
#define GPUPROF_REPORT_LINES_H

#include "report/rules.h"

struct gp_lines;

/* What one launch of the kernel counts of that in the mean; for `local`, `fp64` and `matrix`, how
 * many such instructions its code has. NAN: it was not counted, or the code is not known. */
double gp_lines_total(const struct gp_lines *lines, enum gp_weight weight);

/* Where most of that is: "file.cu:12", or "kernel+0x1a0" where there is no line information. False
 * where nothing is known. */
bool gp_lines_place(const struct gp_lines *lines, enum gp_weight weight, struct gp_text *out);

#endif
