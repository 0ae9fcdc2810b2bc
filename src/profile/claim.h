/* The file that a process writes its profile to. No two processes share one, and none overwrites a
 * profile of its own run, nor one that is being written; an earlier run's is overwritten. */
#ifndef GPUPROF_PROFILE_CLAIM_H
#define GPUPROF_PROFILE_CLAIM_H

#include "base/output.h"
#include "base/text.h"

#include <stdbool.h>

struct gp_claim {
    struct gp_output file; /* empty, and locked while this process lives */
    bool is_programs;      /* its own standard output or error: text stands in it already */
    struct gp_text path;   /* to be freed */
    unsigned number;       /* of the file among those of its run (profile/run_files.h) */
    /* Why it has not the name that was asked for; NULL: it has, or another process of its run was
     * in the same case before. */
    const char *why_beside;
};

/* Locks the file for this process, as the one that it writes its profile to. True where it has the
 * lock, or the file system has none. */
bool gp_claim_lock(int fd);

/* Opens it, for a process of that run (NULL: of none). False with the reason in `why`. */
bool gp_claim_file(const char *path, const char *run, struct gp_claim *claim, char *why,
                   size_t why_size);

#endif
