/* Which kernel launches a user names: a regular expression, or nvprof's
 * CONTEXT:STREAM:NAME:INVOCATION. Owns its text. */
#ifndef GPUPROF_BASE_KERNEL_FILTER_H
#define GPUPROF_BASE_KERNEL_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GP_ANY UINT64_MAX

struct gp_kernel_filter {
    char *name; /* a regular expression that compiles; "" fits every name */
    /* Numbers, or GP_ANY. Contexts count from 1, streams from 1 (0: a default stream), both in the
     * order of their first launch; launches of a kernel count from 1. */
    uint64_t context, stream, invocation;
};

/* "EXPRESSION", "regex:EXPRESSION" (as ncu has it) or "CONTEXT:STREAM:NAME:INVOCATION", where all
 * but NAME are numbers or empty and NAME is an expression, empty or not. False with the reason in
 * `why`. */
bool gp_kernel_filter_parse(const char *text, struct gp_kernel_filter *filter, char *why,
                            size_t why_size);
void gp_kernel_filter_free(struct gp_kernel_filter *filter);

#endif
