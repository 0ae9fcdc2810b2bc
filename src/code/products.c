#include "code/products.h"

#include "code/registers.h"
#include "code/word_flow.h"

#include <stdint.h>
#include <string.h>

/* Instructions between a load and the sum that takes its result: a tile that is unrolled. */
#define REACH 4096

struct operands {
    unsigned factors[2], addend;
};

static void read_word(uint64_t word[2], const void *code, size_t at)
{
    memcpy(word, (const char *)code + at, GP_INSTRUCTION_BYTES);
}

bool gp_is_multiply_add(const void *code, size_t at, int cc)
{
    enum gp_op op = gp_instruction_decode((const char *)code + at, cc).op;
    return op == GP_OP_FFMA || op == GP_OP_FFMA2 || op == GP_OP_HFMA2;
}

/* The three bits behind the operation say where the operands come from: 1 is registers alone. */
static bool takes_registers_alone(const uint64_t word[2])
{
    return gp_bits(word, 9, 3) == 1;
}

static struct operands operands_of(const uint64_t word[2])
{
    return (struct operands){.factors = {gp_bits(word, 24, 8), gp_bits(word, 32, 8)},
                             .addend = gp_bits(word, 64, 8)};
}

static bool is_load(const struct gp_instruction *i, unsigned opcode)
{
    return i->op == GP_OP_LD || i->op == GP_OP_LDG || i->op == GP_OP_LDS || opcode == LDSM ||
           is_between(opcode, FIRST_TEXTURE, LAST_TEXTURE);
}

/* Whether the last instruction before `at` that writes the register is a load. */
static bool was_loaded(const void *code, size_t at, int cc, unsigned reg)
{
    size_t first = at > REACH * GP_INSTRUCTION_BYTES ? at - REACH * GP_INSTRUCTION_BYTES : 0;
    while (at > first) {
        at -= GP_INSTRUCTION_BYTES;
        uint64_t word[2];
        read_word(word, code, at);
        const struct gp_instruction i = gp_instruction_decode((const char *)code + at, cc);
        const struct gp_register_range written = gp_registers_written(word, cc);
        if (reg >= written.first && reg < written.first + written.count)
            return is_load(&i, gp_bits(word, 0, 9));
    }
    return false;
}

bool gp_is_product_of_loaded(const void *code, size_t at, int cc)
{
    uint64_t word[2];
    read_word(word, code, at);
    const struct operands o = operands_of(word);
    return gp_is_multiply_add(code, at, cc) && takes_registers_alone(word) &&
           o.factors[0] != NO_REGISTER && o.factors[1] != NO_REGISTER &&
           was_loaded(code, at, cc, o.factors[0]) && was_loaded(code, at, cc, o.factors[1]) &&
           !was_loaded(code, at, cc, o.addend);
}
