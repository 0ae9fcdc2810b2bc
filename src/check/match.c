#include "check/match.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHORTEST_HASH 6 /* hexadecimal digits in a row, a decimal one among them */
#define MOST_ALIKE 64   /* kernels on one side that are alike; others stay without a match */

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

struct rest {
    const struct gp_subject *subject;
    char *skeleton;
    bool taken, tried;
};

struct matching {
    struct gp_match *matches;
    size_t count;
    struct rest *a, *b; /* kernels without a match so far */
    size_t a_count, b_count;
};

static struct gp_match *add(struct matching *m, enum gp_match_kind kind, const struct gp_subject *a,
                            const struct gp_subject *b)
{
    m->matches[m->count] = (struct gp_match){.kind = kind, .a = a, .b = b};
    return &m->matches[m->count++];
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

static double threads_of(const unsigned grid[3], const unsigned block[3])
{
    double threads = 1;
    for (int i = 0; i < 3; i++)
        threads *= (double)grid[i] * block[i];
    return threads;
}

bool gp_same_threads(const struct gp_subject *a, const struct gp_subject *b)
{
    return threads_of(a->grid, a->block) == threads_of(b->grid, b->block);
}

static double ratio(double a, double b)
{
    return fabs(log10((a + 1) / (b + 1)));
}

/* How unlike two kernels are, by their threads first, then blocks, grids, memory and registers. */
static double distance(const struct gp_subject *a, const struct gp_subject *b)
{
    static const unsigned one[3] = {1, 1, 1};
    double d = 8 * ratio(threads_of(a->grid, a->block), threads_of(b->grid, b->block)) +
               4 * ratio(threads_of(one, a->block), threads_of(one, b->block)) +
               2 * ratio(threads_of(a->grid, one), threads_of(b->grid, one)) +
               ratio(a->shared_dynamic + (double)a->shared_static,
                     b->shared_dynamic + (double)b->shared_static) +
               ratio(a->registers, b->registers);
    for (int i = 0; i < 3; i++)
        d += 0.1 * (a->grid[i] != b->grid[i]) + 0.1 * (a->block[i] != b->block[i]);
    return d;
}

struct alike {
    struct rest *a[MOST_ALIKE], *b[MOST_ALIKE];
    size_t a_count, b_count;
};

static size_t find_alike(struct rest *rest, size_t count, const struct rest *x, bool by_name,
                         struct rest *found[MOST_ALIKE])
{
    size_t of_them = 0;
    for (size_t i = 0; i < count && of_them < MOST_ALIKE; i++)
        if (!rest[i].taken && alike(&rest[i], x, by_name))
            found[of_them++] = &rest[i];
    return of_them;
}

/* The two that are closest and have no match; of equals the first in the order of names. */
static bool find_closest(const struct alike *all, struct rest **a, struct rest **b)
{
    double least = INFINITY;
    for (size_t i = 0; i < all->a_count; i++) {
        for (size_t k = 0; k < all->b_count && !all->a[i]->taken; k++) {
            double d =
                all->b[k]->taken ? INFINITY : distance(all->a[i]->subject, all->b[k]->subject);
            if (d >= least)
                continue;
            least = d;
            *a = all->a[i];
            *b = all->b[k];
        }
    }
    return isfinite(least);
}

/* Whether no other kernel that is alike, on either side, has as many threads as these two. */
static bool is_only_choice(const struct alike *all, const struct gp_subject *a,
                           const struct gp_subject *b)
{
    size_t same = 0;
    for (size_t i = 0; i < all->a_count; i++)
        same += gp_same_threads(all->a[i]->subject, b);
    for (size_t i = 0; i < all->b_count; i++)
        same += gp_same_threads(all->b[i]->subject, a);
    return (all->a_count == 1 && all->b_count == 1) || (gp_same_threads(a, b) && same == 2);
}

/* Those left over that are alike, the closest first. */
static void match_rest(struct matching *m, bool by_name, enum gp_match_kind kind)
{
    for (size_t i = 0; i < m->a_count; i++)
        m->a[i].tried = m->a[i].taken;
    for (size_t i = 0; i < m->a_count; i++) {
        struct alike all;
        struct rest *a = NULL, *b = NULL;
        if (m->a[i].tried)
            continue;
        all.a_count = find_alike(m->a, m->a_count, &m->a[i], by_name, all.a);
        all.b_count = find_alike(m->b, m->b_count, &m->a[i], by_name, all.b);
        for (size_t k = 0; k < all.a_count; k++)
            all.a[k]->tried = true;
        while (find_closest(&all, &a, &b)) {
            a->taken = b->taken = true;
            add(m, kind, a->subject, b->subject)->chosen =
                !is_only_choice(&all, a->subject, b->subject);
        }
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
