/* The encodings are not documented. These were found by disassembling every opcode with every
 * modifier bit flipped, for each generation; tests/sass compares this file with the
 * disassembler. */
#include "code/instruction.h"

#include "code/encoding.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#define OLDEST 70
#define NEWEST 129

/* How wide an access is, from the modifiers in bits 73 to 76. */
enum width {
    NO_WIDTH,
    ACCESS,        /* loads, stores: bits 73 to 75 */
    COPY,          /* bits 74 and 75: 4, 8, 16 bytes */
    ACCESS_256,    /* always 32 bytes */
    ATOMIC_TO_8,   /* atomics up to compute capability 8: bits 73 to 75 */
    ATOMIC_SHARED, /* those in shared memory: bits 73 and 74 */
    ATOMIC_FROM_9, /* integer atomics since: bits 73 to 75 */
    ATOMIC_FLOAT,  /* floating point atomics since: bits 73 to 76 */
    MATRICES_8X8,  /* bits 72 and 73: 1, 2, 4 matrices of 8 x 8 times 16 bits */
};

static const uint8_t widths[][16] = {
    [ACCESS] = {1, 1, 2, 2, 4, 8, 16, 16, 1, 1, 2, 2, 4, 8, 16, 16},
    [ATOMIC_TO_8] = {4, 4, 8, 4, 4, 8, 8, 4, 4, 4, 8, 4, 4, 8, 8, 4},
    [ATOMIC_SHARED] = {4, 4, 8, 8, 4, 4, 8, 8, 4, 4, 8, 8, 4, 4, 8, 8},
    [ATOMIC_FROM_9] = {4, 4, 8, 8, 16, 0, 0, 0, 4, 4, 8, 8, 16, 0, 0, 0},
    /* FP16 x 2, 4, 8; BF16 x 2, 4, 8; FP32 x 1, 2, 4 flushing denormals, the same not; FP64 */
    [ATOMIC_FLOAT] = {4, 8, 16, 4, 8, 16, 0, 0, 0, 4, 8, 16, 4, 8, 16, 8},
};

/* A row has opcodes by their nine bits, or all twelve, `first` to `last`, on compute capabilities
 * `from` to `to`; with `bit` set where one is named. The first row that fits counts. */
static const struct row {
    uint16_t first, last;
    uint8_t from, to, bit, op, width;
} rows[] = {
#define ROW(...) ROW_OF(__VA_ARGS__)
#define ROW_OF(first, last, from, to, bit, op, width) \
    {first, last, from, to, bit, GP_OP_##op, width},
#define ALL OLDEST, NEWEST
#include "code/opcodes.def"
#undef ALL
#undef ROW_OF
#undef ROW
};

#define BIT(n) (UINT64_C(1) << ((n)-64))
static const struct shape {
    uint16_t opcode;
    uint8_t sparse;
    uint64_t mask, value; /* of the upper half */
    uint16_t m, n, k;
} shapes[] = {
#define SHAPE(opcode, sparse, mask, value, m, n, k) {opcode, sparse, mask, value, m, n, k},
#include "code/shapes.def"
#undef SHAPE
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* The number of the first row that may fit an opcode by its nine bits, plus one; 0: not searched
 * yet. A kernel has thousands of instructions, and most rows are of other opcodes. */
static _Atomic uint8_t first_rows[512];
_Static_assert(ROWS < UINT8_MAX, "a row's number plus one is a byte");

static size_t first_row(unsigned opcode)
{
    size_t i = atomic_load_explicit(&first_rows[opcode], memory_order_relaxed);
    if (i > 0)
        return i - 1;
    while (i < ROWS &&
           ((opcode - rows[i].first) & 0x1ff) > (unsigned)(rows[i].last - rows[i].first))
        i++;
    atomic_store_explicit(&first_rows[opcode], (uint8_t)(i + 1), memory_order_relaxed);
    return i;
}

static const struct row *find_row(const uint64_t word[2], int cc)
{
    for (size_t i = first_row(gp_bits(word, 0, 9)); i < ROWS; i++) {
        const struct row *r = &rows[i];
        const unsigned opcode = gp_bits(word, 0, r->first < 0x200 ? 9 : 12);
        if (opcode >= r->first && opcode <= r->last && cc >= r->from && cc <= r->to &&
            (!r->bit || gp_bits(word, r->bit, 1)))
            return r;
    }
    return NULL;
}

static uint16_t bytes_of(enum width width, const uint64_t word[2])
{
    switch (width) {
    case NO_WIDTH:
        return 0;
    case COPY:
        return (uint16_t)(4u << gp_bits(word, 74, 2));
    case ACCESS_256:
        return 32;
    case MATRICES_8X8:
        /* Bit 79: matrices of narrower numbers, which are spread out on their way. */
        return gp_bits(word, 72, 2) > 2 || gp_bits(word, 79, 1)
                   ? 0
                   : (uint16_t)(4u << gp_bits(word, 72, 2));
    default:
        return widths[width][gp_bits(word, 73, 4)];
    }
}

/* A group of four warps shares one instruction: 64 rows, 16 for each. The columns are numbered from
 * bit 53 on, where others have an address. */
static void shape_of_group(struct gp_instruction *i, const uint64_t word[2])
{
    const unsigned number = gp_bits(word, 53, 5);
    unsigned columns = number; /* 8, 16, 24, 32, 48, 64, 80, ... */
    i->sparse = gp_bits(word, 73, 1);
    i->m = 16;
    switch (i->op) {
    case GP_OP_HGMMA:
        i->n = (uint16_t)(8 * (number + 1));
        i->k = (uint16_t[]){16, 8, 32, 0}[gp_bits(word, 58, 2)];
        return;
    case GP_OP_QGMMA:
        i->n = (uint16_t)(8 * (number + 1));
        i->k = i->sparse ? 64 : 32;
        return;
    case GP_OP_IGMMA:
        columns = gp_bits(word, 53, 6) / 3;
        i->k = i->sparse ? 64 : 32;
        break;
    default:
        i->sparse = false;
        i->k = 256;
    }
    i->n = (uint16_t)(columns < 4 ? 8 * (columns + 1) : 16 * (columns - 1));
}

/* Bits 82 and 83 tell BF16 and TF32 from FP16, for instructions of four warps bits 76 and 77. */
static enum gp_numbers numbers_of(enum gp_op op, const uint64_t word[2])
{
    const unsigned half = op == GP_OP_HGMMA ? gp_bits(word, 76, 2) : gp_bits(word, 82, 2);
    switch (op) {
    case GP_OP_HMMA:
    case GP_OP_HGMMA:
        return half == 2 ? GP_TF32 : half == 1 ? GP_BF16 : GP_FP16;
    case GP_OP_DMMA:
        return GP_FP64;
    case GP_OP_QMMA:
    case GP_OP_QGMMA:
        return GP_FP8;
    case GP_OP_OMMA:
        return GP_FP4;
    case GP_OP_IMMA:
    case GP_OP_BMMA:
    case GP_OP_IGMMA:
    case GP_OP_BGMMA:
        return GP_INTEGERS;
    default:
        return GP_NO_NUMBERS;
    }
}

static void set_shape(struct gp_instruction *i, const uint64_t word[2], int cc)
{
    if (i->op >= GP_OP_HGMMA && i->op <= GP_OP_QGMMA)
        shape_of_group(i, word);
    if (i->op < GP_OP_HMMA || i->op > GP_OP_OMMA)
        return;
    for (size_t r = 0; r < sizeof(shapes) / sizeof(shapes[0]); r++) {
        const struct shape *s = &shapes[r];
        if (s->opcode == i->opcode && (word[1] & s->mask) == s->value) {
            i->m = s->m;
            i->n = s->n;
            i->k = s->k;
            i->sparse = cc >= 80 && s->sparse && gp_bits(word, s->sparse, 1);
            return;
        }
    }
}

struct gp_instruction gp_instruction_decode(const void *word_bytes, int cc)
{
    uint64_t word[2];
    memcpy(word, word_bytes, sizeof(word));
    struct gp_instruction i = {.op = GP_OP_UNKNOWN, .opcode = word[0] & 0xfff};
    const struct row *row = find_row(word, cc);
    if (row) {
        i.op = row->op;
        i.bytes = bytes_of(row->width, word);
        set_shape(&i, word, cc);
        i.numbers = numbers_of(i.op, word);
    }
    return i;
}

/* ---- where it goes --------------------------------------------------------------------------- */

enum {
    BSYNC = 0x141,
    BREAK = 0x142,
    CALL_ABSOLUTE = 0x143,
    CALL_RELATIVE = 0x144,
    BRA = 0x147,
    WARPSYNC = 0x148,
    BRX = 0x149,
    JMP = 0x14a,
    JMX = 0x14c,
    EXIT = 0x14d,
    RET = 0x150,
    BRXU = 0x158,
    JMXU = 0x159,
    KILL = 0x15b,
};

/* The three bits above the opcode: the operand is a number in the instruction. */
#define FROM_NUMBER 4

static unsigned opcode_of(const void *word_bytes)
{
    uint64_t word[2];
    memcpy(word, word_bytes, sizeof(word));
    return gp_bits(word, 0, 9);
}

int64_t gp_instruction_jump(const void *word_bytes, int cc)
{
    uint64_t word[2];
    memcpy(word, word_bytes, sizeof(word));
    const unsigned opcode = gp_bits(word, 0, 9);
    /* A call whose target is in a register has the function's start in the bits of the number. */
    if (opcode == CALL_ABSOLUTE || (opcode == CALL_RELATIVE && gp_bits(word, 9, 3) != FROM_NUMBER))
        return GP_JUMP_AWAY;
    if (opcode != BRA && opcode != CALL_RELATIVE)
        return 0;
    /* Bits 34 to 81, a signed number of words of four bytes; since 9.0 its low eight bits stand at
     * bit 16. */
    uint64_t number = word[0] >> 34 | (word[1] & 0x3ffff) << 30;
    int64_t words = (int64_t)(number << 16) >> 16;
    if (cc >= 90)
        words = words * 256 + (int64_t)gp_bits(word, 16, 8);
    return 4 * words + GP_INSTRUCTION_BYTES;
}

enum gp_flow gp_instruction_flow(const void *word)
{
    switch (opcode_of(word)) {
    case BRX:
    case JMP:
    case JMX:
    case BRXU:
    case JMXU:
        return GP_FLOW_BY_TABLE;
    case BSYNC:
    case BREAK:
    case CALL_ABSOLUTE:
    case CALL_RELATIVE:
    case BRA:
    case WARPSYNC:
    case EXIT:
    case RET:
    case KILL:
        return GP_FLOW_BRANCH;
    default:
        return GP_FLOW_ON;
    }
}

bool gp_instruction_has_table(const void *word)
{
    return opcode_of(word) == BRX || opcode_of(word) == BRXU;
}

bool gp_instruction_leaves(const void *word, size_t at, size_t size, int cc)
{
    const int64_t jump = gp_instruction_jump(word, cc), to = (int64_t)at + jump;
    return gp_instruction_flow(word) == GP_FLOW_BY_TABLE ||
           (jump && (to < 0 || to >= (int64_t)size));
}

bool gp_instruction_is_counted_branch(const void *word)
{
    switch (opcode_of(word)) {
    case CALL_ABSOLUTE:
    case CALL_RELATIVE:
    case BRA:
    case BRX:
    case JMP:
    case JMX:
    case RET:
    case BRXU:
    case JMXU:
        return true;
    default:
        return false;
    }
}
