/* The line of a program's own source that an instruction belongs to, where its code was inlined
 * from a header or a library. Pure. */
#ifndef GPUPROF_REPORT_OWN_LINE_H
#define GPUPROF_REPORT_OWN_LINE_H

#include "base/text.h"
#include "code/line_table.h"

/* The frame, of those of an instruction (innermost first, `count` at least 1), that the program's
 * author knows: the innermost one in the file of the kernel itself, as a line of a header says
 * little to its caller, and the outermost frame may be several calls away. Where the kernel itself
 * is in a header (CUTLASS, CUB, PyTorch's loops), the innermost one in a file that is compiled by
 * itself, else outside of libraries, if there is one: of the functor that was passed. */
const struct gp_frame *gp_own_frame(const struct gp_frame *frames, size_t count);

/* The name of a file without its folders. */
const char *gp_base_name(const char *path);

/* Appends "file.cu:12"; "file.cu:12 (header.h:34)" where that was inlined from another file. */
void gp_own_line_text(const struct gp_frame *own, const struct gp_frame *innermost,
                      struct gp_text *out);

#endif
