#include "code/address_origins.h"

#include "code/instruction.h"
#include "code/registers.h"
#include "code/scoreboards.h"
#include "code/word_flow.h"

/* Registers that are followed from one address, and how far each is. */
#define MOST_REGISTERS 256
#define MOST_STEPS 4096

/* S2R: bits 72 to 79 name the special register. */
#define LANE 0x00
#define FIRST_OF_THREAD 0x20 /* all three of its numbers, then each */
#define LAST_OF_THREAD 0x23

/* A register before an instruction. */
struct wanted {
    uint32_t n;
    uint8_t reg;
};

struct following {
    struct gp_paths *p;
    struct wanted list[MOST_REGISTERS];
    size_t count;
    unsigned reg; /* that is followed at the moment */
    size_t steps;
    size_t first_of_loop, last_of_loop; /* the innermost around the access */
    struct gp_address_origins origins;
};

static void want(struct following *f, size_t n, unsigned reg)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->list[i].n == n && f->list[i].reg == reg)
            return;
    if (f->count < MOST_REGISTERS)
        f->list[f->count++] = (struct wanted){(uint32_t)n, (uint8_t)reg};
}

static void want_operands(struct following *f, size_t n, const uint64_t word[2])
{
    struct gp_register_range operands[GP_MOST_OPERANDS];
    const unsigned count = gp_registers_read(word, f->p->cc, operands);
    for (unsigned o = 0; o < count; o++)
        for (unsigned r = 0; r < operands[o].count && operands[o].first + r < NO_REGISTER; r++)
            want(f, n, operands[o].first + r);
}

static bool is_of_lane(const uint64_t word[2])
{
    const unsigned special = gp_bits(word, 72, 8);
    return special == LANE || is_between(special, FIRST_OF_THREAD, LAST_OF_THREAD);
}

/* The register was written at n. */
static void take_origin(struct following *f, size_t n, const uint64_t word[2])
{
    switch (gp_awaited_kind(word, f->p->cc)) {
    case GP_AWAITED_LOAD:
    case GP_AWAITED_ATOMIC:
    case GP_AWAITED_TEXTURE:
        f->origins.is_loaded |=
            is_between((unsigned)n, (unsigned)f->first_of_loop, (unsigned)f->last_of_loop);
        f->origins.differs_in_lanes = true;
        break;
    case GP_AWAITED_LOCAL: /* a register that was spilled, of any origin */
    case GP_AWAITED_SHARED:
    case GP_AWAITED_SHARED_ATOMIC:
    case GP_AWAITED_EXCHANGE:
        f->origins.differs_in_lanes = true;
        break;
    case GP_AWAITED_CONSTANT:
    case GP_AWAITED_PARAMETER:
        break;
    case GP_AWAITED_REGISTER:
        f->origins.differs_in_lanes |= is_of_lane(word);
        break;
    default:
        want_operands(f, n, word);
    }
}

static bool visit(void *user, size_t n)
{
    struct following *f = user;
    uint64_t word[2];
    if (++f->steps > MOST_STEPS)
        return false;
    gp_paths_word(f->p, n, word);
    const struct gp_register_range written = gp_registers_written(word, f->p->cc);
    if (f->reg < written.first || f->reg >= written.first + written.count)
        return true;
    take_origin(f, n, word);
    return gp_is_predicated(word); /* else this is its only origin on this way */
}

struct gp_address_origins gp_address_origins_of(struct gp_paths *p, size_t n)
{
    struct following f = {.p = p};
    uint64_t word[2];
    if (n >= p->count)
        return f.origins;
    gp_paths_word(p, n, word);
    gp_paths_loop(p, n, &f.first_of_loop, &f.last_of_loop);
    want_operands(&f, n, word);
    for (size_t i = 0; i < f.count; i++) {
        f.reg = f.list[i].reg;
        gp_paths_walk_back(p, f.list[i].n, visit, &f);
    }
    return f.origins;
}

bool gp_code_gathers(const void *code, size_t size, int cc)
{
    struct gp_paths *p = gp_paths_open(code, size, cc);
    bool gathers = p == NULL;
    for (size_t n = 0; p && n < p->count && !gathers; n++) {
        const enum gp_op op = gp_instruction_decode(p->code + n * GP_INSTRUCTION_BYTES, p->cc).op;
        gathers = (op == GP_OP_LDG || op == GP_OP_LD) && gp_address_origins_of(p, n).is_loaded;
    }
    gp_paths_close(p);
    return gathers;
}
