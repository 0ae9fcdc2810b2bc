/* Holds the decoder to a disassembler's text. Reads lines "CC LOW HIGH TEXT" (the two halves of the
 * instruction in hexadecimal), says where the two differ, and ends with status 1 if they do. */
#include "expect.h"

#include <inttypes.h>

int main(void)
{
    static char line[4096];
    unsigned long count = 0, unknown = 0, wrong = 0;
    while (fgets(line, sizeof(line), stdin)) {
        int cc, at = 0;
        uint64_t word[2];
        if (sscanf(line, "%d %" SCNx64 " %" SCNx64 " %n", &cc, &word[0], &word[1], &at) != 3 || !at)
            continue;
        const struct gp_instruction is = gp_instruction_decode(word, cc);
        const struct gp_instruction should = expect_from_text(line + at);
        count++;
        if (is.op == GP_OP_UNKNOWN)
            unknown++;
        if (expect_same(&is, &should))
            continue;
        if (wrong++ < 50) {
            char a[128], b[128];
            expect_describe(a, sizeof(a), &is);
            expect_describe(b, sizeof(b), &should);
            printf("%.*s\n    is %s, not %s\n", (int)strcspn(line, "\n"), line, b, a);
        }
    }
    printf("%lu instructions, %lu read wrongly, %lu of them unknown\n", count, wrong, unknown);
    return wrong || !count;
}
