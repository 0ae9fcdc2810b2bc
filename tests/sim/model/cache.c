#include "model/cache.h"

#include <stdlib.h>
#include <string.h>

#include "model/chip.h"

#define SECTORS (GPUSIM_LINE / GPUSIM_SECTOR)

struct line {
    uint64_t number; /* address / GPUSIM_LINE, plus one; 0: nothing here */
    uint32_t used; /* the clock when it last was; nothing here if that was before it was emptied */
    uint8_t present, dirty; /* one bit per sector */
};

struct gpusim_cache {
    uint64_t bytes;
    uint64_t sets;
    unsigned ways;
    uint32_t clock, emptied;
    struct line *lines, *latest;
};

struct gpusim_cache *gpusim_cache_new(uint64_t bytes, unsigned ways)
{
    struct gpusim_cache *cache = calloc(1, sizeof(*cache));

    if (!cache)
        return NULL;
    cache->bytes = bytes;
    cache->ways = ways;
    cache->sets = bytes / GPUSIM_LINE / ways;
    cache->lines = calloc(cache->sets * ways, sizeof(*cache->lines));
    if (!cache->lines) {
        free(cache);
        return NULL;
    }
    return cache;
}

void gpusim_cache_free(struct gpusim_cache *cache)
{
    if (!cache)
        return;
    free(cache->lines);
    free(cache);
}

void gpusim_cache_clear(struct gpusim_cache *cache)
{
    /* Far quicker than to forget each line, of which there are half a million. */
    cache->emptied = cache->clock;
    if (cache->clock < UINT32_MAX / 2)
        return;
    memset(cache->lines, 0, cache->sets * cache->ways * sizeof(*cache->lines));
    cache->clock = cache->emptied = 0;
}

/* Spreads lines that lie a power of two apart, as the real address hash does. */
static uint64_t set_of(const struct gpusim_cache *cache, uint64_t number)
{
    return (number ^ (number >> 11) ^ (number >> 21)) % cache->sets;
}

static bool is_here(const struct gpusim_cache *cache, const struct line *line, uint64_t number)
{
    return line->number == number + 1 && line->used > cache->emptied;
}

/* Its caller sets when the line was used. */
static struct line *find_or_evict(struct gpusim_cache *cache, uint64_t address,
                                  uint64_t *written_back)
{
    uint64_t number = address / GPUSIM_LINE;
    struct line *set, *oldest;

    /* The sectors of a line come one behind the other. */
    if (cache->latest && is_here(cache, cache->latest, number))
        return cache->latest;
    set = oldest = &cache->lines[set_of(cache, number) * cache->ways];
    for (unsigned w = 0; w < cache->ways; w++) {
        if (is_here(cache, &set[w], number))
            return cache->latest = &set[w];
        if (set[w].used < oldest->used)
            oldest = &set[w];
    }
    if (oldest->used > cache->emptied)
        *written_back += (uint64_t)__builtin_popcount(oldest->dirty);
    *oldest = (struct line){.number = number + 1};
    return cache->latest = oldest;
}

bool gpusim_cache_touch(struct gpusim_cache *cache, uint64_t address, bool write,
                        uint64_t *written_back)
{
    struct line *line = find_or_evict(cache, address, written_back);
    uint8_t bit = (uint8_t)(1u << (address / GPUSIM_SECTOR % SECTORS));
    bool hit = (line->present & bit) != 0;

    line->used = ++cache->clock;
    line->present |= bit;
    if (write)
        line->dirty |= bit;
    return hit;
}

void gpusim_cache_sweep(struct gpusim_cache *cache, uint64_t address, uint64_t bytes, bool write)
{
    uint64_t ignored = 0;
    uint64_t end = address + bytes;

    if (bytes == 0)
        return;
    if (bytes >= 2 * cache->bytes && !write) {
        gpusim_cache_clear(cache); /* nothing older than the sweep survives it */
        return;
    }
    for (uint64_t at = address / GPUSIM_LINE * GPUSIM_LINE; at < end; at += GPUSIM_LINE) {
        struct line *line = find_or_evict(cache, at, &ignored);
        line->used = ++cache->clock;
        line->present = (1u << SECTORS) - 1;
        if (write)
            line->dirty = (1u << SECTORS) - 1;
    }
}
