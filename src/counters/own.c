/* Counters that CUPTI does not have, made of its SASS metrics of single instructions, which are
 * there for fingerprints, so they take no pass of their own:
 *
 * gpuprof__sass_ops_tensor_src_fp16.sum, ... operations of the tensor cores, by the type of
 * their factors gpuprof__sass_thread_bytes_mem_global_op_ld.sum, ..._st.sum bytes that threads
 * ask for, each its own
 *
 * How often an instruction with matrices ran is counted for those of four warps, and follows for
 * the others from branches: all instructions of a stretch that no branch enters or leaves run as
 * often, and the branch at its end was counted; those at the begin of a kernel run once for each
 * warp. An unknown instruction in the machine code makes the counter absent.
 *
 * Owns the matrices that it found in the code of kernels, in bounded memory. One thread at a
 * time. */
#include "counters/inside.h"

#include "code/code_hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FUNCTIONS 256 /* functions with their matrices kept */
#define UNKNOWN_SHAPE            \
    GP_REASON_TEXT(CODE_UNKNOWN, \
                   "the kernel multiplies matrices of a shape that its code does not show")
#define MOST_IN_LAUNCH 8 /* functions with matrices that one launch runs */

static const char *const names[GP_OWN_COUNT] = {
    [GP_OWN_FP16] = "gpuprof__sass_ops_tensor_src_fp16.sum",
    [GP_OWN_BF16] = "gpuprof__sass_ops_tensor_src_bf16.sum",
    [GP_OWN_TF32] = "gpuprof__sass_ops_tensor_src_tf32.sum",
    [GP_OWN_FP64] = "gpuprof__sass_ops_tensor_src_fp64.sum",
    [GP_OWN_FP8] = "gpuprof__sass_ops_tensor_src_fp8.sum",
    [GP_OWN_FP4] = "gpuprof__sass_ops_tensor_src_fp4.sum",
    [GP_OWN_INTEGERS] = "gpuprof__sass_ops_tensor_src_int.sum",
    [GP_OWN_LOADED] = "gpuprof__sass_thread_bytes_mem_global_op_ld.sum",
    [GP_OWN_STORED] = "gpuprof__sass_thread_bytes_mem_global_op_st.sum",
};

const char *const own_records[GP_OWN_RECORDS] = {
    [GP_OWN_BRANCHES] = "smsp__sass_inst_executed_op_branch",
    [GP_OWN_GROUPS] = "smsp__sass_inst_executed_op_shared_gmma",
    [GP_OWN_GLOBAL_THREADS] = "smsp__sass_thread_inst_executed_op_global_pred_on",
    [GP_OWN_THREADS] = "smsp__sass_thread_inst_executed_pred_on",
};

/* A stretch of code that no branch enters or leaves, with instructions that have matrices. */
struct stretch {
    uint32_t begin, end;               /* bytes; its last instruction may be a branch */
    uint64_t ops[GP_OWN_INTEGERS + 1]; /* of one warp that runs through it once */
    bool is_first;                     /* at the begin of the function: each warp runs it once */
    bool is_counted;                   /* it ends in a branch that is counted, or has groups */
    bool has_groups;                   /* instructions that four warps share, counted themselves */
    bool seen;                         /* in this launch */
    bool contradicts;                  /* two of its instructions ran differently often */
    uint64_t runs;
};

/* The matrices in the code of a function. */
struct function {
    char *name;
    uint64_t hash; /* of the code */
    size_t size;
    struct stretch *stretches;
    size_t count;
    bool calls_out; /* functions with code of their own */
    bool by_table;  /* it branches to targets that its code does not name */
    bool unknown;   /* it multiplies matrices whose shape the code does not tell */
    uint64_t used;  /* when it was last asked for */
};

struct gp_own {
    struct function functions[MOST_FUNCTIONS];
    uint64_t clock;

    /* this launch */
    const struct gp_run *run;
    int cc;
    const bool *has;
    struct function *in_launch[MOST_IN_LAUNCH];
    size_t in_launch_count;
    const char *last_name; /* the function of the last record */
    struct function *last;
    const unsigned char *code;
    size_t code_size;
    double ops[GP_OWN_COUNT]; /* where threads are counted at every instruction */
    double loaded, stored;
    struct gp_reason no_ops, no_bytes; /* why there are none */
};

enum gp_own_counter own_find(const char *name)
{
    size_t i = 0;
    while (i < GP_OWN_COUNT && strcmp(names[i], name) != 0)
        i++;
    return (enum gp_own_counter)i;
}

struct gp_own *own_open(void)
{
    return calloc(1, sizeof(struct gp_own));
}

static void forget(struct function *f)
{
    free(f->name);
    free(f->stretches);
    *f = (struct function){0};
}

void own_close(struct gp_own *own)
{
    if (!own)
        return;
    for (size_t i = 0; i < MOST_FUNCTIONS; i++)
        forget(&own->functions[i]);
    free(own);
}

/* ---- the code -------------------------------------------------------------------------------- */

/* Marks the instructions that a branch or call of the code goes to. */
static void mark_targets(struct function *f, const unsigned char *code, int cc, bool *is_target)
{
    const size_t count = f->size / GP_INSTRUCTION_BYTES;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *word = code + i * GP_INSTRUCTION_BYTES;
        const int64_t jump = gp_instruction_jump(word, cc);
        const int64_t to = (int64_t)i * GP_INSTRUCTION_BYTES + jump;
        if (gp_instruction_flow(word) == GP_FLOW_BY_TABLE)
            f->by_table = true;
        if (jump && to >= 0 && to < (int64_t)f->size)
            is_target[to / GP_INSTRUCTION_BYTES] = true;
        else if (jump)
            f->calls_out = true;
    }
}

static enum gp_own_counter counter_of(enum gp_numbers numbers)
{
    static const enum gp_own_counter counters[GP_NUMBERS_COUNT] = {
        [GP_NO_NUMBERS] = GP_OWN_COUNT, [GP_FP16] = GP_OWN_FP16,         [GP_BF16] = GP_OWN_BF16,
        [GP_TF32] = GP_OWN_TF32,        [GP_FP64] = GP_OWN_FP64,         [GP_FP8] = GP_OWN_FP8,
        [GP_FP4] = GP_OWN_FP4,          [GP_INTEGERS] = GP_OWN_INTEGERS,
    };
    return counters[numbers];
}

/* Two for each product and sum; products with zeros that are left out do not count. */
static uint64_t ops_of(const struct gp_instruction *i)
{
    return (uint64_t)i->m * i->n * i->k * (i->sparse ? 1 : 2);
}

static bool add_stretch(struct function *f, const struct stretch *s)
{
    struct stretch *more = realloc(f->stretches, (f->count + 1) * sizeof(*more));
    if (!more)
        return false;
    f->stretches = more;
    f->stretches[f->count++] = *s;
    return true;
}

/* Finds the stretches with matrices. */
static bool find_stretches(struct function *f, const unsigned char *code, int cc,
                           const bool *is_target)
{
    const size_t count = f->size / GP_INSTRUCTION_BYTES;
    struct stretch s = {.is_first = count > 0 && !is_target[0]};
    bool has_matrices = false;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *word = code + i * GP_INSTRUCTION_BYTES;
        const struct gp_instruction in = gp_instruction_decode(word, cc);
        if (is_target[i] && has_matrices && !add_stretch(f, &s))
            return false;
        if (is_target[i]) {
            s = (struct stretch){.begin = (uint32_t)(i * GP_INSTRUCTION_BYTES)};
            has_matrices = false;
        }
        if (in.op == GP_OP_UTCMMA || (in.numbers != GP_NO_NUMBERS && !ops_of(&in)))
            f->unknown = true;
        if (in.numbers != GP_NO_NUMBERS) {
            has_matrices = true;
            s.ops[counter_of(in.numbers)] += ops_of(&in);
            s.has_groups = s.has_groups || in.op >= GP_OP_HGMMA;
        }
        s.is_counted = s.has_groups || gp_instruction_is_counted_branch(word);
        s.end = (uint32_t)((i + 1) * GP_INSTRUCTION_BYTES);
        const bool ends = gp_instruction_flow(word) != GP_FLOW_ON || in.op == GP_OP_UNKNOWN;
        if (ends && has_matrices && !add_stretch(f, &s))
            return false;
        if (ends) {
            s = (struct stretch){.begin = s.end};
            has_matrices = false;
        }
    }
    return !has_matrices || add_stretch(f, &s);
}

static bool read_function(struct function *f, const char *name, const unsigned char *code,
                          size_t size, int cc)
{
    *f = (struct function){.name = strdup(name), .size = size, .hash = gp_code_hash(code, size)};
    bool *is_target = calloc(size / GP_INSTRUCTION_BYTES + 1, sizeof(*is_target));
    bool ok = f->name && is_target;
    if (ok) {
        mark_targets(f, code, cc, is_target);
        ok = find_stretches(f, code, cc, is_target);
    }
    free(is_target);
    if (!ok)
        forget(f);
    return ok;
}

/* The matrices in the function's code; NULL with the reason in *why. */
static struct function *find_function(struct gp_own *own, const struct gp_run *run, int cc,
                                      const char *name, struct gp_reason *why)
{
    size_t size = 0;
    *why = GP_REASON(CODE_UNKNOWN);
    const unsigned char *code =
        run->find_code ? run->find_code(run->find_code_data, name, &size, why) : NULL;
    own->code = code;
    own->code_size = size;
    if (!code)
        return NULL;
    const uint64_t hash = gp_code_hash(code, size);
    struct function *oldest = &own->functions[0];
    for (size_t i = 0; i < MOST_FUNCTIONS; i++) {
        struct function *f = &own->functions[i];
        if (f->name && f->hash == hash && f->size == size && strcmp(f->name, name) == 0) {
            f->used = ++own->clock;
            return f;
        }
        if (f->used < oldest->used)
            oldest = f;
    }
    forget(oldest);
    *why = GP_REASON(NO_MEMORY);
    if (!read_function(oldest, name, code, size, cc))
        return NULL;
    oldest->used = ++own->clock;
    return oldest;
}

bool own_has_no_matrices(struct gp_own *own, const struct gp_run *run, int cc)
{
    struct gp_reason why;
    const struct function *f = find_function(own, run, cc, run->kernel, &why);
    return f && f->count == 0 && !f->calls_out && !f->by_table && !f->unknown;
}

/* ---- one launch ------------------------------------------------------------------------------ */

/* A function that runs in this launch. */
static struct function *enter(struct gp_own *own, const char *name)
{
    struct gp_reason why;
    struct function *f = find_function(own, own->run, own->cc, name, &why);
    if (!f) {
        own->no_ops = own->no_bytes = why;
        return NULL;
    }
    for (size_t i = 0; i < own->in_launch_count; i++)
        if (own->in_launch[i] == f)
            return f;
    if (f->count == 0 && !f->unknown)
        return f;
    if (own->in_launch_count == MOST_IN_LAUNCH) {
        own->no_ops =
            GP_REASON_TEXT(CODE_UNKNOWN, "the kernel multiplies matrices in too many functions");
        return f;
    }
    for (size_t i = 0; i < f->count; i++)
        f->stretches[i].seen = f->stretches[i].contradicts = false;
    own->in_launch[own->in_launch_count++] = f;
    return f;
}

void own_begin(struct gp_own *own, const struct gp_run *run, int cc, const bool has[GP_OWN_RECORDS])
{
    own->run = run;
    own->cc = cc;
    own->has = has;
    own->in_launch_count = 0;
    own->last_name = NULL;
    own->loaded = own->stored = 0;
    memset(own->ops, 0, sizeof(own->ops));
    own->no_ops = own->no_bytes = GP_NO_REASON;
    enter(own, run->kernel);
}

static void count_stretch(struct function *f, uint32_t offset, uint64_t runs)
{
    for (size_t i = 0; i < f->count; i++) {
        struct stretch *s = &f->stretches[i];
        if (offset < s->begin || offset >= s->end)
            continue;
        s->contradicts = s->contradicts || (s->seen && s->runs != runs);
        s->seen = true;
        s->runs = runs;
        return;
    }
}

static void add_bytes(struct gp_own *own, const struct gp_instruction *in, bool all_global,
                      uint64_t threads)
{
    const struct gp_instruction i = *in;
    /* Some threads of a generic access may mean other memory: only records of global ones tell. */
    if (!all_global && (i.op == GP_OP_LD || i.op == GP_OP_ST))
        return;
    const bool loads = i.op == GP_OP_LDG || i.op == GP_OP_LD;
    const bool stores = i.op == GP_OP_STG || i.op == GP_OP_ST;
    if ((loads || stores) && !i.bytes)
        own->no_bytes = GP_REASON_TEXT(
            CODE_UNKNOWN,
            "the kernel executes instructions of which it is not known how many bytes they move");
    if (loads)
        own->loaded += (double)threads * i.bytes;
    if (stores)
        own->stored += (double)threads * i.bytes;
}

static void add_threads(struct gp_own *own, enum gp_own_record record, uint32_t offset,
                        uint64_t threads)
{
    if (!threads || own->code_size < GP_INSTRUCTION_BYTES ||
        offset > own->code_size - GP_INSTRUCTION_BYTES)
        return;
    const struct gp_instruction i = gp_instruction_decode(own->code + offset, own->cc);
    const bool is_access = i.op == GP_OP_LDG || i.op == GP_OP_STG;
    const bool all_global = record == GP_OWN_GLOBAL_THREADS;
    /* Where both are counted the records of global accesses have these too. */
    if (all_global || (is_access && !own->has[GP_OWN_GLOBAL_THREADS]))
        add_bytes(own, &i, all_global, threads);
    if (!all_global && i.numbers != GP_NO_NUMBERS)
        own->ops[counter_of(i.numbers)] += (double)threads / 32 * (double)ops_of(&i);
}

void own_add(struct gp_own *own, enum gp_own_record record, const char *function, uint32_t offset,
             uint64_t value)
{
    if (own->last_name != function) { /* records of one function have one pointer to its name */
        own->last = enter(own, function);
        own->last_name = function;
    }
    if (!own->last)
        return;
    if (record == GP_OWN_GLOBAL_THREADS || record == GP_OWN_THREADS)
        add_threads(own, record, offset, value);
    else
        count_stretch(own->last, offset, value);
}

/* How often the stretch ran; false where that does not follow. */
static bool find_runs(const struct gp_own *own, const struct stretch *s, bool is_kernel,
                      uint64_t *runs)
{
    *runs = s->seen ? s->runs : 0;
    if (s->seen || (s->is_counted && (!s->has_groups || own->has[GP_OWN_GROUPS])))
        return true;
    if (!is_kernel || !s->is_first || s->has_groups || !own->run->warps)
        return false;
    *runs = own->run->warps;
    return true;
}

/* Adds the operations of the function's matrices. Returns why they are not known, none where they
 * are. */
static struct gp_reason add_function(const struct gp_own *own, const struct function *f,
                                     double ops[GP_OWN_COUNT])
{
    const bool is_kernel = strcmp(f->name, own->run->kernel) == 0;
    if (f->unknown)
        return UNKNOWN_SHAPE;
    if (f->count && f->by_table)
        return GP_REASON_TEXT(
            CODE_UNKNOWN,
            "the kernel multiplies matrices and branches by a table, so how often is not known");
    for (size_t i = 0; i < f->count; i++) {
        const struct stretch *s = &f->stretches[i];
        if (s->contradicts)
            return GP_REASON_TEXT(CODE_UNKNOWN, "the kernel's branches were not counted alike, so "
                                                "how often it multiplied is not known");
        uint64_t runs;
        if (!find_runs(own, s, is_kernel, &runs))
            return GP_REASON_TEXT(
                CODE_UNKNOWN,
                "how often the kernel multiplied matrices does not follow from its branches");
        for (size_t k = 0; k <= GP_OWN_INTEGERS; k++)
            ops[k] += (double)s->ops[k] * (double)runs;
    }
    return GP_NO_REASON;
}

void own_end(struct gp_own *own, double values[GP_OWN_COUNT], struct gp_reason absent[GP_OWN_COUNT])
{
    const bool counts_threads = own->has[GP_OWN_THREADS];
    struct gp_reason why = counts_threads || own->has[GP_OWN_BRANCHES]
                               ? own->no_ops
                               : GP_REASON_TEXT(OTHER_CUPTI, "CUPTI counts no branches");
    memcpy(values, own->ops, GP_OWN_COUNT * sizeof(*values));
    for (size_t i = 0; i < own->in_launch_count && !why.cause; i++)
        why = !counts_threads              ? add_function(own, own->in_launch[i], values)
              : own->in_launch[i]->unknown ? UNKNOWN_SHAPE
                                           : GP_NO_REASON;
    values[GP_OWN_LOADED] = own->loaded;
    values[GP_OWN_STORED] = own->stored;
    struct gp_reason no_bytes =
        own->has[GP_OWN_GLOBAL_THREADS] || counts_threads
            ? own->no_bytes
            : GP_REASON_TEXT(OTHER_CUPTI, "CUPTI counts no threads at accesses");
    for (size_t i = 0; i < GP_OWN_COUNT; i++) {
        absent[i] = i < GP_OWN_LOADED ? why : no_bytes;
        if (absent[i].cause)
            values[i] = NAN;
    }
}
