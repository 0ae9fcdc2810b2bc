/* The line table of a cubin: from the offset of an instruction to file and line, with the chain of
 * calls through which it was inlined. Made by -lineinfo, -G, or by the .loc lines of PTX. Owns the
 * decoded rows. Takes any bytes: damaged parts are left out. */
#ifndef GPUPROF_CODE_LINE_TABLE_H
#define GPUPROF_CODE_LINE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gp_line_table;

/* The deepest chain of calls that is followed. */
#define GP_MOST_FRAMES 64

struct gp_frame {
    const char *directory; /* "" where the file's name says it all */
    const char *file;
    unsigned line;
    const char *function; /* mangled, that was inlined; NULL for the outermost */
};

/* Decodes the rows of all functions in a cubin, which must stay while the table is used. NULL with
 * the reason in *why, a string that lives for ever. */
struct gp_line_table *gp_line_table_open(const void *cubin, size_t size, const char **why);
void gp_line_table_close(struct gp_line_table *t);

/* Finds the source lines of the instruction at `offset` of the function, innermost first. Returns
 * the number of frames, 0 where the line is not known. */
size_t gp_line_table_find(const struct gp_line_table *t, const char *function, uint64_t offset,
                          struct gp_frame *frames, size_t most);

#endif
