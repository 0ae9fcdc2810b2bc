/* The fields of a machine instruction, by the numbers of their bits. */
#ifndef GPUPROF_CODE_ENCODING_H
#define GPUPROF_CODE_ENCODING_H

#include <stdint.h>

/* `count` bits from that one on, fewer than 32, all in one half of the instruction. */
static inline unsigned gp_bits(const uint64_t word[2], unsigned first, unsigned count)
{
    return (unsigned)(word[first / 64] >> first % 64) & ((1u << count) - 1);
}

#endif
