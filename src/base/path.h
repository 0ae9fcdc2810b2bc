/* File names: the folder of one, and whether two of them name one file. */
#ifndef GPUPROF_BASE_PATH_H
#define GPUPROF_BASE_PATH_H

#include "base/text.h"

#include <stdbool.h>

/* Adds the folder that a file name begins with, "." where it has none. */
void gp_add_folder_of(const char *path, struct gp_text *out);

/* Adds the name of a file or folder yet to be made where temporary ones are kept, ending in XXXXXX
 * as mkstemp and mkdtemp want it. */
void gp_add_temporary(const char *name, struct gp_text *out);

/* True where writing to both names would be writing to one file, whether it is there already or has
 * yet to be made, by any spelling or link. Never so of a device (/dev/null, a terminal). */
bool gp_is_same_file(const char *a, const char *b);

#endif
