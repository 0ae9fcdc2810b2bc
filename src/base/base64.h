/* Base64, as RFC 4648 has it. */
#ifndef GPUPROF_BASE_BASE64_H
#define GPUPROF_BASE_BASE64_H

#include "base/text.h"

/* Adds the text of the bytes. */
void gp_base64_add(const void *bytes, size_t size, struct gp_text *out);

/* The bytes of the text, to be freed; NULL where it is none, or when out of memory. */
void *gp_base64_read(const char *text, size_t *size);

#endif
