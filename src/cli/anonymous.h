/* Views for strangers: they name no command line, no host and no folder. */
#ifndef GPUPROF_CLI_ANONYMOUS_H
#define GPUPROF_CLI_ANONYMOUS_H

#include "base/text.h"
#include "profile/reader.h"

#include <jansson.h>

/* The header without its command line (no argument) and its host (""). */
struct gp_profile_header cli_anonymous_header(const struct gp_profile_header *header);

/* The name of a file, behind its folders; a part of `path`. */
const char *cli_file_name(const char *path);

/* Leaves the names of files alone of all absolute paths in a text, and of `path`. */
void cli_leave_out_folders(struct gp_text *text, const char *path);

/* Leaves the folders of absolute paths out of each text in an object of jansson's, at any depth.
 * False when out of memory. */
bool cli_leave_out_folders_of(json_t *value);

#endif
