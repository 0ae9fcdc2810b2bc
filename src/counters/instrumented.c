/* Counters of instrumented code, computed from CUPTI's SASS metrics of each instruction.
 *
 * CUPTI gives records: a base metric ("smsp__sass_thread_inst_executed_pred_on"), an offset in a
 * function, a value. Together with the instruction at that offset they make the counters that the
 * Range Profiler has under names of its own
 * ("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"), equal to the digit. A counter of a base
 * metric itself ("smsp__sass_inst_executed.sum") is its sum.
 *
 * It only adds up. Used with the gate locked, one thread at a time. */
#include "counters/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the parts of each counter --------------------------------------------------------------- */

/* Known from the Range Profiler's own descriptions of its counters, from the parts of its ratios,
 * and from comparing kernels on hardware. */

enum base {
    THREADS,
    GLOBAL_THREADS,
    SHARED_THREADS,
    GLOBAL_SECTORS,
    SHARED_WAVEFRONTS,
    UNIFORM,
    DIVERGENT,
    BASES
};

static const char *const base_names[BASES] = {
    [THREADS] = "smsp__sass_thread_inst_executed_pred_on",
    [GLOBAL_THREADS] = "smsp__sass_thread_inst_executed_op_global_pred_on",
    [SHARED_THREADS] = "smsp__sass_thread_inst_executed_op_shared_pred_on",
    [GLOBAL_SECTORS] = "smsp__sass_sectors_mem_global",
    [SHARED_WAVEFRONTS] = "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared",
    [UNIFORM] = "smsp__sass_branch_targets_threads_uniform",
    [DIVERGENT] = "smsp__sass_branch_targets_threads_divergent",
};

enum sum {
    FADD,
    FMUL,
    FFMA,
    FADD2,
    FMUL2,
    FFMA2,
    DADD,
    DMUL,
    DFMA,
    HADD,
    HMUL,
    HFMA,
    LOADED_BYTES,
    LOADED_SECTORS,
    STORED_BYTES,
    STORED_SECTORS,
    SHARED_BYTES,
    WAVEFRONTS,
    UNIFORM_BRANCHES,
    BRANCHES,
    SUMS,
    NOTHING
};

enum weight {
    ONE,
    BYTES,    /* that a thread moves */
    UNSETTLED /* it is not known whether they count: a kernel that executes one has no such sum */
};

#define OP(name) (UINT64_C(1) << GP_OP_##name)
#define ANY 0 /* every record, of any instruction */

/* A sum is that of its terms: of records of the base at these instructions, each once or times the
 * bytes. */
static const struct term {
    enum sum sum;
    enum base base;
    uint64_t ops;
    enum weight weight;
} terms[] = {
    {FADD, THREADS, OP(FADD), ONE},
    {FADD, THREADS, OP(FHADD) | OP(UFADD), UNSETTLED},
    {FMUL, THREADS, OP(FMUL), ONE},
    {FMUL, THREADS, OP(UFMUL), UNSETTLED},
    {FFMA, THREADS, OP(FFMA), ONE},
    {FFMA, THREADS, OP(FHFMA) | OP(UFFMA), UNSETTLED},
    {FADD2, THREADS, OP(FADD2), ONE},
    {FMUL2, THREADS, OP(FMUL2), ONE},
    {FFMA2, THREADS, OP(FFMA2), ONE},
    {DADD, THREADS, OP(DADD), ONE},
    {DMUL, THREADS, OP(DMUL), ONE},
    {DFMA, THREADS, OP(DFMA), ONE},
    /* Once, be it on two numbers or on one, and also where HFMA2 only moves a constant. */
    {HADD, THREADS, OP(HADD2), ONE},
    {HMUL, THREADS, OP(HMUL2), ONE},
    {HFMA, THREADS, OP(HFMA2), ONE},
    /* Some threads of a generic access may mean shared or local memory. */
    {LOADED_BYTES, THREADS, OP(LDG), BYTES},
    {LOADED_BYTES, GLOBAL_THREADS, OP(LD), BYTES},
    {LOADED_SECTORS, GLOBAL_SECTORS, OP(LDG) | OP(LD), ONE},
    {STORED_BYTES, THREADS, OP(STG), BYTES},
    {STORED_BYTES, GLOBAL_THREADS, OP(ST), BYTES},
    {STORED_SECTORS, GLOBAL_SECTORS, OP(STG) | OP(ST), ONE},
    {SHARED_BYTES, THREADS, OP(LDS) | OP(STS) | OP(ATOMS), BYTES},
    {SHARED_BYTES, THREADS, OP(LDSM) | OP(STSM) | OP(LDGSTS), BYTES},
    {SHARED_BYTES, SHARED_THREADS, OP(LD) | OP(ST) | OP(ATOM), BYTES},
    /* Four warps share the matrices; the instruction does not show which of them reads which. */
    {SHARED_BYTES, THREADS, OP(HGMMA) | OP(IGMMA) | OP(QGMMA) | OP(BGMMA), UNSETTLED},
    {WAVEFRONTS, SHARED_WAVEFRONTS, ANY, ONE},
    {UNIFORM_BRANCHES, UNIFORM, ANY, ONE},
    {BRANCHES, UNIFORM, ANY, ONE},
    {BRANCHES, DIVERGENT, ANY, ONE},
};

/* A counter is a sum, or a sum as a percentage of `unit` times another. */
static const struct formula {
    const char *name;
    enum sum above, below;
    double unit;
} formulas[] = {
    {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", FADD, NOTHING, 0},
    {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", FMUL, NOTHING, 0},
    {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", FFMA, NOTHING, 0},
    {"smsp__sass_thread_inst_executed_op_fadd2_pred_on.sum", FADD2, NOTHING, 0},
    {"smsp__sass_thread_inst_executed_op_fmul2_pred_on.sum", FMUL2, NOTHING, 0},
    {"smsp__sass_thread_inst_executed_op_ffma2_pred_on.sum", FFMA2, NOTHING, 0},
    {"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", DADD, NOTHING, 0},
    {"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", DMUL, NOTHING, 0},
    {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", DFMA, NOTHING, 0},
    {"smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", HADD, NOTHING, 0},
    {"smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", HMUL, NOTHING, 0},
    {"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", HFMA, NOTHING, 0},
    {"smsp__sass_data_bytes_mem_global_op_ld.sum", LOADED_BYTES, NOTHING, 0},
    {"smsp__sass_data_bytes_mem_global_op_st.sum", STORED_BYTES, NOTHING, 0},
    {"smsp__sass_data_bytes_mem_shared.sum", SHARED_BYTES, NOTHING, 0},
    {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", LOADED_SECTORS, NOTHING, 0},
    {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum", STORED_SECTORS, NOTHING, 0},
    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", LOADED_BYTES, LOADED_SECTORS,
     32},
    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", STORED_BYTES, STORED_SECTORS,
     32},
    {"smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct", SHARED_BYTES, WAVEFRONTS, 128},
    {"smsp__sass_average_branch_targets_threads_uniform.pct", UNIFORM_BRANCHES, BRANCHES, 1},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- adding up ------------------------------------------------------------------------------- */

struct counter {
    const struct formula *formula; /* NULL: the sum of one base metric */
    size_t base;                   /* which, then */
    struct gp_reason unavailable;
};

struct base_metric {
    char *own_name;  /* of one that no sum is made of; freed with it */
    enum base table; /* BASES for such a one */
    uint64_t total;
    bool sums[SUMS]; /* that have a term of it */
};

struct gp_instrumented {
    struct counter *counters;
    struct base_metric *bases;
    const char **names; /* of the bases */
    size_t base_count;
    uint64_t totals[SUMS];
    struct gp_reason missing[SUMS]; /* why a sum is not known, since begin */
};

static bool is_needed(const struct counter *counter, enum sum sum)
{
    return counter->formula && !counter->unavailable.cause &&
           (counter->formula->above == sum || counter->formula->below == sum);
}

/* The index of the base metric, entered if it is new; the arrays have room for all there can be. */
static size_t use_base(struct gp_instrumented *c, const char *name, enum base table)
{
    for (size_t i = 0; i < c->base_count; i++)
        if (strcmp(c->names[i], name) == 0)
            return i;
    c->names[c->base_count] = name;
    c->bases[c->base_count].table = table;
    return c->base_count++;
}

static enum base in_table(const char *base_name)
{
    for (size_t b = 0; b < BASES; b++)
        if (strcmp(base_names[b], base_name) == 0)
            return b;
    return BASES;
}

/* "smsp__sass_X.sum" is the sum of the base metric smsp__sass_X. False when out of memory. */
static bool take_base(struct gp_instrumented *c, struct counter *counter, const char *name,
                      gp_has_base_metric *has, void *data)
{
    const size_t length = strlen(name);
    if (strncmp(name, "smsp__sass_", 11) != 0 || length < 4 ||
        strcmp(name + length - 4, ".sum") != 0)
        return true;
    char *own = strndup(name, length - 4);
    if (!own)
        return false;
    if (has(own, data)) {
        counter->unavailable = GP_NO_REASON;
        counter->base = use_base(c, own, in_table(own));
        struct base_metric *base = &c->bases[counter->base];
        if (c->names[counter->base] == own) {
            base->own_name = own;
            return true;
        }
    }
    free(own);
    return true;
}

static void take_formula(struct counter *counter, const struct formula *formula,
                         gp_has_base_metric *has, void *data)
{
    counter->formula = formula;
    counter->unavailable = GP_NO_REASON;
    for (size_t t = 0; t < COUNT(terms); t++)
        if (is_needed(counter, terms[t].sum) && !has(base_names[terms[t].base], data))
            counter->unavailable =
                GP_REASON_TEXT(NOT_COMPUTED, "CUPTI does not count the parts of the counter");
}

struct gp_instrumented *instrumented_open(const char *const *names, size_t count,
                                          gp_has_base_metric *has, void *data)
{
    struct gp_instrumented *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->counters = calloc(count + 1, sizeof(*c->counters));
    c->bases = calloc(count + BASES, sizeof(*c->bases));
    c->names = calloc(count + BASES, sizeof(*c->names));
    bool ok = c->counters && c->bases && c->names;
    for (size_t i = 0; ok && i < count; i++) {
        struct counter *counter = &c->counters[i];
        counter->unavailable = GP_REASON(NOT_COMPUTED);
        for (size_t f = 0; f < COUNT(formulas); f++)
            if (strcmp(formulas[f].name, names[i]) == 0)
                take_formula(counter, &formulas[f], has, data);
        if (!counter->formula)
            ok = take_base(c, counter, names[i], has, data);
        for (size_t t = 0; t < COUNT(terms); t++)
            if (is_needed(counter, terms[t].sum))
                c->bases[use_base(c, base_names[terms[t].base], terms[t].base)].sums[terms[t].sum] =
                    true;
    }
    if (!ok) {
        instrumented_close(c);
        return NULL;
    }
    return c;
}

void instrumented_close(struct gp_instrumented *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->base_count; i++)
        free(c->bases[i].own_name);
    free(c->counters);
    free(c->bases);
    free(c->names);
    free(c);
}

struct gp_reason instrumented_unavailable(const struct gp_instrumented *c, size_t counter)
{
    return c->counters[counter].unavailable;
}

bool instrumented_shares_addresses(const struct gp_instrumented *c, size_t counter)
{
    for (size_t t = 0; t < COUNT(terms); t++)
        if (terms[t].weight == BYTES && is_needed(&c->counters[counter], terms[t].sum))
            return true;
    return false;
}

const char *const *instrumented_bases(const struct gp_instrumented *c, size_t *count)
{
    *count = c->base_count;
    return c->names;
}

bool instrumented_needs_instruction(const struct gp_instrumented *c, size_t base)
{
    for (size_t t = 0; t < COUNT(terms); t++)
        if (terms[t].base == c->bases[base].table && terms[t].ops != ANY &&
            c->bases[base].sums[terms[t].sum])
            return true;
    return false;
}

void instrumented_begin(struct gp_instrumented *c)
{
    for (size_t i = 0; i < c->base_count; i++)
        c->bases[i].total = 0;
    memset(c->totals, 0, sizeof(c->totals));
    memset(c->missing, 0, sizeof(c->missing));
}

/* Reasons live for ever, so each opcode's is made once, and there are not many. */
static struct gp_reason unknown_instruction(unsigned opcode)
{
    static struct {
        unsigned opcode;
        char text[80];
    } reasons[16];
    for (size_t i = 0; i < COUNT(reasons); i++) {
        if (!reasons[i].text[0]) {
            reasons[i].opcode = opcode;
            snprintf(reasons[i].text, sizeof(reasons[i].text),
                     "the kernel executes an instruction that is not known (0x%03x)", opcode);
        }
        if (reasons[i].opcode == opcode)
            return GP_REASON_TEXT(CODE_UNKNOWN, reasons[i].text);
    }
    return GP_REASON_TEXT(CODE_UNKNOWN, "the kernel executes instructions that are not known");
}

/* Adds the record to the term's sum, if the instruction is one of the term's. */
static void add_to_term(struct gp_instrumented *c, const struct term *term,
                        const struct gp_instruction *i, struct gp_reason why, uint64_t value)
{
    const bool is_of_term = term->ops == ANY || (i && term->ops >> i->op & 1);
    struct gp_reason missing = GP_NO_REASON;
    if (term->ops != ANY && !i)
        missing = why;
    else if (term->ops != ANY && i->op == GP_OP_UNKNOWN)
        missing = unknown_instruction(i->opcode);
    else if (is_of_term && term->weight == UNSETTLED)
        missing = GP_REASON_TEXT(
            CODE_UNKNOWN,
            "the kernel executes instructions of which it is not known how they count");
    else if (is_of_term && term->weight == BYTES && !i->bytes)
        missing = GP_REASON_TEXT(
            CODE_UNKNOWN,
            "the kernel executes instructions of which it is not known how many bytes they move");
    else if (is_of_term)
        c->totals[term->sum] += value * (term->weight == BYTES ? i->bytes : 1);
    if (missing.cause && !c->missing[term->sum].cause)
        c->missing[term->sum] = missing;
}

void instrumented_add(struct gp_instrumented *c, size_t base,
                      const struct gp_instruction *instruction, struct gp_reason why,
                      uint64_t value)
{
    struct base_metric *b = &c->bases[base];
    b->total += value;
    if (!value)
        return; /* never executed: it need not be known */
    for (size_t t = 0; t < COUNT(terms); t++)
        if (terms[t].base == b->table && b->sums[terms[t].sum])
            add_to_term(c, &terms[t], instruction, why, value);
}

bool instrumented_value(const struct gp_instrumented *c, size_t counter, double *value,
                        struct gp_reason *why)
{
    const struct counter *k = &c->counters[counter];
    const struct formula *f = k->formula;
    *why = k->unavailable;
    if (why->cause)
        return false;
    if (!f) {
        *value = (double)c->bases[k->base].total;
        return true;
    }
    const double above = (double)c->totals[f->above];
    *why = c->missing[f->above];
    if (f->below == NOTHING) {
        *value = above;
        return !why->cause;
    }
    const double below = f->unit * (double)c->totals[f->below];
    if (!why->cause)
        *why = c->missing[f->below];
    if (!why->cause && below == 0 && above != 0)
        *why = GP_REASON_TEXT(NOTHING_COUNTED, "the counter's denominator is 0");
    *value = below == 0 ? 0 : 100 * above / below;
    return !why->cause;
}
