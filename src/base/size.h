/* Sizes of memory as users write them. */
#ifndef GPUPROF_BASE_SIZE_H
#define GPUPROF_BASE_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/* "512M", "4G", bytes without a unit: *bytes, with *percent 0. "10%", from 1 to 100: *percent, with
 * *bytes 0. False for anything else; then both stay. Units are powers of 1024. */
bool gp_size_read(const char *text, uint64_t *bytes, unsigned *percent);

/* The limit of a profile: a size without a share, of at least 1M, so that it has room for the lines
 * of kernels. False for anything else. */
bool gp_profile_limit_read(const char *text, uint64_t *bytes);

#endif
