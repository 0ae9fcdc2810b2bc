/* Reads a profile line by line, in memory that does not grow with the file. Owns nothing that
 * outlives a call; calls base/. */
#ifndef GPUPROF_PROFILE_READER_H
#define GPUPROF_PROFILE_READER_H

#include "base/text.h"
#include "profile/record.h"

/* What the first line says. */
struct gp_profile_header {
    const char *version; /* of the gpuprof that wrote it */
    const char *host;
    const char *time; /* ISO 8601 */
    long pid;
    size_t argument_count;
    const char *const *command;
    struct gp_settings settings;
};

/* Called in the file's order; any of them may be NULL. What they are given lives until they return.
 * Anything but 0 ends the reading. */
struct gp_profile_visitor {
    void *user;
    int (*header)(void *user, const struct gp_profile_header *header);
    int (*device)(void *user, const struct gp_device *device);
    int (*launch)(void *user, const struct gp_launch *launch);
    int (*count)(void *user, const struct gp_count *count);
};

/* Reads `path` ("-": standard input). Returns 0, a visitor's answer, or -1 with one line
 * "file:line: what is wrong" in `why`. A last line that a crash cut short is dropped, and `notes`
 * (may be NULL) says so. */
int gp_profile_read(const char *path, const struct gp_profile_visitor *visitor,
                    struct gp_text *notes, char *why, size_t why_size);

#endif
