/* The names were found by disassembling every opcode of each generation; tests/unit holds them to
 * the corpus of tests/sass. */
#include "code/mnemonic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define OLDEST 70
#define NEWEST 129
#define PREDICATE_SHIFT 12
#define ALWAYS 7 /* the number of a predicate that is always true */
#define NOT 8

static const struct row {
    uint16_t opcode;
    uint8_t from, to;
    const char *name;
} rows[] = {
#define MNEMONIC(...) MNEMONIC_OF(__VA_ARGS__)
#define MNEMONIC_OF(opcode, from, to, name) {opcode, from, to, #name},
#define ALL OLDEST, NEWEST
#include "code/mnemonics.def"
#undef ALL
#undef MNEMONIC_OF
#undef MNEMONIC
};

static unsigned low_bits(const void *word)
{
    uint16_t low;
    memcpy(&low, word, sizeof(low));
    return low;
}

const char *gp_mnemonic(const void *word, int cc)
{
    unsigned opcode = low_bits(word) & 0x1ff;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].opcode == opcode && cc >= rows[i].from && cc <= rows[i].to)
            return rows[i].name;
    return NULL;
}

/* An operation of the uniform datapath has a predicate of that. */
static bool is_uniform(const char *name)
{
    return name && name[0] == 'U';
}

void gp_predicate_text(const void *word, int cc, char out[GP_PREDICATE_SIZE])
{
    unsigned predicate = low_bits(word) >> PREDICATE_SHIFT;
    out[0] = '\0';
    if (predicate != ALWAYS)
        snprintf(out, GP_PREDICATE_SIZE, "@%s%sP%c ", predicate & NOT ? "!" : "",
                 is_uniform(gp_mnemonic(word, cc)) ? "U" : "", "0123456T"[predicate & ALWAYS]);
}
