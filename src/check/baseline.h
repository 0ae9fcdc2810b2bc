/* Baselines: one side of a comparison as a file that is committed: small, sorted, a line to a
 * metric. docs/ci.md describes it. */
#ifndef GPUPROF_CHECK_BASELINE_H
#define GPUPROF_CHECK_BASELINE_H

#include "base/text.h"
#include "check/side.h"

#define GP_BASELINE_FORMAT 1

void gp_baseline_write(const struct gp_side *side, struct gp_text *out);

/* Fills `side`, which is all zero. False with "file: the mistake" in `why`; the side is then to be
 * freed as well. */
bool gp_baseline_read(const char *path, struct gp_side *side, char *why, size_t why_size);
bool gp_baseline_parse(const char *file, const char *text, size_t length, struct gp_side *side,
                       char *why, size_t why_size);

#endif
