/* A hash of machine code, by which a process knows the same code again. */
#ifndef GPUPROF_CODE_CODE_HASH_H
#define GPUPROF_CODE_CODE_HASH_H

#include "base/mix.h"

#include <stddef.h>
#include <string.h>

static inline uint64_t gp_code_hash(const void *code, size_t size)
{
    uint64_t hash = size;
    for (size_t at = 0; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, (const char *)code + at, sizeof(word));
        hash = gp_mix(hash, word);
    }
    return hash;
}

#endif
