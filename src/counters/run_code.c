/* Which code a launch runs. The modules of a program may hold kernels that have one name and
 * different code: static functions of two files, or all that a program compiles while it runs. */
#include "counters/inside.h"

#include "code/code_hash.h"
#include "code/instruction.h"

#include <string.h>

/* Set in a hash, not in a number. */
#define IS_HASH (UINT64_C(1) << 63)

/* 0 where the code is not known: all of it, with the functions that it calls. */
static uint64_t hash_of(const struct gp_run *run, int cc)
{
    size_t size = 0;
    struct gp_reason why;
    const unsigned char *code =
        run->find_code ? run->find_code(run->find_code_data, run->kernel, &size, &why) : NULL;
    for (size_t at = 0; code && at + GP_INSTRUCTION_BYTES <= size; at += GP_INSTRUCTION_BYTES)
        if (gp_instruction_leaves(code + at, at, size, cc))
            return 0;
    return code ? gp_code_hash(code, size) | IS_HASH : 0;
}

uint64_t run_shape_and_code(const struct gp_run *run, int cc)
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

bool run_code_is_whole(const struct gp_run *run, int cc)
{
    run_shape_and_code(run, cc);
    return run->code && (*run->code & IS_HASH);
}

const struct gp_instruction *read_instruction(struct gp_code_reading *r, const char *function,
                                              uint32_t offset, struct gp_instruction *instruction)
{
    function = function ? function : "";
    if (r->function != function && (!r->function || strcmp(r->function, function) != 0)) {
        r->function = function;
        r->why = GP_REASON(CODE_UNKNOWN);
        r->code = r->run->find_code
                      ? r->run->find_code(r->run->find_code_data, function, &r->size, &r->why)
                      : NULL;
    }
    if (!r->code)
        return NULL;
    if (r->size < GP_INSTRUCTION_BYTES || offset > r->size - GP_INSTRUCTION_BYTES) {
        r->why = GP_REASON_TEXT(CODE_UNKNOWN,
                                "CUPTI counted at a position where the kernel has no code");
        return NULL;
    }
    *instruction = gp_instruction_decode(r->code + offset, r->cc);
    return instruction;
}
