/* Lines on processes that did not come to their end, for commands that show a profile as it is. */
#ifndef GPUPROF_CLI_HOW_ENDED_H
#define GPUPROF_CLI_HOW_ENDED_H

#include "base/text.h"
#include "profile/reader.h"

#include <stdbool.h>

struct cli_how_ended {
    const char *path;      /* of the profile that is read */
    struct gp_text *notes; /* gets the lines */
    uint64_t left_out;     /* launches without a line of their own */
    bool torn;             /* a part of a line is missing: the profile was not read completely */
};

/* For the visitor's functions of the same names. */
void cli_note_unfinished(struct cli_how_ended *e, const struct gp_unfinished *process);
void cli_note_given_up(struct cli_how_ended *e, const char *why);

/* For the end of a profile: a line where launches of it have none of their own. */
void cli_note_left_out(const struct cli_how_ended *e);

/* Adds how much is known of the launches of a process that did not come to its end: "of its 64
 * launches 10 are measured, 2 in part, 50 have only their time, 2 have no time". Nothing where all
 * are measured, or their number is not known; else `before` stands in front. */
void cli_add_missing(const struct gp_unfinished *process, const char *before, struct gp_text *out);

/* Adds that behind the reason why it is not known whether there are more. */
void cli_add_unfinished(const struct gp_unfinished *process, struct gp_text *out);

#endif
