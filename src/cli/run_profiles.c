#include "cli/run_profiles.h"

#include "base/pattern.h"
#include "base/text.h"

#include <fcntl.h>
#include <glob.h>
#include <string.h>
#include <unistd.h>

static void add_escaped(const char *s, struct gp_text *out)
{
    for (; *s; s++) {
        if (strchr("*?[\\", *s))
            gp_text_add(out, "\\");
        gp_text_add_bytes(out, s, 1);
    }
}

/* The length of the pattern's begin that is filled in without a process. */
static size_t without_process(const char *pattern)
{
    size_t length = 0;
    while (pattern[length] && strncmp(pattern + length, "%p", 2) != 0) {
        if (pattern[length] == '%' && pattern[length + 1])
            length += pattern[length + 1] == 'q' ? strcspn(pattern + length, "}") : 1;
        length += pattern[length] != '\0';
    }
    return length;
}

/* The pattern as a glob: a process id may be any, the rest is filled in. */
static bool add_glob(const char *pattern, struct gp_text *out)
{
    char why[256];
    bool understood = true;
    while (*pattern && understood) {
        struct gp_text part = {0}, filled = {0};
        const size_t length = without_process(pattern);
        gp_text_add_bytes(&part, pattern, length);
        understood = gp_pattern_expand(gp_text_string(&part), &filled, why, sizeof(why));
        add_escaped(gp_text_string(&filled), out);
        pattern += length;
        if (*pattern) {
            gp_text_add(out, "*");
            pattern += 2;
        }
        gp_text_free(&part);
        gp_text_free(&filled);
    }
    return understood && !out->failed;
}

void cli_find_profiles(const char *pattern, const char *run, struct gp_run_files *files)
{
    struct gp_text text = {0};
    glob_t found = {0};
    *files = (struct gp_run_files){0};
    if (pattern[without_process(pattern)]) {
        if (add_glob(pattern, &text) &&
            glob(gp_text_string(&text), 0, NULL, &found) == GLOB_NOSPACE)
            files->failed = true;
        for (size_t i = 0; i < found.gl_pathc; i++)
            gp_run_files_add(files, found.gl_pathv[i], run);
        globfree(&found);
    } else {
        char why[256];
        if (gp_pattern_expand(pattern, &text, why, sizeof(why)))
            gp_run_files_beside(gp_text_string(&text), run, files);
    }
    gp_text_free(&text);
}

bool cli_is_being_written(const char *path)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const bool locked = fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    if (fd >= 0)
        close(fd);
    return locked;
}
