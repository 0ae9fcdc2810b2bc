#include "code/lanes.h"

#include "code/instruction.h"
#include "code/paths.h"
#include "code/two_sides.h"
#include "code/word_flow.h"

#define SET(op) (UINT64_C(1) << (op))

static const char *at(const struct gp_paths *p, size_t n)
{
    return (const char *)p->code + n * GP_INSTRUCTION_BYTES;
}

static bool is_counted_access(const struct gp_paths *p, size_t n)
{
    const uint64_t counted = SET(GP_OP_LDG) | SET(GP_OP_STG) | SET(GP_OP_ATOMG) | SET(GP_OP_RED) |
                             SET(GP_OP_LDS) | SET(GP_OP_STS) | SET(GP_OP_ATOMS);
    return counted & SET(gp_instruction_decode(at(p, n), p->cc).op);
}

static size_t ways_to(const struct gp_paths *p, size_t n)
{
    return p->starts[n + 1] - p->starts[n];
}

/* The instructions of a stretch run as often as each other, with the same lanes. */
static bool begins_stretch(const struct gp_paths *p, size_t n)
{
    return n == 0 || ways_to(p, n) != 1 || p->list[p->starts[n]] + 1 != n ||
           gp_instruction_flow(at(p, n - 1)) != GP_FLOW_ON;
}

/* No thread comes to the padding behind a kernel. To other code a way may lead that is not known:
 * ways back from very many calls, and those by tables, are left out (code/paths.h). */
static bool is_padding(const struct gp_paths *p, size_t n)
{
    uint64_t word[2];
    gp_paths_word(p, n, word);
    return (word[0] & OPCODE_MASK) == NOP;
}

/* A stretch that computes tells by one of its instructions how often it ran: a whole warp may go
 * round it, and the branch is counted in as many lanes. All threads run the first one. */
static bool tells_lanes(const struct gp_paths *p)
{
    bool computes = false, counted = false;
    for (size_t n = 0; n < p->count; n++) {
        const char *word = at(p, n);
        const bool under_predicate = gp_is_under_predicate(word), access = is_counted_access(p, n);
        if (under_predicate && !access)
            return false;
        if (begins_stretch(p, n)) {
            if (computes && !counted)
                return false;
            computes = false;
            counted = ways_to(p, n) == 0 && (n == 0 || is_padding(p, n));
        }
        computes = computes || gp_instruction_flow(word) == GP_FLOW_ON;
        counted = counted || (access && !under_predicate) || gp_instruction_is_counted_branch(word);
    }
    return !computes || counted;
}

bool gp_code_tells_lanes(const void *code, size_t size, int cc)
{
    struct gp_paths *p = gp_paths_open(code, size, cc);
    const bool tells = p && tells_lanes(p);
    if (p)
        gp_paths_close(p);
    return tells;
}
