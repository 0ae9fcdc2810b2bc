#include "profile/sink.h"

#include <errno.h>
#include <string.h>
#include <zstd.h>

/* A quarter of a MB in the program's memory; lines are alike within that. */
#define LEVEL 3
#define WINDOW_LOG 18

bool gp_sink_compresses(const char *path)
{
    static const char ending[] = ".zst";
    size_t length = strlen(path);
    return length >= sizeof(ending) - 1 && strcmp(path + length + 1 - sizeof(ending), ending) == 0;
}

bool gp_sink_open(struct gp_sink *sink, const struct gp_output *file, bool compressed)
{
    *sink = (struct gp_sink){.file = file};
    if (!compressed)
        return true;
    sink->compression = ZSTD_createCCtx();
    if (sink->compression &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(sink->compression, ZSTD_c_compressionLevel, LEVEL)) &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(sink->compression, ZSTD_c_windowLog, WINDOW_LOG)))
        return true;
    gp_sink_free(sink);
    return false;
}

/* It waits a second for a slow reader. */
static int write_out(struct gp_sink *sink, const char *bytes, size_t length)
{
    int wait_ms = GP_OUTPUT_WAIT_MS;
    sink->written += length;
    return gp_output_write(sink->file, bytes, length, &wait_ms);
}

/* Compresses so that a reader gets all of it, and writes that at once. */
static int pack(struct gp_sink *sink, const char *bytes, size_t length, ZSTD_EndDirective end)
{
    ZSTD_inBuffer in = {.src = bytes, .size = length};
    size_t left;
    gp_text_clear(&sink->packed);
    do {
        char part[1024];
        ZSTD_outBuffer out = {.dst = part, .size = sizeof(part)};
        left = ZSTD_compressStream2(sink->compression, &out, &in, end);
        if (ZSTD_isError(left))
            return ENOMEM;
        gp_text_add_bytes(&sink->packed, part, out.pos);
    } while (left > 0);
    if (sink->packed.failed)
        return ENOMEM;
    return write_out(sink, sink->packed.data, sink->packed.length);
}

int gp_sink_write(struct gp_sink *sink, const char *bytes, size_t length)
{
    if (length == 0)
        return 0;
    return sink->compression ? pack(sink, bytes, length, ZSTD_e_flush)
                             : write_out(sink, bytes, length);
}

int gp_sink_finish(struct gp_sink *sink)
{
    return sink->compression ? pack(sink, "", 0, ZSTD_e_end) : 0;
}

void gp_sink_free(struct gp_sink *sink)
{
    ZSTD_freeCCtx(sink->compression);
    gp_text_free(&sink->packed);
    *sink = (struct gp_sink){.file = NULL};
}
