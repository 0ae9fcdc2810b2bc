/* Where a kernel comes from: a library, a framework, the program itself. */
#ifndef GPUPROF_REPORT_ORIGIN_H
#define GPUPROF_REPORT_ORIGIN_H

#include <stdbool.h>

struct gp_lines;

enum gp_origin {
    GP_OF_PROGRAM,
    GP_OF_LIBRARIES, /* cuBLAS, cuDNN, CUTLASS, ...: they come compiled */
    GP_OF_NCCL,
    GP_OF_PYTORCH,
    GP_OF_TRITON,
    GP_OF_XLA,
    GP_OF_CUPY,
    GP_OF_NUMBA,
    GP_OF_CUB, /* and Thrust */
    GP_ORIGINS
};

/* By its names, mangled and demangled, and the file in which its source lies (lines: NULL, not
 * known). */
enum gp_origin gp_origin_of(const char *kernel, const char *full_name,
                            const struct gp_lines *lines);

/* True where the kernel comes ready made: the program's author chooses its inputs, and does not
 * change its code. Kernels of CUB and Thrust run the program's own functions. */
bool gp_origin_is_ready_made(enum gp_origin origin);

/* "libraries", "PyTorch", "the program's own". */
const char *gp_origin_title(enum gp_origin origin);

#endif
