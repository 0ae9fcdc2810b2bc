/* Each string once, for as long as a profile is read. Owns the strings. */
#ifndef GPUPROF_PROFILE_STRINGS_H
#define GPUPROF_PROFILE_STRINGS_H

#include <stdbool.h>

/* All zero holds none. */
struct gp_strings {
    struct gp_string *first;
};

/* The one copy of `text`, NULL when out of memory. *is_new (may be NULL): it was not there. */
const char *gp_strings_keep(struct gp_strings *strings, const char *text, bool *is_new);
void gp_strings_free(struct gp_strings *strings);

#endif
