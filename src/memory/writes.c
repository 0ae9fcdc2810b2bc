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
 *   was written, or where numbers in memory say where a launch writes, unless some launches have
 *   written in the same parts. Where the order of threads says it, or which of them write, that is
 *   no proof, and the rest is guarded (memory/guard.c), or the whole is planned. A piece that is
 *   not too large is planned whole as well where the writes have gaps.
 * - Of a kernel whose code does not tell where it writes whole pieces are planned, however large: a
 *   replay may write to others of its words.
 * - A piece ends some way behind the near part, too.
 * - A launch like none before is taken to be as those of its shape; and where there are none, to
 * write to the pieces of all its addresses. */
#include "memory/inside.h"

#include <stdlib.h>
#include <string.h>

/* Works that are remembered; all are forgotten when there are more. */
#define MOST_WORKS 16384
/* Guesses in a row that were right, for a shape or for the pieces of a kernel, until launches like
 * none before are not waited for; launches of a work that changed nothing until it is taken to
 * write nothing; and launches that have written in the same parts, where numbers in memory say
 * where, until it is these. */
#define RIGHT_GUESSES 3
/* Works of a shape in a row that wrote nowhere else than those before, until others are taken to do
 * so: sizes grow now and then. */
#define WORKS_OF_SHAPE 8
/* Launches of a work that are verified one by one until their parts are known, and of a kernel. */
#define MOST_VERIFIED 8
#define MOST_VERIFIED_OF_KERNEL 256
/* Launches of each kernel that may have written elsewhere that are verified one by one; and those
 * of a kernel that are found to write elsewhere, until more are, and then as many as do not, at
 * least. */
#define SUSPECT_LAUNCHES 8
#define MOST_WILD 2
/* Launches of a kernel that guard no memory, where one cannot be held or a batch was spoilt in it;
 * and how many times more where that happens again, and how often. */
#define UNGUARDED_LAUNCHES 64u
#define UNGUARDED_FACTOR 16u
#define MOST_STRAYS 5
/* Batches with launches of a kernel that guard memory, until it is taken to keep to its parts. */
#define MOST_DOUBTED 4

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

/* The kernel; to make one may be to forget all others. A copy of the program's has none, nor has a
 * launch of which no parts are saved. */
static struct gp_kernel_writes *make_all(struct gp_learned *l, const struct gp_addresses *a,
                                         struct gp_work_writes **shape, struct gp_work_writes **w)
{
    *shape = *w = NULL;
    if (!a->kernel)
        return NULL;
    make_work(l, a->shape);
    *w = make_work(l, a->work);
    *shape = find_work(l, a->shape);
    return make_kernel(l, a->kernel);
}

/* ---- learning -------------------------------------------------------------------------------- */

/* Bytes between two runs; 0 where they touch. */
static int64_t gap_between(const struct gp_write_run *a, const struct gp_write_run *b)
{
    const int64_t gap = a->from < b->from ? b->from - a->to : a->from - b->to;
    return gap > (int64_t)GP_UNIT_BYTES ? gap : 0;
}

/* The run of the same address that lies nearest, among those from `first` on; NULL: none. */
static struct gp_write_run *nearest_run(struct gp_work_writes *w, const struct gp_write_run *run,
                                        unsigned first)
{
    struct gp_write_run *nearest = NULL;
    for (unsigned i = first; i < w->count; i++) {
        struct gp_write_run *r = &w->runs[i];
        if (r->offset == run->offset &&
            (!nearest || gap_between(r, run) < gap_between(nearest, run)))
            nearest = r;
    }
    return nearest;
}

static void grow_run(struct gp_write_run *run, const struct gp_write_run *by)
{
    run->from = by->from < run->from ? by->from : run->from;
    run->to = by->to > run->to ? by->to : run->to;
}

/* Makes one of the two runs of one address that lie nearest, if they do so by less than the gap. */
static bool join_runs(struct gp_work_writes *w, int64_t gap)
{
    struct gp_write_run *joined = NULL, *into = NULL;
    for (unsigned i = 0; i < w->count; i++) {
        struct gp_write_run *r = &w->runs[i], *next = nearest_run(w, r, i + 1);
        if (next && gap_between(r, next) < gap) {
            joined = r;
            into = next;
            gap = gap_between(r, next);
        }
    }
    if (!into)
        return false;
    grow_run(into, joined);
    *joined = w->runs[--w->count];
    return true;
}

/* Writes at random from one address on leave room for those from another one. */
static void add_run(struct gp_work_writes *w, uint32_t offset, int64_t from, int64_t to)
{
    const struct gp_write_run run = {offset, from, to};
    struct gp_write_run *nearest = nearest_run(w, &run, 0);
    if (nearest && from >= nearest->from && to <= nearest->to)
        return;
    const int64_t gap = nearest ? gap_between(nearest, &run) : INT64_MAX;
    w->grew = true;
    if (gap > 0 && (w->count < GP_MOST_WRITE_RUNS || join_runs(w, gap)))
        w->runs[w->count++] = run;
    else if (nearest)
        grow_run(nearest, &run);
    else
        w->lost = true;
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

static void settle(struct gp_work_writes *w)
{
    w->settled = w->grew ? 0 : w->settled + 1;
    w->grew = false;
}

void writes_seen(struct gp_learned *l, const struct gp_addresses *a, bool unexpected)
{
    struct gp_work_writes *shape, *w;
    struct gp_kernel_writes *k = make_all(l, a, &shape, &w);
    if (shape) {
        shape->seen = unexpected ? 1 : shape->seen + 1;
        shape->works = shape->grew ? 0 : shape->works + (w && w->seen == 0);
        settle(shape);
    }
    if (w) {
        w->seen++;
        settle(w);
    }
    if (!k)
        return;
    k->seen++;
    k->in_pieces++;
    k->suspect -= k->suspect > 0 && !unexpected;
    k->tame = unexpected ? 0 : k->tame + 1;
    /* The first launch of a work has only a guess. */
    k->wild += unexpected && w && w->seen > 1;
}

/* As long as launches write elsewhere each time all are verified; and the more often that was so,
 * the longer. */
static bool is_wild(const struct gp_kernel_writes *k)
{
    return k->wild >= MOST_WILD && k->tame < SUSPECT_LAUNCHES * (k->wild - MOST_WILD + 1);
}

void writes_suspect(struct gp_learned *l, const struct gp_addresses *a)
{
    struct gp_kernel_writes *k = a->kernel ? make_kernel(l, a->kernel) : NULL;
    if (k)
        k->suspect = SUSPECT_LAUNCHES;
}

void writes_strayed(struct gp_learned *l, const struct gp_addresses *a, uint64_t batch)
{
    struct gp_kernel_writes *k = a->kernel ? make_kernel(l, a->kernel) : NULL;
    if (!k || k->strayed_in == batch)
        return;
    k->strayed_in = batch;
    k->kept = 0;
    k->unguarded = UNGUARDED_LAUNCHES;
    for (unsigned i = 0; i < k->strays; i++)
        k->unguarded *= UNGUARDED_FACTOR;
    k->strays += k->strays < MOST_STRAYS;
    writes_suspect(l, a);
}

void writes_kept_to_parts(struct gp_learned *l, const struct gp_addresses *a, uint64_t batch)
{
    struct gp_kernel_writes *k = find_kernel(l, a->kernel);
    if (!k || k->kept_in == batch)
        return;
    k->kept_in = batch;
    k->kept++;
}

bool writes_keep_to_parts(const struct gp_learned *l, const struct gp_addresses *a)
{
    const struct gp_kernel_writes *k = find_kernel(l, a->kernel);
    return k && k->kept >= MOST_DOUBTED;
}

void writes_unguard(struct gp_learned *l, const struct gp_addresses *a)
{
    struct gp_kernel_writes *k = find_kernel(l, a->kernel);
    if (k && k->unguarded < UNGUARDED_LAUNCHES)
        k->unguarded = UNGUARDED_LAUNCHES;
}

bool writes_are_unguarded(struct gp_learned *l, const struct gp_addresses *a)
{
    struct gp_kernel_writes *k = find_kernel(l, a->kernel);
    if (!k || !k->unguarded)
        return false;
    k->unguarded--;
    return true;
}

/* ---- planning -------------------------------------------------------------------------------- */

/* One launch that changes nothing may have written the same bytes again. */
static bool has_shown(const struct gp_work_writes *w)
{
    return w && !w->lost && w->seen >= (w->count ? 1 : RIGHT_GUESSES);
}

/* The writes of launches with this work, or else of those with this shape; NULL: of none. */
static const struct gp_work_writes *nearest(const struct gp_learned *l,
                                            const struct gp_addresses *a)
{
    const struct gp_work_writes *w = find_work(l, a->work), *shape = find_work(l, a->shape);
    w = has_shown(w) ? w : shape;
    return has_shown(w) ? w : NULL;
}

/* Numbers in memory may say another time that it writes elsewhere. A replay finds the same numbers,
 * but not the same order of threads: then earlier writes say nothing of it, unless the rest is
 * guarded. */
static bool may_write_elsewhere(const struct gp_work_writes *w, const struct gp_addresses *a)
{
    return (a->by_order && !a->guarded) ||
           ((a->by_order || a->by_input) && w->settled < RIGHT_GUESSES);
}

bool writes_are_suspect(const struct gp_learned *l, const struct gp_addresses *a)
{
    const struct gp_kernel_writes *k = find_kernel(l, a->kernel);
    return k && (k->suspect || is_wild(k));
}

bool writes_may_be_elsewhere(const struct gp_learned *l, const struct gp_addresses *a)
{
    const struct gp_work_writes *w = nearest(l, a);
    return w ? may_write_elsewhere(w, a) : a->by_input || a->by_order;
}

bool writes_have_settled(const struct gp_learned *l, const struct gp_addresses *a)
{
    const struct gp_work_writes *w = find_work(l, a->work);
    return has_shown(w) && w->settled >= RIGHT_GUESSES;
}

bool writes_were_seen(const struct gp_learned *l, const struct gp_addresses *a)
{
    return nearest(l, a) != NULL;
}

/* The end of the piece from the address on, which is not far behind the near part: there no launch
 * has had an address, nor changed anything. */
static uint64_t planned_end(const struct gp_addresses *a, const struct gp_address *p)
{
    const uint64_t end = divided_piece_end(p->in, p->value);
    const uint64_t behind = a->behind > GP_MOST_OF_UNKNOWN ? a->behind : GP_MOST_OF_UNKNOWN;
    const uint64_t most = divided_near_end(p->in, p->value) + behind;
    return end < most ? end : most;
}

/* The whole pieces from the addresses on from which the kernel has written are planned for a launch
 * like none before. */
static bool pieces_are_planned(const struct gp_kernel_writes *k, const struct gp_addresses *a)
{
    for (unsigned i = 0; i < a->count; i++) {
        const struct gp_address *p = &a->of[i];
        if (kernel_writes(k, p->offset) && planned_end(a, p) - p->value > a->unknown)
            return false;
    }
    return true;
}

static uint64_t written_from(const struct gp_work_writes *w, const struct gp_address *p)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < w->count; i++)
        if (w->runs[i].offset == p->offset)
            bytes += (uint64_t)(w->runs[i].to - w->runs[i].from);
    return bytes;
}

/* Other launches than those of this very work have shown its writes. */
static bool is_borrowed(const struct gp_work_writes *w, const struct gp_addresses *a)
{
    return w->work != a->work;
}

/* Values that are written as they were do not show. */
static bool have_gaps(const struct gp_work_writes *w, const struct gp_address *p)
{
    unsigned runs = 0;
    for (unsigned i = 0; i < w->count; i++)
        runs += w->runs[i].offset == p->offset;
    return runs > 1;
}

/* Where the order of threads says where launches write, those of one work say nothing of another
 * one: that is verified as well, if the kernel has few of them. */
static bool may_settle(const struct gp_learned *l, const struct gp_work_writes *w,
                       const struct gp_addresses *a)
{
    const struct gp_kernel_writes *k = find_kernel(l, a->kernel);
    if (a->by_order && (!a->guarded || (k && k->seen >= MOST_VERIFIED_OF_KERNEL)))
        return false;
    if (is_borrowed(w, a))
        return a->by_order;
    return may_write_elsewhere(w, a) && w->seen < MOST_VERIFIED;
}

/* Whole pieces are saved where numbers in memory say where it writes, and whole allocations where
 * the order of threads does. Where these are large it is worth some launches to see whether it
 * writes to the same parts each time. */
static bool is_worth_settling(const struct gp_learned *l, const struct gp_work_writes *w,
                              const struct gp_addresses *a)
{
    uint64_t pieces = 0, all = 0;
    if (!may_settle(l, w, a))
        return false;
    for (unsigned i = 0; i < a->count; i++) {
        const struct gp_address *p = &a->of[i];
        const uint64_t piece = planned_end(a, p) - p->value, bytes = written_from(w, p);
        pieces += bytes && bytes <= piece / 2 ? piece - bytes : 0;
        all += bytes;
    }
    return pieces > GP_DEAR_BYTES || a->whole > all + GP_DEAR_BYTES;
}

bool writes_are_known(const struct gp_learned *l, const struct gp_addresses *a)
{
    const struct gp_work_writes *w = nearest(l, a);
    const struct gp_kernel_writes *k = find_kernel(l, a->kernel);
    if (writes_are_suspect(l, a))
        return false;
    if (w)
        return !is_worth_settling(l, w, a) && (!is_borrowed(w, a) || w->works >= WORKS_OF_SHAPE);
    return k && k->in_pieces >= RIGHT_GUESSES && pieces_are_planned(k, a);
}

bool plan_add(struct gp_plan *plan, const struct gp_divided *d, uint64_t from, uint64_t to)
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
    return plan_add(plan, d, d->first, d->first + d->units * GP_UNIT_BYTES);
}

/* The parts from one address on. */
static bool plan_address(struct gp_plan *plan, const struct gp_work_writes *w,
                         const struct gp_kernel_writes *k, const struct gp_address *p,
                         uint64_t least, const struct gp_addresses *a)
{
    const struct gp_divided *d = p->in;
    const uint64_t end = planned_end(a, p), piece = end - p->value;
    const uint64_t most = w ? GP_FIRST_PART : a->unknown;
    const uint64_t written = w ? written_from(w, p) : 0;
    bool well = plan_add(plan, d, p->value, piece > most ? p->value + most : end) &&
                (!least || plan_add(plan, d, p->value, p->value + least));
    if (a->anywhere)
        well = well && plan_add(plan, d, p->value, end);
    for (unsigned i = 0; w && i < w->count && well; i++) {
        const struct gp_write_run *r = &w->runs[i];
        if (r->offset != p->offset)
            continue;
        well = plan_add(plan, d, p->value + (uint64_t)r->from, p->value + (uint64_t)r->to);
    }
    const bool is_small = piece <= a->unknown;
    if (written ? written > piece / 2 || may_write_elsewhere(w, a) || (is_small && have_gaps(w, p))
                : is_small && kernel_writes(k, p->offset))
        well = well && plan_add(plan, d, p->value, end);
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

uint64_t plan_bytes(const struct gp_plan *plan)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < plan->count; i++)
        bytes += plan->of[i].to - plan->of[i].from;
    return bytes;
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
        well = plan_add(plan, p->in, p->from, p->to > p->from + least ? p->to : p->from + least);
    }
    plan_round(plan);
    if (plan->count)
        qsort(plan->of, plan->count, sizeof(*plan->of), by_address);
    join_touching(plan);
    while (well && !led->count && plan->count > GP_FEW_PARTS)
        well = join_nearest(plan);
    return well;
}
