/* The writer's own members, for profile/writer.c and profile/thin.c alone. */
#ifndef GPUPROF_PROFILE_WRITER_INSIDE_H
#define GPUPROF_PROFILE_WRITER_INSIDE_H

#include "base/output.h"
#include "profile/said_lines.h"
#include "profile/sink.h"
#include "profile/thinning.h"
#include "profile/writer.h"

/* Parts of the limit in percent. The file is written anew with fewer launches when it has the
 * first; meanwhile it goes on to grow, to the second by launches, to the third by sums. The rest is
 * for the lines of the process's end. */
#define GP_PERCENT_TO_THIN 60
#define GP_PERCENT_OF_LAUNCHES 75
#define GP_PERCENT_OF_STEP 3 /* of these: with each of them half as many launches get a line */
#define GP_PERCENT_OF_SUMS 90
#define GP_ROOM_FOR_END 1024

struct gp_writer {
    struct gp_output file;
    bool stopped;
    bool unasked;     /* by the user: no message is said on it */
    uint64_t limit;   /* bytes; 0: none */
    uint64_t passing; /* bytes of lines that later ones replace: a new file needs them no more */
    size_t cut;       /* lines for which the limit had no room, beside those of launches */
    struct gp_thinning *thinning;
    bool halved;                  /* fewer launches keep their lines since it is long */
    bool stays;                   /* it cannot be written anew */
    bool must_forget;             /* the next definitions begin anew */
    uint64_t early[GP_MAX_EARLY]; /* launches with an early line alone, where there is a limit */
    size_t early_count;
    char *path;
    const char *why_beside;
    uint64_t devices_written; /* one bit per ordinal */
    struct gp_text header;    /* its line */
    struct gp_sink sink;
    struct gp_said_lines said;
    struct gp_text lines; /* scratch: the line to be written, and the definitions before it */
};

/* Lets fewer launches keep their lines where the file is long, once until it is written anew. */
void gp_writer_halve(struct gp_writer *w);

/* Writes the line of a sum. */
void gp_writer_sum(void *writer, const struct gp_sum *sum);

#endif
