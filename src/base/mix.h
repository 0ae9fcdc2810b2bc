/* A hash that a process compares with its own alone: one word after the other is mixed in. */
#ifndef GPUPROF_BASE_MIX_H
#define GPUPROF_BASE_MIX_H

#include <stdint.h>

static inline uint64_t gp_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

#endif
