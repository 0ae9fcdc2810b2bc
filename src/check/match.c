#include "check/match.h"

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

char *gp_name_skeleton(const char *name)
{
    static const char anonymous[] = "(anonymous namespace)";
    char *skeleton = malloc(strlen(name) + 1), *out = skeleton;
    if (!skeleton)
        return NULL;
    int depth = 0;
    for (const char *p = name; *p; p++) {
        size_t hash = depth == 0 && (p == name || !isalnum((unsigned char)p[-1])) ? hash_at(p) : 0;
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

struct rest {
    const struct gp_subject *subject;
    char *skeleton;
    bool taken;
};

struct matching {
    struct gp_match *matches;
    size_t count;
    struct rest *a, *b; /* kernels without a match so far */
    size_t a_count, b_count;
};

static void add(struct matching *m, enum gp_match_kind kind, const struct gp_subject *a,
                const struct gp_subject *b)
{
    m->matches[m->count++] = (struct gp_match){.kind = kind, .a = a, .b = b};
}

/* Both sides are sorted: as one merges two lists. */
static void match_same(struct matching *m, const struct gp_side *a, const struct gp_side *b)
{
    size_t i = 0, k = 0;
    while (i < a->count || k < b->count) {
        int order = i == a->count   ? 1
                    : k == b->count ? -1
                                    : gp_subject_compare(&a->subjects[i], &b->subjects[k]);
        if (order == 0)
            add(m, GP_MATCH_SAME, &a->subjects[i++], &b->subjects[k++]);
        else if (order < 0)
            m->a[m->a_count++].subject = &a->subjects[i++];
        else
            m->b[m->b_count++].subject = &b->subjects[k++];
    }
}

static bool alike(const struct rest *x, const struct rest *y, bool by_name)
{
    return strcmp(by_name ? x->subject->name : x->skeleton,
                  by_name ? y->subject->name : y->skeleton) == 0;
}

/* Those left over that are alike, where there is one of them on either side. */
static void match_rest(struct matching *m, bool by_name, enum gp_match_kind kind)
{
    for (size_t i = 0; i < m->a_count; i++) {
        struct rest *x = &m->a[i], *found = NULL;
        size_t of_a = 0, of_b = 0;
        for (size_t k = 0; k < m->a_count && !x->taken; k++)
            of_a += !m->a[k].taken && alike(&m->a[k], x, by_name);
        for (size_t k = 0; k < m->b_count && of_a == 1; k++) {
            if (m->b[k].taken || !alike(&m->b[k], x, by_name))
                continue;
            found = &m->b[k];
            of_b++;
        }
        if (of_b != 1)
            continue;
        x->taken = found->taken = true;
        add(m, kind, x->subject, found->subject);
    }
}

static bool find_skeletons(struct rest *rest, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        rest[i].skeleton = gp_name_skeleton(rest[i].subject->name);
        if (!rest[i].skeleton)
            return false;
    }
    return true;
}

static void free_rest(struct rest *rest, size_t count)
{
    for (size_t i = 0; rest && i < count; i++)
        free(rest[i].skeleton);
    free(rest);
}

struct gp_match *gp_match_sides(const struct gp_side *a, const struct gp_side *b, size_t *count)
{
    struct matching m = {
        .matches = calloc(a->count + b->count + 1, sizeof(*m.matches)),
        .a = calloc(a->count + 1, sizeof(*m.a)),
        .b = calloc(b->count + 1, sizeof(*m.b)),
    };
    bool made = m.matches && m.a && m.b;
    if (made) {
        match_same(&m, a, b);
        made = find_skeletons(m.a, m.a_count) && find_skeletons(m.b, m.b_count);
    }
    if (made) {
        match_rest(&m, true, GP_MATCH_CHANGED);
        match_rest(&m, false, GP_MATCH_PROPOSED);
        for (size_t i = 0; i < m.a_count; i++)
            if (!m.a[i].taken)
                add(&m, GP_MATCH_GONE, m.a[i].subject, NULL);
        for (size_t i = 0; i < m.b_count; i++)
            if (!m.b[i].taken)
                add(&m, GP_MATCH_NEW, NULL, m.b[i].subject);
    } else {
        free(m.matches);
        m.matches = NULL;
    }
    *count = m.count;
    free_rest(m.a, m.a_count);
    free_rest(m.b, m.b_count);
    return m.matches;
}
