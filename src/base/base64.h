/* Base64, as RFC 4648 has it. */
#ifndef GPUPROF_BASE_BASE64_H
#define GPUPROF_BASE_BASE64_H

#include <stddef.h>

/* The text of the bytes, to be freed; NULL when memory runs out. */
char *gp_base64(const void *bytes, size_t size);

/* The bytes of the text, to be freed; NULL where it is none, or when memory runs out. */
void *gp_base64_read(const char *text, size_t *size);

#endif
