/* The lines of a profile with the counts of single instructions, and those that hold cubins: types
 * "instructions" and "cubin". docs/profile-format.md describes them. */
#ifndef GPUPROF_PROFILE_CODE_LINES_H
#define GPUPROF_PROFILE_CODE_LINES_H

#include "profile/code_counts.h"
#include "profile/writer.h"

#include <stdbool.h>

/* Write one line. False when writing has stopped. */
bool gp_write_instructions(struct gp_writer *w, const struct gp_code_counts *counts);
bool gp_write_cubin(struct gp_writer *w, const struct gp_cubin_image *cubin);

/* The content of such a line; it lives until the call returns. */
struct gp_code_visitor {
    void *user;
    void (*instructions)(void *user, const struct gp_code_counts *counts);
    void (*cubin)(void *user, const struct gp_cubin_image *cubin);
    /* Whether the cubin, of so many bytes, is to be unpacked; NULL: always. */
    bool (*wants_cubin)(void *user, const char *hash, size_t size);
};

/* Reads a line of that type; one of any other is passed over. False with the reason in *why (a
 * string that lives for ever) where it makes no sense. */
bool gp_read_code_line(const char *type, const struct json_t *line,
                       const struct gp_code_visitor *visitor, const char **why);

#endif
