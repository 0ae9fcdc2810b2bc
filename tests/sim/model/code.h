/*
 * The machine code of the simulated kernels, for images: real encodings (of compute capability 9.0)
 * of the instructions that they execute, at the addresses that counts for single instructions name.
 */
#ifndef GPUSIM_CODE_H
#define GPUSIM_CODE_H

#include <stddef.h>
#include <stdint.h>

#define GPUSIM_INSTRUCTION_BYTES 16

struct gpusim_site;

/* Where the site's first instruction is in its text. */
uint32_t gpusim_code_offset(const struct gpusim_site *site);

/* The kernel's code, to be freed by the caller; NULL where it has none. Also for programs that make
 * images, which find it in the driver by its name. */
void *gpusim_kernel_code(const char *kernel, size_t *bytes);

#endif
