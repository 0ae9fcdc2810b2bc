/* Which kernels a section is for: a glob or a regular expression on their names. Owns the compiled
 * pattern. */
#ifndef GPUPROF_CHECK_SELECTOR_H
#define GPUPROF_CHECK_SELECTOR_H

#include "base/regex.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* The names of one kernel. */
struct gp_kernel_names {
    const char *mangled;
    char *full;  /* vectorAdd(int const*, int) */
    char *brief; /* vectorAdd */
};

/* False when out of memory; free in both cases. */
bool gp_kernel_names_find(const char *mangled, struct gp_kernel_names *names);
void gp_kernel_names_free(struct gp_kernel_names *names);

/* The brief name out of the full one, as far as it can be seen: without return type and parameters.
 * To be freed; NULL when out of memory. */
char *gp_kernel_name_brief(const char *full);

struct gp_selector {
    char *text;             /* as it was written */
    struct gp_regex *regex; /* NULL: a glob */
    bool too_hard;          /* some name could not be compared within the time it may take */
};

/* A glob (`*`, `?`, `[...]`), or a regular expression (Perl's syntax) behind "regex:". False with
 * the reason in `why`. */
bool gp_selector_parse(const char *text, struct gp_selector *selector, char *why, size_t why_size);
void gp_selector_free(struct gp_selector *selector);

/* A section that matches none of the kernels: one line on it, with the name most like it among
 * their brief names. */
void gp_selector_note_unmatched(const struct gp_selector *selector, const char *file, int line,
                                const char *const *brief, size_t count, struct gp_text *notes);

/* A glob has to match the whole of one of the names, or be one, letter by letter (names may have
 * brackets in them); a regular expression a part of one. */
bool gp_selector_matches(struct gp_selector *selector, const struct gp_kernel_names *names);

#endif
