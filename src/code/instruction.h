/* The kind of one machine instruction, as far as counting needs it: its arithmetic, the memory that
 * it touches, and how many bytes of it a thread moves.
 *
 * An instruction of compute capability 7.0 to 12.x is 128 bits. Its low nine say which operation it
 * is, the next three where its operands come from, which is of no interest here. */
#ifndef GPUPROF_CODE_INSTRUCTION_H
#define GPUPROF_CODE_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GP_INSTRUCTION_BYTES 16

/* GP_OP(NAME): the operations that counters distinguish. Named after the mnemonics, without their
 * modifiers. */
#define GP_OPS                                                              \
    GP_OP(UNKNOWN) /* not in our list: it may be any of the others */       \
    GP_OP(OTHER)   /* in our list, and none of the others */                \
    GP_OP(FADD)                                                             \
    GP_OP(FMUL)                                                             \
    GP_OP(FFMA)                                                             \
    GP_OP(FADD2) /* two FP32 numbers in a register pair: Blackwell */       \
    GP_OP(FMUL2)                                                            \
    GP_OP(FFMA2)                                                            \
    GP_OP(FHADD) /* FP32 with FP16 operands: Blackwell */                   \
    GP_OP(FHFMA)                                                            \
    GP_OP(UFADD) /* on the uniform datapath, once for a warp: Blackwell */  \
    GP_OP(UFMUL)                                                            \
    GP_OP(UFFMA)                                                            \
    GP_OP(DADD)                                                             \
    GP_OP(DMUL)                                                             \
    GP_OP(DFMA)                                                             \
    GP_OP(HADD2) /* two FP16 or BF16 numbers, or one of them */             \
    GP_OP(HMUL2)                                                            \
    GP_OP(HFMA2)                                                            \
    GP_OP(QADD4) /* four FP8 numbers: Blackwell */                          \
    GP_OP(QMUL4)                                                            \
    GP_OP(QFMA4)                                                            \
    GP_OP(HMMA) /* matrices, a warp's: FP16, BF16, TF32 */                  \
    GP_OP(IMMA)                                                             \
    GP_OP(BMMA)                                                             \
    GP_OP(DMMA)                                                             \
    GP_OP(QMMA)  /* FP8, FP6 */                                             \
    GP_OP(OMMA)  /* FP4 */                                                  \
    GP_OP(HGMMA) /* matrices, those of four warps, in shared memory */      \
    GP_OP(IGMMA)                                                            \
    GP_OP(BGMMA)                                                            \
    GP_OP(QGMMA)                                                            \
    GP_OP(UTCMMA) /* matrices in tensor memory; a register has the shape */ \
    GP_OP(LD)     /* generic: global, shared or local by its address */     \
    GP_OP(ST)                                                               \
    GP_OP(LDG) /* global memory */                                          \
    GP_OP(STG)                                                              \
    GP_OP(LDS) /* shared memory */                                          \
    GP_OP(STS)                                                              \
    GP_OP(LDL) /* local memory */                                           \
    GP_OP(STL)                                                              \
    GP_OP(LDSM) /* matrices between shared memory and registers */          \
    GP_OP(STSM)                                                             \
    GP_OP(LDGSTS) /* global to shared memory, asynchronously */             \
    GP_OP(LDGMC)  /* a reduction over several devices' memory */            \
    GP_OP(ATOM)   /* generic, like LD */                                    \
    GP_OP(ATOMG)                                                            \
    GP_OP(ATOMS)                                                            \
    GP_OP(RED)  /* global memory, without an answer: RED, REDG */           \
    GP_OP(STAS) /* the shared memory of another block of the cluster */     \
    GP_OP(REDAS)                                                            \
    GP_OP(TMA_LOAD) /* blocks of memory, moved for a warp or more */        \
    GP_OP(TMA_STORE)                                                        \
    GP_OP(TMA_REDUCE)                                                       \
    GP_OP(TMA_COPY) /* either way: UBLKCP, UBLKRED */

enum gp_op {
#define GP_OP(name) GP_OP_##name,
    GP_OPS
#undef GP_OP
        GP_OP_COUNT
};
_Static_assert(GP_OP_COUNT <= 64, "a set of them is a bit mask");

/* The type of the numbers in an instruction's matrices. */
enum gp_numbers {
    GP_NO_NUMBERS, /* no matrices */
    GP_FP16,
    GP_BF16,
    GP_TF32,
    GP_FP64,
    GP_FP8, /* and the six bits that its instructions take as well */
    GP_FP4,
    GP_INTEGERS,
    GP_NUMBERS_COUNT
};

struct gp_instruction {
    enum gp_op op;
    uint16_t opcode; /* the low twelve bits, for messages */
    /* Bytes that each thread moves: loads, stores, atomics. 0: none, or not known from the
     * instruction. */
    uint16_t bytes;
    /* Matrix instructions: a warp computes m x n sums of k products, 2 m n k operations. With
     * `sparse`, half of the k factors are zeros that are left out. 0: not known. */
    uint16_t m, n, k;
    bool sparse;
    enum gp_numbers numbers;
};

/* `word` is GP_INSTRUCTION_BYTES bytes as they lie in the code, aligned or not; `cc` the compute
 * capability times ten of the GPU it is for: opcodes change their meaning. */
struct gp_instruction gp_instruction_decode(const void *word, int cc);

/* The distance from a branch or call to its target, in bytes; 0 where the instruction is none or
 * does not say, GP_JUMP_AWAY for a call by address, or of the address in a register. */
#define GP_JUMP_AWAY (INT64_C(1) << 50)
int64_t gp_instruction_jump(const void *word, int cc);

/* How an instruction goes on. */
enum gp_flow {
    GP_FLOW_ON,       /* to the next one */
    GP_FLOW_BRANCH,   /* there or elsewhere: the next instruction may run as often or not */
    GP_FLOW_BY_TABLE, /* to a target that the instruction does not name */
};
enum gp_flow gp_instruction_flow(const void *word);

/* True for a branch to one of the labels in a table. */
bool gp_instruction_has_table(const void *word);

/* True where the instruction at this offset of a function of `size` bytes may go on at other code:
 * it calls another function, or goes to an address that it computes. */
bool gp_instruction_leaves(const void *word, size_t at, size_t size, int cc);

/* True for those that CUPTI counts as branches. */
bool gp_instruction_is_counted_branch(const void *word);

#endif
