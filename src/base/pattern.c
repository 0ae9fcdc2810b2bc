#include "base/pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_host(struct gp_text *out)
{
    char host[256] = "";
    if (gethostname(host, sizeof(host) - 1) != 0 || !host[0])
        strcpy(host, "localhost");
    gp_text_add(out, host);
}

/* `p` stands behind "%q". Returns where to go on, NULL with the reason in `why`. */
static const char *add_variable(const char *p, struct gp_text *out, char *why, size_t why_size)
{
    const char *end = *p == '{' ? strchr(p, '}') : NULL;
    if (!end || end == p + 1) {
        snprintf(why, why_size, "'%%q' must be followed by a variable's name in braces: %%q{NAME}");
        return NULL;
    }
    char *name = strndup(p + 1, (size_t)(end - p - 1));
    if (!name) {
        snprintf(why, why_size, "out of memory");
        return NULL;
    }
    const char *value = secure_getenv(name);
    if (value)
        gp_text_add(out, value);
    else
        snprintf(why, why_size, "'%%q{%s}': there is no environment variable %s", name, name);
    free(name);
    return value ? end + 1 : NULL;
}

bool gp_pattern_expand(const char *pattern, struct gp_text *out, char *why, size_t why_size)
{
    return gp_pattern_expand_for(getpid(), pattern, out, why, why_size);
}

bool gp_pattern_expand_for(long process, const char *pattern, struct gp_text *out, char *why,
                           size_t why_size)
{
    for (const char *p = pattern; *p;) {
        size_t plain = strcspn(p, "%");
        gp_text_add_bytes(out, p, plain);
        p += plain;
        if (!*p)
            break;
        switch (p[1]) {
        case 'p':
            gp_text_addf(out, "%ld", process);
            p += 2;
            break;
        case 'h':
            add_host(out);
            p += 2;
            break;
        case '%':
            gp_text_add(out, "%");
            p += 2;
            break;
        case 'q':
            p = add_variable(p + 2, out, why, why_size);
            if (!p)
                return false;
            break;
        default:
            snprintf(why, why_size, "'%.2s' is none of %%p (process), %%h (host), %%q{NAME}, %%%%",
                     p);
            return false;
        }
    }
    if (out->failed) {
        snprintf(why, why_size, "out of memory");
        return false;
    }
    return true;
}
