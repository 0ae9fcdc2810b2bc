#include "cli/how_ended.h"

#include "base/escape.h"

#include <string.h>

static void add_line(const struct cli_how_ended *e, const char *before, const char *why)
{
    gp_text_add_escaped(e->notes, e->path, strlen(e->path));
    gp_text_addf(e->notes, ": %s%s\n", before, why);
}

/* The reader has a line of its own on a torn file. */
void cli_note_unfinished(struct cli_how_ended *e, const char *why, bool torn)
{
    e->torn |= torn;
    if (!torn)
        add_line(e, "", why);
}

void cli_note_given_up(struct cli_how_ended *e, const char *why)
{
    add_line(e, "gpuprof stopped measuring: ", why);
}
