/* Where a profile goes: a file, as it is or compressed. Owns the compression. */
#ifndef GPUPROF_PROFILE_SINK_H
#define GPUPROF_PROFILE_SINK_H

#include "base/output.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct gp_sink {
    const struct gp_output *file;
    struct ZSTD_CCtx_s *compression; /* NULL: none */
    struct gp_text packed;           /* scratch */
    uint64_t written;                /* bytes */
};

/* Whether a file of that name is to be compressed. */
bool gp_sink_compresses(const char *path);

/* The file stays the caller's. False when out of memory. */
bool gp_sink_open(struct gp_sink *sink, const struct gp_output *file, bool compressed);

/* Writes all of it, so that a reader of the file has it. 0 or an errno value. */
int gp_sink_write(struct gp_sink *sink, const char *bytes, size_t length);

/* Ends the compressed data; a later write begins anew behind them. 0 or an errno value. */
int gp_sink_finish(struct gp_sink *sink);
void gp_sink_free(struct gp_sink *sink);

#endif
