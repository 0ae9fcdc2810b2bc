#include "profile/strings.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

struct gp_string {
    UT_hash_handle hh;
    char text[];
};

const char *gp_strings_keep(struct gp_strings *strings, const char *text, bool *is_new)
{
    size_t length = strlen(text);
    struct gp_string *s = NULL;
    HASH_FIND(hh, strings->first, text, length, s);
    if (is_new)
        *is_new = !s;
    if (s)
        return s->text;
    s = calloc(1, sizeof(*s) + length + 1);
    if (!s)
        return NULL;
    memcpy(s->text, text, length);
    HASH_ADD_KEYPTR(hh, strings->first, s->text, length, s);
    if (s->hh.tbl)
        return s->text;
    free(s);
    return NULL;
}

void gp_strings_free(struct gp_strings *strings)
{
    struct gp_string *s, *next;
    HASH_ITER(hh, strings->first, s, next)
    {
        HASH_DEL(strings->first, s);
        free(s);
    }
}
