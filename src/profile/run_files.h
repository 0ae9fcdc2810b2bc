/* The names of the files of one run: the first process that launches a kernel has the name that was
 * asked for, the others have one beside it: run.jsonl, run.002.jsonl, run.003.jsonl. */
#ifndef GPUPROF_PROFILE_RUN_FILES_H
#define GPUPROF_PROFILE_RUN_FILES_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

#define GP_MOST_RUN_FILES 100000u

/* Adds the name with that number, from 1, beside the one that was asked for. */
void gp_add_run_file(const char *path, unsigned number, struct gp_text *out);

/* Paths in the order of their numbers. Owns them. */
struct gp_run_files {
    char **list;
    size_t count;
    bool failed; /* out of memory: some are missing */
};

/* The file, and where it is the first of its run all others of that. A file that is no profile, or
 * is no regular file, is alone. To be freed in any case. */
void gp_run_files_of(const char *path, struct gp_run_files *files);
void gp_run_files_free(struct gp_run_files *files);

/* Adds the file where it is of that run; the same of all that have a name beside it, in order. */
void gp_run_files_add(struct gp_run_files *files, const char *path, const char *run);
void gp_run_files_beside(const char *path, const char *run, struct gp_run_files *files);

/* True where reading the first reads the second as well, which is another file of its run. */
bool gp_run_file_leads_to(const char *first, const char *second);

#endif
