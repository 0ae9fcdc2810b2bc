#include "report/sequences.h"

#include "code/address_origins.h"
#include "report/lines.h"
#include "report/origin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Arrays beyond so many times the L2 cache do not stay there until the next launch reads them. */
#define BEYOND_L2 2
/* Where each element is loaded once, loads ask for about the bytes that come from DRAM; the
 * neighbours of a stencil are asked for three times and more. */
#define LOADED_ONCE 2.2
/* A kernel that writes so much less than it reads makes a sum of all. */
#define MUCH_LESS (1.0 / 16)
/* A kernel waits for memory that uses so much of the bandwidth of DRAM; and its work in one with
 * others is not done at a rate that is higher by more than half. */
#define WAITS_FOR_DRAM 0.3
#define LEAST_CLOSENESS (2.0 / 3)
/* Products of matrices keep the tensor cores busy for more of the time. HFMA2 moves constants
 * through their pipe: a memory-bound kernel with one such move for each element had it busy for
 * 0.021 of its time (H200). */
#define MULTIPLIES 0.1
#define MOST_NAMES 6

/* A group, as far as it may be a part of a sequence. */
struct part {
    const struct gp_row *row;
    size_t group;
    bool known;     /* it is bound by memory, and its numbers are known */
    bool exchanges; /* elements with other threads, it may be */
    bool sums, of_cub;
    bool is_product;              /* a library's, of matrices */
    double launches, seconds;     /* of one launch */
    double read, written;         /* bytes of DRAM, of one launch */
    double closeness;             /* to the ceiling of DRAM */
    double examined;              /* its launches whose forerunner was asked for */
    double saved, follows, leads; /* bytes of one launch; shares of its launches */
    const struct link *next, *before;
};

struct link {
    struct part *from, *to;
    double share_from, share_to; /* of the launches of each */
    double written, read;        /* bytes that go: of one launch of each */
};

struct finding {
    const struct gp_rules *rules;
    const struct gp_rows *rows;
    const struct gp_bound *bounds;
    struct part *parts; /* by group of the rows */
    size_t part_count;
    struct link *links; /* the most worth first */
    size_t link_count;
};

/* ---- parts ----------------------------------------------------------------------------------- */

static double unit_of(const struct finding *f, const struct gp_bound *b, const char *name)
{
    for (size_t i = 0; i < f->rules->unit_count; i++)
        if (strcmp(f->rules->units[i].name, name) == 0)
            return b->units[i];
    return (double)NAN;
}

/* DRAM is the busiest unit, whether it is at its limit or warps wait for it. */
static bool is_bound_by_memory(const struct finding *f, const struct gp_bound *b, double *closeness)
{
    *closeness = unit_of(f, b, "dram");
    if (b->kind != GP_BOUND_UNIT && b->kind != GP_BOUND_LATENCY)
        return false;
    for (size_t i = 0; i < f->rules->unit_count; i++)
        if (strcmp(f->rules->units[i].name, "dram") != 0 && b->units[i] > *closeness &&
            !(*closeness >= GP_BOUND_BY))
            return false;
    return *closeness >= WAITS_FOR_DRAM && !(unit_of(f, b, "tensor") > MULTIPLIES);
}

static double mean_of(const struct gp_rows *rows, const struct gp_row *one, const char *metric)
{
    double mean;
    return gp_rows_mean(rows, one, metric, &mean) ? mean : (double)NAN;
}

/* Threads have barriers, by which they may exchange elements, or load those of others by an index;
 * or that is not known. */
static bool may_need_others(const struct gp_lines *lines)
{
    size_t size;
    const void *code = lines ? gp_lines_code(lines, lines->source.kernel, &size) : NULL;
    return !code || !(gp_lines_total(lines, GP_WEIGHT_BARRIERS) <= 0) ||
           gp_code_gathers(code, size, lines->source.cc);
}

/* cuBLAS and CUTLASS name them so; where the sums are split, a kernel of theirs adds them up. */
static bool is_product_of_library(const struct gp_row *row, enum gp_origin origin)
{
    static const char *const names[] = {"gemm", "Gemm", "nvjet", "splitK"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (origin == GP_OF_LIBRARIES && strstr(row->full_name, names[i]))
            return true;
    return false;
}

static void examine(const struct finding *f, struct part *p, const struct gp_lines *lines)
{
    const struct gp_row one = gp_rows_of_group(f->rows, p->row, p->group);
    const struct gp_bound *b = &f->bounds[p->row->first_group + p->group];
    const double requested = mean_of(f->rows, &one, "requested_bytes");
    p->launches = (double)one.launches;
    p->seconds = p->launches > 0 ? one.seconds / p->launches : 0;
    p->read = mean_of(f->rows, &one, "dram_read_bytes");
    p->written = mean_of(f->rows, &one, "dram_write_bytes");
    p->sums = p->written <= MUCH_LESS * p->read;
    const enum gp_origin origin = gp_origin_of(p->row->launch->kernel, p->row->full_name, lines);
    p->of_cub = origin == GP_OF_CUB;
    p->is_product = is_product_of_library(p->row, origin) && p->launches > 0;
    p->known = is_bound_by_memory(f, b, &p->closeness) && p->seconds > 0 &&
               p->read + p->written > 0 && isfinite(requested) && !p->is_product;
    p->exchanges =
        !(requested - p->written <= LOADED_ONCE * p->read) || (p->known && may_need_others(lines));
}

static bool make_parts(struct finding *f,
                       const struct gp_lines *(*lines)(void *user, const struct gp_row *row),
                       void *user)
{
    const struct gp_rows *rows = f->rows;
    f->part_count = gp_summary_group_count(rows->summary);
    f->parts = calloc(f->part_count + 1, sizeof(*f->parts));
    for (size_t r = 0; f->parts && r < rows->count; r++) {
        const struct gp_row *row = &rows->rows[r];
        for (size_t g = 0; g < row->grids; g++) {
            struct part *p = &f->parts[row->first_group + g];
            p->row = row;
            p->group = g;
            examine(f, p, lines ? lines(user, row) : NULL);
        }
    }
    return f->parts != NULL;
}

static struct part *part_of(const struct finding *f, const struct gp_group *group)
{
    for (size_t i = 0; group && i < f->part_count; i++)
        if (f->parts[i].row && f->rows->groups[i] == group)
            return &f->parts[i];
    return NULL;
}

/* ---- links ----------------------------------------------------------------------------------- */

static double l2_of(const struct finding *f, const struct part *p)
{
    const struct gp_device *d = gp_summary_get_device(f->rows->summary, p->row->launch->device);
    return d && d->l2_bytes > 0 ? d->l2_bytes : (double)INFINITY;
}

static bool needs_all(const struct gp_succession *s)
{
    return 2 * s->needing > s->launches;
}

/* The bytes that go where the two are one kernel. An array may be shorter than its allocation: no
 * more were passed than the first wrote, and no more read than came from DRAM. */
static bool measure_link(const struct finding *f, struct link *l, const struct gp_succession *s)
{
    const struct part *a = l->from, *b = l->to;
    const double passed = fmin((double)s->passed_bytes / (double)s->launches, a->written);
    const double shared = fmin((double)s->shared_bytes / (double)s->launches, a->read);
    l->share_to = fmin(1, (double)s->launches / b->examined);
    l->share_from = fmin(1, l->share_to * b->launches / a->launches);
    l->written = passed;
    l->read = fmin(passed + shared, b->read);
    if (needs_all(s))
        return false;
    if (a->is_product)
        return passed > 0 && !b->exchanges && !b->sums;
    if (s->passed_bytes > 0 && a->sums)
        return false;
    /* The steps of a sort, say, are nobody's to change. */
    const bool steps = a->of_cub && b->of_cub;
    return l->read > BEYOND_L2 * l2_of(f, b) && ((b->sums && !steps) || !b->exchanges);
}

static double worth_of(const struct link *l)
{
    return l->share_to * l->to->launches * (l->written + l->read);
}

static int by_worth(const void *x, const void *y)
{
    const double a = worth_of(x), b = worth_of(y);
    return (a < b) - (a > b);
}

/* A kernel, and one that needs its whole result, take turns on the same input: the rounds of a
 * loop. The first one reads the input of the second one again, and yet one kernel of both would do
 * its work a round too early. */
static bool begins_next_round(const struct gp_followed *all, size_t count,
                              const struct gp_followed *one)
{
    for (size_t i = 0; one->sums.passed_bytes == 0 && i < count; i++)
        if (all[i].group == one->before && all[i].before == one->group && needs_all(&all[i].sums))
            return true;
    return false;
}

static bool make_links(struct finding *f)
{
    size_t count;
    const struct gp_followed *all = gp_summary_followed(f->rows->summary, &count);
    f->links = calloc(count + 1, sizeof(*f->links));
    if (!f->links)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct part *to = part_of(f, all[i].group);
        if (to)
            to->examined += (double)all[i].sums.launches;
    }
    for (size_t i = 0; i < count; i++) {
        struct link l = {.from = part_of(f, all[i].before), .to = part_of(f, all[i].group)};
        if (l.from && l.to && (l.from->known || l.from->is_product) && l.to->known &&
            l.to->examined > 0 && all[i].sums.launches > 0 &&
            !begins_next_round(all, count, &all[i]) && measure_link(f, &l, &all[i].sums))
            f->links[f->link_count++] = l;
    }
    if (f->link_count > 1)
        qsort(f->links, f->link_count, sizeof(*f->links), by_worth);
    return true;
}

static bool closes_a_circle(const struct link *l)
{
    const struct part *p = l->to;
    while (p != l->from && p->next)
        p = p->next->to;
    return p == l->from;
}

/* Each kernel has one before and one behind it at most. Where one follows itself it stands alone.
 */
static void join_links(struct finding *f)
{
    for (size_t i = 0; i < f->link_count; i++) {
        struct link *l = &f->links[i];
        const bool is_self = l->from == l->to;
        if (l->from->next || l->to->before || (is_self && (l->to->next || l->from->before)) ||
            (!is_self && closes_a_circle(l)))
            continue;
        l->from->next = l;
        l->to->before = l;
        if (!l->from->is_product)
            l->from->saved += l->written * l->share_from;
        l->to->saved += l->read * l->share_to;
        l->from->leads = l->share_from;
        l->to->follows = l->share_to;
    }
}

/* ---- sequences ------------------------------------------------------------------------------- */

/* The rest of the bytes come and go as near to the ceiling as they may. */
static double saved_by(const struct part *p)
{
    const double part = fmax(p->leads, p->follows);
    if (!(part > 0))
        return 0;
    const double rest = fmax(0, 1 - p->saved / part / (p->read + p->written));
    const double closeness = fmin(1, fmax(p->closeness, LEAST_CLOSENESS));
    return p->launches * p->seconds * part * (1 - rest * closeness);
}

/* A product takes its time, with an epilogue or without: it writes the last result instead of its
 * own, and the last kernel need not. */
static double saved_behind_product(const struct part *last, const struct part *product)
{
    struct part p = *last;
    p.saved += fmin(p.written, product->next->written) * p.follows;
    return saved_by(&p);
}

static size_t count_from(const struct part *first)
{
    size_t count = 1;
    for (const struct part *p = first; p->next && p->next->to != first; p = p->next->to)
        count++;
    return count;
}

static bool add_sequence(struct gp_sequences *s, const struct finding *f, const struct part *first,
                         const struct gp_lines *(*lines)(void *user, const struct gp_row *row),
                         void *user)
{
    struct gp_sequence q = {
        .count = count_from(first), .share = 1, .of_product = first->is_product};
    q.list = calloc(q.count, sizeof(*q.list));
    if (!q.list)
        return false;
    const struct part *p = first;
    for (size_t i = 0; i < q.count; i++, p = p->next ? p->next->to : p) {
        const struct gp_lines *own = lines ? lines(user, p->row) : NULL;
        const double saved = i == 0 && q.of_product             ? 0
                             : i == q.count - 1 && q.of_product ? saved_behind_product(p, first)
                                                                : saved_by(p);
        q.list[i] = (struct gp_in_sequence){p->row, p->group, saved};
        q.saved += q.list[i].saved;
        q.ready_made +=
            gp_origin_is_ready_made(gp_origin_of(p->row->launch->kernel, p->row->full_name, own));
        s->has[p - f->parts] = true;
        if (p->next) {
            q.share = fmin(q.share, fmin(p->next->share_from, p->next->share_to));
            q.bytes += p->next->read;
        }
    }
    s->list[s->count++] = q;
    return true;
}

bool gp_sequences_find(struct gp_sequences *s, const struct gp_rules *rules,
                       const struct gp_rows *rows, const struct gp_bound *bounds,
                       const struct gp_lines *(*lines)(void *user, const struct gp_row *row),
                       void *user)
{
    struct finding f = {.rules = rules, .rows = rows, .bounds = bounds};
    size_t followed;
    *s = (struct gp_sequences){0};
    s->has = calloc(gp_summary_group_count(rows->summary) + 1, sizeof(*s->has));
    gp_summary_followed(rows->summary, &followed);
    if (followed == 0)
        return s->has != NULL;
    bool made = s->has && make_parts(&f, lines, user) && make_links(&f);
    if (made) {
        join_links(&f);
        s->list = calloc(f.link_count + 1, sizeof(*s->list));
        made = s->list != NULL;
    }
    for (size_t i = 0; made && i < f.part_count; i++) {
        const struct part *p = &f.parts[i];
        if (p->next && (!p->before || p->before->from == p))
            made = add_sequence(s, &f, p, lines, user);
    }
    free(f.parts);
    free(f.links);
    return made;
}

void gp_sequences_free(struct gp_sequences *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->list[i].list);
    free(s->list);
    free(s->has);
    *s = (struct gp_sequences){0};
}

void gp_sequence_names(const struct gp_sequence *s, struct gp_text *out)
{
    const size_t shown = s->count > MOST_NAMES ? MOST_NAMES : s->count;
    for (size_t i = 0; i < shown; i++)
        gp_text_addf(out, "%s%s",
                     i == 0              ? ""
                     : i == s->count - 1 ? " and "
                                         : ", ",
                     s->list[i].row->brief_name);
    if (s->count > shown)
        gp_text_addf(out, " and %zu more", s->count - shown);
}
