#include "check/match.h"

#include "check/closeness.h"
#include "check/kernel_pairs.h"
#include "check/skeleton.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ALIKE 64 /* subjects on one side that are alike; others stay without a match */
/* Code that is less alike is of another kernel, also in the same configuration: one that was
 * written anew keeps the arithmetic of its addresses and bounds, say. */
#define LITTLE_ALIKE 0.1

/* A subject without a match so far. */
struct rest {
    const struct gp_side_kernel *subject;
    struct gp_named_kernel *kernel;
    bool taken, tried;
};

struct matching {
    struct gp_match *matches;
    size_t count;
    struct rest *a, *b;
    size_t a_count, b_count;
    struct gp_named_kernels of_a, of_b;
};

static struct gp_match *add(struct matching *m, enum gp_match_kind kind,
                            const struct gp_side_kernel *a, const struct gp_side_kernel *b)
{
    m->matches[m->count] = (struct gp_match){.kind = kind, .a = a, .b = b, .likeness = NAN};
    return &m->matches[m->count++];
}

static void add_rest(struct rest *rest, size_t *count, struct gp_named_kernel *kernel,
                     const struct gp_side_kernel *subject)
{
    rest[(*count)++] = (struct rest){.subject = subject, .kernel = kernel};
}

/* ---- subjects of kernels that are paired ---- */

static bool is_fact(const struct gp_named_kernel *kernel)
{
    return (kernel->by & (GP_BY_NAME | GP_BY_HAND | GP_BY_CODE)) && !kernel->chosen;
}

/* Both lists are sorted by their configurations: as one merges two. */
static void match_configurations(struct matching *m, struct gp_named_kernel *a,
                                 struct gp_named_kernel *b)
{
    size_t i = 0, k = 0;
    while (i < a->count || k < b->count) {
        int order = i == a->count   ? 1
                    : k == b->count ? -1
                                    : gp_configuration_compare(&a->subjects[i].configuration,
                                                               &b->subjects[k].configuration);
        if (order == 0)
            add(m, is_fact(a) ? GP_MATCH_SAME : GP_MATCH_PROPOSED, &a->subjects[i++],
                &b->subjects[k++])
                ->chosen = a->chosen;
        else if (order < 0)
            add_rest(m->a, &m->a_count, a, &a->subjects[i++]);
        else
            add_rest(m->b, &m->b_count, b, &b->subjects[k++]);
    }
}

static void match_kernels(struct matching *m)
{
    struct gp_named_kernel none = {.count = 0};
    for (size_t i = 0; i < m->of_a.count; i++) {
        struct gp_named_kernel *a = &m->of_a.list[i];
        match_configurations(m, a, a->other ? a->other : &none);
    }
    for (size_t i = 0; i < m->of_b.count; i++)
        if (!m->of_b.list[i].other)
            match_configurations(m, &none, &m->of_b.list[i]);
}

/* ---- the closest of those that are alike ---- */

struct alike {
    struct rest *a[MOST_ALIKE], *b[MOST_ALIKE];
    size_t a_count, b_count;
};

/* Whether two subjects are alike: of one kernel, or with one name but for a compiler's parts. */
typedef bool is_alike(const struct rest *x, const struct rest *y);

static bool is_of_one_kernel(const struct rest *x, const struct rest *y)
{
    return x->kernel == y->kernel || x->kernel == y->kernel->other;
}

static bool has_one_skeleton(const struct rest *x, const struct rest *y)
{
    return strcmp(x->kernel->skeleton, y->kernel->skeleton) == 0;
}

static size_t find_alike(struct rest *rest, size_t count, const struct rest *x, is_alike *alike,
                         struct rest *found[MOST_ALIKE])
{
    size_t of_them = 0;
    for (size_t i = 0; i < count && of_them < MOST_ALIKE; i++)
        if (!rest[i].taken && alike(&rest[i], x))
            found[of_them++] = &rest[i];
    return of_them;
}

/* The two that are closest and have no match; of equals the first in the order of names. */
static bool find_closest(const struct alike *all, struct rest **a, struct rest **b)
{
    double least = INFINITY;
    for (size_t i = 0; i < all->a_count; i++) {
        for (size_t k = 0; k < all->b_count && !all->a[i]->taken; k++) {
            double d = all->b[k]->taken
                           ? INFINITY
                           : gp_subject_distance(all->a[i]->subject, all->b[k]->subject);
            if (d >= least)
                continue;
            least = d;
            *a = all->a[i];
            *b = all->b[k];
        }
    }
    return isfinite(least);
}

/* Whether no other one that is alike, on either side, has as many threads as these two. */
static bool is_only_choice(const struct alike *all, const struct gp_side_kernel *a,
                           const struct gp_side_kernel *b)
{
    size_t same = 0;
    for (size_t i = 0; i < all->a_count; i++)
        same += gp_same_threads(all->a[i]->subject, b);
    for (size_t i = 0; i < all->b_count; i++)
        same += gp_same_threads(all->b[i]->subject, a);
    return (all->a_count == 1 && all->b_count == 1) || (gp_same_threads(a, b) && same == 2);
}

/* Matches the subjects left over that are alike, the closest first. */
static void match_rest(struct matching *m, is_alike *alike)
{
    for (size_t i = 0; i < m->a_count; i++)
        m->a[i].tried = m->a[i].taken;
    for (size_t i = 0; i < m->a_count; i++) {
        struct alike all;
        struct rest *a = NULL, *b = NULL;
        if (m->a[i].tried)
            continue;
        all.a_count = find_alike(m->a, m->a_count, &m->a[i], alike, all.a);
        all.b_count = find_alike(m->b, m->b_count, &m->a[i], alike, all.b);
        for (size_t k = 0; k < all.a_count; k++)
            all.a[k]->tried = true;
        while (find_closest(&all, &a, &b)) {
            const bool proven = a->kernel->other == b->kernel && is_fact(a->kernel);
            a->taken = b->taken = true;
            add(m, proven ? GP_MATCH_CHANGED : GP_MATCH_PROPOSED, a->subject, b->subject)->chosen =
                !is_only_choice(&all, a->subject, b->subject) || (!proven && a->kernel->chosen);
        }
    }
}

/* ---- by the configuration alone ---- */

static bool has_same_configuration(const struct gp_side_kernel *a, const struct gp_side_kernel *b)
{
    return gp_configuration_compare(&a->configuration, &b->configuration) == 0 && a->runs > 0 &&
           b->runs > 0 && a->launches * b->runs == b->launches * a->runs;
}

/* True for a subject left over of a kernel that the other side does not have at all. */
static bool is_without_kernel(const struct rest *rest)
{
    return !rest->taken && !rest->kernel->other;
}

static struct rest *only_one_like(struct rest *rest, size_t count, const struct gp_side_kernel *s)
{
    struct rest *found = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!is_without_kernel(&rest[i]) || !has_same_configuration(rest[i].subject, s))
            continue;
        if (found)
            return NULL;
        found = &rest[i];
    }
    return found;
}

static void match_by_configuration(struct matching *m)
{
    for (size_t i = 0; i < m->a_count; i++) {
        struct rest *a = &m->a[i];
        struct rest *b = is_without_kernel(a) ? only_one_like(m->b, m->b_count, a->subject) : NULL;
        if (!b || only_one_like(m->a, m->a_count, b->subject) != a ||
            gp_code_likeness(a->subject, b->subject) < LITTLE_ALIKE)
            continue;
        a->taken = b->taken = true;
        add(m, GP_MATCH_PROPOSED, a->subject, b->subject);
    }
}

/* ---- all ---- */

static bool has_one_name_but_for_parts(const struct gp_match *match)
{
    char *a = gp_name_skeleton(match->a->name), *b = gp_name_skeleton(match->b->name);
    bool has = a && b && strcmp(a, b) == 0;
    free(a);
    free(b);
    return has;
}

static void find_reasons(struct gp_match *match)
{
    const struct gp_side_kernel *a = match->a, *b = match->b;
    match->likeness = gp_code_likeness(a, b);
    if (!gp_match_is_renamed(match))
        match->by |= GP_BY_NAME;
    else if (has_one_name_but_for_parts(match))
        match->by |= GP_BY_NAME_PARTS;
    if (b->former && strcmp(b->former, a->name) == 0)
        match->by |= GP_BY_HAND;
    if (gp_has_same_code(a, b))
        match->by |= GP_BY_CODE;
    else if (match->likeness >= GP_MUCH_ALIKE)
        match->by |= GP_BY_LIKENESS;
    if (gp_has_same_line(a, b))
        match->by |= GP_BY_LINE;
    if (has_same_configuration(a, b))
        match->by |= GP_BY_CONFIGURATION;
}

static bool is_fact_elsewhere(const struct rest *rest)
{
    return rest->kernel->other && is_fact(rest->kernel);
}

static void match_all(struct matching *m)
{
    match_kernels(m);
    match_rest(m, is_of_one_kernel);
    match_rest(m, has_one_skeleton);
    match_by_configuration(m);
    for (size_t i = 0; i < m->count; i++)
        find_reasons(&m->matches[i]);
    for (size_t i = 0; i < m->a_count; i++)
        if (!m->a[i].taken)
            add(m, GP_MATCH_GONE, m->a[i].subject, NULL)->elsewhere = is_fact_elsewhere(&m->a[i]);
    for (size_t i = 0; i < m->b_count; i++)
        if (!m->b[i].taken)
            add(m, GP_MATCH_NEW, NULL, m->b[i].subject)->elsewhere = is_fact_elsewhere(&m->b[i]);
}

struct gp_match *gp_match_sides(const struct gp_side *a, const struct gp_side *b, size_t *count)
{
    struct matching m = {
        .matches = calloc(a->count + b->count + 1, sizeof(*m.matches)),
        .a = calloc(a->count + 1, sizeof(*m.a)),
        .b = calloc(b->count + 1, sizeof(*m.b)),
    };
    if (m.matches && m.a && m.b && gp_kernels_pair(a, b, &m.of_a, &m.of_b)) {
        match_all(&m);
    } else {
        free(m.matches);
        m.matches = NULL;
    }
    *count = m.count;
    gp_kernels_free(&m.of_a);
    gp_kernels_free(&m.of_b);
    free(m.a);
    free(m.b);
    return m.matches;
}

bool gp_match_is_renamed(const struct gp_match *match)
{
    return match->a && match->b && strcmp(match->a->name, match->b->name) != 0;
}

static void add_reason(struct gp_text *out, size_t begin, const char *reason)
{
    gp_text_addf(out, "%s%s", out->length > begin ? ", " : "", reason);
}

double gp_likeness_percent(double likeness)
{
    return 5 * round(20 * likeness);
}

void gp_match_add_reasons(const struct gp_match *match, struct gp_text *out)
{
    const size_t begin = out->length;
    char text[64];
    if (match->by & GP_BY_HAND)
        add_reason(out, begin, "paired by hand");
    if (match->by & GP_BY_CODE) {
        add_reason(out, begin, "the same machine code");
    } else if (!isnan(match->likeness)) {
        snprintf(text, sizeof(text), "about %.0f %% of the machine code alike",
                 gp_likeness_percent(match->likeness));
        add_reason(out, begin, text);
    }
    if (match->by & GP_BY_LINE) {
        const char *slash = strrchr(match->b->source, '/');
        add_reason(out, begin, "the same source line (");
        gp_text_addf(out, "%s:%d)", slash ? slash + 1 : match->b->source, match->b->source_line);
    }
    if (match->by & GP_BY_NAME_PARTS)
        add_reason(out, begin, "the same name but for template arguments, hashes or numbers");
    if (match->by & GP_BY_CONFIGURATION)
        add_reason(out, begin, "the same configuration, launched as often");
}
