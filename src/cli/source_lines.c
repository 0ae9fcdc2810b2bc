#include "cli/source_lines.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *from_here(const char *path, const char *here)
{
    size_t length = strlen(here);
    return length > 1 && strncmp(path, here, length) == 0 && path[length] == '/' ? path + length + 1
                                                                                 : path;
}

void cli_visit_source_lines(const struct gp_sources *sources,
                            void (*take)(void *user, const char *kernel, const char *file,
                                         int line),
                            void *user)
{
    char *here = getcwd(NULL, 0);
    for (size_t i = 0; sources && i < gp_sources_count(sources); i++) {
        const struct gp_lines *lines = gp_sources_at(sources, i);
        unsigned line = 0;
        char *path = gp_lines_begin(lines, &line);
        if (path && line > 0 && line <= INT_MAX)
            take(user, lines->source.kernel, from_here(path, here ? here : ""), (int)line);
        free(path);
    }
    free(here);
}
