#include "check/kernel_pairs.h"

#include "check/closeness.h"
#include "check/skeleton.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ALIKE 64        /* kernels of a side that could all be the same one */
#define MOST_UNPAIRED 128    /* of a side: the likeness of each to all others is computed */
#define MOST_COMPARED 16     /* configurations of a kernel */
#define AS_MUCH_ALIKE 0.1    /* another one is nearly as much like it */
#define DISTANCE_WEIGHT 1e-3 /* so that the configuration decides between equals */

bool gp_has_same_code(const struct gp_side_kernel *a, const struct gp_side_kernel *b)
{
    return a->code.hash[0] && strcmp(a->code.hash, b->code.hash) == 0;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The folder may be another one: of another build, say. */
bool gp_has_same_line(const struct gp_side_kernel *a, const struct gp_side_kernel *b)
{
    return a->source && b->source && a->source_line == b->source_line &&
           strcmp(base_of(a->source), base_of(b->source)) == 0;
}

double gp_code_likeness(const struct gp_side_kernel *a, const struct gp_side_kernel *b)
{
    if (!gp_sketch_is_known(&a->code.sketch) || !gp_sketch_is_known(&b->code.sketch))
        return NAN;
    return gp_has_same_code(a, b) ? 1 : gp_sketch_likeness(&a->code.sketch, &b->code.sketch);
}

/* ---- lists ---- */

static bool list_kernels(const struct gp_side *side, struct gp_named_kernels *kernels)
{
    kernels->list = calloc(side->count + 1, sizeof(*kernels->list));
    for (size_t i = 0; kernels->list && i < side->count; i++) {
        const struct gp_side_kernel *s = &side->subjects[i];
        struct gp_named_kernel *last = kernels->count ? &kernels->list[kernels->count - 1] : NULL;
        if (last && strcmp(last->subjects->name, s->name) == 0) {
            last->count++;
            continue;
        }
        char *skeleton = gp_name_skeleton(s->name);
        if (!skeleton)
            return false;
        kernels->list[kernels->count++] =
            (struct gp_named_kernel){.subjects = s, .count = 1, .skeleton = skeleton};
    }
    return kernels->list != NULL;
}

void gp_kernels_free(struct gp_named_kernels *kernels)
{
    for (size_t i = 0; i < kernels->count; i++)
        free(kernels->list[i].skeleton);
    free(kernels->list);
    *kernels = (struct gp_named_kernels){0};
}

struct pairing {
    struct gp_named_kernels *a, *b;
};

static void pair(struct gp_named_kernel *a, struct gp_named_kernel *b, enum gp_paired_by by,
                 bool chosen)
{
    a->other = b;
    b->other = a;
    a->by = b->by = by;
    a->chosen = b->chosen = chosen;
}

static int by_name(const void *name, const void *kernel)
{
    return strcmp(name, ((const struct gp_named_kernel *)kernel)->subjects->name);
}

static struct gp_named_kernel *find(const struct gp_named_kernels *kernels, const char *name)
{
    return kernels->count
               ? bsearch(name, kernels->list, kernels->count, sizeof(*kernels->list), by_name)
               : NULL;
}

/* ---- by hand and by name ---- */

static void pair_by_hand(const struct pairing *p)
{
    for (size_t i = 0; i < p->b->count; i++) {
        struct gp_named_kernel *b = &p->b->list[i];
        struct gp_named_kernel *a = b->subjects->former ? find(p->a, b->subjects->former) : NULL;
        if (a && !a->other)
            pair(a, b, GP_BY_HAND, false);
    }
}

static void pair_by_name(const struct pairing *p)
{
    for (size_t i = 0; i < p->a->count; i++) {
        struct gp_named_kernel *a = &p->a->list[i];
        struct gp_named_kernel *b = a->other ? NULL : find(p->b, a->subjects->name);
        if (b && !b->other)
            pair(a, b, GP_BY_NAME, false);
    }
}

static struct gp_named_kernel *only_one_with_code(const struct gp_named_kernels *kernels,
                                                  const struct gp_side_kernel *code)
{
    struct gp_named_kernel *found = NULL;
    for (size_t i = 0; i < kernels->count; i++) {
        if (!gp_has_same_code(kernels->list[i].subjects, code))
            continue;
        if (found)
            return NULL;
        found = &kernels->list[i];
    }
    return found;
}

/* "triton_poi_fused_add_3" may be another kernel, and the one of that name "..._4" now: a number
 * that a compiler gives says less than the code. */
static void pair_numbered(const struct pairing *p)
{
    for (size_t i = 0; i < p->a->count; i++) {
        struct gp_named_kernel *a = &p->a->list[i];
        if (a->other || !gp_skeleton_is_numbered(a->skeleton) || !a->subjects->code.hash[0])
            continue;
        const struct gp_named_kernel *namesake = find(p->b, a->subjects->name);
        if (namesake && gp_has_same_code(a->subjects, namesake->subjects))
            continue;
        struct gp_named_kernel *b = only_one_with_code(p->b, a->subjects);
        if (b && !b->other && strcmp(a->skeleton, b->skeleton) == 0 &&
            only_one_with_code(p->a, a->subjects) == a)
            pair(a, b, GP_BY_CODE, false);
    }
}

/* ---- by code and line ---- */

static bool have_same_code(const struct gp_named_kernel *x, const struct gp_named_kernel *y)
{
    return gp_has_same_code(x->subjects, y->subjects);
}

static bool have_same_line(const struct gp_named_kernel *x, const struct gp_named_kernel *y)
{
    return gp_has_same_line(x->subjects, y->subjects);
}

static bool share_configuration(const struct gp_named_kernel *x, const struct gp_named_kernel *y)
{
    for (size_t i = 0, k = 0; i < x->count && k < y->count;) {
        int order =
            gp_configuration_compare(&x->subjects[i].configuration, &y->subjects[k].configuration);
        if (order == 0)
            return true;
        i += order < 0;
        k += order > 0;
    }
    return false;
}

/* The distance between the two closest configurations of two kernels. */
static double distance(const struct gp_named_kernel *x, const struct gp_named_kernel *y)
{
    double least = INFINITY;
    for (size_t i = 0; i < x->count && i < MOST_COMPARED; i++)
        for (size_t k = 0; k < y->count && k < MOST_COMPARED; k++)
            least = fmin(least, gp_subject_distance(&x->subjects[i], &y->subjects[k]));
    return least;
}

struct alike {
    struct gp_named_kernel *a[MOST_ALIKE], *b[MOST_ALIKE];
    size_t a_count, b_count;
};

static size_t find_alike(const struct gp_named_kernels *kernels, const struct gp_named_kernel *x,
                         bool (*alike)(const struct gp_named_kernel *,
                                       const struct gp_named_kernel *),
                         struct gp_named_kernel *found[MOST_ALIKE])
{
    size_t count = 0;
    for (size_t i = 0; i < kernels->count && count < MOST_ALIKE; i++)
        if (!kernels->list[i].other && alike(&kernels->list[i], x))
            found[count++] = &kernels->list[i];
    return count;
}

/* Whether they share a configuration, and no other of those that are alike has one of theirs. */
static bool is_only_choice(const struct alike *all, const struct gp_named_kernel *a,
                           const struct gp_named_kernel *b)
{
    size_t with_a = 0, with_b = 0;
    if (all->a_count == 1 && all->b_count == 1)
        return true;
    for (size_t i = 0; i < all->a_count; i++)
        with_b += share_configuration(all->a[i], b);
    for (size_t i = 0; i < all->b_count; i++)
        with_a += share_configuration(all->b[i], a);
    return with_a == 1 && with_b == 1 && share_configuration(a, b);
}

static bool find_closest(const struct alike *all, struct gp_named_kernel **a,
                         struct gp_named_kernel **b)
{
    double least = INFINITY;
    for (size_t i = 0; i < all->a_count; i++) {
        for (size_t k = 0; k < all->b_count && !all->a[i]->other; k++) {
            double d = all->b[k]->other ? INFINITY : distance(all->a[i], all->b[k]);
            if (d >= least)
                continue;
            least = d;
            *a = all->a[i];
            *b = all->b[k];
        }
    }
    return isfinite(least);
}

static void pair_alike(const struct pairing *p,
                       bool (*alike)(const struct gp_named_kernel *,
                                     const struct gp_named_kernel *),
                       enum gp_paired_by by)
{
    for (size_t i = 0; i < p->a->count; i++)
        p->a->list[i].tried = p->a->list[i].other != NULL;
    for (size_t i = 0; i < p->a->count; i++) {
        struct alike all;
        struct gp_named_kernel *a = NULL, *b = NULL;
        if (p->a->list[i].tried)
            continue;
        all.a_count = find_alike(p->a, &p->a->list[i], alike, all.a);
        all.b_count = find_alike(p->b, &p->a->list[i], alike, all.b);
        for (size_t k = 0; k < all.a_count; k++)
            all.a[k]->tried = true;
        while (find_closest(&all, &a, &b))
            pair(a, b, by, !is_only_choice(&all, a, b));
    }
}

/* ---- by likeness ---- */

/* Finds the kernels of a side that have a sketch and no other kernel yet; SIZE_MAX where there are
 * too many. */
static size_t find_unpaired(const struct gp_named_kernels *kernels,
                            struct gp_named_kernel *found[MOST_UNPAIRED])
{
    size_t count = 0;
    for (size_t i = 0; i < kernels->count; i++) {
        if (kernels->list[i].other || !gp_sketch_is_known(&kernels->list[i].subjects->code.sketch))
            continue;
        if (count == MOST_UNPAIRED)
            return SIZE_MAX;
        found[count++] = &kernels->list[i];
    }
    return count;
}

struct unpaired {
    struct gp_named_kernel *a[MOST_UNPAIRED], *b[MOST_UNPAIRED];
    size_t a_count, b_count;
};

static double likeness(const struct gp_named_kernel *a, const struct gp_named_kernel *b)
{
    return gp_code_likeness(a->subjects, b->subjects);
}

/* Whether another one is nearly as much like one of the two. */
static bool has_rival(const struct unpaired *all, const struct gp_named_kernel *a,
                      const struct gp_named_kernel *b)
{
    const double least = fmax(likeness(a, b) - AS_MUCH_ALIKE, GP_MUCH_ALIKE);
    for (size_t i = 0; i < all->a_count; i++)
        if (all->a[i] != a && likeness(all->a[i], b) >= least)
            return true;
    for (size_t i = 0; i < all->b_count; i++)
        if (all->b[i] != b && likeness(a, all->b[i]) >= least)
            return true;
    return false;
}

static bool find_most_alike(const struct unpaired *all, struct gp_named_kernel **a,
                            struct gp_named_kernel **b)
{
    double most = 0;
    for (size_t i = 0; i < all->a_count; i++) {
        for (size_t k = 0; k < all->b_count && !all->a[i]->other; k++) {
            double like = all->b[k]->other ? 0 : likeness(all->a[i], all->b[k]);
            double score = like - DISTANCE_WEIGHT * distance(all->a[i], all->b[k]);
            if (like < GP_MUCH_ALIKE || score <= most)
                continue;
            most = score;
            *a = all->a[i];
            *b = all->b[k];
        }
    }
    return most > 0;
}

static void pair_by_likeness(const struct pairing *p)
{
    struct unpaired all;
    struct gp_named_kernel *a = NULL, *b = NULL;
    all.a_count = find_unpaired(p->a, all.a);
    all.b_count = find_unpaired(p->b, all.b);
    if (all.a_count == SIZE_MAX || all.b_count == SIZE_MAX)
        return;
    while (find_most_alike(&all, &a, &b))
        pair(a, b, GP_BY_LIKENESS, has_rival(&all, a, b));
}

bool gp_kernels_pair(const struct gp_side *a, const struct gp_side *b,
                     struct gp_named_kernels *of_a, struct gp_named_kernels *of_b)
{
    const struct pairing p = {.a = of_a, .b = of_b};
    if (!list_kernels(a, of_a) || !list_kernels(b, of_b))
        return false;
    pair_by_hand(&p);
    pair_numbered(&p);
    pair_by_name(&p);
    pair_alike(&p, have_same_code, GP_BY_CODE);
    pair_alike(&p, have_same_line, GP_BY_LINE);
    const bool same_machine = a->origin.device.cc_major == b->origin.device.cc_major &&
                              a->origin.device.cc_minor == b->origin.device.cc_minor;
    if (same_machine)
        pair_by_likeness(&p);
    return true;
}
