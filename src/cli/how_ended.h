/* Lines on processes that did not come to their end, for commands that show a profile as it is. */
#ifndef GPUPROF_CLI_HOW_ENDED_H
#define GPUPROF_CLI_HOW_ENDED_H

#include "base/text.h"

#include <stdbool.h>

struct cli_how_ended {
    const char *path;      /* of the profile that is read */
    struct gp_text *notes; /* gets the lines */
    bool torn;             /* a part of a line is missing: the profile was not read completely */
};

/* For the visitor's functions of the same names. */
void cli_note_unfinished(struct cli_how_ended *e, const char *why, bool torn);
void cli_note_given_up(struct cli_how_ended *e, const char *why);

#endif
