#include "check/skeleton.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SHORTEST_HASH 6 /* hexadecimal digits in a row, a decimal one among them */

/* How many letters of a hash stand at `s`; 0 where there is none. */
static size_t hash_at(const char *s)
{
    size_t length = 0;
    bool digit = false;
    while (isxdigit((unsigned char)s[length])) {
        digit |= isdigit((unsigned char)s[length]) != 0;
        length++;
    }
    return length >= SHORTEST_HASH && digit ? length : 0;
}

/* Behind "_", as in "triton_poi_fused_add_3": how many digits there are. */
static size_t triton_number_at(const char *name, const char *s)
{
    size_t length = strspn(s, "0123456789");
    bool whole = s > name && s[-1] == '_' && (s[length] == '_' || !s[length]);
    return whole && strncmp(name, "triton_", 7) == 0 ? length : 0;
}

char *gp_name_skeleton(const char *name)
{
    static const char anonymous[] = "(anonymous namespace)";
    char *skeleton = malloc(strlen(name) + 1), *out = skeleton;
    if (!skeleton)
        return NULL;
    int depth = 0;
    for (const char *p = name; *p; p++) {
        size_t hash = depth == 0 && (p == name || !isalnum((unsigned char)p[-1])) ? hash_at(p) : 0;
        if (depth == 0 && triton_number_at(name, p) > 0)
            hash = triton_number_at(name, p);
        if (strncmp(p, anonymous, sizeof(anonymous) - 1) == 0) {
            p += sizeof(anonymous) - 2;
        } else if (*p == '<') {
            depth++;
        } else if (*p == '>' && depth > 0) {
            depth--;
        } else if (depth > 0) {
            continue;
        } else if (*p == '(') {
            break;
        } else if (*p == ' ') {
            out = skeleton; /* the text before it is the return type */
        } else if (hash > 0) {
            *out++ = '#';
            p += hash - 1;
        } else {
            *out++ = *p;
        }
    }
    *out = '\0';
    return skeleton;
}

bool gp_skeleton_is_numbered(const char *skeleton)
{
    return strchr(skeleton, '#') != NULL;
}
