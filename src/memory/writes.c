/* The parts of divided memory that launches write, as far as launches like them have shown. A
 * launch is like another one where its kernel, its shape and its parameters are the same but for
 * addresses; a part is then as far from its parameter's address as before.
 *
 * A part that is planned is a guess, which the digests verify before a launch is replayed. So it
 * may be too small now and then, and is better too large than too small:
 *
 * - A piece goes from an address to the next one that any launch has had. Values that a launch
 * happens to write unchanged do not show: so the first part of each piece is planned in any case,
 * and the whole where the kernel has written from the same parameter on in another work alone.
 * - A large piece is planned where a launch like this one has written; and whole where most of it
 *   was written, or where numbers in memory say where a launch writes.
 * - Of a kernel whose code does not tell where it writes whole pieces are planned, however large: a
 *   replay may write to others of its words.
 * - A piece ends some way behind the near part, too.
 * - A launch like none before is taken to be as those of its shape; and where there are none, to
 * write to the pieces of all its addresses. */
#include "memory/inside.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_PART ((uint64_t)1 << 20)
/* Bytes that are saved of each piece for a launch like none before. */
#define MOST_OF_UNKNOWN ((uint64_t)128 << 20)
/* Works that are remembered; all are forgotten when there are more. */
#define MOST_WORKS 16384
/* Guesses in a row that were right, for a shape or for the pieces of a kernel, until launches like
 * none before are not waited for. */
#define RIGHT_GUESSES 3
/* Launches of each kernel of a spoilt batch that are verified one by one; and those of a kernel
 * that are found to write elsewhere, until all of them are. */
#define SUSPECT_LAUNCHES 8
#define MOST_WILD 2

void writes_free(struct gp_learned *l)
{
    struct gp_work_writes *w, *next;
    struct gp_kernel_writes *k, *next_kernel;
    HASH_ITER(hh, l->works, w, next)
    {
        HASH_DEL(l->works, w);
        free(w);
    }
    HASH_ITER(hh, l->kernels, k, next_kernel)
    {
        HASH_DEL(l->kernels, k);
        free(k);
    }
}

static struct gp_work_writes *find_work(const struct gp_learned *l, uint64_t work)
{
    struct gp_work_writes *w;
    HASH_FIND(hh, l->works, &work, sizeof(work), w);
    return w;
}

static struct gp_kernel_writes *find_kernel(const struct gp_learned *l, uint64_t kernel)
{
    struct gp_kernel_writes *k;
    HASH_FIND(hh, l->kernels, &kernel, sizeof(kernel), k);
    return k;
}

static struct gp_work_writes *make_work(struct gp_learned *l, uint64_t work)
{
    struct gp_work_writes *w = find_work(l, work);
    if (w)
        return w;
    if (HASH_COUNT(l->works) >= MOST_WORKS)
        writes_free(l);
    w = calloc(1, sizeof(*w));
    if (!w)
        return NULL;
    w->work = work;
    HASH_ADD(hh, l->works, work, sizeof(w->work), w);
    if (w->hh.tbl)
        return w;
    free(w);
    return NULL;
}

static struct gp_kernel_writes *make_kernel(struct gp_learned *l, uint64_t kernel)
{
    struct gp_kernel_writes *k = find_kernel(l, kernel);
    if (k)
        return k;
    k = calloc(1, sizeof(*k));
    if (!k)
        return NULL;
    k->kernel = kernel;
    HASH_ADD(hh, l->kernels, kernel, sizeof(k->kernel), k);
    if (k->hh.tbl)
        return k;
    free(k);
    return NULL;
}

/* The kernel; to make one may be to forget all others. */
static struct gp_kernel_writes *make_all(struct gp_learned *l, const struct gp_addresses *a,
                                         struct gp_work_writes **shape, struct gp_work_writes **w)
{
    make_work(l, a->shape);
    *w = make_work(l, a->work);
    *shape = find_work(l, a->shape);
    return make_kernel(l, a->kernel);
}

/* ---- learning -------------------------------------------------------------------------------- */

/* A run is added, or the nearest one grows where all are used up. */
static void add_run(struct gp_work_writes *w, uint32_t offset, int64_t from, int64_t to)
{
    struct gp_write_run *nearest = NULL;
    for (unsigned i = 0; i < w->count; i++) {
        struct gp_write_run *r = &w->runs[i];
        if (r->offset != offset)
            continue;
        if (from <= r->to + (int64_t)GP_UNIT_BYTES && to >= r->from - (int64_t)GP_UNIT_BYTES) {
            nearest = r;
            break;
        }
        nearest = r;
    }
    bool touches = nearest && from <= nearest->to + (int64_t)GP_UNIT_BYTES &&
                   to >= nearest->from - (int64_t)GP_UNIT_BYTES;
    if (!touches && w->count < GP_MOST_WRITE_RUNS) {
        w->runs[w->count++] = (struct gp_write_run){offset, from, to};
        return;
    }
    if (!nearest) { /* no room, and none of this address */
        w->lost = true;
        return;
    }
    nearest->from = from < nearest->from ? from : nearest->from;
    nearest->to = to > nearest->to ? to : nearest->to;
}

/* Attributes memory that has changed to the addresses in front of it, of the launch. */
static void attribute(struct gp_work_writes *w, const struct gp_addresses *a,
                      const struct gp_divided *d, uint64_t from, uint64_t to)
{
    const struct gp_address *first = NULL;
    for (unsigned i = 0; i < a->count; i++) {
        const struct gp_address *p = &a->of[i];
        if (p->in != d)
            continue;
        if (!first || p->value < first->value)
            first = p;
        uint64_t end = d->end; /* the next address of the launch */
        for (unsigned k = 0; k < a->count; k++)
            if (a->of[k].in == d && a->of[k].value > p->value && a->of[k].value < end)
                end = a->of[k].value;
        const uint64_t begin = p->value > from ? p->value : from, until = end < to ? end : to;
        if (begin < until)
            add_run(w, p->offset, (int64_t)(begin - p->value), (int64_t)(until - p->value));
    }
    if (first && from < first->value)
        add_run(w, first->offset, (int64_t)(from - first->value),
                (int64_t)((to < first->value ? to : first->value) - first->value));
}

static bool kernel_writes(const struct gp_kernel_writes *k, uint32_t offset)
{
    for (unsigned i = 0; k && i < k->count; i++)
        if (k->written[i] == offset)
            return true;
    return false;
}

static void note_kernel(struct gp_kernel_writes *k, const struct gp_work_writes *w)
{
    for (unsigned i = 0; i < w->count; i++)
        if (!kernel_writes(k, w->runs[i].offset) && k->count < GP_MOST_WRITE_RUNS)
            k->written[k->count++] = w->runs[i].offset;
}

static bool has_address_at(const struct gp_addresses *a, const struct gp_divided *d, uint64_t piece)
{
    for (unsigned i = 0; i < a->count; i++)
        if (a->of[i].in == d && a->of[i].value == piece)
            return true;
    return false;
}

/* Whether the memory lies in pieces from the launch's addresses on. A unit may be of two. */
static bool lies_in_pieces(const struct gp_addresses *a, const struct gp_divided *d, uint64_t from,
                           uint64_t to)
{
    for (uint64_t at = from + GP_UNIT_BYTES - 1; at < to;) {
        uint64_t start = divided_piece_start(d, at);
        if (!has_address_at(a, d, start))
            return false;
        at = divided_piece_end(d, at);
    }
    return true;
}

void writes_learn(struct gp_learned *l, const struct gp_addresses *a, const struct gp_divided *d,
                  uint64_t from, uint64_t to)
{
    struct gp_work_writes *shape, *w;
    struct gp_kernel_writes *k = make_all(l, a, &shape, &w);
    if (shape)
        attribute(shape, a, d, from, to);
    if (w)
        attribute(w, a, d, from, to);
    if (k && w)
        note_kernel(k, w);
    if (k && !lies_in_pieces(a, d, from, to))
        k->in_pieces = 0;
}

void writes_seen(struct gp_learned *l, const struct gp_addresses *a, bool unexpected)
{
    struct gp_work_writes *shape, *w;
    struct gp_kernel_writes *k = make_all(l, a, &shape, &w);
    if (shape)
        shape->seen = unexpected ? 1 : shape->seen + 1;
    if (w)
        w->seen++;
    if (!k)
        return;
    k->in_pieces++;
    k->suspect -= k->suspect > 0 && !unexpected;
    /* The first launch of a work has only a guess. */
    k->wild += unexpected && w && w->seen > 1;
}

void writes_suspect(struct gp_learned *l, const struct gp_addresses *a)
{
    struct gp_kernel_writes *k = a->kernel ? make_kernel(l, a->kernel) : NULL;
    if (k)
        k->suspect = SUSPECT_LAUNCHES;
}

/* ---- planning -------------------------------------------------------------------------------- */

/* The writes of launches with this work, or else of those with this shape; NULL: of none. */
static const struct gp_work_writes *nearest(const struct gp_learned *l,
                                            const struct gp_addresses *a)
{
    const struct gp_work_writes *w = find_work(l, a->work), *shape = find_work(l, a->shape);
    w = w && w->seen && !w->lost ? w : shape;
    return w && w->seen && !w->lost ? w : NULL;
}

bool writes_are_suspect(const struct gp_learned *l, const struct gp_addresses *a)
{
    const struct gp_kernel_writes *k = find_kernel(l, a->kernel);
    return k && (k->suspect || k->wild >= MOST_WILD);
}

bool writes_were_seen(const struct gp_learned *l, const struct gp_addresses *a)
{
    return nearest(l, a) != NULL;
}

bool writes_are_known(const struct gp_learned *l, const struct gp_addresses *a)
{
    const struct gp_work_writes *w = nearest(l, a);
    const struct gp_kernel_writes *k = find_kernel(l, a->kernel);
    if (writes_are_suspect(l, a))
        return false;
    if (w)
        return w->work == a->work || w->seen >= RIGHT_GUESSES;
    return k && k->in_pieces >= RIGHT_GUESSES;
}

static bool add_part(struct gp_plan *plan, const struct gp_divided *d, uint64_t from, uint64_t to)
{
    from = from < d->start ? d->start : from;
    to = to > d->end ? d->end : to;
    if (from >= to)
        return true;
    if (plan->count == GP_MOST_PARTS)
        return false;
    plan->of[plan->count++] = (struct gp_write_part){d, from, to};
    return true;
}

bool writes_plan_whole(struct gp_plan *plan, const struct gp_divided *d)
{
    return add_part(plan, d, d->first, d->first + d->units * GP_UNIT_BYTES);
}

/* The end of the piece from the address on, which is not far behind the near part: there no launch
 * has had an address, nor changed anything. */
static uint64_t planned_end(const struct gp_divided *d, uint64_t address)
{
    const uint64_t end = divided_piece_end(d, address);
    const uint64_t most = divided_near_end(d, address) + MOST_OF_UNKNOWN;
    return end < most ? end : most;
}

/* The parts from one address on. */
static bool plan_address(struct gp_plan *plan, const struct gp_work_writes *w,
                         const struct gp_kernel_writes *k, const struct gp_address *p,
                         uint64_t least, const struct gp_addresses *a)
{
    const struct gp_divided *d = p->in;
    const uint64_t end = planned_end(d, p->value), piece = end - p->value;
    const uint64_t most = w ? FIRST_PART : MOST_OF_UNKNOWN;
    uint64_t written = 0;
    bool well = add_part(plan, d, p->value, piece > most ? p->value + most : end) &&
                (!least || add_part(plan, d, p->value, p->value + least));
    if (a->anywhere)
        well = well && add_part(plan, d, p->value, end);
    for (unsigned i = 0; w && i < w->count && well; i++) {
        const struct gp_write_run *r = &w->runs[i];
        if (r->offset != p->offset)
            continue;
        well = add_part(plan, d, p->value + (uint64_t)r->from, p->value + (uint64_t)r->to);
        written += (uint64_t)(r->to - r->from);
    }
    if (written ? written > piece / 2 || a->by_input
                : kernel_writes(k, p->offset) && piece <= MOST_OF_UNKNOWN)
        well = well && add_part(plan, d, p->value, end);
    return well;
}

static int by_address(const void *a, const void *b)
{
    const struct gp_write_part *x = a, *y = b;
    if (x->in != y->in)
        return x->in->start < y->in->start ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

/* In whole units, but for the edges of the allocation. */
static void round_to_units(struct gp_write_part *part)
{
    const struct gp_divided *d = part->in;
    const uint64_t last = d->first + d->units * GP_UNIT_BYTES;
    part->from = part->from < d->first ? d->first : part->from / GP_UNIT_BYTES * GP_UNIT_BYTES;
    part->to = (part->to + GP_UNIT_BYTES - 1) / GP_UNIT_BYTES * GP_UNIT_BYTES;
    part->to = part->to > last ? last : part->to;
}

void plan_round(struct gp_plan *plan)
{
    for (unsigned i = 0; i < plan->count; i++)
        round_to_units(&plan->of[i]);
}

static void join_touching(struct gp_plan *plan)
{
    unsigned count = 0;
    for (unsigned i = 0; i < plan->count; i++) {
        const struct gp_write_part part = plan->of[i];
        if (part.from >= part.to)
            continue;
        struct gp_write_part *last = count ? &plan->of[count - 1] : NULL;
        if (last && last->in == part.in && part.from <= last->to)
            last->to = part.to > last->to ? part.to : last->to;
        else
            plan->of[count++] = part;
    }
    plan->count = count;
}

/* Joins the two parts that lie nearest. */
static bool join_nearest(struct gp_plan *plan)
{
    unsigned best = 0;
    for (unsigned i = 1; i < plan->count; i++)
        if (plan->of[i].in == plan->of[i - 1].in &&
            (!best ||
             plan->of[i].from - plan->of[i - 1].to < plan->of[best].from - plan->of[best - 1].to))
            best = i;
    if (!best)
        return false;
    plan->of[best - 1].to = plan->of[best].to;
    memmove(&plan->of[best], &plan->of[best + 1], (plan->count - best - 1) * sizeof(*plan->of));
    plan->count--;
    return true;
}

bool plan_holds(const struct gp_plan *plan, const struct gp_divided *d, uint64_t from, uint64_t to)
{
    while (from < to) {
        unsigned i = 0;
        while (i < plan->count &&
               (plan->of[i].in != d || from < plan->of[i].from || from >= plan->of[i].to))
            i++;
        if (i == plan->count)
            return false;
        from = plan->of[i].to;
    }
    return true;
}

bool writes_plan(const struct gp_learned *l, const struct gp_addresses *a,
                 const struct gp_plan *led, uint64_t least, struct gp_plan *plan)
{
    const struct gp_work_writes *w = nearest(l, a);
    const struct gp_kernel_writes *k = find_kernel(l, a->kernel);
    bool well = true;
    plan->count = 0;
    for (unsigned i = 0; i < a->count && well; i++)
        well = plan_address(plan, w, k, &a->of[i], least, a);
    for (unsigned i = 0; i < led->count && well; i++) {
        const struct gp_write_part *p = &led->of[i];
        well = add_part(plan, p->in, p->from, p->to > p->from + least ? p->to : p->from + least);
    }
    plan_round(plan);
    if (plan->count)
        qsort(plan->of, plan->count, sizeof(*plan->of), by_address);
    join_touching(plan);
    while (well && !led->count && plan->count > GP_FEW_PARTS)
        well = join_nearest(plan);
    return well;
}
