/* The instructions whose results another one waits for. An instruction of compute capability 7.0 or
 * later that takes a time that is not known before (a load, say) counts up one of six scoreboards,
 * and down when it is done; others name the scoreboards that must be at zero before they are
 * issued. Pure. */
#ifndef GPUPROF_CODE_SCOREBOARDS_H
#define GPUPROF_CODE_SCOREBOARDS_H

#include "code/paths.h"

/* The kinds of instructions that are waited for. */
enum gp_awaited {
    GP_AWAITED_OTHER,
    GP_AWAITED_LOAD,  /* from global memory, also by a generic address */
    GP_AWAITED_STORE, /* its operands are read late */
    GP_AWAITED_LOCAL,
    GP_AWAITED_ATOMIC,
    GP_AWAITED_TEXTURE, /* and surfaces */
    GP_AWAITED_COPY,    /* into shared memory, asynchronously; barriers that count its bytes */
    GP_AWAITED_SHARED,
    GP_AWAITED_SHARED_ATOMIC,
    GP_AWAITED_CONSTANT,  /* by an address in a register */
    GP_AWAITED_PARAMETER, /* a constant by its number */
    GP_AWAITED_SPECIAL,   /* MUFU, conversions of 32 bits, counts of bits */
    GP_AWAITED_EXCHANGE,  /* between lanes: SHFL, REDUX, MATCH */
    GP_AWAITED_REGISTER,  /* a special register */
    GP_AWAITED_DOUBLE,    /* FP64, and conversions from and to it */
    GP_AWAITED_MATRIX,
};

/* The kind of an instruction, whether others wait for it or not. */
enum gp_awaited gp_awaited_kind(const uint64_t word[2], int cc);

/* Conversions and roundings among the special ones: F2F, F2I, I2F, FRND. */
bool gp_is_conversion(const uint64_t word[2]);

/* The scoreboards that an instruction waits for, as a bit mask, and those that it counts up. A
 * DEPBAR waits for the one that its operand names. */
unsigned gp_scoreboards_awaited(const uint64_t word[2]);
unsigned gp_scoreboards_set(const uint64_t word[2]);

/* The queue whose results a warp waits for: that to L1 and the memories behind it ("long"), or that
 * to shared memory, special functions and the like ("short"). */
enum gp_queue { GP_QUEUE_LONG, GP_QUEUE_SHORT };

/* Finds the instructions that number n of the code waits for in that queue: those that count up its
 * scoreboards on any way to it, behind the last wait for the same scoreboard; of an instruction in
 * a loop, those in the loop, where there are any. Behind a DEPBAR, also those that it waits for.
 * All of them where none is of that queue. Returns how many there are, at most `most`, in `found`,
 * the nearest first. */
size_t gp_producers_find(struct gp_paths *p, size_t n, enum gp_queue queue, uint32_t *found,
                         size_t most);

#endif
