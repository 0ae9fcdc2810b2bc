/* What to do about it: rules over a kernel's numbers. Owns the rules; calls base/text and
 * report/rows. The rules are those of Zheng, Zhai, Li, Chen 2016, and one on tensor cores. */
#ifndef GPUPROF_REPORT_ADVICE_H
#define GPUPROF_REPORT_ADVICE_H

#include "report/rows.h"

/* Calls `take` with one sentence for each rule that a row meets, with the numbers that made it.
 * Returns how many there were. */
size_t gp_advice(const struct gp_rows *rows, const struct gp_row *row,
                 void (*take)(void *user, const char *sentence), void *user);

#endif
