#include "code/names.h"

#include "base/mix.h"
#include "code/functions.h"

#include <stdlib.h>

/* Names of all images: four bytes each. The libraries of PyTorch have some 200000 functions for one
 * chip. */
#define MOST_NAMES ((size_t)1 << 20)

static size_t noted; /* of all images, with the room for more */

static uint32_t hash_of(const char *name)
{
    uint64_t hash = 0;
    while (*name)
        hash = gp_mix(hash, (unsigned char)*name++);
    return (uint32_t)(hash >> 32);
}

static void drop_names(struct gp_cubin_names *n)
{
    noted -= n->room;
    free(n->hashes);
    *n = (struct gp_cubin_names){0};
}

static bool make_room(struct gp_cubin_names *n)
{
    const size_t more = n->room + 16;
    if (n->count < n->room)
        return true;
    if (noted + more > MOST_NAMES)
        return false;
    uint32_t *hashes = realloc(n->hashes, (n->room + more) * sizeof(*hashes));
    if (!hashes)
        return false;
    n->hashes = hashes;
    n->room += more;
    noted += more;
    return true;
}

static bool note_function(const char *name, const void *code, size_t size, void *names)
{
    struct gp_cubin_names *n = names;
    (void)code, (void)size;
    n->are_all = make_room(n);
    if (n->are_all)
        n->hashes[n->count++] = hash_of(name);
    return !n->are_all;
}

/* Gives the room back that no name came for. */
static void fit(struct gp_cubin_names *n)
{
    uint32_t *hashes = n->count > 0 ? realloc(n->hashes, n->count * sizeof(*hashes)) : NULL;
    if (!hashes)
        return;
    noted -= n->room - n->count;
    n->hashes = hashes;
    n->room = n->count;
}

static bool make_room_for(struct gp_names *names, size_t cubin)
{
    struct gp_cubin_names *cubins;
    if (cubin < names->count)
        return true;
    cubins = realloc(names->cubins, (cubin + 1) * sizeof(*cubins));
    if (!cubins)
        return false;
    names->cubins = cubins;
    while (names->count <= cubin)
        cubins[names->count++] = (struct gp_cubin_names){0};
    return true;
}

void gp_names_note(struct gp_names *names, const struct gp_part *part)
{
    struct gp_cubin cubin;
    if (!make_room_for(names, part->cubin))
        return;
    struct gp_cubin_names *n = &names->cubins[part->cubin];
    drop_names(n);
    n->are_all = gp_cubin_open(&cubin, part->bytes, part->size);
    if (n->are_all)
        gp_cubin_functions(&cubin, note_function, n);
    if (n->are_all)
        fit(n);
    else
        drop_names(n);
}

bool gp_names_may_have(const struct gp_names *names, size_t cubin, const char *function)
{
    if (cubin >= names->count || !names->cubins[cubin].are_all)
        return true;
    const struct gp_cubin_names *n = &names->cubins[cubin];
    const uint32_t hash = hash_of(function);
    for (size_t i = 0; i < n->count; i++)
        if (n->hashes[i] == hash)
            return true;
    return false;
}

void gp_names_drop(struct gp_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        drop_names(&names->cubins[i]);
    free(names->cubins);
    *names = (struct gp_names){0};
}
