/* The functions of an image that may print: a replay of theirs would print again. Others of the
 * same module may run as often as is wanted. */
#ifndef GPUPROF_CODE_PRINTING_H
#define GPUPROF_CODE_PRINTING_H

#include "code/cubin.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The function of the device's runtime that prints. */
#define GP_PRINTS "vprintf"

typedef void gp_printing_visit(const char *function, size_t length, void *data);

/* Calls visit for each function of the cubin that calls it, by itself, through others or through a
 * pointer that may lead to any function. False where that is not to be had: any may print. */
bool gp_cubin_printing(const struct gp_cubin *cubin, gp_printing_visit *visit, void *data);

/* Calls visit for each function of PTX that calls GP_PRINTS, as gp_cubin_printing does. False where
 * that is not to be had: any may print. */
bool gp_ptx_printing(const char *text, const char *end, gp_printing_visit *visit, void *data);

/* A call among numbered functions. */
struct gp_call {
    uint32_t caller, callee;
};

/* Marks the callers of marked functions, and their callers. `marks` has an entry for each number.
 * False for a chain of calls that is longer than any program's. */
bool gp_mark_callers(const struct gp_call *calls, size_t count, bool *marks);

#endif
