/* The meaning of an instruction by its text, as NVIDIA's disassembler writes it: an opinion
 * independent of code/instruction.c, to hold that to. */
#ifndef GPUPROF_TESTS_SASS_EXPECT_H
#define GPUPROF_TESTS_SASS_EXPECT_H

#include "code/instruction.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Mnemonics up to the first dot that are classes of their own; all others are OTHER. */
static const struct {
    const char *mnemonic;
    enum gp_op op;
} expect_ops[] = {
#define SAME(name)          \
    {                       \
#name, GP_OP_##name \
    }
    SAME(FADD),
    SAME(FMUL),
    SAME(FFMA),
    SAME(FADD2),
    SAME(FMUL2),
    SAME(FFMA2),
    SAME(FHADD),
    SAME(FHFMA),
    SAME(UFADD),
    SAME(UFMUL),
    SAME(UFFMA),
    SAME(DADD),
    SAME(DMUL),
    SAME(DFMA),
    SAME(HADD2),
    SAME(HMUL2),
    SAME(HFMA2),
    SAME(QADD4),
    SAME(QMUL4),
    SAME(QFMA4),
    SAME(HMMA),
    SAME(IMMA),
    SAME(BMMA),
    SAME(DMMA),
    SAME(QMMA),
    SAME(OMMA),
    SAME(HGMMA),
    SAME(IGMMA),
    SAME(BGMMA),
    SAME(QGMMA),
    SAME(LD),
    SAME(ST),
    SAME(LDG),
    SAME(STG),
    SAME(LDS),
    SAME(STS),
    SAME(LDL),
    SAME(STL),
    SAME(LDSM),
    SAME(STSM),
    SAME(LDGSTS),
    SAME(LDGMC),
    SAME(ATOM),
    SAME(ATOMG),
    SAME(ATOMS),
    SAME(RED),
    SAME(STAS),
    SAME(REDAS),
#undef SAME
    {"REDG", GP_OP_RED},
    {"UFHADD", GP_OP_UFADD},
    {"UFHFMA", GP_OP_UFFMA},
    {"UTCHMMA", GP_OP_UTCMMA},
    {"UTCIMMA", GP_OP_UTCMMA},
    {"UTCQMMA", GP_OP_UTCMMA},
    {"UTCOMMA", GP_OP_UTCMMA},
    {"UTMALDG", GP_OP_TMA_LOAD},
    {"UTMASTG", GP_OP_TMA_STORE},
    {"UTMAREDG", GP_OP_TMA_REDUCE},
    {"UBLKCP", GP_OP_TMA_COPY},
    {"UBLKRED", GP_OP_TMA_COPY},
};

static const struct {
    const char *modifier;
    uint16_t bytes;
} expect_widths[] = {
    {"U8", 1},     {"S8", 1},     {"U16", 2},   {"S16", 2},    {"64", 8},
    {"S64", 8},    {"F64", 8},    {"128", 16},  {"256", 32},   {"F16x4", 8},
    {"F16x8", 16}, {"BF16x4", 8}, {"F32x2", 8}, {"F32x4", 16}, {"BF16x8", 16},
};

static const struct {
    const char *modifier;
    uint16_t m, n, k;
} expect_shapes[] = {
    {"1684", 16, 8, 4},   {"1688", 16, 8, 8},     {"16816", 16, 8, 16},   {"16832", 16, 8, 32},
    {"16864", 16, 8, 64}, {"168128", 16, 8, 128}, {"168256", 16, 8, 256}, {"8816", 8, 8, 16},
    {"8832", 8, 8, 32},   {"88128", 8, 8, 128},   {"884", 8, 8, 4},
};

static inline bool expect_is_tensor(enum gp_op op)
{
    return op >= GP_OP_HMMA && op <= GP_OP_QGMMA;
}

static inline bool expect_moves_bytes(enum gp_op op)
{
    return op >= GP_OP_LD && op <= GP_OP_RED && op != GP_OP_LDGMC;
}

static inline enum gp_numbers expect_numbers(enum gp_op op)
{
    switch (op) {
    case GP_OP_HMMA:
    case GP_OP_HGMMA:
        return GP_FP16; /* unless a modifier says so */
    case GP_OP_DMMA:
        return GP_FP64;
    case GP_OP_QMMA:
    case GP_OP_QGMMA:
        return GP_FP8;
    case GP_OP_OMMA:
        return GP_FP4;
    default:
        return op == GP_OP_IMMA || op == GP_OP_BMMA || op == GP_OP_IGMMA || op == GP_OP_BGMMA
                   ? GP_INTEGERS
                   : GP_NO_NUMBERS;
    }
}

static inline void expect_modifier(struct gp_instruction *e, const char *modifier)
{
    unsigned m, n, k;
    if (expect_is_tensor(e->op)) {
        if (strcmp(modifier, "SP") == 0)
            e->sparse = true;
        if (strcmp(modifier, "BF16") == 0)
            e->numbers = GP_BF16;
        if (strcmp(modifier, "TF32") == 0)
            e->numbers = GP_TF32;
        for (size_t i = 0; i < sizeof(expect_shapes) / sizeof(expect_shapes[0]); i++) {
            if (!e->m && strcmp(modifier, expect_shapes[i].modifier) == 0) {
                e->m = expect_shapes[i].m;
                e->n = expect_shapes[i].n;
                e->k = expect_shapes[i].k;
            }
        }
        if (!e->m && sscanf(modifier, "%ux%ux%u", &m, &n, &k) == 3) {
            e->m = (uint16_t)(m == 64 ? 16 : m); /* four warps share 64 rows */
            e->n = (uint16_t)n;
            e->k = (uint16_t)k;
        }
    } else if (e->op == GP_OP_LDSM || e->op == GP_OP_STSM) {
        if (strcmp(modifier, "2") == 0 || strcmp(modifier, "4") == 0)
            e->bytes = (uint16_t)(e->bytes * atoi(modifier));
        else if (strncmp(modifier, "M8", 2) == 0 && strcmp(modifier, "M88") != 0)
            e->bytes = 0;
    } else if (expect_moves_bytes(e->op)) {
        for (size_t i = 0; i < sizeof(expect_widths) / sizeof(expect_widths[0]); i++)
            if (strcmp(modifier, expect_widths[i].modifier) == 0)
                e->bytes = expect_widths[i].bytes;
    }
}

/* `text` may begin with a predicate: "@!P0 LDG.E.64 R2, [R4]". */
static inline struct gp_instruction expect_from_text(const char *text)
{
    struct gp_instruction e = {.op = GP_OP_OTHER};
    char mnemonic[128];
    if (*text == '@')
        text += strcspn(text, " ");
    text += strspn(text, " ");
    snprintf(mnemonic, sizeof(mnemonic), "%.*s", (int)strcspn(text, " ;\n"), text);
    char *next = mnemonic, *part = strsep(&next, ".");
    for (size_t i = 0; i < sizeof(expect_ops) / sizeof(expect_ops[0]); i++)
        if (strcmp(part, expect_ops[i].mnemonic) == 0)
            e.op = expect_ops[i].op;
    if (expect_moves_bytes(e.op))
        e.bytes = 4;
    e.numbers = expect_numbers(e.op);
    const bool is_volta = e.op == GP_OP_HMMA && next && strncmp(next, "884.F16", 7) == 0;
    while ((part = strsep(&next, ".")))
        expect_modifier(&e, part);
    if (is_volta)
        e.m = 16; /* two steps; to FP32 it takes four */
    return e;
}

static inline bool expect_same(const struct gp_instruction *a, const struct gp_instruction *b)
{
    return a->op == b->op && a->bytes == b->bytes && a->m == b->m && a->n == b->n && a->k == b->k &&
           a->sparse == b->sparse && a->numbers == b->numbers;
}

static inline void expect_describe(char *out, size_t size, const struct gp_instruction *i)
{
    static const char *const names[] = {
#define GP_OP(name) #name,
        GP_OPS
#undef GP_OP
    };
    snprintf(out, size, "%s, %u bytes, %ux%ux%u%s of kind %d", names[i->op], i->bytes, i->m, i->n,
             i->k, i->sparse ? " sparse" : "", i->numbers);
}

#endif
