#include "code/unpacked.h"

#include "base/clock.h"

#include <stdlib.h>
#include <utlist.h>

/* The cubins of all images have so many unpacked bytes at most. A larger image is unpacked for each
 * question, a cubin at a time. */
#define MOST_BYTES ((size_t)64 << 20)

/* Seconds for a byte, before any was unpacked, and the bytes that this guess counts for. Of more
 * than so many bytes newer ones count more. */
#define USUAL_RATE 2e-9
#define USUAL_BYTES 1e6
#define OLD_BYTES 1e9

static struct gp_unpacked *all; /* the one asked last is the first */
static size_t bytes;            /* of all, and of the one that is unpacked */

static struct {
    double bytes, seconds;
} learned = {USUAL_BYTES, USUAL_BYTES *USUAL_RATE};
static __thread double own_seconds __attribute__((tls_model("initial-exec")));

struct unpacking {
    struct gp_unpacked *unpacked;
    const char *function; /* NULL: all cubins are unpacked */
    bool keeps;
    double began; /* to unpack a cubin, seconds of the clock */
    const struct gp_part_visitor *visitor;
    void *data;
};

/* ---- time ------------------------------------------------------------------------------------ */

static void learn_rate(size_t unpacked, double seconds)
{
    if (learned.bytes > OLD_BYTES) {
        learned.bytes /= 2;
        learned.seconds /= 2;
    }
    learned.bytes += (double)unpacked;
    learned.seconds += seconds;
    own_seconds += seconds;
}

double gp_unpacking_seconds(size_t unpacked)
{
    return (double)unpacked * learned.seconds / learned.bytes;
}

double gp_unpacked_seconds(void)
{
    return own_seconds;
}

/* ---- kept cubins ----------------------------------------------------------------------------- */

static bool is_any_kept(const struct gp_unpacked *unpacked)
{
    return unpacked->cubins != NULL;
}

/* They are in the list where any is kept. */
static void drop_cubins(struct gp_unpacked *unpacked)
{
    for (size_t i = 0; i < unpacked->count; i++)
        free(unpacked->cubins[i].memory);
    free(unpacked->cubins);
    bytes -= unpacked->bytes;
    unpacked->cubins = NULL;
    unpacked->count = unpacked->bytes = 0;
}

static void drop_oldest(void)
{
    struct gp_unpacked *oldest = all->prev; /* of the first, that is the last */
    DL_DELETE(all, oldest);
    drop_cubins(oldest);
}

void gp_unpacked_drop(struct gp_unpacked *unpacked)
{
    if (is_any_kept(unpacked))
        DL_DELETE(all, unpacked);
    drop_cubins(unpacked);
    gp_names_drop(&unpacked->names);
    *unpacked = (struct gp_unpacked){0};
}

/* Cubins visited so far are not needed: the visitor has seen them. */
static void keep_none(struct unpacking *u)
{
    u->keeps = false;
    drop_cubins(u->unpacked);
}

static void *find_memory(struct unpacking *u, size_t size)
{
    if (u->keeps && size > MOST_BYTES - u->unpacked->bytes) {
        u->unpacked->is_too_large = u->unpacked->is_too_large || !u->function;
        keep_none(u);
    }
    while (u->keeps && all && size > MOST_BYTES - bytes)
        drop_oldest();
    void *memory = malloc(size);
    if (memory)
        return memory;
    /* Without ours there may be enough. */
    while (all)
        drop_oldest();
    keep_none(u);
    return malloc(size);
}

static void *room(size_t size, void *data)
{
    struct unpacking *u = data;
    u->began = gp_clock_seconds();
    return find_memory(u, size);
}

static bool make_room_for(struct gp_unpacked *unpacked, size_t cubin)
{
    if (cubin < unpacked->count)
        return true;
    struct gp_part *cubins = realloc(unpacked->cubins, (cubin + 1) * sizeof(*cubins));
    if (!cubins)
        return false;
    unpacked->cubins = cubins;
    while (unpacked->count <= cubin)
        cubins[unpacked->count++] = (struct gp_part){0};
    return true;
}

static bool keep(struct gp_unpacked *unpacked, struct gp_part *part)
{
    if (!make_room_for(unpacked, part->cubin))
        return false;
    struct gp_part *kept = &unpacked->cubins[part->cubin];
    const size_t before = kept->memory ? kept->size : 0, now = part->memory ? part->size : 0;
    free(kept->memory);
    *kept = *part;
    unpacked->bytes += now - before;
    bytes += now - before;
    part->memory = NULL;
    return true;
}

/* ---- visits ---------------------------------------------------------------------------------- */

static bool may_have(const struct gp_unpacked *unpacked, size_t cubin, const char *function)
{
    return !function || gp_names_may_have(&unpacked->names, cubin, function);
}

static bool unpacks(unsigned cubin, size_t size, void *data)
{
    const struct unpacking *u = data;
    (void)size;
    return may_have(u->unpacked, cubin, u->function);
}

static bool visit(struct gp_part *part, void *data, const char **why)
{
    struct unpacking *u = data;
    struct gp_unpacked *unpacked = u->unpacked;
    if (part->memory)
        learn_rate(part->size, gp_clock_seconds() - u->began);
    if (!u->visitor->part(part, u->data, why))
        return false;
    if (part->is_cubin && !unpacked->is_known) {
        gp_names_note(&unpacked->names, part);
        unpacked->total = part->cubin + (size_t)1;
    }
    if (u->keeps && part->is_cubin && !keep(unpacked, part))
        keep_none(u);
    return true;
}

/* All cubins that may have the function are kept. */
static bool has_all(const struct gp_unpacked *unpacked, const char *function)
{
    bool has = unpacked->is_known;
    for (size_t i = 0; has && i < unpacked->total; i++)
        has =
            (i < unpacked->count && unpacked->cubins[i].bytes) || !may_have(unpacked, i, function);
    return has;
}

static bool visit_kept(struct gp_unpacked *unpacked, const char *function,
                       const struct gp_part_visitor *visitor, void *data, const char **why)
{
    if (is_any_kept(unpacked)) {
        DL_DELETE(all, unpacked);
        DL_PREPEND(all, unpacked);
    }
    for (size_t i = 0; i < unpacked->count; i++)
        if (unpacked->cubins[i].bytes && may_have(unpacked, i, function) &&
            !visitor->part(&unpacked->cubins[i], data, why))
            return false;
    *why = NULL;
    return true;
}

/* ---- bytes to be unpacked -------------------------------------------------------------------- */

struct missing {
    const struct gp_unpacked *unpacked; /* NULL: nothing is known of its cubins */
    const char *function;
    size_t bytes;
};

static bool add_missing(unsigned cubin, size_t size, void *data)
{
    struct missing *m = data;
    if (!m->unpacked || may_have(m->unpacked, cubin, m->function))
        m->bytes += size;
    return false;
}

static bool pass_by(struct gp_part *part, void *data, const char **why)
{
    (void)part, (void)data, (void)why;
    return true;
}

size_t gp_unpacked_missing(const struct gp_unpacked *unpacked, const void *image, size_t size,
                           int cc, const char *function)
{
    static const struct gp_part_visitor adds = {
        .part = pass_by, .unpacks = add_missing, .cubins_only = true};
    const bool known = unpacked->is_known && unpacked->cc == cc;
    struct missing m = {.unpacked = known ? unpacked : NULL, .function = function};
    const char *why;
    if (known && has_all(unpacked, function))
        return 0;
    gp_image_parts(image, size, cc, &adds, &m, &why);
    return m.bytes;
}

/* ---- questions ------------------------------------------------------------------------------- */

/* An image whose size is not known is begun to be kept. */
static bool fits(const struct unpacking *u, const void *image, size_t size, int cc)
{
    return u->function ? gp_unpacked_missing(u->unpacked, image, size, cc, u->function) <=
                             MOST_BYTES - u->unpacked->bytes
                       : !u->unpacked->is_too_large;
}

/* Cubins of the last question are kept of an image that is too large. */
static bool unpack(struct gp_unpacked *unpacked, const void *image, size_t size, int cc,
                   struct unpacking *u, const char **why)
{
    const struct gp_part_visitor visits = {
        .part = visit, .room = room, .unpacks = unpacks, .cubins_only = u->visitor->cubins_only};
    if (is_any_kept(unpacked))
        DL_DELETE(all, unpacked);
    if (!u->function || unpacked->is_too_large)
        drop_cubins(unpacked);
    u->keeps = fits(u, image, size, cc);
    const bool ok = gp_image_parts(image, size, cc, &visits, u, why);
    if (!ok)
        drop_cubins(unpacked);
    if (is_any_kept(unpacked))
        DL_PREPEND(all, unpacked);
    return ok;
}

bool gp_unpacked_parts(struct gp_unpacked *unpacked, const void *image, size_t size, int cc,
                       const char *function, const struct gp_part_visitor *visitor, void *data,
                       const char **why)
{
    if (!unpacked)
        return gp_image_parts(image, size, cc, visitor, data, why);
    if (unpacked->cc != cc)
        gp_unpacked_drop(unpacked);
    unpacked->cc = cc;
    if (!unpacked->is_known)
        unpacked->total = 0;
    if (visitor->cubins_only && has_all(unpacked, function))
        return visit_kept(unpacked, function, visitor, data, why);
    struct unpacking u = {.unpacked = unpacked,
                          .function = unpacked->is_known ? function : NULL,
                          .visitor = visitor,
                          .data = data};
    const bool ok = unpack(unpacked, image, size, cc, &u, why);
    unpacked->is_known = ok;
    if (!ok)
        gp_names_drop(&unpacked->names);
    return ok;
}
