/* Text of regular files whose names come from elsewhere: from a profile, say. */
#ifndef GPUPROF_BASE_TEXT_FILE_H
#define GPUPROF_BASE_TEXT_FILE_H

#include <stddef.h>

/* All of the file, with a NUL behind it, to be freed; *length is without that. Nothing is waited
 * for. The size is that at the beginning: files of /proc have none and are empty. NULL with the
 * reason in `why`, without the path: it is not there, not regular, larger than `most` bytes, or no
 * text, as there is a NUL in it. */
char *gp_text_file_read(const char *path, size_t most, size_t *length, char *why, size_t why_size);

#endif
