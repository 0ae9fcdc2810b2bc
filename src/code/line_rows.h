/* The rows of .debug_line, decoded. Owns them; names stay in the cubin.
 *
 * It is DWARF 2 with one addition of NVIDIA's, found out by comparing with nvdisasm -gi: extended
 * opcode 0x90 has two numbers, the row of the call through which the next rows were inlined
 * (counted from 1 in its sequence; 0: not inlined), and where the function's name begins in
 * .debug_str, behind a base that stands in 4 bytes at the end of the header. */
#ifndef GPUPROF_CODE_LINE_ROWS_H
#define GPUPROF_CODE_LINE_ROWS_H

#include "code/cubin.h"

#include <stddef.h>
#include <stdint.h>

struct gp_line_file {
    const char *directory, *name;
};

struct gp_line_row {
    uint64_t address;
    uint32_t line;
    uint32_t file;     /* index into files, 0: none */
    uint32_t context;  /* the row of the call, from 1 in its sequence; 0: none */
    uint32_t function; /* where its name begins in .debug_str, ~0: none */
};

/* One function's rows. */
struct gp_line_sequence {
    uint64_t begin, end; /* in the section */
    unsigned section;
    size_t first, count; /* rows */
};

/* Begins as all zero. */
struct gp_line_rows {
    const char *strings; /* .debug_str */
    size_t strings_size;
    struct gp_line_file *files; /* of all units */
    size_t file_count, file_capacity;
    struct gp_line_row *rows;
    size_t row_count, row_capacity;
    struct gp_line_sequence *sequences; /* sorted by section and address */
    size_t sequence_count, sequence_capacity;
};

/* Reads all rows up to the first damage; none where the cubin has no line table. */
void gp_line_rows_read(struct gp_line_rows *rows, const struct gp_cubin *cubin);
void gp_line_rows_free(struct gp_line_rows *rows);

#endif
