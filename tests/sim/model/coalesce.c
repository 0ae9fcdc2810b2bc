#include "model/coalesce.h"

#include <stdbool.h>

#define BANKS 32
#define BANK_BYTES 4

unsigned gpusim_units(const struct gpusim_access *access, uint32_t lanes, unsigned unit,
                      uint64_t out[GPUSIM_MAX_SECTORS])
{
    unsigned count = 0;

    lanes &= access->lanes;
    for (unsigned lane = 0; lane < GPUSIM_WARP; lane++) {
        uint64_t first, end;
        if (!(lanes >> lane & 1))
            continue;
        first = access->address[lane] & -(uint64_t)unit; /* a power of two */
        end = access->address[lane] + access->size;
        for (uint64_t u = first; u < end; u += unit) {
            bool known = false;
            /* Neighbouring lanes mostly share a unit: search from the latest one back. */
            for (unsigned i = count; i-- > 0 && !known;)
                known = out[i] == u;
            if (!known)
                out[count++] = u;
        }
    }
    return count;
}

/* 32 lanes of up to 4 bytes go together, of 8 bytes as halves, of 16 as quarters. */
static unsigned parts_of(unsigned size)
{
    return size <= 4 ? 1 : size <= 8 ? 2 : 4;
}

static uint32_t part_mask(unsigned part, unsigned parts)
{
    unsigned lanes = GPUSIM_WARP / parts;

    return (uint32_t)(((1ull << lanes) - 1) << (part * lanes));
}

unsigned gpusim_line_transactions(const struct gpusim_access *access)
{
    unsigned parts = parts_of(access->size);
    uint64_t lines[GPUSIM_MAX_SECTORS];
    unsigned total = 0;

    for (unsigned p = 0; p < parts; p++)
        total += gpusim_units(access, part_mask(p, parts), GPUSIM_LINE, lines);
    return total;
}

unsigned gpusim_segment_transactions(const struct gpusim_access *access)
{
    uint64_t sectors[GPUSIM_MAX_SECTORS];
    uint64_t lines[GPUSIM_MAX_SECTORS];
    unsigned sector_count = gpusim_units(access, UINT32_MAX, GPUSIM_SECTOR, sectors);
    unsigned line_count = gpusim_units(access, UINT32_MAX, GPUSIM_LINE, lines);
    unsigned total = 0;

    for (unsigned l = 0; l < line_count; l++) {
        unsigned mask = 0;
        for (unsigned s = 0; s < sector_count; s++)
            if (sectors[s] / GPUSIM_LINE * GPUSIM_LINE == lines[l])
                mask |= 1u << (sectors[s] % GPUSIM_LINE / GPUSIM_SECTOR);
        if (mask == 0xf) {
            total += 1;
            continue;
        }
        for (unsigned half = 0; half < 4; half += 2) {
            unsigned pair = mask >> half & 3;
            total += pair != 0; /* one of one sector or one of two */
        }
    }
    return total;
}

unsigned gpusim_ideal_sectors(const struct gpusim_access *access)
{
    unsigned bytes = (unsigned)__builtin_popcount(access->lanes) * access->size;

    return (bytes + GPUSIM_SECTOR - 1) / GPUSIM_SECTOR;
}

unsigned gpusim_wavefronts(const struct gpusim_access *access, unsigned *ideal)
{
    unsigned parts = parts_of(access->size);
    unsigned total = 0;

    *ideal = 0;
    for (unsigned p = 0; p < parts; p++) {
        uint64_t words[GPUSIM_WARP * 4];
        unsigned word_count = 0;
        unsigned in_bank[BANKS] = {0};
        unsigned worst = 0;
        uint32_t lanes = access->lanes & part_mask(p, parts);

        for (unsigned lane = 0; lane < GPUSIM_WARP; lane++) {
            uint64_t first, last;
            if (!(lanes >> lane & 1))
                continue;
            first = access->address[lane] / BANK_BYTES;
            last = (access->address[lane] + access->size - 1) / BANK_BYTES;
            for (uint64_t word = first; word <= last; word++) {
                bool known = false; /* lanes that read the same word share it */
                for (unsigned i = word_count; i-- > 0 && !known;)
                    known = words[i] == word;
                if (known)
                    continue;
                words[word_count++] = word;
                if (++in_bank[word % BANKS] > worst)
                    worst = in_bank[word % BANKS];
            }
        }
        total += worst;
        *ideal += (word_count + BANKS - 1) / BANKS;
    }
    return total;
}
