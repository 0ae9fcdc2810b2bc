/* The blanks that JSON allows between its parts; gpuprof writes none, other programs do. */
#ifndef GPUPROF_PROFILE_BLANKS_H
#define GPUPROF_PROFILE_BLANKS_H

#include <stdbool.h>

static inline bool gp_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The first byte that is none; `end` where there is none. */
static inline const char *gp_skip_blanks(const char *at, const char *end)
{
    while (at < end && gp_is_blank(*at))
        at++;
    return at;
}

#endif
