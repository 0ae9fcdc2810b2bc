/* The lines of a source file that a profile names. Owns them. */
#ifndef GPUPROF_REPORT_SOURCE_FILE_H
#define GPUPROF_REPORT_SOURCE_FILE_H

#include <stddef.h>

struct gp_source_file {
    char *text;
    char **lines; /* each a string, without the end of its line */
    size_t count; /* 0: the file is not there, or no source (larger than 16 MiB, no text) */
};

/* Fills `file`, which is all zero or was freed. */
void gp_source_file_read(struct gp_source_file *file, const char *path);
void gp_source_file_free(struct gp_source_file *file);

#endif
