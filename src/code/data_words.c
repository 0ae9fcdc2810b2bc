/* The words that each register may depend on are followed from instruction to instruction
 * (word_walk.c). A word
 * that gets into an address, into a condition, or into an instruction that is not known here, is
 * not data only. More may be taken for dependent than is: an operand's number may be that of no
 * operand, and memory is one piece.
 *
 * The encodings are those of instruction.c. Operands stand in bits 24 to 31, 32 to 39 and 64 to 71,
 * the result in bits 16 to 23; bits 9 to 11 say which of them is a number, a constant, or a uniform
 * register. tests/words has kernels for them. */
#include "code/data_words.h"

#include "code/word_flow.h"

#include <stdlib.h>

unsigned gp_first_parameter(int cc)
{
    return cc >= 100 ? 0x380 : cc >= 90 ? 0x210 : 0x160;
}

bool gp_is_of_launch(unsigned offset, int cc)
{
    if (cc >= 100)
        return is_between(offset, 0x358, 0x37f);
    return offset < 0x18 ||
           (cc >= 90 ? is_between(offset, 0x208, 0x20f) : is_between(offset, 0x118, 0x11f));
}

uint64_t gp_code_data_words(const void *code, size_t size, int cc)
{
    struct gp_word_walk *w = calloc(1, sizeof(*w));
    uint64_t words = 0;
    if (!w)
        return 0;
    w->step = gp_data_word_step;
    w->first = gp_first_parameter(cc);
    if (gp_word_walk_through(w, code, size, cc))
        words = w->read ? ~w->not_data : 0;
    free(w);
    return words;
}
