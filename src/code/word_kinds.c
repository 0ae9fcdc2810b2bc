/* The kinds of instructions, as far as words of parameters go. */
#include "code/word_flow.h"

/* With numbers for operands. The others name registers; bit 91 says that one is uniform. */
static bool has_numbers(const uint64_t word[2], unsigned opcode)
{
    return gp_bits(word, 9, 3) == (opcode == BAR ? 5 : 4) && !gp_bits(word, 91, 1);
}

static enum gp_word_kind kind_of_other(const uint64_t word[2], unsigned opcode, int cc)
{
    switch (opcode) {
    case NOP:
    case DEPBAR:
    case BAR:
    case BSYNC:
    case BREAK:
    case BSSY:
    case YIELD:
    case BRA:
    case EXIT:
    case MEMBAR:
        return has_numbers(word, opcode) ? NOTHING : UNKNOWN;
    case S2R:
    case CS2R:
        return SPECIAL;
    case S2UR:
        return SPECIAL_UNIFORM;
    case MOV:
    case SEL:
    case FSEL:
    case FMNMX:
    case IADD3:
    case LEA:
    case LOP3:
    case IABS:
    case PRMT:
    case IMNMX:
    case SHF:
    case IMAD:
    case I2FP:
    case MUFU:
        return ARITHMETIC;
    case IADD:
        return cc >= 100 ? DOUBLE : UNKNOWN;
    case VIADD:
        return cc >= 90 ? ARITHMETIC : UNKNOWN;
    case F2F:
    case F2I:
    case I2F:
    case FRND:
        return DOUBLE;
    case IMAD_WIDE:
    case IMAD_HI:
        return WIDE;
    case FSETP:
    case ISETP:
    case DSETP:
        return COMPARISON;
    case LDC:
        return CONSTANT;
    case ULDC:
    case LDCU:
        return TO_UNIFORM;
    default:
        return UNKNOWN;
    }
}

/* Instructions that read many registers, or name them in other bits, and instructions that read
 * parameters by an address. */
static bool is_unknowable(const uint64_t word[2], unsigned opcode, int cc)
{
    const unsigned form = gp_bits(word, 9, 3);
    /* Constants of a bank that a uniform register names. */
    const bool by_bank =
        (form == 3 || form == 5) && gp_bits(word, 91, 1) && cc < 100 && (opcode < FIRST_OF_MEMORY);
    switch (opcode) {
    case LDC:
        return form != 5;
    case LDCU:
        return form != 3;
    case QMMA:
    case OMMA:
    case ULDC_BY_ADDRESS:
    case ULDC_BY_REGISTER:
    case LDTRAM:
    case SUQUERY:
    case UTMAPF:
    case UBLKPF:
        return true;
    default:
        return by_bank || is_between(opcode, FIRST_OF_GRAPHICS, LAST_OF_GRAPHICS) ||
               is_between(opcode, FIRST_TEXTURE, LAST_TEXTURE) ||
               is_between(opcode, FIRST_SURFACE, LAST_SURFACE) || opcode >= FIRST_OF_TENSORS;
    }
}

enum gp_word_kind gp_word_kind_of(const uint64_t word[2], const struct gp_instruction *i, int cc)
{
    if (is_unknowable(word, i->opcode & OPCODE_MASK, cc))
        return UNKNOWABLE;
    switch (i->op) {
    case GP_OP_FADD:
    case GP_OP_FMUL:
    case GP_OP_FFMA:
    case GP_OP_HADD2:
    case GP_OP_HMUL2:
    case GP_OP_HFMA2:
        return ARITHMETIC;
    case GP_OP_DADD:
    case GP_OP_DMUL:
    case GP_OP_DFMA:
        return DOUBLE;
    case GP_OP_LD:
    case GP_OP_LDG:
    case GP_OP_LDS:
    case GP_OP_LDL:
        return LOAD;
    case GP_OP_ST:
    case GP_OP_STG:
    case GP_OP_STS:
    case GP_OP_STL:
        return STORE;
    case GP_OP_ATOM:
    case GP_OP_ATOMG:
    case GP_OP_ATOMS:
    case GP_OP_RED:
        return ATOMIC;
    case GP_OP_OTHER:
        return kind_of_other(word, i->opcode & OPCODE_MASK, cc);
    default:
        return UNKNOWN;
    }
}

/* ---- for flows to addresses ------------------------------------------------------------------ */

bool gp_is_float(enum gp_op op, unsigned opcode)
{
    switch (op) {
    case GP_OP_FADD:
    case GP_OP_FMUL:
    case GP_OP_FFMA:
    case GP_OP_FADD2:
    case GP_OP_FMUL2:
    case GP_OP_FFMA2:
    case GP_OP_FHADD:
    case GP_OP_FHFMA:
    case GP_OP_DADD:
    case GP_OP_DMUL:
    case GP_OP_DFMA:
    case GP_OP_HADD2:
    case GP_OP_HMUL2:
    case GP_OP_HFMA2:
        return true;
    default:
        return opcode == MUFU || opcode == I2FP || is_between(opcode, F2F, FRND);
    }
}

/* Matrices of numbers, and asynchronous ones. */
bool gp_is_product_of_matrices(enum gp_op op)
{
    return op >= GP_OP_HMMA && op <= GP_OP_UTCMMA;
}

bool gp_may_read_descriptors(enum gp_op op)
{
    return op == GP_OP_UNKNOWN || op == GP_OP_TMA_LOAD || op == GP_OP_TMA_STORE ||
           op == GP_OP_TMA_REDUCE || op == GP_OP_TMA_COPY;
}

bool gp_is_uniform(unsigned opcode, int cc)
{
    return is_between(opcode, FIRST_UNIFORM, LAST_UNIFORM) ||
           is_between(opcode, FIRST_UNIFORM_FLOAT, LAST_UNIFORM_FLOAT) || opcode == CS2UR ||
           opcode == ELECT || (cc >= 120 && (opcode == UVIADD || opcode == UVIMNMX));
}

/* Instructions that direct threads, order memory, or wait, and those of barriers in shared memory:
 * the results of a barrier are its own. */
bool gp_has_no_result(unsigned opcode)
{
    return is_between(opcode, BSYNC, RET) || opcode == ENDCOLLECTIVE || opcode == NANOSLEEP ||
           opcode == BAR || opcode == ACQBULK || opcode == PREEXIT ||
           is_between(opcode, CCTL, LAST_CCTL) || opcode == SYNCS ||
           is_between(opcode, CGAERRBAR, ERRBAR) || is_between(opcode, LDGDEPBAR, LAST_SYNCS) ||
           is_between(opcode, UTMACMDFLUSH, UTMACCTL) || opcode == UBLKPF ||
           is_between(opcode, FIRST_OF_GROUPS, LAST_OF_GROUPS);
}

bool gp_has_predicates_alone(unsigned opcode)
{
    return is_between(opcode, FIRST_PLOP3, LAST_PLOP3) || opcode == R2P || opcode == UR2UP ||
           opcode == UISETP || is_between(opcode, UPLOP3, LAST_UPLOP3) || opcode == UFSETP ||
           opcode == FCHK || opcode == HSETP2;
}

bool gp_is_known_all_the_same(enum gp_op op, unsigned opcode)
{
    return gp_is_product_of_matrices(op) || opcode == UTMAPF || opcode == UBLKPF ||
           is_between(opcode, FIRST_TEXTURE, LAST_TEXTURE);
}
