#include "code/unpacked.h"

#include <stdlib.h>
#include <utlist.h>

/* The cubins of all images have so many unpacked bytes at most. A larger image is unpacked for each
 * question, a cubin at a time. */
#define MOST_BYTES ((size_t)64 << 20)

static struct gp_unpacked *all; /* the one asked last is the first */
static size_t bytes;            /* of all, and of the one that is unpacked */

struct unpacking {
    struct gp_unpacked *unpacked;
    bool keeps;
    const struct gp_part_visitor *visitor;
    void *data;
};

void gp_unpacked_drop(struct gp_unpacked *unpacked)
{
    if (unpacked->is_kept)
        DL_DELETE(all, unpacked);
    for (size_t i = 0; i < unpacked->count; i++)
        free(unpacked->cubins[i].memory);
    free(unpacked->cubins);
    bytes -= unpacked->bytes;
    *unpacked = (struct gp_unpacked){.cc = unpacked->cc, .is_too_large = unpacked->is_too_large};
}

static void drop_oldest(void)
{
    gp_unpacked_drop(all->prev); /* of the first, that is the last */
}

/* Cubins visited so far are not needed: the visitor has seen them. */
static void keep_none(struct unpacking *u)
{
    u->keeps = false;
    gp_unpacked_drop(u->unpacked);
}

static void *room(size_t size, void *data)
{
    struct unpacking *u = data;
    if (u->keeps && size > MOST_BYTES - u->unpacked->bytes) {
        u->unpacked->is_too_large = true;
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

static bool keep(struct gp_unpacked *unpacked, struct gp_part *part)
{
    struct gp_part *cubins =
        realloc(unpacked->cubins, (unpacked->count + 1) * sizeof(*unpacked->cubins));
    if (!cubins)
        return false;
    unpacked->cubins = cubins;
    cubins[unpacked->count++] = *part;
    if (part->memory) {
        unpacked->bytes += part->size;
        bytes += part->size;
    }
    part->memory = NULL;
    return true;
}

static bool visit(struct gp_part *part, void *data, const char **why)
{
    struct unpacking *u = data;
    if (!u->visitor->part(part, u->data, why))
        return false;
    if (u->keeps && part->is_cubin && !keep(u->unpacked, part))
        keep_none(u);
    return true;
}

static bool visit_kept(struct gp_unpacked *unpacked, const struct gp_part_visitor *visitor,
                       void *data, const char **why)
{
    DL_DELETE(all, unpacked);
    DL_PREPEND(all, unpacked);
    for (size_t i = 0; i < unpacked->count; i++)
        if (!visitor->part(&unpacked->cubins[i], data, why))
            return false;
    *why = NULL;
    return true;
}

bool gp_unpacked_parts(struct gp_unpacked *unpacked, const void *image, size_t size, int cc,
                       const struct gp_part_visitor *visitor, void *data, const char **why)
{
    const struct gp_part_visitor visits = {
        .part = visit, .room = room, .cubins_only = visitor->cubins_only};
    if (!unpacked)
        return gp_image_parts(image, size, cc, visitor, data, why);
    if (unpacked->is_kept && unpacked->cc == cc && visitor->cubins_only)
        return visit_kept(unpacked, visitor, data, why);
    gp_unpacked_drop(unpacked);
    unpacked->is_too_large = unpacked->is_too_large && unpacked->cc == cc;
    unpacked->cc = cc;
    struct unpacking u = {
        .unpacked = unpacked, .keeps = !unpacked->is_too_large, .visitor = visitor, .data = data};
    bool ok = gp_image_parts(image, size, cc, &visits, &u, why);
    unpacked->is_kept = ok && u.keeps;
    if (unpacked->is_kept)
        DL_PREPEND(all, unpacked);
    else
        gp_unpacked_drop(unpacked);
    return ok;
}
