#include "code/registers.h"

#include "code/word_flow.h"

#define FIRST_OF_CONTROL 0x13e
#define LAST_OF_CONTROL 0x15e
/* Instructions of the uniform datapath write registers of its own. */
#define FIRST_UNIFORM 0x04c
#define LAST_UNIFORM 0x05e
#define NEXT_UNIFORM 0x082
#define END_OF_UNIFORM 0x0cc
#define REDUX 0x1c4
#define VIMNMX 0x048
/* Instructions that write predicates alone. */
#define FCHK 0x102
/* Instructions of one operand: FLO, BREV, conversions, MUFU, POPC. */
#define FIRST_OF_ONE 0x100
#define LAST_OF_ONE 0x109
#define FIRST_WIDE_OF_ONE 0x110
#define LAST_WIDE_OF_ONE 0x113

/* Bits 12 to 15. */
bool gp_is_predicated(const uint64_t word[2])
{
    return gp_bits(word, 12, 4) != NO_PREDICATE;
}

static unsigned registers_of(unsigned bytes)
{
    return bytes > 4 ? (bytes + 3) / 4 : 1;
}

/* Bits 73 to 75. */
static unsigned constant_bytes(const uint64_t word[2])
{
    static const uint8_t bytes[8] = {1, 1, 2, 2, 4, 8, 16, 16};
    return bytes[gp_bits(word, 73, 3)];
}

/* Instructions that the kinds do not know: textures and matrices write up to four registers. */
static unsigned written_by_other(unsigned opcode, int cc)
{
    if (is_between(opcode, FIRST_OF_CONTROL, LAST_OF_CONTROL) || opcode == DEPBAR ||
        opcode == MEMBAR || is_between(opcode, FIRST_UNIFORM, LAST_UNIFORM) ||
        is_between(opcode, NEXT_UNIFORM, END_OF_UNIFORM) || opcode == R2UR || opcode == REDUX ||
        opcode == R2P || is_between(opcode, FIRST_PLOP3, LAST_PLOP3) || opcode == HSETP2 ||
        opcode == FCHK)
        return 0;
    return is_between(opcode, FIRST_TEXTURE, LAST_TEXTURE) || opcode == LDSM ||
                   (opcode >= HMMA && opcode <= DMMA) || opcode == IMMA ||
                   (opcode == VIADD && cc < 90)
               ? MOST_IN_ROW
               : 1;
}

static bool is_conversion(unsigned opcode)
{
    return is_between(opcode, F2F, FRND) || is_between(opcode, FIRST_WIDE_OF_ONE, LAST_WIDE_OF_ONE);
}

/* Bits 84 and 85 of a conversion have the size of its operand, bits 75 and 76 that of its result:
 * 3 for eight bytes. */
static unsigned registers_converted(const uint64_t word[2], unsigned bit)
{
    return gp_bits(word, bit, 2) == 3 ? 2 : 1;
}

static unsigned count_written(const uint64_t word[2], int cc)
{
    const struct gp_instruction i = gp_instruction_decode(word, cc);
    const unsigned opcode = i.opcode & OPCODE_MASK;
    if (is_conversion(opcode))
        return registers_converted(word, 75);
    if (opcode == IMAD_HI)
        return 1;
    switch (gp_word_kind_of(word, &i, cc)) {
    case NOTHING:
    case COMPARISON:
    case STORE:
    case TO_UNIFORM:
    case SPECIAL_UNIFORM:
        return 0;
    case SPECIAL:
    case ARITHMETIC:
        return 1;
    case DOUBLE:
    case WIDE:
        return 2;
    case CONSTANT:
        return registers_of(constant_bytes(word));
    case LOAD:
        return registers_of(i.bytes);
    case ATOMIC:
        return i.op == GP_OP_RED ? 0 : registers_of(i.bytes);
    default:
        return written_by_other(opcode, cc);
    }
}

struct gp_register_range gp_registers_written(const uint64_t word[2], int cc)
{
    const struct gp_register_range written = {gp_bits(word, 16, 8), count_written(word, cc)};
    return written.first == NO_REGISTER ? (struct gp_register_range){0} : written;
}

/* The widths of up to three operands, which stand in bits 24, 32 and 64. */
static void widths_of(const uint64_t word[2], int cc, unsigned widths[GP_MOST_OPERANDS])
{
    const struct gp_instruction i = gp_instruction_decode(word, cc);
    const bool has_register = gp_bits(word, 9, 3) == 1;
    const bool third_is_elsewhere = gp_third_is_elsewhere(word);
    unsigned middle = 1, last = 1;
    widths[0] = 1;
    switch (gp_word_kind_of(word, &i, cc)) {
    case NOTHING:
    case SPECIAL:
    case SPECIAL_UNIFORM:
        widths[0] = middle = last = 0;
        break;
    case DOUBLE:
        widths[0] = middle = last = 2;
        break;
    case WIDE:
        *(third_is_elsewhere ? &middle : &last) = 2;
        break;
    case LOAD:
    case STORE:
    case ATOMIC: {
        const bool is_short = i.op == GP_OP_LDS || i.op == GP_OP_STS || i.op == GP_OP_LDL ||
                              i.op == GP_OP_STL || i.op == GP_OP_ATOMS;
        widths[0] = is_short ? 1 : 2;
        middle = last = 0;
        break;
    }
    case CONSTANT:
    case TO_UNIFORM:
        middle = last = 0;
        break;
    case UNKNOWN:
    case UNKNOWABLE:
        if (is_between(i.opcode & OPCODE_MASK, FIRST_TEXTURE, LAST_TEXTURE))
            widths[0] = middle = MOST_IN_ROW;
        break;
    default:
        break;
    }
    if (is_conversion(i.opcode & OPCODE_MASK))
        middle = registers_converted(word, 84);
    widths[1] = has_register ? middle : 0;
    widths[2] = last;
}

/* Fields that no operand of the instruction uses may name any register. */
enum { IN_24 = 1, IN_32 = 2, IN_64 = 4 };

static unsigned used_fields(unsigned opcode, int cc)
{
    switch (opcode) {
    case MOV:
    case IABS:
    case I2FP:
        return IN_32;
    case FMUL:
    case FADD:
    case FMNMX:
    case SEL:
    case FSEL:
    case IMNMX:
    case VIMNMX:
    case HADD2:
    case HMUL2:
    case DMUL:
    case FSETP:
    case DSETP:
        return IN_24 | IN_32;
    case IADD:
        return cc < 100 ? IN_24 | IN_32 | IN_64 : IN_24 | IN_32;
    case VIADD:
        return cc < 90 ? IN_24 | IN_32 | IN_64 : IN_24 | IN_32;
    case DADD:
        return IN_24 | IN_64;
    default:
        return is_between(opcode, FIRST_OF_ONE, LAST_OF_ONE) ||
                       is_between(opcode, FIRST_WIDE_OF_ONE, LAST_WIDE_OF_ONE)
                   ? IN_32
                   : IN_24 | IN_32 | IN_64;
    }
}

unsigned gp_registers_read(const uint64_t word[2], int cc,
                           struct gp_register_range operands[GP_MOST_OPERANDS])
{
    static const uint8_t bits[GP_MOST_OPERANDS] = {24, 32, 64};
    unsigned widths[GP_MOST_OPERANDS], count = 0;
    widths_of(word, cc, widths);
    const unsigned used = used_fields(gp_bits(word, 0, 9), cc);
    for (unsigned o = 0; o < GP_MOST_OPERANDS; o++) {
        const unsigned first = gp_bits(word, bits[o], 8);
        if (widths[o] > 0 && first != NO_REGISTER && used & 1u << o)
            operands[count++] = (struct gp_register_range){first, widths[o]};
    }
    return count;
}
