/* How the contents of registers go from instruction to instruction: a walk through a function
 * (word_walk.c), with a step for each question (word_flow.c, address_flow.c). Only for these and
 * the files that ask. */
#ifndef GPUPROF_CODE_WORD_FLOW_H
#define GPUPROF_CODE_WORD_FLOW_H

#include "code/data_words.h"
#include "code/encoding.h"
#include "code/instruction.h"

#include <stdbool.h>

#define NO_REGISTER 255
#define UNIFORM_REGISTERS 256u
#define NO_PREDICATE 7u
/* Instructions read and write so many registers in a row at most; those that multiply matrices read
 * more. */
#define MOST_IN_ROW 4u
#define MOST_OF_MATRIX 16u

/* Targets of branches; and BSSYs. */
#define MOST_TARGETS 512

/* A set of up to 64 facts for each register: the words that it may depend on, say. */
struct gp_word_state {
    bool reached; /* false: behind a call from which none is known to come back, yet */
    uint64_t of[256];
    uint64_t uniform[UNIFORM_REGISTERS];
    /* A register that was last written under a condition has these facts where the condition holds,
     * still; NO_CONDITION: in any case the same. */
    uint64_t of_if[256];
    uint8_t condition[256];
    bool any_condition;
    /* By the register of a BSSY: 1 + its number; 0: there was none, MANY: one of several. */
    uint16_t parting[16];
};
#define MANY UINT16_MAX
#define NO_CONDITION 0

struct gp_word_walk;
/* Takes one instruction into account. */
typedef void gp_word_step(struct gp_word_walk *w, const uint64_t word[2],
                          const struct gp_instruction *i);

struct gp_word_walk {
    const unsigned char *code;
    size_t count; /* instructions */
    size_t n;     /* of the instruction at hand */
    int cc;
    unsigned first; /* where the words begin among the constants of bank 0 */
    unsigned most;  /* how many have facts of their own; 0: all */
    /* Constants of bank 0 before this offset are the driver's and have that fact; 0: none have. */
    unsigned driver_end;
    uint64_t of_driver;
    struct gp_word_state now;
    /* By instruction: where its function begins; 0 for all where one branches into another. */
    uint32_t *begin;
    struct gp_word_state **returned; /* at any return, by where the function begins */
    struct gp_word_state **at;       /* by instruction: where a branch leads; NULL elsewhere */
    unsigned targets;
    uint16_t partings[MOST_TARGETS]; /* the numbers of BSSYs */
    size_t parting_count;
    bool changed, lost;
    uint64_t memory; /* the facts of stored numbers */
    uint64_t read, not_data;
    uint64_t found;   /* by the step */
    bool words_apart; /* no two words of memory are loaded from side by side */
    gp_word_step *step;
    uint8_t condition; /* of the instruction at hand */
};

/* Opcodes by their nine bits, see opcodes.def. */
enum {
    OPCODE_MASK = 0x1ff,
    MOV = 0x002,
    R2P = 0x004,
    CS2R = 0x005,
    SEL = 0x007,
    FSEL = 0x008,
    FMNMX = 0x009,
    FSETP = 0x00b,
    ISETP = 0x00c,
    IADD3 = 0x010,
    LEA = 0x011,
    LOP3 = 0x012,
    IABS = 0x013,
    PRMT = 0x016,
    IMNMX = 0x017,
    SHF = 0x019,
    FIRST_PLOP3 = 0x01c,
    LAST_PLOP3 = 0x01f,
    FMUL = 0x020,
    FADD = 0x021,
    FFMA = 0x023,
    IMAD = 0x024,
    IMAD_WIDE = 0x025,
    IMAD_HI = 0x027,
    DMUL = 0x028,
    DADD = 0x029,
    DSETP = 0x02a,
    DFMA = 0x02b,
    PREEXIT = 0x02d,
    ACQBULK = 0x02e,
    ELECT = 0x02f,
    HADD2 = 0x030,
    HFMA2 = 0x031,
    HMUL2 = 0x032,
    HSETP2 = 0x034,
    IADD = 0x035, /* HFMA2.MMA up to 9.0 */
    VIADD = 0x036,
    IMMA = 0x037,
    LDSM = 0x03b,
    HMMA = 0x03c,
    BMMA = 0x03d,
    F2FP = 0x03e,
    DMMA = 0x03f,
    I2FP = 0x045,
    QMMA = 0x07a,
    OMMA = 0x07f,
    UVIADD = 0x049, /* since 12.0 */
    UVIMNMX = 0x04a,
    FIRST_UNIFORM_FLOAT = 0x04c,
    UFSETP = 0x053,
    LAST_UNIFORM_FLOAT = 0x05e,
    FIRST_UNIFORM = 0x080,
    UR2UP = 0x084,
    UISETP = 0x08c,
    UIADD3_64 = 0x097,
    UPLOP3 = 0x09c,
    LAST_UPLOP3 = 0x09f,
    UIMAD_WIDE = 0x0a5,
    ULDC_BY_ADDRESS = 0x0b8,
    ULDC = 0x0b9,
    ULDC_BY_REGISTER = 0x0bb,
    LAST_UNIFORM = 0x0bf,
    R2UR_BY_PORT = 0x0ca,
    CS2UR = 0x0cb,
    CREDUX = 0x0cc,
    FCHK = 0x102,
    F2F = 0x104,
    F2I = 0x105,
    I2F = 0x106,
    FRND = 0x107,
    MUFU = 0x108,
    NOP = 0x118,
    S2R = 0x119,
    DEPBAR = 0x11a,
    F2I_64 = 0x111,
    I2F_64 = 0x112,
    ENDCOLLECTIVE = 0x11b,
    BAR = 0x11d,
    FIRST_OF_GRAPHICS = 0x11e,
    LAST_OF_GRAPHICS = 0x127,
    FIRST_OF_MEMORY = 0x13e,
    BSYNC = 0x141,
    BREAK = 0x142,
    CALL_ABSOLUTE = 0x143,
    CALL_RELATIVE = 0x144,
    BSSY = 0x145,
    YIELD = 0x146,
    BRA = 0x147,
    WARPSYNC = 0x148,
    EXIT = 0x14d,
    RET = 0x150,
    FIRST_BMOV = 0x155, /* to 7.x two of them, and one that clears */
    LAST_BMOV = 0x157,
    NANOSLEEP = 0x15d,
    FIRST_TEXTURE = 0x160,
    LAST_TEXTURE = 0x174,
    LDC = 0x182,
    SHFL = 0x189,
    CCTL = 0x18f, /* three of them */
    LAST_CCTL = 0x191,
    MEMBAR = 0x192,
    FIRST_SURFACE = 0x193,
    LAST_SURFACE = 0x1a0,
    SYNCS = 0x1a7,
    CGAERRBAR = 0x1aa,
    ERRBAR = 0x1ab,
    LDCU = 0x1ac,
    LDTRAM = 0x1ad,
    LDGSTS = 0x1ae,
    LDGDEPBAR = 0x1af,
    LAST_SYNCS = 0x1b2,
    SUQUERY = 0x1b3,
    UTMACMDFLUSH = 0x1b7,
    UTMAPF = 0x1b8,
    UTMACCTL = 0x1b9,
    UBLKPF = 0x1bc,
    R2UR = 0x1c2,
    S2UR = 0x1c3,
    REDUX = 0x1c4,
    FIRST_OF_GROUPS = 0x1c5, /* of warps and of blocks */
    LAST_OF_GROUPS = 0x1cb,
    FIRST_OF_TENSORS = 0x1d0, /* tensor memory, and matrices of four warps */
};

enum gp_word_kind {
    UNKNOWN,
    UNKNOWABLE, /* its operands are not known here */
    NOTHING,    /* reads no register and writes none */
    SPECIAL,    /* reads none, and writes */
    SPECIAL_UNIFORM,
    ARITHMETIC, /* on single registers */
    DOUBLE,     /* on pairs */
    WIDE,       /* on single ones and a pair; the result is a pair */
    COMPARISON, /* makes a condition */
    CONSTANT,   /* a load of constants */
    TO_UNIFORM, /* the same, to uniform registers */
    LOAD,
    STORE,
    ATOMIC
};

static inline bool is_between(unsigned opcode, unsigned first, unsigned last)
{
    return opcode >= first && opcode <= last;
}

/* word_kinds.c. The others are for flows to addresses: floating-point arithmetic; products of
 * matrices, asynchronous ones among them; the results are uniform registers; instructions that
 * direct threads, order memory, or wait, and have no result, or predicates for results; those of
 * kinds that are not known, but without addresses of their own. */
bool gp_is_float(enum gp_op op, unsigned opcode);
bool gp_is_product_of_matrices(enum gp_op op);
/* Instructions that may read descriptors, which lie among the parameters. */
bool gp_may_read_descriptors(enum gp_op op);
bool gp_is_uniform(unsigned opcode, int cc);
bool gp_has_no_result(unsigned opcode);
bool gp_has_predicates_alone(unsigned opcode);
bool gp_is_known_all_the_same(enum gp_op op, unsigned opcode);
enum gp_word_kind gp_word_kind_of(const uint64_t word[2], const struct gp_instruction *i, int cc);

/* Walks through `size` bytes of code for compute capability cc / 10 until nothing changes: *w is
 * zeroed, but for its step and the facts that hold before. False where that is not to be had: it
 * calls another function or goes to an address that it computes, is too long, or out of memory
 * (word_walk.c). */
bool gp_word_walk_through(struct gp_word_walk *w, const void *code, size_t size, int cc);

/* Where the parameters begin in the bank of constants, behind numbers of the driver's
 * (data_words.c). */
unsigned gp_first_parameter(int cc);
/* Some of these are no part of any address of parameters: the shape of the launch, and a descriptor
 * of all memory. */
bool gp_is_of_launch(unsigned offset, int cc);

/* Where data words get to (word_flow.c). */
void gp_data_word_step(struct gp_word_walk *w, const uint64_t word[2],
                       const struct gp_instruction *i);

/* For steps, in word_flow.c: the facts of `count` registers or uniform ones from the first on; of
 * the operands of an instruction with up to three, each of `count` registers, but the third one of
 * `third`; of all that an instruction of no known kind may read. */
uint64_t gp_registers(const struct gp_word_walk *w, unsigned first, unsigned count);
uint64_t gp_uniform(const struct gp_word_walk *w, const uint64_t word[2], unsigned bit,
                    unsigned count);
/* Facts of the second of two. */
uint64_t gp_uniform_upper(const struct gp_word_walk *w, const uint64_t word[2], unsigned bit);
uint64_t gp_operands(struct gp_word_walk *w, const uint64_t word[2], unsigned count,
                     unsigned third);
uint64_t gp_all_operands(struct gp_word_walk *w, const uint64_t word[2], unsigned opcode);
/* The constant among the operands, from so many of its bytes on. */
uint64_t gp_constant(struct gp_word_walk *w, const uint64_t word[2], unsigned from, unsigned bytes);
/* Facts of constants of bank 0, from an offset in it on. */
uint64_t gp_words_at(const struct gp_word_walk *w, unsigned offset, unsigned bytes);
/* The offset that a load of constants names, and its bytes. */
unsigned gp_constant_offset(const uint64_t word[2], unsigned opcode);
unsigned gp_constant_width(const uint64_t word[2]);
/* Registers that are read or written for so many bytes; 0: not known. */
unsigned gp_registers_of(unsigned bytes);
/* Bits 64 to 71 have the second operand where the third one is a number, a constant or a uniform
 * register, else the third one. */
bool gp_third_is_elsewhere(const uint64_t word[2]);
/* It takes and gives 64 bits, though its kind is one of single registers. */
bool gp_takes_pairs(const uint64_t word[2], unsigned opcode, int cc);
bool gp_has_uniform(const uint64_t word[2]);
bool gp_has_register(const struct gp_word_walk *w, const uint64_t word[2]);
bool gp_is_matrix(unsigned opcode, int cc);
/* Replaces the facts of `count` registers, of those that the instruction surely writes where it
 * runs; adds to the others'. */
void gp_write_registers(struct gp_word_walk *w, unsigned first, unsigned count, unsigned surely,
                        uint64_t facts);
void gp_write_uniform(struct gp_word_walk *w, const uint64_t word[2], unsigned count,
                      unsigned surely, uint64_t facts);
/* Only the i-th one. */
void gp_write_uniform_at(struct gp_word_walk *w, const uint64_t word[2], unsigned i,
                         uint64_t facts);

#endif
