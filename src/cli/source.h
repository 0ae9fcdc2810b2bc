/* `gpuprof source`: the source of a kernel with the counts of its lines. */
#ifndef GPUPROF_CLI_SOURCE_H
#define GPUPROF_CLI_SOURCE_H

#include "profile/reader.h"
#include "report/sources.h"

struct json_t;

/* Takes a line of a profile with the counts of instructions, or with a cubin; a line that makes no
 * sense is passed over, with a message that names its position. Always true, for a visitor of
 * profile/reader.h. */
bool cli_take_code(struct gp_sources *sources, const struct gp_profile_position *position,
                   const char *type, const struct json_t *line);

#endif
