/* A cache of 128-byte lines in four sectors each, least recently used line out first. It knows
 * which addresses are present, not their data. */
#ifndef GPUSIM_CACHE_H
#define GPUSIM_CACHE_H

#include <stdbool.h>
#include <stdint.h>

struct gpusim_cache;

/* NULL when memory is out. */
struct gpusim_cache *gpusim_cache_new(uint64_t bytes, unsigned ways);
void gpusim_cache_free(struct gpusim_cache *cache);

/* Empties the cache; dirty data are forgotten. */
void gpusim_cache_clear(struct gpusim_cache *cache);

/*
 * Touches the sector that the address is in and brings it in if need be. Answers whether it was
 * there, and adds the dirty sectors thrown out on the way to *written_back.
 */
bool gpusim_cache_touch(struct gpusim_cache *cache, uint64_t address, bool write,
                        uint64_t *written_back);

/* Touches a whole range, as a copy engine or a fill does it; nobody counts. */
void gpusim_cache_sweep(struct gpusim_cache *cache, uint64_t address, uint64_t bytes, bool write);

#endif
