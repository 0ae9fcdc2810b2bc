/* SHA-256, as FIPS 180-4 has it: to know bytes again without having them. */
#ifndef GPUPROF_BASE_SHA256_H
#define GPUPROF_BASE_SHA256_H

#include <stddef.h>

#define GP_SHA256_TEXT 65 /* 64 hexadecimal digits and the NUL */

void gp_sha256_text(const void *bytes, size_t size, char text[GP_SHA256_TEXT]);

#endif
