#include "counters/run_code.h"

#include "base/mix.h"
#include "code/instruction.h"

#include <string.h>

/* Set in a hash, not in a number. */
#define IS_HASH (UINT64_C(1) << 63)

/* 0 where the code is not known: all of it, with the functions that it calls. */
static uint64_t hash_of(const struct gp_run *run, int cc)
{
    size_t size = 0;
    const char *why;
    const unsigned char *code =
        run->find_code ? run->find_code(run->find_code_data, run->kernel, &size, &why) : NULL;
    uint64_t hash = size;
    if (!code)
        return 0;
    for (size_t at = 0; at + GP_INSTRUCTION_BYTES <= size; at += GP_INSTRUCTION_BYTES) {
        uint64_t words[2];
        if (gp_instruction_leaves(code + at, at, size, cc))
            return 0;
        memcpy(words, code + at, sizeof(words));
        hash = gp_mix(gp_mix(hash, words[0]), words[1]);
    }
    return hash | IS_HASH;
}

uint64_t gp_run_shape_and_code(const struct gp_run *run, int cc)
{
    static uint64_t unknown; /* kernels so far */
    if (!run->code)
        return run->shape;
    if (*run->code == 0)
        *run->code = hash_of(run, cc);
    if (*run->code == 0)
        *run->code = ++unknown;
    return gp_mix(run->shape, *run->code);
}
