/* The near part of divided memory, in blocks: those in which launches have had an address, the next
 * one behind each, and those in which a change was found. Checks read it alone where the rest is
 * checked once for many launches. An allocation of most of the GPU has few near blocks; a number
 * among the parameters that is none but seems an address adds one or two. Pure. */
#include "memory/inside.h"

#include <string.h>

/* Bits of a word of changed units; a block has whole words. */
#define UNITS_A_WORD 32
/* Parts of an allocation that a block is, and the most units of it: 256 MB. */
#define PARTS 16
#define MOST_UNITS (((uint64_t)256 << 20) / GP_UNIT_BYTES)

static uint64_t rounded(uint64_t units)
{
    return (units + UNITS_A_WORD - 1) / UNITS_A_WORD * UNITS_A_WORD;
}

void near_begin(struct gp_near *n, uint64_t units)
{
    const uint64_t part = units / PARTS, block = part < MOST_UNITS ? part : MOST_UNITS;
    const uint64_t least = units / GP_NEAR_BLOCKS + 1;
    memset(n, 0, sizeof(*n));
    n->units = units;
    n->block = rounded(block > least ? block : least);
}

static bool has(const struct gp_near *n, uint64_t block)
{
    return n->bits[block / 64] >> block % 64 & 1;
}

static bool add_block(struct gp_near *n, uint64_t block)
{
    const bool is_new = block * n->block < n->units && !has(n, block);
    if (is_new)
        n->bits[block / 64] |= UINT64_C(1) << block % 64;
    return is_new;
}

bool near_add(struct gp_near *n, uint64_t unit)
{
    const uint64_t block = unit / n->block;
    const bool is_new = add_block(n, block);
    return add_block(n, block + 1) || is_new;
}

void near_add_changed(struct gp_near *n, uint64_t unit)
{
    add_block(n, unit / n->block);
}

bool near_next(const struct gp_near *n, uint64_t *from, uint64_t *to)
{
    uint64_t block = *from / n->block;
    while (block * n->block < n->units && !has(n, block))
        block++;
    if (*from >= n->units || block * n->block >= n->units)
        return false;
    *from = block * n->block > *from ? block * n->block : *from;
    while (block * n->block < n->units && has(n, block))
        block++;
    *to = block * n->block < n->units ? block * n->block : n->units;
    return true;
}

bool near_holds(const struct gp_near *n, uint64_t from, uint64_t to)
{
    uint64_t first = from, end;
    return from >= to || (near_next(n, &first, &end) && first == from && to <= end);
}
