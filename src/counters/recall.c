/* Counters of instrumented code, which cost much to measure: they are measured where a launch is
 * new, and recalled where a launch is, instruction for instruction, as one that was measured: as
 * many warps at each, as many sectors and wavefronts at each access to memory. That is read after:
 * they are measured again at the 300th, 3000th such launch and so on. Of a kernel for which that
 * was found not to hold they are measured always.
 *
 * To count at each instruction costs as well. Where all launches of one kind (a kernel, a grid, a
 * block) have been alike so far, the next ones are assumed to be, where no parameter is changed
 * that was the same for all. Where they were not, the same is asked of those whose parameters are
 * the same but for addresses: many kernels get the length of their work so. The hardware's counters
 * have to confirm it first, and the instructions of some are counted all the same: of the 16th,
 * and from there of one in 32, 64, 128 and at last 256; of fewer at first where that takes long.
 *
 * The hardware's counters of a few launches of a fingerprint stand for those of the others with the
 * same work, too.
 *
 * Owns its fingerprints and their counters, in bounded memory. One thread at a time. */
#include "counters/inside.h"

#include "base/hash.h"
#include "base/mix.h"

#include <stdlib.h>
#include <string.h>

/* The launch of a kind that is measured again first; the next one ten times later, and so on. */
#define FIRST_CHECK 300
/* Launches of a kind that have to be known to be alike before others are assumed to be. */
#define LEAST_ALIKE 2
/* One in so many launches that need no comparison has one: of those that are assumed to be alike
 * twice as many lie between two comparisons as between the two before, up to the rarest. */
#define SPOT_CHECK 16
#define RAREST_SPOT_CHECK 256
/* So many wrong assumptions of a kind, and more than one for so many right ones, are the last. */
#define LEAST_WRONG 4
#define RIGHT_FOR_WRONG 8
/* Launches in a row that were not like the one that was measured: then that was the outlier. */
#define MOST_OUTLIERS 8
/* Launches of a kind in a row that were new: then they are not compared any more. */
#define MOST_NEW 4
/* Launches remembered; when there are more all are forgotten. */
#define MOST_ENTRIES GP_MOST_MEASURED

struct entry {
    struct gp_fingerprint fingerprint;
    uint64_t launches, next_check;
    bool known;        /* values have been measured */
    unsigned outliers; /* launches in a row that were not like them */
    UT_hash_handle hh;
    double values[];
};

/* A kernel whose launches are not known by their fingerprints. */
struct barred {
    uint64_t kernel;
    UT_hash_handle hh;
};

/* The launches of a kernel with one grid and block, or those of them with the same work. */
struct kind {
    struct gp_fingerprint which;
    struct gp_fingerprint alike;        /* their fingerprints */
    unsigned confirmed;                 /* launches in a row that were that */
    unsigned assumed;                   /* since the last of them that was compared all the same */
    unsigned spot_check;                /* one in so many is; 0: none was yet */
    unsigned new_in_a_row;              /* launches that were like none before */
    unsigned not_compared;              /* since */
    uint32_t parameters[GP_KIND_WORDS]; /* of the first of them */
    uint64_t varied;                    /* a bit for each that was not the same for all */
    unsigned right, wrong; /* assumptions that a bundle confirmed, and of wrong bundles' launches */
    bool various;          /* it was assumed once, and not so */
    bool by_chance;        /* some with the same work had other fingerprints */
    bool counted;          /* one of them was, in instrumented code */
    UT_hash_handle hh;
};

struct gp_recall {
    size_t count;
    struct entry *entries;
    struct gp_measured_table hardware;
    struct kind *kinds, *works; /* by shape, and by work */
    struct barred *barred;
    bool bars_all; /* there was no room to say which */
};

uint64_t fingerprint_function(const char *name)
{
    uint64_t hash = 0;
    for (; *name; name++)
        hash = gp_mix(hash, (unsigned char)*name);
    return hash;
}

struct gp_fingerprint fingerprint_of(const char *kernel, uint64_t shape)
{
    return (struct gp_fingerprint){.kernel = fingerprint_function(kernel),
                                   .words = {gp_mix(shape, 1), gp_mix(shape, 2)}};
}

void fingerprint_add(struct gp_fingerprint *f, uint64_t function, uint32_t offset, uint64_t metric,
                     uint64_t value)
{
    for (unsigned i = 0; i < 2; i++) {
        uint64_t x = gp_mix(function + i, offset);
        x = gp_mix(x, metric);
        x = gp_mix(x, value);
        f->words[i] += gp_mix(x, UINT64_C(0xd6e8feb86659fd93) << i);
    }
}

struct gp_recall *recall_new(size_t count, size_t hardware)
{
    struct gp_recall *r = calloc(1, sizeof(*r));
    if (r)
        *r = (struct gp_recall){.count = count, .hardware.count = hardware};
    return r;
}

static void forget(struct gp_recall *r)
{
    struct entry *e, *next;
    measured_forget(&r->hardware);
    HASH_ITER(hh, r->entries, e, next)
    {
        HASH_DEL(r->entries, e);
        free(e);
    }
}

static void forget_kinds(struct kind **kinds)
{
    struct kind *k, *next;
    HASH_ITER(hh, *kinds, k, next)
    {
        HASH_DEL(*kinds, k);
        free(k);
    }
}

void recall_free(struct gp_recall *r)
{
    if (!r)
        return;
    forget(r);
    forget_kinds(&r->kinds);
    forget_kinds(&r->works);
    struct barred *d, *next;
    HASH_ITER(hh, r->barred, d, next)
    {
        HASH_DEL(r->barred, d);
        free(d);
    }
    free(r);
}

/* NULL when out of memory. */
static struct entry *find_or_make(struct gp_recall *r, const struct gp_fingerprint *f)
{
    struct entry *e;
    HASH_FIND(hh, r->entries, f, sizeof(*f), e);
    if (e)
        return e;
    if (HASH_COUNT(r->entries) >= MOST_ENTRIES)
        forget(r);
    e = calloc(1, sizeof(*e) + r->count * sizeof(e->values[0]));
    if (!e)
        return NULL;
    e->fingerprint = *f;
    e->next_check = FIRST_CHECK;
    HASH_ADD(hh, r->entries, fingerprint, sizeof(e->fingerprint), e);
    if (e->hh.tbl)
        return e;
    free(e);
    return NULL;
}

const double *recall_values(struct gp_recall *r, const struct gp_fingerprint *f)
{
    struct entry *e = find_or_make(r, f);
    if (!e)
        return NULL;
    e->launches++;
    if (!e->known || recall_is_barred(r, f))
        return NULL;
    if (e->launches < e->next_check)
        return e->values;
    e->next_check *= 10;
    return NULL;
}

/* The entry of a fingerprint that was measured; else NULL. */
static struct entry *find_known(const struct gp_recall *r, const struct gp_fingerprint *f)
{
    struct entry *e;
    HASH_FIND(hh, r->entries, f, sizeof(*f), e);
    return e && e->known ? e : NULL;
}

const double *recall_find(const struct gp_recall *r, const struct gp_fingerprint *f)
{
    const struct entry *e = find_known(r, f);
    return e ? e->values : NULL;
}

bool recall_is_barred(const struct gp_recall *r, const struct gp_fingerprint *f)
{
    const struct barred *d;
    HASH_FIND(hh, r->barred, &f->kernel, sizeof(f->kernel), d);
    return d || r->bars_all;
}

void recall_bar(struct gp_recall *r, const struct gp_fingerprint *f)
{
    if (recall_is_barred(r, f))
        return;
    struct barred *d = HASH_COUNT(r->barred) < MOST_ENTRIES ? calloc(1, sizeof(*d)) : NULL;
    if (d) {
        d->kernel = f->kernel;
        HASH_ADD(hh, r->barred, kernel, sizeof(d->kernel), d);
        if (d->hh.tbl)
            return;
    }
    free(d);
    r->bars_all = true;
}

void launch_kind_of(struct gp_launch_kind *kind, const char *kernel, uint64_t shape, uint64_t work,
                    const void *parameters, size_t size)
{
    *kind = (struct gp_launch_kind){.shape = fingerprint_of(kernel, shape),
                                    .work = fingerprint_of(kernel, gp_mix(shape, work))};
    uint32_t *last = &kind->parameters[GP_KIND_WORDS - 1];
    for (size_t at = 0; at < size; at += sizeof(uint32_t)) {
        size_t index = at / sizeof(uint32_t), left = size - at;
        uint32_t word = 0;
        memcpy(&word, (const char *)parameters + at, left < sizeof(word) ? left : sizeof(word));
        if (index < GP_KIND_WORDS - 1)
            kind->parameters[index] = word;
        else
            *last = (uint32_t)gp_mix(*last + index, word);
    }
}

static struct kind *find_in(struct kind *kinds, const struct gp_fingerprint *which)
{
    struct kind *k;
    HASH_FIND(hh, kinds, which, sizeof(*which), k);
    return k;
}

static struct kind *find_kind(const struct gp_recall *r, const struct gp_launch_kind *kind)
{
    return find_in(r->kinds, &kind->shape);
}

static struct kind *find_work(const struct gp_recall *r, const struct gp_launch_kind *kind)
{
    return find_in(r->works, &kind->work);
}

/* NULL when out of memory. */
static struct kind *find_or_make_in(struct kind **kinds, const struct gp_fingerprint *which)
{
    struct kind *k = find_in(*kinds, which);
    if (k)
        return k;
    if (HASH_COUNT(*kinds) >= MOST_ENTRIES)
        forget_kinds(kinds);
    k = calloc(1, sizeof(*k));
    if (!k)
        return NULL;
    k->which = *which;
    HASH_ADD(hh, *kinds, which, sizeof(k->which), k);
    if (k->hh.tbl)
        return k;
    free(k);
    return NULL;
}

static struct kind *find_or_make_kind(struct gp_recall *r, const struct gp_launch_kind *kind)
{
    return find_or_make_in(&r->kinds, &kind->shape);
}

/* A bit for each parameter that is not that of the first launch. */
static uint64_t differences(const struct kind *k, const struct gp_launch_kind *kind)
{
    _Static_assert(GP_KIND_WORDS <= 64, "a bit for each");
    uint64_t bits = 0;
    for (unsigned i = 0; i < GP_KIND_WORDS; i++)
        bits |= (uint64_t)(k->parameters[i] != kind->parameters[i]) << i;
    return bits;
}

bool recall_compares(struct gp_recall *r, const struct gp_launch_kind *kind)
{
    if (recall_is_barred(r, &kind->shape))
        return false;
    struct kind *k = find_kind(r, kind);
    const struct kind *same_work = find_work(r, kind);
    return !k || k->new_in_a_row < MOST_NEW || (same_work && same_work->confirmed > 0) ||
           ++k->not_compared % SPOT_CHECK == 0;
}

bool recall_expects_new(const struct gp_recall *r, const struct gp_launch_kind *kind)
{
    const struct kind *k = find_kind(r, kind);
    return !k || k->new_in_a_row >= MOST_NEW || recall_is_barred(r, &kind->shape);
}

void recall_compared(struct gp_recall *r, const struct gp_launch_kind *kind, bool is_new)
{
    struct kind *k = find_or_make_kind(r, kind);
    if (k)
        k->new_in_a_row = is_new ? k->new_in_a_row + 1 : 0;
}

static void note_found(struct kind *k, const struct gp_launch_kind *kind,
                       const struct gp_fingerprint *f, bool confirmed)
{
    if (!k)
        return;
    if (!confirmed || memcmp(&k->alike, f, sizeof(*f)) != 0)
        k->confirmed = 0;
    if (k->confirmed == 0) {
        k->alike = *f;
        memcpy(k->parameters, kind->parameters, sizeof(k->parameters));
        k->varied = 0;
        k->assumed = k->spot_check = 0;
    }
    k->varied |= differences(k, kind);
    k->confirmed += confirmed;
}

void recall_found(struct gp_recall *r, const struct gp_launch_kind *kind,
                  const struct gp_fingerprint *f, bool confirmed)
{
    struct kind *same_work = find_work(r, kind);
    if (same_work && memcmp(&same_work->alike, f, sizeof(*f)) != 0)
        same_work->by_chance = true;
    note_found(find_or_make_kind(r, kind), kind, f, confirmed);
    note_found(find_or_make_in(&r->works, &kind->work), kind, f, confirmed);
}

/* All launches of the kind so far were alike, and this one differs from them in no parameter that
 * has not changed before. */
static bool may_be_assumed(const struct gp_recall *r, const struct kind *k,
                           const struct gp_launch_kind *kind)
{
    return k && !k->various && k->confirmed >= LEAST_ALIKE &&
           !(differences(k, kind) & ~k->varied) && !recall_is_barred(r, &kind->shape);
}

bool recall_is_familiar(const struct gp_recall *r, const struct gp_launch_kind *kind)
{
    const struct kind *k = find_kind(r, kind);
    if (!may_be_assumed(r, k, kind))
        k = find_work(r, kind);
    return may_be_assumed(r, k, kind) && recall_find(r, &k->alike) != NULL;
}

/* True for the launches of a kind that are compared although they may be assumed to be alike. */
static bool is_spot_check(struct kind *k, unsigned apart)
{
    if (!k->spot_check)
        k->spot_check = SPOT_CHECK;
    if (++k->assumed < k->spot_check || (k->assumed < apart && k->assumed < RAREST_SPOT_CHECK))
        return false;
    k->assumed = 0;
    if (k->spot_check < RAREST_SPOT_CHECK)
        k->spot_check *= 2;
    return true;
}

bool recall_assume(struct gp_recall *r, struct gp_launch_kind *kind, unsigned apart,
                   struct gp_fingerprint *f)
{
    struct kind *k = find_kind(r, kind);
    kind->by_work = !may_be_assumed(r, k, kind);
    if (kind->by_work)
        k = find_work(r, kind);
    if (kind->by_work && !may_be_assumed(r, k, kind))
        return false;
    struct entry *e;
    HASH_FIND(hh, r->entries, &k->alike, sizeof(k->alike), e);
    if (!e || e->launches + 1 >= e->next_check || is_spot_check(k, apart))
        return false;
    e->launches++;
    *f = k->alike;
    const struct kind *same_work = find_work(r, kind);
    kind->by_chance = same_work && same_work->by_chance;
    return true;
}

bool recall_same_work(struct gp_recall *r, const struct gp_launch_kind *kind,
                      struct gp_fingerprint *f)
{
    const struct kind *k = find_work(r, kind);
    if (!k || recall_is_barred(r, f) || !recall_values(r, &k->alike))
        return false;
    *f = k->alike;
    return true;
}

void recall_differed_by_chance(struct gp_recall *r, const struct gp_launch_kind *kind)
{
    struct kind *k = find_work(r, kind);
    if (k)
        k->by_chance = true;
}

/* Launches with the same work would be assumed to be the same. */
static void assume_no_more(struct kind *k, struct kind *same_work)
{
    k->various = true;
    if (same_work && memcmp(&same_work->alike, &k->alike, sizeof(k->alike)) == 0)
        same_work->various = true;
}

void recall_assumed(struct gp_recall *r, const struct gp_launch_kind *kind, bool confirmed)
{
    struct kind *same_work = find_work(r, kind);
    struct kind *k = kind->by_work ? same_work : find_kind(r, kind);
    if (!k)
        return;
    if (confirmed) {
        k->confirmed++;
        k->right++;
        return;
    }
    assume_no_more(k, same_work);
}

void recall_assumed_wrongly(struct gp_recall *r, const struct gp_launch_kind *kind)
{
    struct kind *same_work = find_work(r, kind);
    struct kind *k = kind->by_work ? same_work : find_kind(r, kind);
    if (k && ++k->wrong >= LEAST_WRONG && k->wrong > k->right / RIGHT_FOR_WRONG)
        assume_no_more(k, same_work);
}

void recall_note_counted(struct gp_recall *r, const struct gp_launch_kind *kind)
{
    struct kind *k = find_or_make_kind(r, kind);
    if (k)
        k->counted = true;
}

bool recall_has_counted(const struct gp_recall *r, const struct gp_launch_kind *kind)
{
    const struct kind *k = find_kind(r, kind);
    return k && k->counted;
}

bool recall_is_outlier(struct gp_recall *r, const struct gp_fingerprint *f)
{
    struct entry *e = find_known(r, f);
    return e && ++e->outliers < MOST_OUTLIERS;
}

void recall_agreed(struct gp_recall *r, const struct gp_fingerprint *f)
{
    struct entry *e = find_known(r, f);
    if (e)
        e->outliers = 0;
}

void recall_learn(struct gp_recall *r, const struct gp_fingerprint *f, const double *values,
                  bool exact)
{
    struct entry *e = find_or_make(r, f);
    if (!e)
        return;
    size_t bytes = r->count * sizeof(e->values[0]);
    if (exact && e->known && memcmp(e->values, values, bytes) != 0)
        recall_bar(r, f);
    memcpy(e->values, values, bytes);
    e->known = true;
    e->outliers = 0;
}

struct gp_fingerprint fingerprint_with_work(const struct gp_fingerprint *f,
                                            const struct gp_launch_kind *kind)
{
    return (struct gp_fingerprint){.kernel = f->kernel,
                                   .words = {gp_mix(f->words[0], kind->work.words[0]),
                                             gp_mix(f->words[1], kind->work.words[1])}};
}

void recall_note_hardware(struct gp_recall *r, const struct gp_fingerprint *f,
                          const struct gp_launch_kind *kind, const double *values)
{
    const struct gp_fingerprint with_work = fingerprint_with_work(f, kind);
    struct gp_measured_rows *rows =
        find_known(r, f) ? measured_find_or_make(&r->hardware, &with_work) : NULL;
    if (rows)
        measured_add(rows, values, r->hardware.count);
}

unsigned recall_hardware_count(const struct gp_recall *r, const struct gp_fingerprint *with_work)
{
    const struct gp_measured_rows *rows =
        recall_is_barred(r, with_work) ? NULL : measured_find(&r->hardware, with_work);
    return rows ? measured_count(rows) : 0;
}

const double *recall_hardware(struct gp_recall *r, const struct gp_fingerprint *with_work)
{
    struct gp_measured_rows *rows = measured_find(&r->hardware, with_work);
    return rows ? measured_take(rows, r->hardware.count) : NULL;
}
