#include "cli/how_ended.h"

#include "base/escape.h"

#include <inttypes.h>
#include <string.h>

void cli_add_missing(const struct gp_unfinished *p, const char *before, struct gp_text *out)
{
    const uint64_t untimed = p->launches - p->whole - p->partly - p->timed;
    if (p->launches == 0 || p->whole == p->launches)
        return;
    gp_text_addf(out, "%sof its %" PRIu64 " launches %" PRIu64 " are measured", before, p->launches,
                 p->whole);
    if (p->partly > 0)
        gp_text_addf(out, ", %" PRIu64 " in part", p->partly);
    if (p->timed > 0)
        gp_text_addf(out, ", %" PRIu64 " have only their time", p->timed);
    if (untimed > 0)
        gp_text_addf(out, ", %" PRIu64 " have no time", untimed);
}

void cli_add_unfinished(const struct gp_unfinished *process, struct gp_text *out)
{
    gp_text_add(out, process->why);
    cli_add_missing(process, "; ", out);
}

static void add_line(const struct cli_how_ended *e, const char *path, const char *before,
                     const char *why)
{
    gp_text_add_escaped(e->notes, path, strlen(path));
    gp_text_addf(e->notes, ": %s%s\n", before, why);
}

/* The reader has a line of its own on a torn file. */
void cli_note_unfinished(struct cli_how_ended *e, const struct gp_unfinished *process)
{
    struct gp_text why = {0};
    e->torn |= process->torn;
    if (process->torn)
        cli_add_missing(process, "", &why);
    else
        cli_add_unfinished(process, &why);
    if (why.length > 0)
        add_line(e, process->path, "", gp_text_string(&why));
    e->notes->failed |= why.failed;
    gp_text_free(&why);
}

void cli_note_left_out(const struct cli_how_ended *e)
{
    struct gp_text why = {0};
    if (e->left_out == 0)
        return;
    gp_text_addf(&why,
                 "%" PRIu64 " launches have no line of their own, as the profile has a limit "
                 "(--limit-profile): their number and their times are known, for all else the "
                 "launches with a line stand for them",
                 e->left_out);
    add_line(e, e->path, "", gp_text_string(&why));
    gp_text_free(&why);
}

void cli_note_given_up(struct cli_how_ended *e, const char *why)
{
    add_line(e, e->path, "gpuprof stopped measuring: ", why);
}
