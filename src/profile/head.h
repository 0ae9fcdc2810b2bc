/* The part of a profile's first line that says which run it belongs to. */
#ifndef GPUPROF_PROFILE_HEAD_H
#define GPUPROF_PROFILE_HEAD_H

#include "profile/source.h"

#include <stdbool.h>

struct gp_head {
    char run[64];    /* its id; empty: a version before runs wrote it */
    unsigned number; /* of the file among those of its run; 1: it has the name that was asked for */
    long pid;
};

/* False where no profile begins there. */
bool gp_head_read(struct gp_source *source, struct gp_head *head);
/* Reads the head of a regular file, which is not waited for. False where no profile begins there.
 */
bool gp_head_of_file(const char *path, struct gp_head *head);

#endif
